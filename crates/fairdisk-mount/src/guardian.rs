//! A process that ends the mounts of another one that was killed.
//!
//! A process that is killed ends when the last of its threads does, and one that waits for a disk
//! that hangs, or for a reader whose request nobody takes any more, does not. What it has open
//! stays open meanwhile, the kernel takes its mounts for served, and programs that use them wait
//! for ever. The guardian has nothing open below a source and waits for nothing but its end: it
//! then has the kernel end the mounts' connections, and everybody gets an error at once.
//!
//! It learns of the end by the signal that comes when the thread that has started it is gone,
//! whatever becomes of the others, and by the end of the pipe through which it is told of mounts.
//! That thread does nothing else: any other, the main one as well, may be held up.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, minor, open, openat};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use rustix::process::{Signal, set_parent_process_death_signal, setsid};
use rustix::thread::set_name;
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

/// What the program is called as when it is the guardian.
const NAME: &str = "fairdisk-guardian";

/// Where connections are found if that file system is mounted; the one of a mount has the minor
/// number of its device.
const CONNECTIONS: &str = "/sys/fs/fuse/connections";

/// What the guardian is told with one write: which of our mounts, and the minor number of its
/// device. It reads many of them at once, and none in part.
const WORD_BYTES: usize = 8;
/// Instead of a minor number: that mount is over.
const OVER: u32 = u32::MAX;

/// The guardian of this process.
#[derive(Debug)]
pub struct Guardian {
    to: Mutex<ChildStdin>,
    next: AtomicU32,
}

/// A mount that is ended if this process is killed before the value is dropped.
#[derive(Debug)]
pub(crate) struct Guarded {
    guardian: Arc<Guardian>,
    number: u32,
}

impl Guardian {
    /// Starts one: this program under another name, which has to call [`run_if_called`].
    ///
    /// # Errors
    /// The system starts no process or no thread.
    pub fn start() -> io::Result<Self> {
        let (tell, told) = mpsc::sync_channel(1);
        let keep = move || {
            let mut process = match spawn() {
                Ok(process) => process,
                Err(error) => return drop(tell.send(Err(error))),
            };
            let _ = tell.send(Ok(process.stdin.take()));
            // It ends after us, or when nobody can tell it anything any more.
            let _ = process.wait();
        };
        thread::Builder::new().name("fairdisk-guard".to_owned()).spawn(keep)?;
        let to = told.recv().map_err(io::Error::other)??.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { to: Mutex::new(to), next: AtomicU32::new(0) })
    }

    /// From now on the mount on `device` is ended if this process is killed.
    pub(crate) fn guard(self: &Arc<Self>, device: u64) -> Guarded {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.tell(number, minor(device));
        Guarded { guardian: Arc::clone(self), number }
    }

    fn tell(&self, number: u32, minor: u32) {
        let mut word = [0; WORD_BYTES];
        word[..4].copy_from_slice(&number.to_ne_bytes());
        word[4..].copy_from_slice(&minor.to_ne_bytes());
        // If somebody has killed it we go on without.
        let _ = self.to.lock().unwrap_or_else(PoisonError::into_inner).write_all(&word);
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.guardian.tell(self.number, OVER);
    }
}

fn spawn() -> io::Result<Child> {
    Command::new(env::current_exe()?)
        .arg0(NAME)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// Is the guardian if that is what the program was called as, and returns when there is nothing
/// left to guard.
///
/// # Errors
/// It was called that by somebody else, or the system refuses something.
pub fn run_if_called(name: Option<&OsStr>) -> Option<io::Result<()>> {
    (name? == NAME).then(run)
}

fn run() -> io::Result<()> {
    // Ctrl-C, and a service manager that asks all its processes to end, mean the one we guard.
    let _ = setsid();
    // So does somebody who kills all processes of the program's name.
    let _ = set_name(c"guardian");
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        signal_hook::flag::register(signal.as_raw(), Arc::default())?;
    }
    let (orphaned, tell) = UnixStream::pair()?;
    signal_hook::low_level::pipe::register(Signal::USR1.as_raw(), tell)?;
    set_parent_process_death_signal(Some(Signal::USR1))?;
    let mut connections = Connections::default();
    let words = rustix::stdio::stdin();
    loop {
        let mut ready = [PollFd::new(&words, PollFlags::IN), PollFd::new(&orphaned, PollFlags::IN)];
        match poll(&mut ready, None) {
            Err(Errno::INTR) => continue,
            done => drop(done?),
        }
        // What we were told before the end counts.
        if !ready[0].revents().is_empty() {
            let mut told = [0; 64 * WORD_BYTES];
            let bytes = rustix::io::read(words, &mut told)?;
            told[..bytes].chunks_exact(WORD_BYTES).for_each(|word| connections.hear(word));
            if bytes > 0 {
                continue;
            }
        }
        connections.end();
        return Ok(());
    }
}

/// The connections of mounts, by the mounts' numbers.
#[derive(Default)]
struct Connections {
    /// What ends each of them when something is written there. It is open from the beginning: the
    /// next connection may have the number of one that is gone.
    ends: BTreeMap<u32, OwnedFd>,
    /// The file system of connections, if it is mounted nowhere else.
    own: Option<OwnedFd>,
}

impl Connections {
    fn hear(&mut self, word: &[u8]) {
        let half = |at: usize| word[at..].first_chunk().map_or(OVER, |it| u32::from_ne_bytes(*it));
        let (number, minor) = (half(0), half(4));
        self.ends.remove(&number);
        if minor != OVER
            && let Ok(end) = self.open(minor)
        {
            self.ends.insert(number, end);
        }
    }

    fn open(&mut self, minor: u32) -> io::Result<OwnedFd> {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        if let Ok(end) = open(format!("{CONNECTIONS}/{minor}/abort"), flags, Mode::empty()) {
            return Ok(end);
        }
        if self.own.is_none() {
            // For ourselves alone, as root.
            let filesystem = fsopen("fusectl", FsOpenFlags::FSOPEN_CLOEXEC)?;
            fsconfig_create(&filesystem)?;
            let (flags, none) = (FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty());
            self.own = Some(fsmount(&filesystem, flags, none)?);
        }
        let own = self.own.as_ref().ok_or(io::ErrorKind::NotFound)?;
        Ok(openat(own, format!("{minor}/abort"), flags, Mode::empty())?)
    }

    fn end(&self) {
        for end in self.ends.values() {
            // One that has ended already is as good.
            let _ = rustix::io::write(end, b"1");
        }
    }
}
