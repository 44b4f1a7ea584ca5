//! Opens the target of a real run and checks its requirements: a file or memory, with or without a
//! device model.

use super::room::{self, Room};
use super::{Target, cells, setup};
use crate::failure::Failure;
use crate::progress;
use clap::ValueEnum;
use fairdisk_core::Prng;
use fairdisk_lab::plan::Plan;
use fairdisk_plane::backend::{self, Backend, Memory, Modelled, Preference};
use fairdisk_plane::file::{Allocated, Made, Watch};
use fairdisk_plane::{FileNeeds, TargetError, TargetFile};
use fairdisk_sim::device::{Device as _, Jbod};
use fairdisk_sim::workload::Direction;
use std::sync::atomic::{AtomicBool, Ordering};

/// The argument of `--backend`: what serves the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum BackendArg {
    /// io_uring if the kernel allows it, else threads
    #[default]
    Auto,
    /// Memory; the file is not touched
    Memory,
    /// A pool of threads
    Threads,
    /// io_uring, or fail
    Uring,
}

impl BackendArg {
    const fn preference(self) -> Preference {
        match self {
            Self::Auto | Self::Memory => Preference::Auto,
            Self::Threads => Preference::Threads,
            Self::Uring => Preference::Uring,
        }
    }
}

/// What the rows of a plan, taken together, need of their target.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Needs {
    sectors: u64,
    writes: bool,
    depth: u32,
}

impl Needs {
    /// The needs of every arm and row of `plan`, so that a target that does not fit is found before
    /// anything runs.
    pub(super) fn of(plan: &Plan) -> Result<Self, Failure> {
        let mut needs = Self::default();
        for cell in cells(plan) {
            let setup = setup(plan, cell)?;
            needs.sectors = needs.sectors.max(setup.sectors_needed);
            needs.depth = setup.jbod.only().depth().max(1);
            needs.writes |= writes(plan, cell);
        }
        Ok(needs)
    }

    /// Opens the target briefly, so that its problems are reported before any other output. A file
    /// that this creates is removed again.
    pub(super) fn check(
        &self,
        plan: &Plan,
        target: &Target,
        stop: &AtomicBool,
    ) -> Result<(), Failure> {
        if target.backend == BackendArg::Memory {
            return Ok(());
        }
        let is_new = target.path.symlink_metadata().is_err();
        let probe = Target { temporary: is_new || target.temporary, ..target.clone() };
        let needs = FileNeeds { allocate: false, ..self.file(target) };
        let file = open_file(&probe, &needs, true, &AtomicBool::new(false))?;
        // What is measured as it is is written out first, and then has its room.
        let Some(file) = file.filter(|_| target.modelled && self.writes) else { return Ok(()) };
        match file.room() {
            Some(bytes) => {
                let room = Room { bytes, is_marked: file.mark().is_some() };
                room::demand(plan, target, self.sectors, room, stop)
            }
            None => Ok(()),
        }
    }

    const fn file(&self, target: &Target) -> FileNeeds {
        FileNeeds {
            sectors: self.sectors,
            writes: self.writes,
            overwrite: target.overwrite,
            allocate: !target.modelled,
        }
    }
}

/// Whether a row writes to its target, through its tasks or the journal of a simulated file system.
fn writes(plan: &Plan, (arm, row): (usize, usize)) -> bool {
    let ionice = plan.arms[arm].ionice;
    let loaded = plan.rows[row].load.build(&plan.rig.host, ionice, &mut Prng::new(0));
    loaded.volumes.iter().any(|volume| volume.journal.is_some())
        || loaded.tasks.iter().any(|task| task.stream.direction != Direction::Read)
}

/// What a run does its I/O on.
pub(super) struct Opened {
    /// What serves it.
    pub(super) backend: Box<dyn Backend + Send>,
    /// The file, if it was made for this.
    pub(super) made: Option<Made>,
}

/// Opens the target's backend; `None` if `stop` was set while the file's blocks were being written.
pub(super) fn open(
    target: &Target,
    needs: &Needs,
    disk: Jbod,
    quiet: bool,
    stop: &AtomicBool,
) -> Result<Option<Opened>, Failure> {
    let mut made = None;
    let inner: Box<dyn Backend + Send> = if target.backend == BackendArg::Memory {
        Box::new(Memory::new(needs.sectors, needs.depth))
    } else {
        let file = open_file(target, &needs.file(target), quiet, stop)?;
        let Some(file) = file else { return Ok(None) };
        made = file.made();
        let opened = backend::open(file, target.backend.preference(), needs.depth);
        opened.map_err(|error| {
            // Nothing ran; the error is the one to tell.
            let _ = made.as_ref().map(Made::remove);
            Failure::BadInput(error.to_string())
        })?
    };
    let backend: Box<dyn Backend + Send> =
        if target.modelled { Box::new(Modelled::new(inner, disk.only().clone())) } else { inner };
    Ok(Some(Opened { backend, made }))
}

/// Opens a file and shows how far it is written out; `None` if `stop` was set meanwhile.
pub(super) fn write_out(
    quiet: bool,
    stop: &AtomicBool,
    open: impl FnOnce(&mut dyn FnMut(Allocated) -> Watch) -> Result<TargetFile, TargetError>,
) -> Result<Option<TargetFile>, Failure> {
    let bar = progress::bar(0, quiet);
    let mut watch = |written: Allocated| {
        progress::show(&bar, written.done >> 20, written.total >> 20);
        bar.set_message("MiB written out");
        if stop.load(Ordering::Relaxed) { Watch::Stop } else { Watch::Continue }
    };
    let opened = open(&mut watch);
    bar.finish_and_clear();
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(error) if is_stopped(&error) => Ok(None),
        Err(error) => Err(Failure::BadInput(error.to_string())),
    }
}

/// Opens the target file; `None` if `stop` was set while it was written out.
fn open_file(
    target: &Target,
    needs: &FileNeeds,
    quiet: bool,
    stop: &AtomicBool,
) -> Result<Option<TargetFile>, Failure> {
    let file = write_out(quiet, stop, |watch| TargetFile::open(&target.path, needs, watch))?;
    if target.temporary
        && let Some(made) = file.as_ref().and_then(TargetFile::made)
    {
        // A file that somebody else has put there meanwhile stays.
        made.remove().map_err(|error| {
            let path = target.path.display();
            Failure::BadInput(format!("{path}: cannot be removed again: {error}"))
        })?;
    }
    Ok(file)
}

const fn is_stopped(error: &TargetError) -> bool {
    matches!(error.problem, fairdisk_plane::file::TargetProblem::Stopped)
}
