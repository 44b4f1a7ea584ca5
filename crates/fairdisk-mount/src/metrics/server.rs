//! Answers scrapes.
//!
//! Nobody at the other end can do harm: a question is short, comes within a few seconds or not at
//! all, few are answered at once, and the disk's lock is taken ten times a second at most.

use super::address::{Listener, Stream};
use super::http::{Asked, HEAD_BYTES_MAX, answer, read};
use super::page::Page;
use crate::trouble::Seldom;
use fairdisk_core::{Instant, Span};
use fairdisk_plane::{Clock as _, MonotonicClock};
use std::io::{self, Read as _, Write as _};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A question and its answer take no longer, all together.
const PATIENCE: Span = Span::from_s(5);

/// Connections at once; more are hung up on.
const CONNECTIONS_MAX: usize = 16;

/// How long a page is good for.
const FRESH: Span = Span::from_ms(100);

static TOO_MANY: Seldom = Seldom::new();

/// Answers until it is dropped.
#[derive(Debug)]
pub struct MetricsServer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    listener: Listener,
    page: Page,
    last: Mutex<Option<(Instant, Arc<str>)>>,
    clock: MonotonicClock,
    connections: AtomicUsize,
    closing: AtomicBool,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("listener", &self.listener).finish_non_exhaustive()
    }
}

impl MetricsServer {
    /// Answers at `listener` with what `page` says.
    ///
    /// # Errors
    /// The system refuses to start a thread.
    pub fn start(listener: Listener, page: Page) -> io::Result<Self> {
        let address = listener.address().map(|address| address.to_string());
        tracing::info!(address, "metrics up");
        let shared = Arc::new(Shared {
            listener,
            page,
            last: Mutex::new(None),
            clock: MonotonicClock::start(),
            connections: AtomicUsize::new(0),
            closing: AtomicBool::new(false),
        });
        let own = Arc::clone(&shared);
        let builder = std::thread::Builder::new().name("fairdisk-metrics".to_owned());
        let thread = builder.spawn(move || own.listen())?;
        Ok(Self { shared, thread: Some(thread) })
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Release);
        self.shared.listener.close();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has printed why.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn listen(self: &Arc<Self>) {
        loop {
            let stream = self.listener.accept();
            if self.closing.load(Ordering::Acquire) {
                return;
            }
            let Ok(stream) = stream else {
                // Out of descriptors, perhaps; it may pass.
                std::thread::park_timeout(Duration::from_millis(100));
                continue;
            };
            if self.connections.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS_MAX {
                self.connections.fetch_sub(1, Ordering::AcqRel);
                if let Some(unsaid) = TOO_MANY.pass() {
                    let most = CONNECTIONS_MAX;
                    tracing::warn!(most, unsaid, "scrape refused: too many at once");
                }
                continue;
            }
            let own = Arc::clone(self);
            let builder = std::thread::Builder::new().name("fairdisk-scrape".to_owned());
            let spawned = builder.spawn(move || {
                // Somebody who hangs up in the middle is no concern of ours.
                let _ = own.converse(stream);
                own.connections.fetch_sub(1, Ordering::AcqRel);
            });
            if spawned.is_err() {
                self.connections.fetch_sub(1, Ordering::AcqRel);
            }
        }
    }

    fn converse(&self, mut stream: Stream) -> io::Result<()> {
        let until = self.clock.now() + PATIENCE;
        let mut head = Vec::new();
        let mut part = [0; 1024];
        let asked = loop {
            self.limit(&stream, until)?;
            match stream.read(&mut part)? {
                0 => return Ok(()),
                length => head.extend_from_slice(&part[..length]),
            }
            if let Some(asked) = read(&head[..head.len().min(HEAD_BYTES_MAX)]) {
                break asked;
            }
        };
        let text = answer(asked, || self.page().to_string());
        self.tell(&mut stream, text.as_bytes(), until)?;
        stream.end();
        if asked != Asked::Metrics {
            // What is not read when we hang up takes the answer with it.
            self.limit(&stream, until)?;
            let _ = stream.read(&mut part);
        }
        Ok(())
    }

    fn tell(&self, stream: &mut Stream, mut data: &[u8], until: Instant) -> io::Result<()> {
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

    /// The page, made anew if the last one is too old.
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
