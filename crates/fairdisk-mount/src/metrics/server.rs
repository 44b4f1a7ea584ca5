//! The server for scrapes of the metrics.
//!
//! Clients cannot disturb the mounts: requests are short and must arrive within seconds, the number
//! of connections is limited, and the disk's lock is taken at most ten times per second.

use super::address::{Listener, Stream};
use super::http::{Asked, HEAD_BYTES_MAX, answer, read};
use super::page::Page;
use crate::visitors::{Place, Visitor as _, Visitors, go_with_others};
use fairdisk_core::{Instant, Span};
use fairdisk_plane::{Clock as _, MonotonicClock};
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The time limit of a connection, from request to response.
const PATIENCE: Span = Span::from_s(5);

/// The most connections at once. Further ones replace silent ones.
const CONNECTIONS_MAX: usize = 16;

/// How long a generated page is served again.
const FRESH: Span = Span::from_ms(100);

/// The server, which answers until it is dropped.
#[derive(Debug)]
pub(super) struct MetricsServer {
    _visitors: Visitors<Listener>,
}

struct Scraped {
    page: Page,
    last: Mutex<Option<(Instant, Arc<str>)>>,
    clock: MonotonicClock,
}

impl MetricsServer {
    /// Serves `page` at `listener`.
    ///
    /// # Errors
    /// The system refuses to start a thread.
    pub(super) fn start(listener: Listener, page: Page) -> io::Result<Self> {
        let address = listener.address().map(|address| address.to_string());
        tracing::info!(address, "metrics up");
        let scraped = Scraped { page, last: Mutex::new(None), clock: MonotonicClock::start() };
        let talk = move |stream: &Stream, place: &Place<Listener>| {
            go_with_others();
            // A client that disconnects early is no concern of ours.
            let _ = scraped.converse(stream, place);
        };
        let visitors = Visitors::receive("metrics", listener, CONNECTIONS_MAX, talk)?;
        Ok(Self { _visitors: visitors })
    }
}

impl Scraped {
    fn converse(&self, mut stream: &Stream, place: &Place<Listener>) -> io::Result<()> {
        let until = self.clock.now() + PATIENCE;
        let mut head = Vec::new();
        let mut part = [0; 1024];
        let asked = loop {
            self.limit(stream, until)?;
            match stream.read(&mut part)? {
                0 => return Ok(()),
                length => head.extend_from_slice(&part[..length]),
            }
            if let Some(asked) = read(&head[..head.len().min(HEAD_BYTES_MAX)]) {
                break asked;
            }
        };
        let text = place.answer(|| answer(asked, || self.page().to_string()));
        self.tell(stream, text.as_bytes(), until)?;
        stream.hang_up(Shutdown::Write);
        if asked != Asked::Metrics {
            // Closing a socket with unread data resets the connection, and the response would be
            // lost.
            self.limit(stream, until)?;
            let _ = stream.read(&mut part);
        }
        Ok(())
    }

    fn tell(&self, mut stream: &Stream, mut data: &[u8], until: Instant) -> io::Result<()> {
        while !data.is_empty() {
            self.limit(stream, until)?;
            match stream.write(data) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(length) => data = &data[length..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn limit(&self, stream: &Stream, until: Instant) -> io::Result<()> {
        let left = until - self.clock.now();
        if left == Span::ZERO {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.limit(Duration::from_nanos(left.as_ns()).max(Duration::from_millis(1)))
    }

    /// The page, generated anew if the last one is too old.
    fn page(&self) -> Arc<str> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        if let Some((made, text)) = &*last
            && now < *made + FRESH
        {
            return Arc::clone(text);
        }
        let text: Arc<str> = self.page.text().into();
        *last = Some((now, Arc::clone(&text)));
        text
    }
}
