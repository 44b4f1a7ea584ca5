//! The data of writes that wait for the disk.
//!
//! The kernel hands over the data of a write together with the request, and whoever reads requests
//! must take it at once, so that others are not held up. So a write keeps a copy of its data until
//! it is done. The memory for that is limited, and no user can take what others need. The data of
//! a write that finds no room is kept in a file without a name in SOURCE's file system, whose pages
//! the system can write out when memory is short. Such a write waits like any other.

use super::buffers::Buffers;
use crate::fair_pool::{FairPool, Share};
use crate::memory;
use crate::requests::caller::User;
use fairdisk_plane::buffer::Buffer;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, openat};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// The most bytes of memory for data that waits.
const WAITING_BYTES_MAX: u64 = 128 << 20;

/// The part of the memory that the process may have which these bytes are at most.
const MEMORY_PART: u64 = 8;

/// The size of a slot of the overflow file in bytes, which is the most that a write has.
const SLOT_BYTES: u64 = 1 << 20;

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
#[derive(Debug, Default)]
pub(crate) struct Overflow(Mutex<Slots>);

#[derive(Debug, Default)]
struct Slots {
    directory: Option<OwnedFd>,
    file: Option<Arc<std::fs::File>>,
    free: Vec<u64>,
    /// The number of slots in the file.
    all: u64,
}

/// Data in the overflow file, which is deleted when this is dropped.
struct Stored {
    overflow: Arc<Overflow>,
    file: Arc<std::fs::File>,
    slot: u64,
}

impl Overflow {
    /// A file in the file system of a directory.
    pub(crate) fn in_directory(directory: impl AsFd) -> Self {
        let directory = directory.as_fd().try_clone_to_owned().ok();
        Self(Mutex::new(Slots { directory, ..Slots::default() }))
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores data, of which there is at most a slot.
    fn store(self: &Arc<Self>, data: &[u8]) -> io::Result<Stored> {
        if data.len() as u64 > SLOT_BYTES {
            return Err(io::Error::from_raw_os_error(libc::EFBIG));
        }
        let stored = self.slot()?;
        stored.file.write_all_at(data, stored.slot * SLOT_BYTES)?;
        Ok(stored)
    }

    fn slot(self: &Arc<Self>) -> io::Result<Stored> {
        let mut slots = self.slots();
        let file = match &slots.file {
            Some(file) => Arc::clone(file),
            None => {
                let none = || io::Error::from_raw_os_error(libc::EBADF);
                let directory = slots.directory.as_ref().ok_or_else(none)?;
                let how = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
                let file = openat(directory, ".", how, Mode::RUSR | Mode::WUSR)?;
                Arc::clone(slots.file.insert(Arc::new(file.into())))
            }
        };
        let slot = slots.free.pop().unwrap_or(slots.all);
        slots.all = slots.all.max(slot + 1);
        Ok(Stored { overflow: Arc::clone(self), file, slot })
    }
}

impl Stored {
    fn read(&self, into: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(into, self.slot * SLOT_BYTES)
    }
}

impl Drop for Stored {
    fn drop(&mut self) {
        // While the slot is still ours. If this fails it costs space and no more.
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let _ = fallocate(&*self.file, punch, self.slot * SLOT_BYTES, SLOT_BYTES);
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

    fn data(byte: u8) -> Vec<u8> {
        vec![byte; SLOT_BYTES as usize]
    }

    #[test]
    fn what_has_no_room_in_memory_is_stored_until_it_is_used() {
        let place = tempfile::tempdir().unwrap();
        let directory = std::fs::File::open(place.path()).unwrap();
        let overflow = Arc::new(Overflow::in_directory(&directory));
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
        let directory = std::fs::File::open(place.path()).unwrap();
        let overflow = Arc::new(Overflow::in_directory(&directory));
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
        let overflow = Arc::new(Overflow::default());
        let most = WAITING.total() >> 20;
        let held: Vec<Held> =
            (0..most).map(|at| Held::copy(&data(at as u8), user, &overflow)).collect();
        assert!(held.iter().all(|held| held.bytes().len() == 1 << 20));
    }
}
