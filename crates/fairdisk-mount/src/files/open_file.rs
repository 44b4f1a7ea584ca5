//! Open files, and the state that all openers of a file share.

use super::cached::Cached;
use super::descriptor::{Descriptor, Kept};
use super::freshness::{Changing, Closed, Freshness, Stamp};
use super::leaving::Leaving;
use super::write_errors::{Heard, Untold, WhichFile, WriteErrors};
use crate::data::appends::Appends;
use crate::data::dirty::Ranges;
use crate::data::extents::{Extents, Layout};
use crate::data::gate::Gate;
use crate::fair_pool::Share;
use crate::requests::caller::User;
use crate::shortage::is_shortage;
use crate::sys::proc_fd::ProcFd;
use crate::sys::range::write_out;
use fuser::{INodeNo, Notifier};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{OFlags, fstat};
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// The number of bytes of which offset and length must be multiples for direct I/O. Buffers have a
/// larger alignment.
const DIRECT_ALIGN: u64 = 512;

/// The state of a file, shared by all who have it open.
pub(crate) struct FileState {
    pub(crate) node: u64,
    /// The thread that used the file last, and its user.
    last_user: Mutex<(u32, User)>,
    extents: Mutex<Extents>,
    ranges: Mutex<Ranges>,
    opened: Mutex<Opened>,
    /// Whether its last name was removed through the mount.
    removed: AtomicBool,
    /// Somebody waits for the pieces of write-back with numbers below this.
    awaited: AtomicU64,
    /// The descriptor used for write-back.
    for_write_out: Mutex<Option<Arc<Descriptor>>>,
    errors: Mutex<WriteErrors>,
    /// Identifies the file after it is closed. Set once write-back has failed.
    which: OnceLock<WhichFile>,
    pub(crate) appends: Appends,
    freshness: Mutex<Freshness>,
    cached: Mutex<Cached>,
    home: Arc<FileStates>,
}

/// Who has a file open.
#[derive(Debug, Default)]
struct Opened {
    /// The number of file descriptions.
    count: usize,
    /// Whether a program has closed the file since it was last opened, so that one of them is
    /// likely to go.
    closing: bool,
    /// The file, as long as any descriptor of it is open.
    file: Weak<Kept>,
    /// The descriptor of the latest opener.
    latest: Weak<Descriptor>,
}

type OpenStates = HashMap<u64, Weak<FileState>>;

/// The states of all open files of a mount.
pub(crate) struct FileStates {
    gate: Arc<dyn Gate>,
    layout: Layout,
    states: Mutex<OpenStates>,
    /// Signals that a state has been dropped.
    one_closed: Condvar,
    closed: Mutex<Closed>,
    untold: Mutex<Untold>,
    /// The means to tell the kernel something, once the mount exists.
    kernel: OnceLock<Notifier>,
    /// Removed files that are about to be closed.
    pub(crate) leaving: Arc<Leaving>,
}

impl FileStates {
    /// A table without open files.
    pub(crate) fn new(gate: Arc<dyn Gate>, layout: Layout) -> Self {
        let (states, one_closed) = (Mutex::default(), Condvar::new());
        let (closed, untold, kernel) = (Mutex::default(), Mutex::default(), OnceLock::new());
        let leaving = Arc::default();
        Self { gate, layout, states, one_closed, closed, untold, kernel, leaving }
    }

    /// Has the kernel told through `notifier`.
    pub(crate) fn mounted(&self, notifier: Notifier) {
        let _ = self.kernel.set(notifier);
    }

    /// Has the kernel ask for the attributes of a file again. To be called before a request that
    /// changed them is answered, if the kernel does not conclude so from the request itself. Unlike
    /// a notice about data it waits for nothing, neither for requests nor for the file's locks.
    pub(crate) fn attributes_changed(&self, node: u64) {
        /// The offset that means attributes alone.
        const NO_DATA: i64 = -1;
        // An error means that the kernel does not know the file.
        self.kernel.get().map(|kernel| kernel.inval_inode(INodeNo(node), NO_DATA, 0));
    }

    fn lock(&self) -> MutexGuard<'_, OpenStates> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn closed(&self) -> MutexGuard<'_, Closed> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn untold(&self) -> MutexGuard<'_, Untold> {
        self.untold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state of a file that is being opened as `fd`.
    pub(crate) fn of(self: &Arc<Self>, (node, inode): (u64, u64), fd: &OwnedFd) -> Arc<FileState> {
        let (mut states, open) = self.look_up(node);
        if let Some(state) = open {
            return state;
        }
        let stamp = self.closed().take(node);
        let untold = self.untold().take(node, fd);
        let state = Arc::new(FileState {
            node,
            last_user: Mutex::default(),
            extents: Mutex::new(Extents::new(inode, self.layout)),
            ranges: Mutex::default(),
            opened: Mutex::default(),
            removed: AtomicBool::new(false),
            for_write_out: Mutex::default(),
            awaited: AtomicU64::new(0),
            errors: Mutex::new(WriteErrors::of(untold.map(|(_, errno)| errno))),
            which: untold.map(|(which, _)| OnceLock::from(which)).unwrap_or_default(),
            appends: Appends::default(),
            freshness: Mutex::new(Freshness::new(stamp)),
            cached: Mutex::new(Cached::anything()),
            home: Arc::clone(self),
        });
        states.insert(node, Arc::downgrade(&state));
        state
    }

    /// Notes that a metadata change of ours has changed a file's stamp from `before` to `after`.
    pub(crate) fn touched(&self, node: u64, before: Stamp, after: Stamp) {
        match self.find(node) {
            Some(state) => state.freshness().touched(before, after),
            None => self.closed().touched(node, before, after),
        }
    }

    /// Notes that the kernel has forgotten a node, unless it `is_known`. An unreported write error
    /// of the node is discarded, so that it is not reported for another file with the same number.
    pub(crate) fn forgotten(&self, node: u64, is_known: impl FnOnce() -> bool) {
        let is_kept = self.untold().has_known(node);
        if is_kept && !is_known() {
            self.untold().forget(node);
        }
    }

    /// The state of a file, if it is open.
    pub(crate) fn find(&self, node: u64) -> Option<Arc<FileState>> {
        self.look_up(node).1
    }

    /// Locks the table and looks up the state of a file. A state that is just being dropped is
    /// waited for, so that what it leaves behind is available.
    fn look_up(&self, node: u64) -> (MutexGuard<'_, OpenStates>, Option<Arc<FileState>>) {
        let mut states = self.lock();
        while let Some(state) = states.get(&node) {
            if let Some(state) = state.upgrade() {
                return (states, Some(state));
            }
            states = self.one_closed.wait(states).unwrap_or_else(PoisonError::into_inner);
        }
        (states, None)
    }
}

impl Drop for FileState {
    fn drop(&mut self) {
        let untold = self.errors().untold();
        let mut states = self.home.lock();
        if !self.is_in(&states) {
            return;
        }
        states.remove(&self.node);
        let stamp = self.freshness().stamp();
        stamp.into_iter().for_each(|stamp| self.home.closed().remember(self.node, stamp));
        self.home.gate.done_with(self.node);
        if let (Some(errno), Some(which), false) = (untold, self.which.get(), self.is_removed()) {
            self.home.untold().keep(*which, errno);
        }
        self.home.one_closed.notify_all();
    }
}

impl FileState {
    /// The mapping of the file's blocks to the device.
    pub(crate) fn extents(&self) -> MutexGuard<'_, Extents> {
        self.extents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the position of `offset` on the device is known. Returns false, and does not wait,
    /// while another thread queries the mapping.
    pub(crate) fn knows_extent(&self, offset: u64) -> bool {
        self.extents.try_lock().is_ok_and(|extents| extents.knows(offset))
    }

    /// The freshness of the kernel's cached data.
    pub(crate) fn freshness(&self) -> MutexGuard<'_, Freshness> {
        self.freshness.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the file has just been made, with this stamp: nothing of it is cached.
    pub(crate) fn made(&self, stamp: Stamp) {
        self.freshness().made(stamp);
        *self.cached() = Cached::nothing();
    }

    /// What the kernel may have in its page cache.
    pub(crate) fn cached(&self) -> MutexGuard<'_, Cached> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the kernel ask for the file's attributes again.
    pub(crate) fn attributes_changed(&self) {
        self.home.attributes_changed(self.node);
    }

    /// The dirty ranges.
    pub(crate) fn ranges(&self) -> MutexGuard<'_, Ranges> {
        self.ranges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that somebody waits for all pieces of write-back with numbers below this.
    pub(crate) fn await_below(&self, number: u64) {
        self.awaited.fetch_max(number, Ordering::Relaxed);
    }

    /// Whether somebody waits for the piece of write-back with this number.
    pub(crate) fn is_awaited(&self, number: u64) -> bool {
        number < self.awaited.load(Ordering::Relaxed)
    }

    /// Notes who uses the file, and is charged for the kernel's I/O without a caller.
    pub(crate) fn used_by(&self, caller: u32, user: User) {
        if caller == 0 {
            return;
        }
        let last = std::mem::replace(&mut *self.last_user(), (caller, user));
        if last.0 != caller {
            self.home.gate.uses(caller, self.node);
        }
    }

    /// Notes who opens the file. The thread may be a new one with the number of the last user.
    pub(crate) fn opened_by(&self, caller: u32, user: User) {
        *self.last_user() = (0, user);
        self.used_by(caller, user);
    }

    /// The user who used the file last.
    pub(crate) fn user(&self) -> User {
        self.last_user().1
    }

    fn last_user(&self) -> MutexGuard<'_, (u32, User)> {
        self.last_user.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the table has this state, and not a later one of its node number.
    fn is_in(&self, states: &OpenStates) -> bool {
        states.get(&self.node).is_some_and(|state| std::ptr::eq(state.as_ptr(), self))
    }

    fn opened(&self) -> MutexGuard<'_, Opened> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A descriptor that somebody has of the file, if it is open.
    pub(crate) fn descriptor(&self) -> Option<Arc<Descriptor>> {
        self.opened().latest.upgrade()
    }

    /// Notes that the file is opened once more, as `fd`.
    pub(crate) fn open(&self, fd: OwnedFd, share: Share) -> Arc<Descriptor> {
        let mut opened = self.opened();
        let file = opened.file.upgrade().unwrap_or_default();
        let fd = Arc::new(Descriptor::of(fd, file, share));
        *opened = Opened {
            count: opened.count + 1,
            closing: false,
            file: Arc::downgrade(fd.file()),
            latest: Arc::downgrade(&fd),
        };
        fd
    }

    /// Notes that an opener has closed the file.
    fn closed(&self) {
        let mut opened = self.opened();
        opened.count -= 1;
        let is_last = opened.count == 0;
        drop(opened);
        if is_last && self.is_removed() {
            self.abandon();
        }
    }

    /// Notes that the last name of the file has been removed. Returns whether it is likely to be
    /// closed by all soon.
    pub(crate) fn removed(&self) -> bool {
        self.removed.store(true, Ordering::Release);
        let opened = self.opened();
        let (is_likely, is_last) = (self.expect_end(&opened), opened.count == 0);
        drop(opened);
        if is_last {
            self.abandon();
        }
        is_likely
    }

    /// Notes that a program closes the file, of which the kernel will tell later.
    pub(crate) fn is_being_closed(&self) {
        let mut opened = self.opened();
        opened.closing = true;
        self.expect_end(&opened);
    }

    /// Expects a removed file to be closed by all, if that is likely.
    fn expect_end(&self, opened: &Opened) -> bool {
        let is_likely = opened.count == 0 || opened.closing;
        if is_likely && self.removed.load(Ordering::Acquire) {
            opened.file.upgrade().iter().for_each(|file| self.home.leaving.expect(file));
        }
        is_likely
    }

    /// Whether the file has been removed, so that nobody can open it any more.
    fn is_removed(&self) -> bool {
        let is_nameless = |fd: Arc<Descriptor>| fstat(&fd).is_ok_and(|stat| stat.st_nlink == 0);
        self.removed.load(Ordering::Acquire) || self.write_out_descriptor().is_some_and(is_nameless)
    }

    /// Ends the write-back of a file that was removed and closed by all, since nobody can read the
    /// data, and closes it. Another file may then get its node number, so the state is taken out of
    /// the table first, while pieces on their way still refer to it.
    fn abandon(&self) {
        self.removed.store(true, Ordering::Release);
        let mut states = self.home.lock();
        if self.is_in(&states) {
            states.remove(&self.node);
            self.home.gate.done_with(self.node);
        }
        drop(states);
        let fd = self.for_write_out().take();
        drop(fd);
    }

    fn for_write_out(&self) -> MutexGuard<'_, Option<Arc<Descriptor>>> {
        self.for_write_out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The descriptor for write-back; `None` if nothing was written or the file was removed and
    /// closed by all.
    pub(crate) fn write_out_descriptor(&self) -> Option<Arc<Descriptor>> {
        self.for_write_out().clone()
    }

    /// Notes that write-back through `fd` failed.
    pub(crate) fn failed(&self, fd: impl AsFd, error: &io::Error) {
        let _ = self.which.get_or_init(|| WhichFile::of(self.node, fd));
        self.errors().add(error.raw_os_error().unwrap_or(libc::EIO));
    }

    fn errors(&self) -> MutexGuard<'_, WriteErrors> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open file description.
pub(crate) struct OpenFile {
    pub(crate) state: Arc<FileState>,
    pub(crate) fd: Arc<Descriptor>,
    access: OFlags,
    /// The descriptor for direct I/O; `None` if the file system below refuses it.
    direct: OnceLock<Option<Descriptor>>,
    heard: Mutex<Heard>,
    appending: Mutex<()>,
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        self.state.closed();
    }
}

impl OpenFile {
    /// An open file description of `fd`, which was opened with `access` for the user of `share`.
    pub(crate) fn new(
        state: Arc<FileState>,
        (fd, share): (OwnedFd, Share),
        access: OFlags,
    ) -> Self {
        let fd = state.open(fd, share);
        let heard = Mutex::new(state.errors().heard());
        Self { state, fd, access, direct: OnceLock::new(), heard, appending: Mutex::default() }
    }

    /// The file, and a descriptor of it.
    pub(crate) fn parts(&self) -> (&FileState, &Descriptor) {
        (&self.state, &self.fd)
    }

    /// Whether the file only permits appending, and so does the descriptor.
    pub(crate) const fn only_appends(&self) -> bool {
        self.access.contains(OFlags::APPEND)
    }

    /// Locks out other appends through this file description.
    pub(crate) fn appending(&self) -> MutexGuard<'_, ()> {
        self.appending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether direct I/O may be possible for `len` bytes at `offset`.
    pub(crate) fn may_be_direct(&self, offset: u64, len: u64) -> bool {
        let refused = self.direct.get().is_some_and(Option::is_none);
        !refused && (offset | len).is_multiple_of(DIRECT_ALIGN)
    }

    /// The descriptor for direct I/O of `len` bytes at `offset`, if that is possible.
    pub(crate) fn direct(&self, proc_fd: &ProcFd, offset: u64, len: u64) -> Option<&Descriptor> {
        if !self.may_be_direct(offset, len) {
            return None;
        }
        if self.direct.get().is_none() {
            let open = || proc_fd.reopen(&self.fd, self.access | OFlags::DIRECT);
            match self.fd.another(open) {
                // It may be possible later.
                Err(error) if is_shortage(&error) => return None,
                opened => drop(self.direct.set(opened.ok())),
            }
        }
        self.direct.get()?.as_ref()
    }

    /// Opens the descriptor for write-back. All writers share it, because the kernel reports a
    /// write error of the file once to each descriptor, and several would report one failure
    /// several times.
    pub(crate) fn begin_write_out(&self, proc_fd: &ProcFd) {
        // Opened read-only, since it may outlive the last writer, and executing a file that is open
        // for writing fails (ETXTBSY).
        let open = || proc_fd.reopen(&self.fd, OFlags::RDONLY);
        let another = || self.fd.another(open).map_or_else(|_| Arc::clone(&self.fd), Arc::new);
        self.state.for_write_out().get_or_insert_with(another);
    }

    /// Notes that this descriptor reported an error. It is consumed at the descriptor for
    /// write-back, which would otherwise report it again.
    pub(crate) fn told_below(&self) {
        let fd = self.state.write_out_descriptor();
        let _told = fd.map(|fd| write_out(&fd, 0, 1));
    }

    /// Does what needs space on the file's file system.
    pub(crate) fn with_space<T>(&self, task: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        self.state.home.leaving.with_space(task)
    }

    /// Changes the file with `with`, so that the resulting change of its times counts as ours.
    pub(crate) fn change<T>(&self, with: impl FnOnce() -> T) -> T {
        let _changing = Changing::begin(&self.state, self.fd.as_fd());
        with()
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a write-back error since the file was opened for writing, if its opener has not been
    /// told. The error will be returned again later, since few programs check the result of
    /// close(2).
    pub(crate) fn mention_error(&self) -> io::Result<()> {
        match self.access.intersects(OFlags::WRONLY | OFlags::RDWR) {
            true => self.state.errors().mention(*self.heard()),
            false => Ok(()),
        }
    }

    /// Returns a write-back error that the opener has not been told, and counts it as told.
    pub(crate) fn take_error(&self) -> io::Result<()> {
        self.state.errors().tell(&mut self.heard())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::extents::Fallback;
    use crate::data::gate::OpenGate;
    use crate::files::freshness::look;
    use std::thread;

    #[test]
    fn who_opens_a_file_that_is_being_closed_knows_what_was_known_of_it() {
        let layout = Layout { start: 0, fallback: Fallback { sectors: 1, inodes: 1 } };
        let states = Arc::new(FileStates::new(Arc::new(OpenGate), layout));
        let fd = OwnedFd::from(tempfile::tempfile().expect("a file"));
        let stamp = Stamp::of(&fstat(&fd).expect("it is open"));
        states.of((2, 2), &fd).freshness().look(stamp, 0);
        let open_and_close = || {
            for time in 0..20_000 {
                let known = states.of((2, 2), &fd).freshness().stamp();
                assert_eq!(known, Some(stamp), "{time}");
            }
        };
        thread::scope(|scope| {
            scope.spawn(open_and_close);
            scope.spawn(open_and_close);
        });
    }

    #[test]
    fn own_writes_at_once_are_not_taken_for_those_of_others() {
        let layout = Layout { start: 0, fallback: Fallback { sectors: 1, inodes: 1 } };
        let states = Arc::new(FileStates::new(Arc::new(OpenGate), layout));
        let fd = OwnedFd::from(tempfile::tempfile().expect("a file"));
        let state = states.of((2, 2), &fd);
        state.made(Stamp::of(&fstat(&fd).expect("it is open")));
        let write = |byte: u8| {
            for _ in 0..20_000 {
                let _changing = Changing::begin(&state, fd.as_fd());
                rustix::io::pwrite(&fd, &[byte], byte.into()).expect("there is space");
            }
        };
        thread::scope(|scope| {
            let writers = [1, 2].map(|byte| scope.spawn(move || write(byte)));
            while writers.iter().any(|writer| !writer.is_finished()) {
                assert!(!look(&state, &fd));
            }
        });
        rustix::io::pwrite(&fd, b"more", 9).expect("there is space");
        assert!(look(&state, &fd), "changed by somebody else");
    }
}
