//! The start of a disk and of its threads.

use super::inbox::Inbox;
use super::pool;
use super::ring::{self, Performer};
use super::state::State;
use super::timer::Appointment;
use super::unheard::Unheard;
use super::{Device, Disk, Guarded, Shared};
use crate::backend::{NoRing, Preference, Ring};
use crate::clock::MonotonicClock;
use fairdisk_core::{EngineConfig, Instant};
use fairdisk_sched::Scheduler;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{Builder, JoinHandle};

/// What performs the jobs of a busy disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Served {
    /// `io_uring` for pure transfers, and threads for other jobs.
    Uring,
    /// Threads only, for this reason.
    Threads(String),
}

impl Served {
    /// The name used on the command line.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Uring => "uring",
            Self::Threads(_) => "threads",
        }
    }
}

/// Why a disk cannot be started.
#[derive(Debug)]
pub enum StartError {
    /// The system refuses to start a thread.
    NoThreads(io::Error),
    /// `io_uring` was asked for, but the kernel provides none that we can use.
    NoUring(NoRing),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoThreads(error) => write!(f, "cannot start threads: {error}"),
            Self::NoUring(refusal) => refusal.fmt(f),
        }
    }
}

impl std::error::Error for StartError {}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        Self::NoThreads(error)
    }
}

impl Disk {
    /// Starts a disk under `scheduler`. Up to `threads` jobs are performed at once by threads,
    /// which are started when first needed, and any number of transfers by an `io_uring`.
    ///
    /// # Errors
    /// The system refuses to start a thread, or the ring that was asked for.
    pub fn start(
        scheduler: Scheduler,
        config: EngineConfig,
        device: Device,
        threads: usize,
        preference: Preference,
    ) -> Result<Self, StartError> {
        let (ring, served) = ring_for(preference)?;
        let inbox = ring.as_ref().map(|_| Inbox::new()).transpose()?;
        let state = State::new(scheduler, config, device);
        let shared = Arc::new(Shared {
            clock: MonotonicClock::start(),
            guarded: Mutex::new(Guarded {
                state,
                latest: Instant::ZERO,
                news: Vec::new(),
                appointment: Appointment::default(),
                closing: false,
            }),
            sooner: Condvar::new(),
            jobs: pool::Queue::new(threads),
            inbox,
            unfinished: AtomicUsize::new(0),
            unheard: Unheard::default(),
            answers_first: AtomicBool::new(false),
        });
        shared.start_pool()?;
        let mut disk = Self { shared, timer: None, ring: None, served };
        if let Some(ring) = ring {
            disk.ring = Some(disk.spawn("fairdisk-ring", |shared| {
                if let Some(inbox) = &shared.inbox {
                    Performer::new(shared, inbox, ring).run();
                }
            })?);
        }
        disk.timer = Some(disk.spawn("fairdisk-timer", Shared::keep_appointments)?);
        Ok(disk)
    }

    fn spawn(
        &self,
        name: &str,
        life: impl FnOnce(&Shared) + Send + 'static,
    ) -> io::Result<JoinHandle<()>> {
        let own = Arc::clone(&self.shared);
        Builder::new().name(name.to_owned()).spawn(move || life(&own))
    }
}

fn ring_for(preference: Preference) -> Result<(Option<Ring>, Served), StartError> {
    if preference == Preference::Threads {
        return Ok((None, Served::Threads("asked for".to_owned())));
    }
    match Ring::new(ring::ENTRIES) {
        Ok(ring) => Ok((Some(ring), Served::Uring)),
        Err(refusal) if preference == Preference::Uring => Err(StartError::NoUring(refusal)),
        Err(refusal) => Ok((None, Served::Threads(refusal.to_string()))),
    }
}
