//! A process that ends the mounts of another one that was killed.
//!
//! A process that is killed ends when the last of its threads does, and one that waits for a disk
//! that hangs, or for a reader whose request nobody takes any more, does not. What it has open
//! stays open meanwhile, the kernel takes its mounts for served, and programs that use them wait
//! for ever. The guardian has nothing open below a source and waits for nothing but its end: it
//! then has the kernel end the mounts' connections, and everybody gets an error at once.
//!
//! It learns of the end by the signal that comes when the thread that has started it is gone,
//! whatever becomes of the others, and by the end of the connection through which it is told of
//! mounts. That thread does nothing else: any other, the main one as well, may be held up. It
//! starts another guardian if this one is killed.
//!
//! Where systemd runs the system the guardian has a unit of its own: who has systemd kill all
//! processes of a unit does not mean it.

use crate::made_up::{FUSECTL, kind};
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

/// The only argument of the program when it is the guardian.
const NAME: &str = "fairdisk-guardian";

/// Where connections are found if that file system is mounted; the one of a mount has the minor
/// number of its device.
const CONNECTIONS: &str = "/sys/fs/fuse/connections";

/// What to do where it is not mounted and the guardian may not mount it, and what is so without.
const REMEDY: &str = "as root: mount -t fusectl fusectl /sys/fs/fuse/connections, which is found \
                      a few seconds later; without it, if this process is killed and cannot end, \
                      as when the disk hangs, who uses the mount waits until root ends that with \
                      umount -f";

/// There if systemd runs the system,
const SYSTEMD: &str = "/run/systemd/system";
/// and what says that it is ours: systemd-run names processes by their numbers, and to a systemd
/// above our processes ours would be others'.
const FIRST_PROCESS: &str = "/proc/1/comm";

/// What the guardian is told with one write: which of our mounts, and the minor number of its
/// device. It reads many of them at once, and none in part. Its answer is which one, and the error
/// if there was one.
const WORD_BYTES: usize = 8;
/// Instead of a minor number: that mount is over.
const OVER: u32 = u32::MAX;
/// Instead of a mount: the guardian is there.
const READY: u32 = u32::MAX;

/// For one to be there: the program has to be read, and the disk may be busy.
const STARTS_WITHIN: Duration = Duration::from_secs(20);
/// For one with a unit: a systemd that hangs would hold up every mount.
const IN_UNIT_WITHIN: Duration = Duration::from_secs(4);
/// For an answer, which waits for no disk.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between one that was killed and the next; twice as long after each that could not be started,
const PAUSE: Duration = Duration::from_secs(1);
/// but no longer than this.
const PAUSE_MAX: Duration = Duration::from_secs(64);

/// The guardian of this process.
#[derive(Debug)]
pub struct Guardian {
    link: Arc<Mutex<Link>>,
    next: AtomicU32,
}

/// A mount that is ended if this process is killed before the value is dropped.
#[derive(Debug)]
pub(crate) struct Guarded {
    guardian: Arc<Guardian>,
    number: u32,
}

/// What is known of the one that is there now.
#[derive(Debug, Default)]
struct Link {
    /// Where it listens.
    to: Option<UnixStream>,
    /// What it is to watch, by the mounts' own numbers.
    mounts: BTreeMap<u32, Watched>,
    /// Nothing is left to be guarded.
    over: bool,
}

#[derive(Debug)]
struct Watched {
    minor: u32,
    mountpoint: PathBuf,
    /// The last that was started has what ends it.
    guarded: bool,
}

impl Guardian {
    /// Starts one, and returns when it is there: this program once more, which has to call
    /// [`run_if_called`].
    ///
    /// # Errors
    /// The system starts no process or no thread.
    pub fn start() -> io::Result<Self> {
        let (tell, told) = mpsc::sync_channel(1);
        let link = Arc::<Mutex<Link>>::default();
        let kept = Arc::clone(&link);
        let keep = move || keep(&kept, |first| drop(tell.send(first)));
        thread::Builder::new().name("fairdisk-guard".to_owned()).spawn(keep)?;
        told.recv().map_err(io::Error::other)??;
        Ok(Self { link, next: AtomicU32::new(0) })
    }

    /// From now on the mount on `device`, at `mountpoint`, is ended if this process is killed.
    ///
    /// # Errors
    /// The guardian cannot end it, or there is none.
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
    /// Tries once more if the guardian could not end the mount: root may have given it the way.
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
        // If there is none nobody has to know.
        let _ = tell(link.to.as_ref(), self.number, OVER);
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        let mut link = lock(&self.link);
        link.over = true;
        // It ends when nobody can tell it anything any more.
        link.to = None;
    }
}

fn lock(link: &Mutex<Link>) -> MutexGuard<'_, Link> {
    link.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells the guardian that listens there of a mount, and hears what it says to that.
fn tell(to: Option<&UnixStream>, number: u32, minor: u32) -> io::Result<()> {
    let mut to = to.ok_or(io::ErrorKind::NotConnected)?;
    to.write_all(&word(number, minor))?;
    answer(to, number).map_err(with_remedy)
}

/// Says of an `error` of the guardian what to do, if it has no way to what ends mounts.
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

/// The halves of a word.
fn halves(word: &[u8]) -> (u32, u32) {
    let half = |at: usize| word[at..].first_chunk().map_or(OVER, |it| u32::from_ne_bytes(*it));
    (half(0), half(4))
}

/// What the guardian says of one mount. Answers that came too late for others are left out.
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

/// Sees to it that there is a guardian for as long as there is something to guard; tells whether
/// the `first` one is there.
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

/// Tells a guardian that is there of all that it is to watch.
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

/// Starts the one with this `number`: in a unit of its own, if that can be had. The program is the
/// one that runs, whatever has been installed in its place since.
fn spawn(number: u32) -> io::Result<(Child, UnixStream)> {
    let id = std::process::id();
    let program = format!("/proc/{id}/exe");
    if geteuid().is_root() && is_systemd_ours() {
        let unit = format!("--unit={NAME}-{id}-{number}");
        let mut run = Command::new("systemd-run");
        run.args(["--quiet", "--no-ask-password", "--scope", "--collect", &unit]);
        // It ends by itself. When the system stops, mounts end before it does.
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
    // With its end: if it ends at once that is an answer, too.
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

/// Is the guardian if that is the program's first `argument`, and returns when there is nothing
/// left to guard.
///
/// # Errors
/// Somebody else has asked for it, or the system refuses something.
pub fn run_if_called(argument: Option<&OsStr>) -> Option<io::Result<()>> {
    (argument? == NAME).then(run)
}

fn run() -> io::Result<()> {
    // Whoever started the one we guard has left to it what others may wait for.
    Inherited::find().close();
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
    say(words, READY, 0)?;
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
            for word in told[..bytes].chunks_exact(WORD_BYTES) {
                let (number, minor) = halves(word);
                let refused = |error: io::Error| error.raw_os_error().unwrap_or(libc::EIO);
                let errno = connections.hear(number, minor).map_or_else(refused, |()| 0);
                // If nobody listens any more that is the end, and the next look says so.
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

/// Answers.
fn say(to: BorrowedFd<'_>, number: u32, errno: u32) -> io::Result<()> {
    let flags = SendFlags::NOSIGNAL;
    send(to, &word(number, errno), flags).map(drop).map_err(io::Error::from)
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
