//! The installed fio, as the judge of what can be parsed.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fairdisk_lab::jobfile::{Class, Context, JobFile, Machine, Problems, Resolved};

/// The folder of the corpus.
pub(crate) fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jobfiles")
}

/// Reports what is missing; in CI, where everything must be there, fails.
pub(crate) fn skip(missing: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "missing in CI: {missing}");
    eprintln!("skipped: {missing}");
}

/// Whether fio is installed.
pub(crate) fn is_installed() -> bool {
    let found = Command::new("fio").arg("--version").stdout(Stdio::null()).status();
    let found = found.is_ok_and(|status| status.success());
    if !found {
        skip("fio is not installed (Debian: apt install fio)");
    }
    found
}

/// Whether fio accepts the file, in an environment with nothing but the path and `vars`.
pub(crate) fn accepts(file: &Path, vars: &[(&str, &str)]) -> bool {
    let mut command = command(file);
    command.envs(vars.iter().copied()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().expect("fio runs").success()
}

/// Whether fio accepts a text without includes and variables. An invalid section is appended, which
/// makes fio ten times faster: it measures the CPU clock only once a whole file has been accepted.
pub(crate) fn accepts_text(scratch: &Scratch, text: &str) -> bool {
    let file = scratch.write(&format!("{text}\n[sentinel]\nno_such_key=1\n"));
    let output = command(&file).output().expect("fio runs");
    let said = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&said).contains("job sentinel dropped")
}

fn command(file: &Path) -> Command {
    let mut command = Command::new("fio");
    command
        .args(["--parse-only".as_ref(), file.as_os_str()])
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap_or_default())
        .current_dir(file.parent().expect("a job file is in a folder"));
    command
}

/// Our reading of a text, with includes from disk and variables from `vars`.
pub(crate) fn ours(name: &str, text: &str, vars: &[(&str, &str)]) -> Result<Resolved, Problems> {
    let variable = |name: &str| {
        vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    };
    let read = |path: &Path| -> io::Result<String> { std::fs::read_to_string(path) };
    let context = Context { variable: &variable, read: &read, machine: Machine::default() };
    JobFile::parse(name, text, &context).and_then(|file| file.resolve())
}

/// The violation of the rule of parity in a sentence; `None` if it holds.
pub(crate) fn disagreement(fio_accepts: bool, ours: &Result<Resolved, Problems>) -> Option<String> {
    match ours {
        Err(problems) if fio_accepts && problems.class() == Class::Wrong => {
            Some(format!("fio accepts, we call it wrong: {problems}"))
        }
        Ok(_) if !fio_accepts => Some("fio rejects, we accept".to_owned()),
        _ => None,
    }
}

/// A file in a folder of its own, which is removed with it.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        Self::within(&std::env::temp_dir(), name)
    }

    /// A folder in memory if the system has one, because fio makes many files.
    pub(crate) fn in_memory(name: &str) -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { Self::within(memory, name) } else { Self::new(name) }
    }

    fn within(parent: &Path, name: &str) -> Self {
        let folder = parent.join(format!("fairdisk-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
        Self(folder)
    }

    /// Removes everything in the folder.
    pub(crate) fn clear(&self) {
        std::fs::remove_dir_all(&self.0).expect("its own files can be removed");
        std::fs::create_dir(&self.0).expect("a temporary folder can be made");
    }

    pub(crate) fn write(&self, text: &str) -> PathBuf {
        let path = self.0.join("job.fio");
        std::fs::write(&path, text).expect("a temporary file can be written");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
