//! What serves the requests: memory, a file through threads or `io_uring`, or any of them held to
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

/// Serves requests. It is used from one thread.
pub trait Backend {
    /// How many requests it takes at once.
    fn depth(&self) -> u32;

    /// How many sectors it has.
    fn capacity_sectors(&self) -> u64;

    /// How many requests it holds.
    fn in_flight(&self) -> u32;

    /// Takes a request over, with the bytes to write or room for those to read. At most
    /// [`depth`](Self::depth) may be in flight, each with an id of its own.
    fn submit(&mut self, now: Instant, request: &Request, data: Buffer);

    /// Waits until a request is done or `deadline` has come, whichever is first, and appends what
    /// is done. A deadline that has passed only looks. Without a deadline and with nothing in
    /// flight it returns at once.
    ///
    /// # Errors
    /// The backend itself broke; what is in flight is lost. A request that fails is not an error
    /// here but in its [`Done`].
    fn wait(
        &mut self,
        clock: &dyn Clock,
        deadline: Option<Instant>,
        done: &mut Vec<Done>,
    ) -> io::Result<()>;

    /// What it is and why it was chosen.
    fn chosen(&self) -> Chosen;

    /// How late completions were against a model, if there is one.
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

/// A request that is done.
#[derive(Debug)]
pub struct Done {
    /// Which.
    pub id: RequestId,
    /// Its buffer, with what was read.
    pub data: Buffer,
    /// Whether it succeeded.
    pub result: Result<(), Failure>,
}

/// Which backend serves a run, and why that one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Its name: `memory`, `null`, `threads`, `io_uring`, or one of them under another.
    pub name: String,
    /// Why.
    pub why: String,
}

impl Chosen {
    fn new(name: &str, why: &str) -> Self {
        Self { name: name.to_owned(), why: why.to_owned() }
    }
}

/// Whether the request lies within the target.
fn in_range(request: &Request, capacity_sectors: u64) -> Result<(), Failure> {
    match request.start.0.checked_add(u64::from(request.sectors.0)) {
        Some(end) if end <= capacity_sectors => Ok(()),
        _ => Err(Failure::OutOfRange { capacity_sectors }),
    }
}

/// What a backend that is done at once does in [`Backend::wait`].
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
