//! Reporting of write-back errors with the semantics of Linux: an error is reported once to
//! everybody who had the file open when it happened and, if nobody was told, to whoever opens the
//! file next.

use super::nodes::Mark;
use rustix::fd::AsFd;
use rustix::fs::fstat;
use std::collections::VecDeque;
use std::io;

/// The most closed files whose errors are kept.
const UNTOLD_MAX: usize = 1024;

/// The write-back errors of one file.
#[derive(Debug, Default)]
pub(crate) struct WriteErrors {
    /// The number of errors so far.
    count: u32,
    /// The most recent error.
    errno: i32,
    /// Whether anybody has been told of it.
    told: bool,
}

/// The errors that an opener knows of, as counts of [`WriteErrors`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard {
    /// The number of errors that the opener was told of, or need not be told because others were.
    told: u32,
    /// The number of errors that happened before the opener opened the file or was last told.
    before: u32,
}

impl WriteErrors {
    /// The errors of a file that is opened: none, or one that nobody has been told of.
    pub(crate) fn of(errno: Option<i32>) -> Self {
        let mut errors = Self::default();
        errno.into_iter().for_each(|errno| errors.add(errno));
        errors
    }

    /// Adds an error.
    pub(crate) const fn add(&mut self, errno: i32) {
        *self = Self { count: self.count.wrapping_add(1), errno, told: false };
    }

    /// The errors that an opener of the file need not be told.
    pub(crate) const fn heard(&self) -> Heard {
        let told = if self.is_untold() { self.count.wrapping_sub(1) } else { self.count };
        Heard { told, before: self.count }
    }

    const fn is_untold(&self) -> bool {
        self.count > 0 && !self.told
    }

    /// The most recent error, if nobody has been told of it.
    pub(crate) fn untold(&self) -> Option<i32> {
        self.is_untold().then_some(self.errno)
    }

    /// Returns an error that happened since the opener was last told, without counting it as told:
    /// the opener may not check for it.
    pub(crate) fn mention(&self, heard: Heard) -> io::Result<()> {
        self.since(heard.before)
    }

    /// Returns an error that the opener has not been told, and counts it as told.
    pub(crate) fn tell(&mut self, heard: &mut Heard) -> io::Result<()> {
        let said = self.since(heard.told);
        self.told |= said.is_err();
        *heard = Heard { told: self.count, before: self.count };
        said
    }

    fn since(&self, count: u32) -> io::Result<()> {
        match count == self.count {
            true => Ok(()),
            false => Err(io::Error::from_raw_os_error(self.errno)),
        }
    }
}

/// Identifies a closed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhichFile {
    /// By a mark that no other file will ever have.
    Sure(Mark),
    /// By its node number, which is unique for as long as the kernel knows the node.
    Known(u64),
}

impl WhichFile {
    /// The identification of a node that is open as `file`.
    pub(crate) fn of(node: u64, file: impl AsFd) -> Self {
        sure_mark(file).map_or(Self::Known(node), Self::Sure)
    }
}

/// The unreported errors of closed files, the oldest first. The kernel may forget such a file and
/// return to it later, or another file may get its node number, for which they must not be
/// reported.
#[derive(Debug, Default)]
pub(crate) struct Untold(VecDeque<(WhichFile, i32)>);

impl Untold {
    /// Keeps the unreported error of a file that is being closed.
    pub(crate) fn keep(&mut self, file: WhichFile, errno: i32) {
        if self.0.len() >= UNTOLD_MAX {
            self.0.pop_front();
        }
        self.0.push_back((file, errno));
    }

    /// Removes and returns the unreported error of a file that is being opened.
    pub(crate) fn take(&mut self, node: u64, file: impl AsFd) -> Option<(WhichFile, i32)> {
        if self.0.is_empty() {
            return None;
        }
        let file = WhichFile::of(node, file);
        let at = self.0.iter().position(|(kept, _)| *kept == file)?;
        self.0.remove(at)
    }

    /// Whether an error is kept for a file that is identified by this node number alone.
    pub(crate) fn has_known(&self, node: u64) -> bool {
        self.0.iter().any(|(kept, _)| *kept == WhichFile::Known(node))
    }

    /// Discards the errors of a forgotten node, whose number another file may get.
    pub(crate) fn forget(&mut self, node: u64) {
        self.0.retain(|(kept, _)| *kept != WhichFile::Known(node));
    }
}

/// The file's unique mark, if its file system provides one.
fn sure_mark(file: impl AsFd) -> Option<Mark> {
    Some(Mark::of(&file, &fstat(&file).ok()?)).filter(Mark::is_sure)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errno(said: io::Result<()>) -> Option<i32> {
        said.err().and_then(|error| error.raw_os_error())
    }

    #[test]
    fn everybody_who_was_there_is_told_once() {
        let mut errors = WriteErrors::default();
        let (mut one, mut two) = (errors.heard(), errors.heard());
        errors.add(5);
        assert_eq!(errno(errors.mention(one)), Some(5));
        assert_eq!(errors.untold(), Some(5), "a mention is not enough");
        assert_eq!(errno(errors.tell(&mut one)), Some(5));
        assert_eq!(errno(errors.mention(one)), None);
        assert_eq!(errno(errors.tell(&mut one)), None);
        assert_eq!(errno(errors.tell(&mut two)), Some(5));
        assert_eq!(errno(errors.tell(&mut errors.heard())), None, "others have heard of it");
        errors.add(28);
        assert_eq!(errno(errors.tell(&mut two)), Some(28));
    }

    #[test]
    fn who_comes_later_is_told_if_nobody_was() {
        let mut errors = WriteErrors::of(Some(5));
        let (mut one, mut two) = (errors.heard(), errors.heard());
        assert_eq!(errno(errors.mention(one)), None, "not at the end of each who comes later");
        assert_eq!(errors.untold(), Some(5));
        assert_eq!(errno(errors.tell(&mut one)), Some(5));
        assert_eq!((errno(errors.tell(&mut two)), errors.untold()), (Some(5), None));
    }

    #[test]
    fn of_thousands_of_files_the_latest_are_kept() {
        let [first, last] = [(); 2].map(|()| tempfile::tempfile().unwrap());
        let Some((one, other)) = sure_mark(&first).zip(sure_mark(&last)) else {
            return println!("skipped: a file system that keeps no time of birth");
        };
        let [one, other] = [one, other].map(WhichFile::Sure);
        let mut untold = Untold::default();
        untold.keep(one, 5);
        (0..UNTOLD_MAX).for_each(|_| untold.keep(other, 28));
        assert_eq!(untold.0.len(), UNTOLD_MAX);
        assert_eq!((untold.take(1, &first), untold.take(2, &last)), (None, Some((other, 28))));
    }

    #[test]
    fn a_file_without_a_time_of_birth_is_known_by_its_node_until_that_is_forgotten() {
        let Ok(proc) = std::fs::File::open("/proc/self/stat") else {
            return println!("skipped: no /proc");
        };
        let file = proc;
        assert_eq!(sure_mark(&file), None, "proc says nothing of that");
        let mut untold = Untold::default();
        [3, 4].into_iter().for_each(|node| untold.keep(WhichFile::Known(node), 5));
        assert_eq!(untold.take(3, &file), Some((WhichFile::Known(3), 5)));
        assert_eq!((untold.take(3, &file), untold.has_known(4)), (None, true));
        untold.forget(4);
        assert_eq!((untold.take(4, &file), untold.has_known(4)), (None, false));
    }
}
