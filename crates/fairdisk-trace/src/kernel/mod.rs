//! Recordings of a block device under the kernel, by the block tracepoints.
//!
//! A tracefs instance of its own has the events of one device alone, in a ring buffer per CPU, from
//! which pages are read as they are. Each page is a sequence of events whose layout tracefs itself
//! describes ([`layout`], [`page`]).

mod instance;
mod layout;
mod page;
mod tasks;

pub use instance::KernelError;

use crate::origins::Origins;
use crate::pairing::{Event, Pairing, Step};
use crate::request::Request;
use crate::rwbs;
use fairdisk_core::{Instant, IoPrio, Span};
use instance::Instance;
use layout::Layout;
use std::fmt;
use tasks::Tasks;

/// The number of a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceNumber {
    /// Its major number.
    pub major: u32,
    /// Its minor number.
    pub minor: u32,
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.major, self.minor)
    }
}

/// What a device is asked for in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Requests, which it is given and which it completes.
    Requests,
    /// I/Os, which it hands on to devices below, as LVM, LUKS and arrays do: when those get them is
    /// not known.
    Stacked,
}

impl Kind {
    /// The tracepoints that are a step of a request.
    const fn steps(self) -> &'static [(&'static str, Step)] {
        match self {
            Self::Requests => &[
                ("block_bio_queue", Step::Queued),
                ("block_rq_issue", Step::Issued),
                ("block_rq_requeue", Step::Requeued),
                ("block_rq_complete", Step::Done),
            ],
            Self::Stacked => {
                &[("block_bio_queue", Step::Queued), ("block_bio_complete", Step::Done)]
            }
        }
    }
}

/// Events of other CPUs may be read a moment later: what is not older than this waits.
const SETTLES: Span = Span::from_ms(2);

/// A device that is being recorded.
#[derive(Debug)]
pub struct Kernel {
    instance: Instance,
    layouts: Vec<(Step, Layout)>,
    device: String,
    began: Instant,
    /// Events that have been read but not put in order, by time.
    read: Vec<(Instant, Raw)>,
    pairing: Pairing,
    tasks: Tasks,
    origins: Origins,
}

/// An event as it was read.
#[derive(Clone, Copy, Debug)]
struct Raw {
    step: Step,
    sector: u64,
    sectors: u32,
    letters: [u8; layout::LETTERS_MOST],
    pid: u32,
    name: [u8; layout::NAME_BYTES],
}

impl Kernel {
    /// Begins to record a whole device. `now` is the time of the kernel's monotonic clock.
    ///
    /// # Errors
    /// Returns an error if the kernel does not let this be done.
    pub fn begin(device: DeviceNumber, kind: Kind, now: Instant) -> Result<Self, KernelError> {
        let steps = kind.steps();
        let instance = Instance::new(device, steps.iter().map(|(name, _)| *name))?;
        let mut layouts = Vec::new();
        for (name, step) in steps {
            layouts.push((*step, instance.layout(name)?));
        }
        instance.start()?;
        Ok(Self {
            instance,
            layouts,
            device: device.to_string(),
            began: now,
            read: Vec::new(),
            pairing: Pairing::default(),
            tasks: Tasks::default(),
            origins: Origins::default(),
        })
    }

    /// Reads what has happened until `now`, and hands over the requests that were done.
    ///
    /// # Errors
    /// Returns an error if the ring buffers cannot be read.
    pub fn fetch(&mut self, now: Instant, done: impl FnMut(Request)) -> Result<(), KernelError> {
        self.read_all()?;
        self.take_until(Instant::from_ns(now.as_ns().saturating_sub(SETTLES.as_ns())), done);
        Ok(())
    }

    /// Ends the recording: hands over the rest, also what was not done.
    ///
    /// # Errors
    /// Returns an error if the ring buffers cannot be read.
    pub fn finish(&mut self, mut done: impl FnMut(Request)) -> Result<(), KernelError> {
        self.instance.stop()?;
        self.read_all()?;
        self.take_until(Instant::MAX, &mut done);
        self.pairing.finish(done);
        Ok(())
    }

    /// The origins of the requests so far.
    #[must_use]
    pub const fn origins(&self) -> &Origins {
        &self.origins
    }

    /// The events that had no room in the ring buffers so far.
    ///
    /// # Errors
    /// Returns an error if the kernel does not say.
    pub fn lost(&self) -> Result<u64, KernelError> {
        self.instance.lost()
    }

    fn read_all(&mut self) -> Result<(), KernelError> {
        let (layouts, read, began) = (&self.layouts, &mut self.read, self.began);
        self.instance.read(|bytes| {
            page::events(bytes, |at, event| {
                let known = layouts.iter().find(|(_, layout)| layout.is_of(event));
                let raw = known.and_then(|(step, layout)| layout.read(*step, event));
                read.extend(raw.map(|raw| (Instant::ZERO + at.since(began), raw)));
            });
        })
    }

    fn take_until(&mut self, until: Instant, mut done: impl FnMut(Request)) {
        let until = match until {
            Instant::MAX => until,
            until => Instant::ZERO + until.since(self.began),
        };
        self.read.sort_by_key(|(at, _)| *at);
        let due = self.read.partition_point(|(at, _)| *at < until);
        for (at, raw) in self.read.drain(..due) {
            let end = raw.letters.iter().position(|byte| *byte == 0).unwrap_or(raw.letters.len());
            let letters = core::str::from_utf8(&raw.letters[..end]).unwrap_or_default();
            let Some((op, traits)) = rwbs::parse(letters, raw.sectors) else { continue };
            let sector = if raw.sectors == 0 { 0 } else { raw.sector };
            let Some((start, sectors)) = crate::number::sectors(sector, raw.sectors.into()) else {
                continue;
            };
            let (step, origin) = (raw.step, Default::default());
            let mut event = Event { at, step, device: 0, origin, op, traits, start, sectors };
            // Who asked is known from the first event. A task that later gives it to the device may
            // be another.
            let begins = match step {
                Step::Queued => true,
                Step::Issued => !self.pairing.knows(&event),
                Step::Requeued | Step::Done => false,
            };
            if begins {
                let (group, task) = self.tasks.names(raw.pid, &raw.name);
                event.origin = self.origins.number(&self.device, group, task, IoPrio::UNSET);
            }
            self.pairing.take(&event, &mut done);
        }
    }
}
