//! The numbers by which disks know the programs.

use super::MachineConfig;
use crate::workload::TaskSpec;
use fairdisk_core::TaskId;

/// The disks that a task uses, and its number on each. The first one is its home, whose random
/// numbers it uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) home: u32,
    pub(super) at_home: TaskId,
    pub(super) elsewhere: Vec<(u32, TaskId)>,
}

impl Numbers {
    /// The numbers of every task. A disk counts those that use it, in their order.
    pub(super) fn of_all(config: &MachineConfig) -> Vec<Self> {
        let mut counts = vec![0; config.disks.len()];
        let mut next = |disk: u32| {
            let count = &mut counts[disk as usize];
            *count += 1;
            (disk, TaskId(*count - 1))
        };
        let mut numbers = |task: &TaskSpec| {
            let mut disks = Vec::new();
            for file in &task.files {
                let volume = config.files[*file as usize].volume;
                let disk = config.volumes[volume as usize].disk;
                if !disks.contains(&disk) {
                    disks.push(disk);
                }
            }
            let others = disks.split_off(disks.len().min(1));
            let (home, at_home) = next(disks.first().copied().unwrap_or(0));
            Self { home, at_home, elsewhere: others.into_iter().map(&mut next).collect() }
        };
        config.tasks.iter().map(&mut numbers).collect()
    }

    /// Its number on a disk that it uses.
    #[inline]
    pub(super) fn on(&self, disk: u32) -> TaskId {
        if disk == self.home { self.at_home } else { self.away(disk) }
    }

    #[cold]
    fn away(&self, disk: u32) -> TaskId {
        let number = self.elsewhere.iter().find(|(at, _)| *at == disk);
        let Some((_, number)) = number else { panic!("the task has no file on disk {disk}") };
        *number
    }

    /// The disks that it uses, and its number on each.
    #[inline]
    pub(super) fn all(&self) -> impl Iterator<Item = (u32, TaskId)> + use<'_> {
        std::iter::once((self.home, self.at_home)).chain(self.elsewhere.iter().copied())
    }
}
