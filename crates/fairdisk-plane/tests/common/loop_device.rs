//! A loop device as a block device for tests.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// A loop device over a file, detached when dropped.
pub struct LoopDevice {
    pub path: PathBuf,
    _place: TempDir,
}

impl LoopDevice {
    /// Attaches a loop device of `bytes`; `None`, with a message that says why, where that is
    /// impossible.
    pub fn attach(bytes: u64) -> Option<Self> {
        Self::attached(bytes, &[])
    }

    /// Attaches a read-only loop device of `bytes`, where that is possible.
    #[allow(dead_code, reason = "not every test program uses it")]
    pub fn attach_read_only(bytes: u64) -> Option<Self> {
        Self::attached(bytes, &["--read-only"])
    }

    fn attached(bytes: u64, more: &[&str]) -> Option<Self> {
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let file = place.path().join("disk");
        fs::File::create(&file).unwrap().set_len(bytes).unwrap();
        let attach =
            Command::new("losetup").args(["--find", "--show"]).args(more).arg(&file).output();
        match attach {
            Ok(output) if output.status.success() => {
                let path = String::from_utf8(output.stdout).unwrap().trim().into();
                Some(Self { path, _place: place })
            }
            Ok(output) => {
                let why = String::from_utf8_lossy(&output.stderr);
                eprintln!("skipped, block device: {}", why.trim());
                None
            }
            Err(error) => {
                eprintln!("skipped, block device: no losetup: {error}");
                None
            }
        }
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.path).status();
    }
}
