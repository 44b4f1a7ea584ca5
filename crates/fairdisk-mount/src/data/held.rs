//! The data of writes that wait for the disk.
//!
//! The kernel hands over the data of a write together with the request, and whoever reads requests
//! must take it at once, so that others are not held up. So a write keeps a copy of its data until
//! it is done. The memory for that is limited, and no user can take what others need. The data of
//! a write that finds no room is kept in a file without a name in SOURCE's file system, whose pages
//! the system can write out when memory is short. Such a write waits like any other. The file takes
//! only little of the free space, and what finds no space meanwhile is tried again.

use super::buffers::Buffers;
use crate::fair_pool::{FairPool, Share};
use crate::files::descriptor::Kept;
use crate::files::leaving::Leaving;
use crate::memory;
use crate::requests::caller::User;
use fairdisk_plane::buffer::Buffer;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, fstatvfs, openat};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// The most bytes of memory for data that waits.
const WAITING_BYTES_MAX: u64 = 128 << 20;

/// The part of the memory that the process may have which these bytes are at most.
const MEMORY_PART: u64 = 8;

/// The size of a slot of the overflow file in bytes, which is the most that a write has.
const SLOT_BYTES: u64 = 1 << 20;

/// The part of the free space of a file system that the overflow file takes at most.
const SPACE_PART: u64 = 16;

/// The memory for data that waits, in all mounts of this process.
static WAITING: LazyLock<FairPool> =
    LazyLock::new(|| FairPool::new((memory::limit() / MEMORY_PART).min(WAITING_BYTES_MAX)));

/// The data of a write.
pub(crate) struct Held {
    len: usize,
    buffer: Buffer,
    /// Where the data is while the buffer is empty.
    stored: Option<Stored>,
    _share: Option<Share>,
}

impl Held {
    /// A copy of `data`, which `user` has written.
    pub(crate) fn copy(data: &[u8], user: User, overflow: &Arc<Overflow>) -> Self {
        let (len, mut share) = (data.len(), None);
        match WAITING.take(user, len as u64) {
            Ok(taken) => share = Some(taken),
            Err(_) => {
                if let Ok(stored) = overflow.store(data) {
                    let buffer = Buffer::empty();
                    return Self { len, buffer, stored: Some(stored), _share: None };
                }
                // There is no such file here, or no space. The data must be somewhere.
            }
        }
        let mut buffer = Buffers::shared().take(len);
        buffer.bytes_mut()[..len].copy_from_slice(data);
        Self { len, buffer, stored: None, _share: share }
    }

    /// The number of bytes.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Has the data in memory. To be called before it is used, at the time of the write.
    pub(crate) fn load(&mut self) -> io::Result<()> {
        if let Some(stored) = &self.stored {
            let mut buffer = Buffers::shared().take(self.len);
            stored.read(&mut buffer.bytes_mut()[..self.len])?;
            (self.buffer, self.stored) = (buffer, None);
        }
        Ok(())
    }

    /// The data, once it is [loaded](Self::load).
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer.bytes()[..self.len]
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        Buffers::shared().put(std::mem::take(&mut self.buffer));
    }
}

/// The file for data that has no room in memory, made when it is first needed.
#[derive(Debug)]
pub(crate) struct Overflow {
    directory: OwnedFd,
    slots: Mutex<Slots>,
    leaving: Arc<Leaving>,
}

#[derive(Debug, Default)]
struct Slots {
    file: Option<Arc<Nameless>>,
    free: Vec<u64>,
    /// The number of slots in the file.
    all: u64,
}

/// A file without a name, which is closed when nothing is stored in it.
#[derive(Debug)]
struct Nameless {
    file: File,
    kept: Arc<Kept>,
}

/// Data in the overflow file, which is deleted when this is dropped.
struct Stored {
    overflow: Arc<Overflow>,
    file: Arc<Nameless>,
    slot: u64,
}

impl Overflow {
    /// A file in the file system of a directory. It counts as one of the removed files that are
    /// `leaving`, for those who find no space.
    pub(crate) fn new(directory: impl AsFd, leaving: &Arc<Leaving>) -> io::Result<Self> {
        let directory = directory.as_fd().try_clone_to_owned()?;
        Ok(Self { directory, slots: Mutex::default(), leaving: Arc::clone(leaving) })
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores data, of which there is at most a slot.
    fn store(self: &Arc<Self>, data: &[u8]) -> io::Result<Stored> {
        if data.len() as u64 > SLOT_BYTES {
            return Err(io::Error::from_raw_os_error(libc::EFBIG));
        }
        let stored = self.slot()?;
        self.leaving.expect(&stored.file.kept);
        stored.file.file.write_all_at(data, stored.slot * SLOT_BYTES)?;
        Ok(stored)
    }

    fn slot(self: &Arc<Self>) -> io::Result<Stored> {
        let mut slots = self.slots();
        let file = match &slots.file {
            Some(file) => Arc::clone(file),
            None => {
                let how = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
                let file = openat(&self.directory, ".", how, Mode::RUSR | Mode::WUSR)?.into();
                let file = Arc::new(Nameless { file, kept: Arc::default() });
                Arc::clone(slots.file.insert(file))
            }
        };
        let space = fstatvfs(&file.file)?;
        if space.f_bavail * space.f_frsize / SPACE_PART <= slots.all * SLOT_BYTES {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        let slot = slots.free.pop().unwrap_or(slots.all);
        slots.all = slots.all.max(slot + 1);
        Ok(Stored { overflow: Arc::clone(self), file, slot })
    }
}

impl Stored {
    fn read(&self, into: &mut [u8]) -> io::Result<()> {
        self.file.file.read_exact_at(into, self.slot * SLOT_BYTES)
    }
}

impl Drop for Stored {
    fn drop(&mut self) {
        // While the slot is still ours. If this fails it costs space and no more.
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let _ = fallocate(&self.file.file, punch, self.slot * SLOT_BYTES, SLOT_BYTES);
        let mut slots = self.overflow.slots();
        slots.free.push(self.slot);
        if slots.free.len() as u64 == slots.all {
            // The file is made anew when it is needed again.
            (slots.file, slots.free, slots.all) = (None, Vec::new(), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn data(byte: u8) -> Vec<u8> {
        vec![byte; SLOT_BYTES as usize]
    }

    fn overflow_in(directory: &Path) -> Arc<Overflow> {
        let directory = File::open(directory).unwrap();
        Arc::new(Overflow::new(directory, &Arc::default()).unwrap())
    }

    #[test]
    fn what_has_no_room_in_memory_is_stored_until_it_is_used() {
        let place = tempfile::tempdir().unwrap();
        let overflow = overflow_in(place.path());
        let most = WAITING.total() >> 20;
        let user = User { uid: 1000, gid: 0 };
        let mut held: Vec<Held> =
            (0..most).map(|at| Held::copy(&data(at as u8), user, &overflow)).collect();
        let stored = held.iter().filter(|held| held.stored.is_some()).count() as u64;
        if stored == 0 {
            return println!("skipped: no file without a name in {}", place.path().display());
        }
        assert!((most / 2..most).contains(&stored), "{stored} of {most}");
        let other = Held::copy(&data(7), User::ROOT, &overflow);
        assert!(other.stored.is_none(), "others find room");
        for (at, held) in held.iter_mut().enumerate() {
            held.load().unwrap();
            assert_eq!((held.bytes()[0], held.len()), (at as u8, 1 << 20));
            assert!(held.bytes().iter().all(|byte| *byte == at as u8));
        }
        drop(held);
        assert!(overflow.slots().file.is_none(), "nothing is left of it");
    }

    #[test]
    fn a_slot_that_is_used_again_has_the_data_of_its_new_user() {
        let place = tempfile::tempdir().unwrap();
        let overflow = overflow_in(place.path());
        let Ok(_one_stays) = overflow.store(&data(0)) else {
            return println!("skipped: no file without a name in {}", place.path().display());
        };
        let store = &|byte: u8| {
            let mut read = data(0);
            for _ in 0..200 {
                let stored = overflow.store(&data(byte)).unwrap();
                stored.read(&mut read).unwrap();
                assert!(read.iter().all(|found| *found == byte));
            }
        };
        std::thread::scope(|scope| (1..=4).for_each(|byte| drop(scope.spawn(move || store(byte)))));
    }

    #[test]
    fn where_nothing_can_be_stored_the_data_is_in_memory_all_the_same() {
        let user = User { uid: 1001, gid: 0 };
        let overflow = overflow_in(Path::new("/proc"));
        let most = WAITING.total() >> 20;
        let held: Vec<Held> =
            (0..most).map(|at| Held::copy(&data(at as u8), user, &overflow)).collect();
        assert!(held.iter().all(|held| held.bytes().len() == 1 << 20));
    }
}
