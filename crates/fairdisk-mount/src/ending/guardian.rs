//! The guardian: a process that ends the mounts of another process that is killed.
//!
//! A killed process ends only when its last thread does, and a thread that waits for a disk that
//! hangs, or for a reader whose request nobody takes any more, does not end. Its descriptors stay
//! open meanwhile, the kernel considers its mounts served, and programs that use them wait for
//! ever. The guardian has nothing open below a source and waits for nothing but the death of its
//! parent. It then has the kernel abort the FUSE connections of the mounts, and everybody who waits
//! gets an error at once.
//!
//! The guardian learns of the death by the parent-death signal, which the kernel sends when the
//! thread that started the guardian has ended, whatever becomes of other threads, and by the end of
//! the connection through which it is told of mounts. The thread that starts it does nothing else,
//! because any other thread, even the main one, may be blocked. It also starts another guardian if
//! this one is killed.
//!
//! Where systemd runs the system, the guardian has a unit of its own, so that it survives when
//! systemd kills all processes of the daemon's unit.

use crate::mounting::made_up::{FUSECTL, kind};
use crate::sys::descriptors::Inherited;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, minor, open, openat};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use rustix::net::{SendFlags, send};
use rustix::process::{Signal, geteuid, set_parent_process_death_signal, setsid};
use rustix::thread::set_name;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

/// The only argument of this program when it is to be the guardian.
const NAME: &str = "fairdisk-guardian";

/// The directory of the fusectl file system, which has a subdirectory for each connection, named by
/// the minor device number of its mount.
const CONNECTIONS: &str = "/sys/fs/fuse/connections";

/// The advice for when that file system is not mounted and the guardian may not mount it.
const REMEDY: &str = "as root: mount -t fusectl fusectl /sys/fs/fuse/connections, which is found \
                      a few seconds later; without it, if this process is killed and cannot end, \
                      as when the disk hangs, who uses the mount waits until root ends that with \
                      umount -f";

/// A directory that exists if systemd runs the system.
const SYSTEMD: &str = "/run/systemd/system";
/// The name of the first process, which tells whether that systemd is in our PID namespace:
/// systemd-run identifies processes by number, and a systemd outside of the namespace would take
/// our numbers for others' processes.
const FIRST_PROCESS: &str = "/proc/1/comm";

/// The size of a message in bytes. A message to the guardian is the number of a mount and the minor
/// number of its device. Each is sent with one write; the guardian reads several at once, but never
/// a part of one. Its answer is the number of the mount and an error number, or 0.
const WORD_BYTES: usize = 8;
/// Sent in place of a minor number: the mount has ended.
const OVER: u32 = u32::MAX;
/// Sent in place of a mount's number: the guardian is ready.
const READY: u32 = u32::MAX;

/// The time limit for the guardian to start. The program has to be read, and the disk may be busy.
const STARTS_WITHIN: Duration = Duration::from_secs(20);
/// The time limit for the guardian to start in a unit of its own. Shorter, since a systemd that
/// hangs would delay every mount.
const IN_UNIT_WITHIN: Duration = Duration::from_secs(4);
/// The time limit for an answer, which never waits for a disk.
const PATIENCE: Duration = Duration::from_secs(5);
/// The pause before a killed guardian is replaced. It is doubled after each failure to start one.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest such pause.
const PAUSE_MAX: Duration = Duration::from_secs(64);

/// The guardian of this process.
#[derive(Debug)]
pub struct Guardian {
    link: Arc<Mutex<Link>>,
    next: AtomicU32,
}

/// A mount under guard: it is ended if this process is killed before this is dropped.
#[derive(Debug)]
pub(crate) struct Guarded {
    guardian: Arc<Guardian>,
    number: u32,
}

/// The connection to the current guardian, and the mounts to guard.
#[derive(Debug, Default)]
struct Link {
    /// The connection to the guardian, while there is one.
    to: Option<UnixStream>,
    /// The mounts to guard, by their numbers.
    mounts: BTreeMap<u32, Watched>,
    /// Whether this process no longer needs a guardian.
    over: bool,
}

#[derive(Debug)]
struct Watched {
    minor: u32,
    mountpoint: PathBuf,
    /// Whether the current guardian is able to end the mount.
    guarded: bool,
}

impl Guardian {
    /// Starts the guardian and returns once it is ready. It is this program, started again, whose
    /// `main` has to call [`run_if_called`].
    ///
    /// # Errors
    /// The system refuses to start a process or a thread.
    pub fn start() -> io::Result<Self> {
        let (tell, told) = mpsc::sync_channel(1);
        let link = Arc::<Mutex<Link>>::default();
        let kept = Arc::clone(&link);
        let keep = move || keep(&kept, |first| drop(tell.send(first)));
        thread::Builder::new().name("fairdisk-guard".to_owned()).spawn(keep)?;
        told.recv().map_err(io::Error::other)??;
        Ok(Self { link, next: AtomicU32::new(0) })
    }

    /// Has the guardian end the mount on `device`, at `mountpoint`, if this process is killed.
    /// Returns an error beside the guard if the guardian cannot end it, or there is none.
    pub(crate) fn guard(
        self: &Arc<Self>,
        device: u64,
        mountpoint: &Path,
    ) -> (Guarded, io::Result<()>) {
        let (number, minor) = (self.next.fetch_add(1, Ordering::Relaxed), minor(device));
        let mut link = lock(&self.link);
        let told = tell(link.to.as_ref(), number, minor);
        let (mountpoint, guarded) = (mountpoint.to_owned(), told.is_ok());
        link.mounts.insert(number, Watched { minor, mountpoint, guarded });
        (Guarded { guardian: Arc::clone(self), number }, told)
    }
}

impl Guarded {
    /// Tries again if the guardian could not end the mount. Root may have mounted fusectl
    /// meanwhile.
    pub(crate) fn try_again(&self) {
        let link = &mut *lock(&self.guardian.link);
        let Some(watched) = link.mounts.get_mut(&self.number) else { return };
        if !watched.guarded && tell(link.to.as_ref(), self.number, watched.minor).is_ok() {
            watched.guarded = true;
            tracing::info!(mountpoint = %watched.mountpoint.display(), "guarded");
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let mut link = lock(&self.guardian.link);
        link.mounts.remove(&self.number);
        // An error means that there is no guardian, so nobody has to be told.
        let _ = tell(link.to.as_ref(), self.number, OVER);
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        let mut link = lock(&self.link);
        link.over = true;
        // The guardian ends when its connection is closed.
        link.to = None;
    }
}

fn lock(link: &Mutex<Link>) -> MutexGuard<'_, Link> {
    link.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells the guardian of a mount and waits for its answer.
fn tell(to: Option<&UnixStream>, number: u32, minor: u32) -> io::Result<()> {
    let mut to = to.ok_or(io::ErrorKind::NotConnected)?;
    to.write_all(&word(number, minor))?;
    answer(to, number).map_err(with_remedy)
}

/// Adds the advice to an error if the guardian lacks access to fusectl.
fn with_remedy(error: io::Error) -> io::Error {
    let refused = error.raw_os_error() == Some(libc::EPERM);
    if refused && fs::File::open(CONNECTIONS).and_then(kind).is_ok_and(|kind| kind != FUSECTL) {
        return io::Error::other(format!("{error}; {REMEDY}"));
    }
    error
}

fn word(first: u32, second: u32) -> [u8; WORD_BYTES] {
    let mut word = [0; WORD_BYTES];
    word[..4].copy_from_slice(&first.to_ne_bytes());
    word[4..].copy_from_slice(&second.to_ne_bytes());
    word
}

/// The two numbers of a message.
fn halves(word: &[u8]) -> (u32, u32) {
    let half = |at: usize| word[at..].first_chunk().map_or(OVER, |it| u32::from_ne_bytes(*it));
    (half(0), half(4))
}

/// The guardian's answer about one mount. Late answers about other mounts are skipped.
fn answer(mut from: &UnixStream, number: u32) -> io::Result<()> {
    loop {
        let mut word = [0; WORD_BYTES];
        from.read_exact(&mut word)?;
        match halves(&word) {
            (which, _) if which != number => {}
            (_, 0) => return Ok(()),
            (_, errno) => return Err(io::Error::from_raw_os_error(errno.cast_signed())),
        }
    }
}

/// Ensures that there is a guardian for as long as there are mounts to guard. Reports to `first`
/// whether the first guardian has started.
fn keep(link: &Mutex<Link>, first: impl FnOnce(io::Result<()>)) {
    let mut process = match spawn(0) {
        Ok(started) => {
            let process = connect(link, started);
            first(Ok(()));
            process
        }
        Err(error) => return first(Err(error)),
    };
    let mut pause = PAUSE;
    for number in 1.. {
        if let Some(mut process) = process.take() {
            let _ = process.wait();
            lock(link).to = None;
            pause = PAUSE;
            if lock(link).over {
                return;
            }
            tracing::warn!(pid = process.id(), "the guardian has ended");
        }
        fairdisk_plane::pause(pause);
        if lock(link).over {
            return;
        }
        match spawn(number) {
            Ok(started) => process = connect(link, started),
            Err(error) => {
                pause = PAUSE_MAX.min(2 * pause);
                tracing::warn!(%error, next_try_s = pause.as_secs(), "no guardian: trying again");
            }
        }
    }
}

/// Tells a new guardian of all mounts.
fn connect(link: &Mutex<Link>, (process, to): (Child, UnixStream)) -> Option<Child> {
    let link = &mut *lock(link);
    link.to = (!link.over).then_some(to);
    for (number, Watched { minor, mountpoint, guarded }) in &mut link.mounts {
        let told = tell(link.to.as_ref(), *number, *minor);
        if let (true, Err(error)) = (*guarded, &told) {
            let mountpoint = mountpoint.display();
            tracing::warn!(%mountpoint, %error, "a mount is not guarded any more");
        }
        *guarded = told.is_ok();
    }
    Some(process)
}

/// Starts the guardian with this `number`, in a unit of its own if possible. The executable is the
/// one of this process, even if another version has been installed since.
fn spawn(number: u32) -> io::Result<(Child, UnixStream)> {
    let id = std::process::id();
    let program = format!("/proc/{id}/exe");
    if geteuid().is_root() && is_systemd_ours() {
        let unit = format!("--unit={NAME}-{id}-{number}");
        let mut run = Command::new("systemd-run");
        run.args(["--quiet", "--no-ask-password", "--scope", "--collect", &unit]);
        // The guardian ends by itself. When the system shuts down, the mounts end first.
        run.args(["--description=Ends mounts of Fairdisk", "--property=DefaultDependencies=no"]);
        run.arg("--").arg(&program);
        match spawn_by(run, IN_UNIT_WITHIN) {
            Ok(started) => return Ok(started),
            Err(error) => tracing::warn!(%error, "no unit for the guardian"),
        }
    }
    spawn_by(Command::new(program), STARTS_WITHIN)
}

fn is_systemd_ours() -> bool {
    Path::new(SYSTEMD).is_dir() && fs::read(FIRST_PROCESS).is_ok_and(|name| name == b"systemd\n")
}

fn spawn_by(mut program: Command, within: Duration) -> io::Result<(Child, UnixStream)> {
    let (ours, its) = UnixStream::pair()?;
    ours.set_read_timeout(Some(within))?;
    ours.set_write_timeout(Some(PATIENCE))?;
    program.arg(NAME).current_dir("/").stdin(OwnedFd::from(its));
    let mut process = program.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    // Closes the guardian's end of the connection on our side, so that its death is noticed.
    program.stdin(Stdio::null());
    match answer(&ours, READY).and_then(|()| ours.set_read_timeout(Some(PATIENCE))) {
        Ok(()) => Ok((process, ours)),
        Err(error) => {
            let _ = process.kill();
            let ended = process.wait()?;
            let name = program.get_program().display();
            let why = match error.kind() {
                io::ErrorKind::WouldBlock => format!("no answer within {} s", within.as_secs()),
                _ => ended.to_string(),
            };
            Err(io::Error::other(format!("{name}: {why}")))
        }
    }
}

/// Runs the guardian if `argument`, the first argument of the program, asks for it. Returns once
/// nothing is left to guard.
///
/// # Errors
/// The program was not started as a guardian by its parent, or the system refuses something.
pub fn run_if_called(argument: Option<&OsStr>) -> Option<io::Result<()>> {
    (argument? == NAME).then(run)
}

fn run() -> io::Result<()> {
    // Descriptors inherited by our parent, which others may wait for.
    Inherited::find().close();
    // Ctrl-C, and a service manager that terminates all its processes, mean the parent only.
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
    say(words, READY, 0)?;
    loop {
        let mut ready = [PollFd::new(&words, PollFlags::IN), PollFd::new(&orphaned, PollFlags::IN)];
        match poll(&mut ready, None) {
            Err(Errno::INTR) => continue,
            done => drop(done?),
        }
        // Messages that arrived before the parent's death count.
        if !ready[0].revents().is_empty() {
            let mut told = [0; 64 * WORD_BYTES];
            let bytes = rustix::io::read(words, &mut told)?;
            for word in told[..bytes].chunks_exact(WORD_BYTES) {
                let (number, minor) = halves(word);
                let refused = |error: io::Error| error.raw_os_error().unwrap_or(libc::EIO);
                let errno = connections.hear(number, minor).map_or_else(refused, |()| 0);
                // An error means that nobody listens any more, which the next poll reports.
                let _ = say(words, number, errno.cast_unsigned());
            }
            if bytes > 0 {
                continue;
            }
        }
        connections.end();
        return Ok(());
    }
}

/// Sends an answer.
fn say(to: BorrowedFd<'_>, number: u32, errno: u32) -> io::Result<()> {
    let flags = SendFlags::NOSIGNAL;
    send(to, &word(number, errno), flags).map(drop).map_err(io::Error::from)
}

/// The FUSE connections of the mounts, by the mounts' numbers.
#[derive(Default)]
struct Connections {
    /// The open `abort` file of each connection. It is opened in advance, because a later
    /// connection may reuse the number of one that has ended.
    ends: BTreeMap<u32, OwnedFd>,
    /// A private mount of fusectl, if it is not mounted in the usual place.
    own: Option<OwnedFd>,
}

impl Connections {
    fn hear(&mut self, number: u32, minor: u32) -> io::Result<()> {
        self.ends.remove(&number);
        if minor != OVER {
            let end = self.open(minor)?;
            self.ends.insert(number, end);
        }
        Ok(())
    }

    fn open(&mut self, minor: u32) -> io::Result<OwnedFd> {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        if let Ok(end) = open(format!("{CONNECTIONS}/{minor}/abort"), flags, Mode::empty()) {
            return Ok(end);
        }
        if self.own.is_none() {
            // A mount for this process alone, which only root can make.
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
            // An error means that the connection has ended already.
            let _ = rustix::io::write(end, b"1");
        }
    }
}
