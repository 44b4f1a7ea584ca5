//! Backends, which serve requests: memory, a file through threads or `io_uring`, or one of these at
//! the pace of a modelled disk.

mod choose;
mod faulty;
mod file_ops;
mod file_threads;
mod file_uring;
mod memory;
mod modelled;
mod null;
mod ring;

pub use choose::{ChooseError, Preference, open};
pub use faulty::{Faults, Faulty};
pub use file_threads::FileThreads;
pub use file_uring::FileUring;
pub use memory::Memory;
pub use modelled::Modelled;
pub use null::Null;
pub use ring::{NoRing, Ring};

use crate::buffer::Buffer;
use crate::clock::Clock;
use crate::failure::Failure;
use fairdisk_core::{Histogram, Instant, Request, RequestId};
use std::io;

/// Serves requests. A backend is used by one thread at a time.
pub trait Backend {
    /// The largest number of requests in flight.
    fn depth(&self) -> u32;

    /// The size in sectors.
    fn capacity_sectors(&self) -> u64;

    /// The number of requests submitted but not yet returned by [`wait`](Self::wait).
    fn in_flight(&self) -> u32;

    /// Submits a request, with the bytes to write or room for the bytes to read. At most
    /// [`depth`](Self::depth) requests may be in flight, and their ids must differ.
    fn submit(&mut self, now: Instant, request: &Request, data: Buffer);

    /// Waits until a request completes or `deadline` comes, whichever is first, and appends the
    /// completed requests to `done`. With a deadline in the past it only polls. Without a deadline
    /// and with nothing in flight it returns immediately.
    ///
    /// # Errors
    /// The backend itself is broken, and the requests in flight are lost. The failure of a single
    /// request is not an error here but in its [`Done`].
    fn wait(
        &mut self,
        clock: &dyn Clock,
        deadline: Option<Instant>,
        done: &mut Vec<Done>,
    ) -> io::Result<()>;

    /// The name of the backend and why it was chosen.
    fn chosen(&self) -> Chosen;

    /// The lateness of completions relative to the device model, if there is one.
    fn lateness(&self) -> Option<&Histogram> {
        None
    }
}

impl<B: Backend + ?Sized> Backend for Box<B> {
    fn depth(&self) -> u32 {
        (**self).depth()
    }

    fn capacity_sectors(&self) -> u64 {
        (**self).capacity_sectors()
    }

    fn in_flight(&self) -> u32 {
        (**self).in_flight()
    }

    fn submit(&mut self, now: Instant, request: &Request, data: Buffer) {
        (**self).submit(now, request, data);
    }

    fn wait(
        &mut self,
        clock: &dyn Clock,
        deadline: Option<Instant>,
        done: &mut Vec<Done>,
    ) -> io::Result<()> {
        (**self).wait(clock, deadline, done)
    }

    fn chosen(&self) -> Chosen {
        (**self).chosen()
    }

    fn lateness(&self) -> Option<&Histogram> {
        (**self).lateness()
    }
}

/// A completed request.
#[derive(Debug)]
pub struct Done {
    /// The id of the request.
    pub id: RequestId,
    /// The buffer passed on submission; for a read, with the bytes read.
    pub data: Buffer,
    /// Whether the request succeeded.
    pub result: Result<(), Failure>,
}

/// The backend that serves a run, and why it was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The name: `memory`, `null`, `threads`, `io_uring`, or a wrapper over one of them.
    pub name: String,
    /// Why it was chosen.
    pub why: String,
}

impl Chosen {
    fn new(name: &str, why: &str) -> Self {
        Self { name: name.to_owned(), why: why.to_owned() }
    }
}

/// Checks that the request is within the target.
fn in_range(request: &Request, capacity_sectors: u64) -> Result<(), Failure> {
    match request.start.0.checked_add(u64::from(request.sectors.0)) {
        Some(end) if end <= capacity_sectors => Ok(()),
        _ => Err(Failure::OutOfRange { capacity_sectors }),
    }
}

/// [`Backend::wait`] for backends that complete requests immediately.
fn wait_ready(
    ready: &mut Vec<Done>,
    clock: &dyn Clock,
    deadline: Option<Instant>,
    done: &mut Vec<Done>,
) {
    if ready.is_empty()
        && let Some(deadline) = deadline
    {
        clock.pass_until(deadline);
    }
    done.append(ready);
}
