//! A mounted directory, groups, and programs in these groups.

use fairdisk_mount::control::{directory, socket_name};
use serde_json::Value;
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::yield_now;
use std::time::Duration;
use tempfile::TempDir;

/// Serialises the tests, since one would disturb the measurements of another.
static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// Whether something is missing that these tests need; prints what.
pub(crate) fn lacks_something() -> bool {
    let why = if !rustix::process::geteuid().is_root() {
        "not root"
    } else if !Path::new("/dev/fuse").exists() {
        "no /dev/fuse"
    } else if cgroup_root().is_none() {
        "no cgroup hierarchy of version 2 is mounted"
    } else if Command::new("fio").arg("--version").output().is_err() {
        "no fio"
    } else {
        return false;
    };
    println!("skipped: {why}");
    true
}

/// Whether a program is missing that a test needs; prints that.
pub(crate) fn is_missing(program: &str) -> bool {
    let missing = Command::new(program).arg("--version").output().is_err();
    if missing {
        println!("skipped: no {program}");
    }
    missing
}

/// The standard output and standard error of a program.
pub(crate) fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn cgroup_root() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let line = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
    line.split(' ').nth(4).map(PathBuf::from)
}

pub(crate) fn fairdisk(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fairdisk")).args(args).output().unwrap()
}

/// A mount and its groups, removed when dropped.
pub(crate) struct Host {
    scratch: TempDir,
    groups: PathBuf,
    mounted: bool,
    _turn: std::sync::MutexGuard<'static, ()>,
}

impl Host {
    pub(crate) fn new() -> Self {
        Self::on(&env::temp_dir())
    }

    /// A host whose files are on the disk of a directory.
    pub(crate) fn on(directory: &Path) -> Self {
        let turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let scratch = tempfile::tempdir_in(directory).unwrap();
        for directory in ["source", "mount"] {
            fs::create_dir(scratch.path().join(directory)).unwrap();
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("fairdisk-test-{}-{number}", std::process::id());
        let groups = cgroup_root().unwrap().join(name);
        fs::create_dir(&groups).unwrap();
        Self { scratch, groups, mounted: false, _turn: turn }
    }

    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Lets all users into the directory of the host.
    pub(crate) fn open_to_all(&self) {
        fs::set_permissions(self.scratch.path(), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The path of a copy of the program that all users may execute.
    pub(crate) fn program_for_all(&self) -> String {
        let program = self.scratch.path().join("fairdisk");
        if !program.exists() {
            // Only once, since a guardian that is about to end may still be executing the copy.
            fs::copy(env!("CARGO_BIN_EXE_fairdisk"), &program).unwrap();
        }
        self.open_to_all();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        program.to_str().unwrap().to_owned()
    }

    /// Compiles a library for `LD_PRELOAD` from C. Each backquote in the source is a double quote.
    pub(crate) fn library(&self, name: &str, source: &str) -> PathBuf {
        let library = self.scratch().join(name).with_extension("so");
        let file = library.with_extension("c");
        fs::write(&file, source.replace('`', "\"")).unwrap();
        let mut compiler = Command::new("cc");
        let made = compiler.args(["-shared", "-fPIC", "-o"]).args([&library, &file]).output();
        let made = made.unwrap();
        assert!(made.status.success(), "{}", text(&made));
        library
    }

    pub(crate) fn source(&self, name: &str) -> PathBuf {
        self.scratch.path().join("source").join(name)
    }

    pub(crate) fn at(&self) -> PathBuf {
        self.scratch.path().join("mount")
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.at().join(name).to_str().unwrap().to_owned()
    }

    /// Creates a file of `mib` MiB below the mount, so that none of it is cached by the mount.
    pub(crate) fn make_file(&self, name: &str, mib: usize) {
        fs::write(self.source(name), vec![b'x'; mib << 20]).unwrap();
    }

    pub(crate) fn mount(&mut self, args: &[&str]) -> Output {
        self.mount_in(&[], args)
    }

    /// Mounts as [`mount`](Self::mount) does, with variables added to the environment.
    pub(crate) fn mount_in(&mut self, environment: &[(&str, &Path)], args: &[&str]) -> Output {
        let source = self.source("");
        let at = self.at();
        let mut command = Command::new(env!("CARGO_BIN_EXE_fairdisk"));
        // Other mounts on the same disk must not influence the test.
        let separate = (!["--unscheduled", "--separate"].iter().any(|own| args.contains(own)))
            .then_some("--separate");
        let command = command.arg("mount").args(separate).args([&source, &at]);
        // Without a system log, a mount without a log file prints a note, which few tests expect.
        if !args.iter().any(|arg| arg.starts_with("--log-")) {
            command.arg("--log-file").arg(self.scratch.path().join("log"));
        }
        let output = command.args(args).envs(environment.iter().copied()).output().unwrap();
        self.mounted = output.status.success();
        output
    }

    pub(crate) fn mount_well(&mut self, args: &[&str]) {
        let output = self.mount(args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Mounts with a log, beside the mount, and returns where that is.
    pub(crate) fn mount_with_log(&mut self, args: &[&str]) -> PathBuf {
        let log = self.at().with_file_name("log");
        self.mount_well(&[args, &["--log-file", log.to_str().unwrap()]].concat());
        log
    }

    pub(crate) fn unmount(&mut self) {
        let done = Command::new("umount").arg(self.at()).status().unwrap();
        assert!(done.success());
        self.mounted = false;
    }

    /// Notes that the mount has ended by itself.
    pub(crate) const fn has_ended(&mut self) {
        self.mounted = false;
    }

    /// Creates a group below the hierarchy, unless it is there.
    pub(crate) fn make_group(&self, name: &str) {
        let directory = self.groups.join(name);
        if !directory.exists() {
            fs::create_dir(&directory).unwrap();
        }
    }

    /// The path of a group below the hierarchy, which is created if necessary, with a setting.
    pub(crate) fn group(&self, name: &str, setting: &str) -> String {
        self.make_group(name);
        let group = self.path_of(name);
        let set = self.ctl(&["set", &group, setting]);
        assert!(set.status.success(), "{}", String::from_utf8_lossy(&set.stderr));
        group
    }

    /// The path of a group of this mount, whether it exists or not.
    pub(crate) fn path_of(&self, name: &str) -> String {
        format!("{}{name}", self.group_prefix())
    }

    /// The common prefix of the paths of this mount's groups.
    fn group_prefix(&self) -> String {
        format!("/{}/", self.groups.file_name().unwrap().to_str().unwrap())
    }

    /// The directory of a group of this mount.
    pub(crate) fn group_directory(&self, name: &str) -> PathBuf {
        self.groups.join(name)
    }

    pub(crate) fn ctl(&self, args: &[&str]) -> Output {
        let at = self.at();
        fairdisk(&[&["ctl", "--at", at.to_str().unwrap()], args].concat())
    }

    pub(crate) fn status(&self) -> Value {
        let output = self.ctl(&["list", "--json"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The status of a group; null if the mount does not know it.
    pub(crate) fn entry(&self, group: &str) -> Value {
        entry(&self.status(), group)
    }

    /// The device time of each group in milliseconds.
    pub(crate) fn device_time(&self, groups: &[String]) -> Vec<f64> {
        let status = self.status();
        let time = |group: &String| entry(&status, group)["device_time_ms"].as_f64();
        groups.iter().map(|group| time(group).unwrap_or(0.0)).collect()
    }

    /// The control socket of the mount.
    pub(crate) fn socket(&self) -> PathBuf {
        directory().join(socket_name(&self.at()))
    }

    /// Starts a program in a group, by way of a shell that first moves itself there.
    pub(crate) fn start(&self, group: &str, command: &str) -> Child {
        let prefix = self.group_prefix();
        let name = group.strip_prefix(prefix.as_str()).unwrap();
        let procs = self.groups.join(name).join("cgroup.procs");
        let script = format!("echo 0 > '{}' && exec {command}", procs.display());
        Command::new("sh")
            .args(["-c", &script])
            .env("LC_ALL", "C")
            .current_dir(self.scratch.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }
}

fn entry(status: &Value, group: &str) -> Value {
    let entries = status["groups"].as_array().unwrap();
    entries.iter().find(|entry| entry["name"] == group).cloned().unwrap_or_default()
}

/// The output of a program on both streams, once it has ended; an error if it failed.
pub(crate) fn ended(child: Child) -> Result<String, String> {
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(text(&output)) } else { Err(text(&output)) }
}

/// The output of a program on both streams; it must have succeeded.
pub(crate) fn finish(child: Child) -> String {
    ended(child).unwrap_or_else(|said| panic!("{said}"))
}

impl Drop for Host {
    fn drop(&mut self) {
        if self.mounted {
            let _ = Command::new("umount").arg("-l").arg(self.at()).status();
        }
        remove_groups(&self.groups);
    }
}

/// Removes a group and those inside it.
fn remove_groups(group: &Path) {
    let below = fs::read_dir(group).into_iter().flatten().flatten().map(|entry| entry.path());
    below.filter(|path| path.is_dir()).for_each(|path| remove_groups(&path));
    // A group is busy for a moment after its last task has ended.
    for _ in 0..10_000 {
        if fs::remove_dir(group).is_ok() {
            break;
        }
        yield_now();
    }
}

/// Waits until a condition holds, which may take long on a busy machine.
pub(crate) fn wait_until(what: impl Fn() -> bool) {
    for _ in 0..12_000 {
        if what() {
            return;
        }
        fairdisk_plane::pause(Duration::from_millis(10));
    }
    panic!("it never came to that");
}

/// Whether the long form of the tests is requested.
pub(crate) fn soak() -> bool {
    env::var_os("FAIRDISK_SOAK").is_some()
}
