//! A source, a mount point, and a child process that serves the mount.

use fairdisk_mount::{Gate, Job, MountOptions, Mounted, OpenGate, Piece};
use rustix::mount::UnmountFlags;
use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

const PLACES: &str = "FAIRDISK_TEST_MOUNT";
const HOW: &str = "FAIRDISK_TEST_MOUNT_HOW";

/// How a tree is served.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How {
    /// Whether pieces go to threads that take any of those waiting.
    pub(crate) shuffled: bool,
    pub(crate) read_only: bool,
    pub(crate) owner_only: bool,
    /// Whether the kernel may cache names and attributes for an hour.
    pub(crate) believed: bool,
    /// Whether the daemon has a low limit on descriptors.
    pub(crate) few_files: bool,
    /// Whether the daemon starts with a low limit on file sizes.
    pub(crate) small_files: bool,
    /// Whether the gate writes down the pieces that it is given.
    pub(crate) recorded: bool,
    /// Whether changes of open files in the source are looked for all the time.
    pub(crate) watched: bool,
}

/// The low limit on descriptors.
pub(crate) const FEW_FILES: usize = 128;

/// The low soft limit on file sizes in bytes.
pub(crate) const SMALL_FILE: u64 = 65536;

impl How {
    fn to_text(self) -> String {
        let Self { shuffled, read_only, owner_only, believed, few_files, .. } = self;
        let Self { small_files, recorded, watched, .. } = self;
        format!(
            "{shuffled} {read_only} {owner_only} {believed} {few_files} {small_files} {recorded} \
             {watched}"
        )
    }

    fn from_text(text: &str) -> Self {
        let mut words = text.split(' ').map(|word| word == "true");
        let mut next = || words.next().unwrap();
        Self {
            shuffled: next(),
            read_only: next(),
            owner_only: next(),
            believed: next(),
            few_files: next(),
            small_files: next(),
            recorded: next(),
            watched: next(),
        }
    }
}

/// A mounted tree.
pub(crate) struct Tree {
    pub(crate) place: TempDir,
    pub(crate) source: PathBuf,
    pub(crate) mount: PathBuf,
    daemon: Option<Child>,
}

/// Whether mounts are possible here; if not, prints what is missing.
pub(crate) fn can_mount() -> bool {
    let missing = if !Path::new("/dev/fuse").exists() {
        "/dev/fuse (modprobe fuse)"
    } else if !rustix::process::geteuid().is_root() {
        "root"
    } else {
        return true;
    };
    println!("skipped: mounting needs {missing}");
    assert!(std::env::var("CI").as_deref() != Ok("true"), "missing in CI: {missing}");
    false
}

impl Tree {
    /// A tree that all users may access, with an open gate.
    pub(crate) fn new() -> Option<Self> {
        Self::served(How::default())
    }

    pub(crate) fn served(how: How) -> Option<Self> {
        if !can_mount() {
            return None;
        }
        let place = place();
        let source = place.path().join("source");
        fs::create_dir(&source).unwrap();
        Some(Self::of(source, place, how))
    }

    /// A tree over an existing directory.
    pub(crate) fn over(source: &Path, how: How) -> Self {
        let place = place();
        Self::of(source.to_owned(), place, how)
    }

    fn of(source: PathBuf, place: TempDir, how: How) -> Self {
        let mount = place.path().join("mount");
        fs::create_dir(&mount).unwrap();
        // Other users need access to this directory.
        open_to_all(place.path());
        let mut tree = Self { place, source, mount, daemon: None };
        tree.start(how).unwrap();
        tree
    }

    /// Starts a daemon. Returns its error message if it cannot mount.
    pub(crate) fn start(&mut self, how: How) -> Result<(), String> {
        let daemon = std::env::current_exe().unwrap();
        let mut command = Command::new(&daemon);
        if how.few_files || how.small_files {
            command = Command::new("prlimit");
            let few = how.few_files.then(|| format!("--nofile={FEW_FILES}:{FEW_FILES}"));
            let small = how.small_files.then(|| format!("--fsize={SMALL_FILE}:"));
            // Without the right to raise limits.
            let bounded = ["setpriv", "--bounding-set=-sys_resource", "--inh-caps=-sys_resource"];
            command.args(few).args(small).args(bounded).arg(daemon);
        }
        self.daemon = Some(started(command, &self.source, &self.mount, how)?);
        Ok(())
    }

    /// The path of a file in the mount.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.mount.join(name)
    }

    /// The path of a file in the source.
    pub(crate) fn below(&self, name: &str) -> PathBuf {
        self.source.join(name)
    }

    /// The writes that a gate which records has been given since this was called last: how many
    /// sectors each has, and whether it has to be durable when it completes.
    pub(crate) fn writes(&self) -> Vec<(u32, bool)> {
        let pieces = self.place.path().join(PIECES);
        let text = fs::read_to_string(&pieces).unwrap();
        fs::write(pieces, "").unwrap();
        let write = |line: &str| {
            let (sectors, durable) = line.strip_prefix("write ")?.split_once(' ')?;
            Some((sectors.parse().unwrap(), durable == "true"))
        };
        text.lines().filter_map(write).collect()
    }

    /// The number of descriptors of the daemon.
    pub(crate) fn descriptors(&self) -> usize {
        let daemon = self.daemon.as_ref().unwrap().id();
        fs::read_dir(format!("/proc/{daemon}/fd")).unwrap().count()
    }

    /// The number of descriptors of the daemon that refer to files in the source.
    pub(crate) fn open_files(&self) -> usize {
        let daemon = self.daemon.as_ref().unwrap().id();
        let all = fs::read_dir(format!("/proc/{daemon}/fd")).unwrap().filter_map(Result::ok);
        let is_below = |path: &PathBuf| *path != self.source && path.starts_with(&self.source);
        all.filter_map(|fd| fs::read_link(fd.path()).ok()).filter(is_below).count()
    }

    /// The number of the daemon's threads in uninterruptible sleep.
    pub(crate) fn threads_held_up(&self) -> usize {
        let tasks = format!("/proc/{}/task", self.daemon.as_ref().unwrap().id());
        let tasks = fs::read_dir(tasks).unwrap().flatten();
        let stat = tasks.map(|task| fs::read_to_string(task.path().join("stat")));
        stat.flatten().filter(|stat| stat.contains(") D ")).count()
    }

    pub(crate) fn kill(&mut self) {
        let mut daemon = self.daemon.take().unwrap();
        daemon.kill().unwrap();
        daemon.wait().unwrap();
    }

    /// Unmounts, and waits until the daemon has exited successfully.
    pub(crate) fn unmount(&mut self) {
        let Some(mut daemon) = self.daemon.take() else { return };
        // Child processes of other tests hold our descriptors until they execute their program.
        let patient = !thread::panicking();
        let unmount = || rustix::mount::unmount(&self.mount, UnmountFlags::empty()).is_ok();
        if patient {
            until("nobody uses the mount", unmount);
        } else if !unmount() {
            daemon.kill().unwrap();
            let _ = rustix::mount::unmount(&self.mount, UnmountFlags::DETACH);
        }
        let ended = daemon.wait().unwrap();
        assert!(ended.success() || thread::panicking(), "{ended}");
    }

    /// Runs a script in the mounted tree and returns its output.
    pub(crate) fn shell(&self, script: &str) -> String {
        printed(script, &self.shell_as(&[], script))
    }

    /// Runs a script in the mounted tree with an identity, given as arguments of `setpriv`.
    pub(crate) fn shell_as(&self, identity: &[&str], script: &str) -> Output {
        let mut command = match identity {
            [] => Command::new("sh"),
            identity => {
                let mut command = Command::new("setpriv");
                command.args(identity).arg("sh");
                command
            }
        };
        command.args(["-ec", script]).current_dir(&self.mount).output().unwrap()
    }
}

/// A scratch directory that other users can reach, if possible. In a private directory only root's
/// tests would work.
pub(crate) fn place() -> TempDir {
    let own = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let is_open = |path: &Path| path.metadata().is_ok_and(|meta| meta.mode() & 0o001 != 0);
    if own.ancestors().all(is_open) {
        return tempfile::tempdir_in(own).unwrap();
    }
    tempfile::tempdir().unwrap()
}

/// Detaches the mount of a killed daemon.
pub(crate) fn detach(mount: &Path) {
    rustix::mount::unmount(mount, UnmountFlags::DETACH).unwrap();
}

/// Starts a daemon and waits until it has mounted. Returns its error message if it cannot.
fn started(mut command: Command, source: &Path, mount: &Path, how: How) -> Result<Child, String> {
    let mut child = command
        .args(["--exact", "daemon", "--nocapture"])
        .env(PLACES, format!("{}\n{}", source.display(), mount.display()))
        .env(HOW, how.to_text())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in lines.map_while(Result::ok) {
        if line.ends_with("mounted") {
            return Ok(child);
        }
        if let Some((_, why)) = line.split_once("failed: ") {
            child.wait().unwrap();
            return Err(why.to_owned());
        }
    }
    panic!("the daemon ended: {:?}", child.wait());
}

/// The output of a program, which must have succeeded.
pub(crate) fn printed(what: &str, output: &Output) -> String {
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{what}\n{out}{err}");
    out.trim_end().to_owned()
}

pub(crate) fn open_to_all(path: &Path) {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(path, mode).unwrap();
}

impl Drop for Tree {
    fn drop(&mut self) {
        if thread::panicking() {
            // A test that fails may leave immutable files, which could not be removed otherwise.
            let _ = Command::new("chattr").args(["-R", "-f", "-ia"]).arg(&self.source).status();
        }
        self.unmount();
    }
}

/// The main function of the child process.
pub(crate) fn serve() {
    let Ok(places) = std::env::var(PLACES) else { return };
    let (source, mount) = places.split_once('\n').unwrap();
    let how = How::from_text(&std::env::var(HOW).unwrap());
    let mut options = MountOptions {
        allow_other: !how.owner_only,
        read_only: how.read_only,
        ..MountOptions::default()
    };
    if how.believed {
        options.ttl = Duration::from_secs(3600);
    }
    let gate: Arc<dyn Gate> = if how.shuffled {
        Arc::new(ShufflingGate::new())
    } else if how.recorded {
        Arc::new(RecordingGate::new(&Path::new(mount).with_file_name(PIECES)))
    } else {
        Arc::new(OpenGate)
    };
    match Mounted::mount(Path::new(source), Path::new(mount), options, gate) {
        Ok(mounted) => {
            if how.watched {
                let watch = mounted.watch();
                thread::spawn(move || {
                    loop {
                        watch.look_below();
                        fairdisk_plane::pause(Duration::from_millis(5));
                    }
                });
            }
            println!("mounted");
            mounted.wait();
        }
        Err(error) => println!("failed: {error}"),
    }
    // Exits before the test harness prints its summary, which nobody reads.
    std::process::exit(0);
}

type Waiting = VecDeque<Box<dyn Job>>;

/// A gate that performs pieces on two threads, in a random order.
pub(crate) struct ShufflingGate(Arc<(Mutex<Waiting>, Condvar)>);

impl ShufflingGate {
    pub(crate) fn new() -> Self {
        let shared: Arc<(Mutex<Waiting>, Condvar)> = Arc::default();
        for seed in 1..=2_u64 {
            let shared = Arc::clone(&shared);
            thread::spawn(move || work(&shared, fairdisk_core::Prng::new(seed)));
        }
        Self(shared)
    }
}

fn work((waiting, changed): &(Mutex<Waiting>, Condvar), mut prng: fairdisk_core::Prng) {
    loop {
        let mut queue =
            changed.wait_while(waiting.lock().unwrap(), |queue| queue.is_empty()).unwrap();
        let any = prng.next_u64() as usize % queue.len();
        let mut job = queue.swap_remove_back(any).unwrap();
        drop(queue);
        let result = job.perform();
        job.finish(result);
    }
}

impl Gate for ShufflingGate {
    fn submit(&self, piece: Piece, job: Box<dyn Job>) {
        assert!(piece.sectors.0 <= 4096, "{piece:?}");
        self.0.0.lock().unwrap().push_back(job);
        self.0.1.notify_one();
    }
}

/// The file beside the mount with what a gate was given.
const PIECES: &str = "pieces";

/// A gate that writes down each piece before it performs it.
struct RecordingGate(fs::File);

impl RecordingGate {
    fn new(path: &Path) -> Self {
        Self(fs::File::options().create(true).append(true).open(path).unwrap())
    }
}

impl Gate for RecordingGate {
    fn submit(&self, piece: Piece, job: Box<dyn Job>) {
        let is_durable = piece.flags.contains(fairdisk_core::Flags::FUA);
        let line = format!("{} {} {is_durable}\n", piece.op.name(), piece.sectors.0);
        (&self.0).write_all(line.as_bytes()).unwrap();
        OpenGate.submit(piece, job);
    }
}

/// Repeats a check until it holds, for at most half a minute.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let clock = fairdisk_plane::MonotonicClock::start();
    let begun = fairdisk_plane::Clock::now(&clock);
    while !holds() {
        let waited = fairdisk_plane::Clock::now(&clock).since(begun);
        assert!(waited < fairdisk_core::Span::from_s(30), "not within 30 s: {what}");
        fairdisk_plane::pause(Duration::from_millis(1));
    }
}
