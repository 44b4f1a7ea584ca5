//! Loop devices, groups and unit files of our own, removed when dropped.

use fairdisk_kernel::{Finding, Root, Snapshot, check};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// Serialises the tests: each changes the one machine.
static TURN: Mutex<()> = Mutex::new(());

pub(super) fn run(program: &str, args: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(args).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let said = || format!("{program} {args:?}: {}", text(&output.stderr));
    output.status.success().then(|| text(&output.stdout)).ok_or_else(said)
}

/// What a test has planted.
pub(crate) struct Machine {
    scratch: TempDir,
    loops: Vec<String>,
    made: Vec<PathBuf>,
    children: Vec<Child>,
    _turn: MutexGuard<'static, ()>,
}

impl Machine {
    /// A machine with a loop device in memory, or `None` with the reason printed.
    pub(crate) fn new() -> Option<Self> {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let scratch = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let (loops, made, children) = (Vec::new(), Vec::new(), Vec::new());
        let mut machine = Self { scratch, loops, made, children, _turn: turn };
        let directory = machine.scratch.path().to_owned();
        if let Err(why) = machine.add_loop(&directory) {
            println!("skipped: {why}");
            return None;
        }
        Some(machine)
    }

    /// Adds a loop device whose file is in a directory.
    pub(crate) fn add_loop(&mut self, directory: &Path) -> Result<String, String> {
        let image = directory.join(format!("fairdisk-disk-{}", std::process::id()));
        let file = fs::File::create(&image).map_err(|error| error.to_string())?;
        file.set_len(32 << 20).map_err(|error| error.to_string())?;
        let device = run("losetup", &["--find", "--show", image.to_str().unwrap()]);
        if !image.starts_with(self.scratch.path()) {
            self.made.push(image);
        }
        let name = device?.trim_start_matches("/dev/").to_owned();
        self.loops.push(name.clone());
        Ok(name)
    }

    /// The name of the loop device in memory.
    pub(crate) fn disk(&self) -> String {
        self.loops[0].clone()
    }

    pub(crate) fn number(&self) -> String {
        let file = format!("/sys/block/{}/dev", self.disk());
        fs::read_to_string(file).unwrap().trim().to_owned()
    }

    /// Gives a device a scheduler; false with the reason printed if this kernel has it not.
    pub(crate) fn schedule(&self, disk: &str, scheduler: &str) -> bool {
        let file = format!("/sys/block/{disk}/queue/scheduler");
        let done = fs::write(file, scheduler);
        if let Err(error) = &done {
            println!("skipped: {scheduler}: {error}");
        }
        done.is_ok()
    }

    /// A name for a group or unit that nobody else has.
    pub(crate) fn name(&self) -> String {
        format!("fairdisk-doctor-{}", std::process::id())
    }

    /// A group of ours below the top of a tree.
    pub(crate) fn group(&mut self, top: &str, name: &str) -> PathBuf {
        let directory = Path::new(top).join(name);
        fs::create_dir_all(&directory).unwrap();
        self.made.push(directory.clone());
        directory
    }

    /// A file that systemd would read.
    pub(crate) fn unit(&mut self, text: &str) -> String {
        let name = format!("{}.service", self.name());
        fs::create_dir_all("/run/systemd/system").unwrap();
        let file = Path::new("/run/systemd/system").join(&name);
        fs::write(&file, format!("[Service]\n{text}\n")).unwrap();
        self.made.push(file);
        name
    }

    /// A program that waits.
    pub(crate) fn waits(&mut self, command: &[&str]) -> u32 {
        let child = Command::new(command[0]).args(&command[1..]).args(["sleep", "600"]).spawn();
        self.children.push(child.unwrap());
        let child = self.children.last_mut().unwrap();
        let pid = child.id();
        // It becomes `sleep` when it has done what comes before.
        while fs::read_to_string(format!("/proc/{pid}/comm")).unwrap().trim() != "sleep" {
            assert_eq!(child.try_wait().unwrap(), None, "{command:?} has ended");
            std::thread::yield_now();
        }
        pid
    }

    /// What is found about a device or path, and these groups.
    pub(crate) fn findings(&self, of: &str, groups: &[&str]) -> Vec<Finding> {
        let snapshot = Snapshot::read(&Root::of_system());
        let stack = snapshot.stack(of).unwrap();
        let groups: Vec<String> = groups.iter().map(|name| (*name).to_owned()).collect();
        check(&snapshot, &[stack], &groups).unwrap()
    }

    /// What is found about the loop device in memory.
    pub(crate) fn found(&self) -> Vec<Finding> {
        self.findings(&format!("/dev/{}", self.disk()), &[])
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
        for name in self.loops.iter().rev() {
            let _ = run("delpart", &[&format!("/dev/{name}"), "1"]);
            let _ = run("losetup", &["--detach", &format!("/dev/{name}")]);
        }
        for path in self.made.iter().rev() {
            let _ = if path.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) };
        }
    }
}
