//! Requests in the order in which tasks asked for them.
//!
//! Recordings have them in the order in which they were done, and some public traces are not sorted
//! at all. Within a window they are put in order; one that comes later than that stays where it is.

use crate::about::About;
use crate::error::TraceError;
use crate::origins::Origins;
use crate::request::Request;
use crate::source::Source;
use fairdisk_core::Instant;
use std::collections::{BTreeMap, VecDeque};

/// The requests among which the next one is searched for: more than any device has at once.
const WINDOW: usize = 1 << 16;

/// A request that comes so many places late, or fewer, is put in its place at once.
const NEAR: usize = 64;

/// A source in order.
#[derive(Debug)]
pub(crate) struct Sorted<S> {
    source: S,
    /// Requests in order: most of them come so, or nearly.
    near: VecDeque<Request>,
    /// Those that came later than that, by their time and the order of arrival.
    late: BTreeMap<(Instant, u64), Request>,
    count: u64,
    is_at_end: bool,
}

impl<S: Source> Sorted<S> {
    pub(crate) fn new(source: S) -> Self {
        let (near, late) = (VecDeque::new(), BTreeMap::new());
        Self { source, near, late, count: 0, is_at_end: false }
    }

    fn put(&mut self, request: Request) {
        let request = in_time(request);
        let behind = self.near.iter().rev().take(NEAR + 1);
        let behind = behind.take_while(|one| one.queued > request.queued).count();
        match behind {
            0 => self.near.push_back(request),
            behind if behind <= NEAR => self.near.insert(self.near.len() - behind, request),
            _ => {
                self.count += 1;
                self.late.insert((request.queued, self.count), request);
            }
        }
    }
}

/// A request that is not issued before it was asked for, nor done before that.
fn in_time(request: Request) -> Request {
    let Request { queued, issued, done, .. } = request;
    let issued = issued.map(|issued| issued.max(queued));
    let done = done.map(|done| done.max(issued.unwrap_or(queued)));
    Request { issued, done, ..request }
}

impl<S: Source> Source for Sorted<S> {
    fn next(&mut self) -> Result<Option<Request>, TraceError> {
        while !self.is_at_end && self.near.len() + self.late.len() < WINDOW {
            match self.source.next()? {
                Some(request) => self.put(request),
                None => self.is_at_end = true,
            }
        }
        let late = self.late.first_key_value().map(|((queued, _), _)| *queued);
        let near = self.near.front().map(|one| one.queued);
        match late.is_some_and(|late| near.is_none_or(|near| late < near)) {
            true => Ok(self.late.pop_first().map(|(_, request)| request)),
            false => Ok(self.near.pop_front()),
        }
    }

    fn origins(&self) -> &Origins {
        self.source.origins()
    }

    fn about(&self) -> About {
        self.source.about()
    }

    fn lost(&self) -> u64 {
        self.source.lost()
    }
}
