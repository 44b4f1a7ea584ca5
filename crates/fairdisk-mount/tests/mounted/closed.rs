//! A mount in this process whose disk does nothing until it is told to, piece by piece.

use crate::common::{can_mount, place, until};
use fairdisk_mount::{Gate, Job, MountOptions, Mounted, Piece};
use std::collections::VecDeque;
use std::fs::{self, File};
use std::sync::{Arc, Mutex};
use std::thread;

/// Unmounts, and waits meanwhile for child processes of other tests, which hold our descriptors
/// until they execute their program.
pub(crate) fn unmount(mounted: &mut Mounted) {
    until("nobody uses the mount", || mounted.unmount().is_ok());
}

/// A gate that keeps pieces until it is told to perform them.
#[derive(Clone, Default)]
pub(crate) struct ClosedGate(pub(crate) Arc<Mutex<Waiting>>);

pub(crate) type Waiting = VecDeque<(Piece, Box<dyn Job>)>;

impl ClosedGate {
    pub(crate) fn waiting(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub(crate) fn let_one_through(&self) -> Option<Piece> {
        let (piece, mut job) = self.0.lock().unwrap().pop_front()?;
        let result = job.perform();
        job.finish(result);
        Some(piece)
    }

    pub(crate) fn let_last_through(&self) {
        let Some((_, mut job)) = self.0.lock().unwrap().pop_back() else { return };
        let result = job.perform();
        job.finish(result);
    }

    /// Fails the next piece without performing it.
    pub(crate) fn fail_one(&self) {
        let (_, job) = self.0.lock().unwrap().pop_front().unwrap();
        job.finish(Err(rustix::io::Errno::IO.into()));
    }

    /// Calls `fsync`, and performs everything that it waits for. Returns the error number, if any.
    pub(crate) fn sync(&self, file: &File) -> Option<i32> {
        thread::scope(|scope| {
            let syncing = scope.spawn(|| file.sync_all());
            until("it is durable", || {
                while self.let_one_through().is_some() {}
                syncing.is_finished()
            });
            syncing.join().unwrap().err().and_then(|error| error.raw_os_error())
        })
    }
}

/// The account of everything behind a closed gate.
pub(crate) const ACCOUNT: u32 = 7;

impl Gate for ClosedGate {
    fn submit(&self, piece: Piece, job: Box<dyn Job>) {
        self.0.lock().unwrap().push_back((piece, job));
    }

    fn account(&self, _caller: u32, _file: u64) -> u32 {
        ACCOUNT
    }
}

/// A mount in this process behind `gate`, if mounts are possible.
pub(crate) fn mounted_behind(
    gate: impl Gate,
    options: MountOptions,
) -> Option<(tempfile::TempDir, Mounted)> {
    if !can_mount() {
        return None;
    }
    let place = place();
    let (source, mount) = (place.path().join("source"), place.path().join("mount"));
    fs::create_dir(&source).unwrap();
    fs::create_dir(&mount).unwrap();
    let mounted = Mounted::mount(&source, &mount, options, Arc::new(gate)).unwrap();
    Some((place, mounted))
}

/// A mount behind a closed gate, with a limit of 1 MiB of dirty data.
pub(crate) fn closed() -> Option<(tempfile::TempDir, ClosedGate, Mounted)> {
    closed_with(MountOptions { dirty_limit: 1 << 20, ..MountOptions::default() })
}

pub(crate) fn closed_with(
    options: MountOptions,
) -> Option<(tempfile::TempDir, ClosedGate, Mounted)> {
    let gate = ClosedGate::default();
    let (place, mounted) = mounted_behind(gate.clone(), options)?;
    Some((place, gate, mounted))
}
