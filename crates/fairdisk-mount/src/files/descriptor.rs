//! Descriptors that are kept open on behalf of users, and how many each user may have.

use crate::fair_pool::{FairPool, Share};
use crate::requests::caller::User;
use crate::trouble::Seldom;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::process::{Resource, getrlimit};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

/// The part of the process's limit that is for users. The rest is for the process itself: for
/// requests under way, the threads it knows, files reached by name, and further mounts.
const USERS_PART: u64 = 2;

/// The most descriptors for users. Each open file takes about a kilobyte of memory as well.
const USERS_MAX: u64 = 1 << 18;

/// The descriptors of all mounts of this process that are for users.
static FOR_USERS: LazyLock<FairPool> = LazyLock::new(|| {
    let most = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    FairPool::new((most / USERS_PART).min(USERS_MAX))
});

static TOO_MANY: Seldom = Seldom::new();

/// The right of a user to one more descriptor. Who may have no more gets ENFILE: the user's own
/// limit, of which EMFILE would tell, is not reached.
pub(crate) fn one_more(user: User) -> io::Result<Share> {
    FOR_USERS.take(user, 1).map_err(|refused| {
        if let Some(unsaid) = TOO_MANY.pass() {
            let (uid, open, left) = (user.uid, refused.has, refused.left);
            tracing::warn!(uid, open, left, unsaid, "too many open files");
        }
        io::Error::from_raw_os_error(libc::ENFILE)
    })
}

/// Stands for a file as long as any descriptor of it is kept. It goes when the last one is closed.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// The number of descriptors that are being closed at this moment, which frees the blocks of a
    /// removed file and may take a while.
    closing: AtomicUsize,
}

impl Kept {
    /// Whether a descriptor of the file is being closed at this moment.
    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire) > 0
    }
}

/// A descriptor that is kept open.
#[derive(Debug)]
pub(crate) struct Descriptor {
    /// `None` only while it is being dropped.
    fd: Option<OwnedFd>,
    file: Arc<Kept>,
    /// `None` for a descriptor that can be closed whenever others are needed, or that is ours.
    share: Option<Share>,
}

impl Descriptor {
    /// A descriptor of `file` that counts as a user's.
    pub(crate) const fn of(fd: OwnedFd, file: Arc<Kept>, share: Share) -> Self {
        Self { fd: Some(fd), file, share: Some(share) }
    }

    /// A descriptor that counts as nobody's.
    pub(crate) fn uncounted(fd: OwnedFd) -> Self {
        Self { fd: Some(fd), file: Arc::default(), share: None }
    }

    /// The file of the descriptor.
    pub(crate) const fn file(&self) -> &Arc<Kept> {
        &self.file
    }

    /// Another descriptor of the file, opened by `open`, for the same user.
    pub(crate) fn another(&self, open: impl FnOnce() -> io::Result<OwnedFd>) -> io::Result<Self> {
        let share = self.share.as_ref().map(|share| one_more(share.user())).transpose()?;
        Ok(Self { fd: Some(open()?), file: Arc::clone(&self.file), share })
    }
}

impl AsFd for Descriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_ref().expect("it is open until it is dropped").as_fd()
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        self.file.closing.fetch_add(1, Ordering::AcqRel);
        drop(self.fd.take());
        self.file.closing.fetch_sub(1, Ordering::AcqRel);
    }
}
