//! Runs the program in a directory of its own.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A scratch directory in which the program runs.
pub(crate) struct Place {
    directory: TempDir,
}

/// The result of running the program.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file in the directory.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// The names in the directory, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    /// A command that runs the program in the directory, which also serves for temporary files.
    pub(crate) fn command<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fairdisk"));
        command.args(arguments).current_dir(self.path()).env("TMPDIR", self.path());
        command.env_remove("NO_COLOR").stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program.
    pub(crate) fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Ended {
        Ended::of(self.command(arguments).output().unwrap())
    }
}

impl Ended {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The output of the program, which must have succeeded without messages.
    #[track_caller]
    pub(crate) fn quiet(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{}", self.out);
        self.out
    }

    /// The output of the program as JSON; it must have succeeded.
    #[track_caller]
    pub(crate) fn json(self) -> serde_json::Value {
        assert_eq!(self.code, Some(0), "{}", self.err);
        serde_json::from_str(&self.out).unwrap()
    }
}

/// The command that runs another as a user without rights.
pub(crate) const NOBODY: &str = "setpriv --reuid=65534 --regid=65534 --clear-groups";

/// The experiment `two-groups` under the name `mine`, to be changed.
pub(crate) fn two_groups() -> String {
    let text = include_str!("../../../../catalog/experiments/two-groups.toml");
    text.replace("\"two-groups\"", "\"mine\"")
}

/// Runs the program in a directory that is not inspected afterwards.
pub(crate) fn fairdisk<A: AsRef<OsStr>>(arguments: &[A]) -> Ended {
    Place::new().run(arguments)
}
