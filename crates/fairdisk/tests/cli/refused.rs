//! Refusals by the system: a full disk and missing permissions. Both need root to set up.

use crate::bad_input::demand_one_line;
use crate::program::{Ended, NOBODY, Place};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use serde_json::Value;
use std::ffi::CString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file system of 256 KiB.
struct Small(PathBuf);

impl Small {
    /// Mounts it; `None` if that cannot be done, which is said.
    fn mount(path: PathBuf) -> Option<Self> {
        fs::create_dir(&path).unwrap();
        let options = CString::new("size=256k").unwrap();
        mount("none", &path, "tmpfs", MountFlags::empty(), Some(options.as_c_str()))
            .map_err(|error| eprintln!("skipped: cannot mount a small file system: {error}"))
            .ok()?;
        Some(Self(path))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        if let Err(error) = unmount(&self.0, UnmountFlags::DETACH) {
            eprintln!("cannot unmount {}: {error}", self.0.display());
        }
    }
}

#[test]
fn a_full_disk_is_told_and_nothing_is_left_on_it() {
    let place = Place::new();
    let Some(small) = Small::mount(place.path().join("small")) else { return };
    let run = ["run", "two-groups", "--arm", "flat", "--on", "file:small/x", "-q"];
    let ended = place.run(&[&run[..], &["--device", "none"]].concat());
    demand_one_line(&ended, &["small/x", "bytes"]);
    assert_eq!(fs::read_dir(&small.0).unwrap().count(), 0, "something is left");
}

#[test]
fn no_man_page_is_left_half_written_on_a_full_disk() {
    let place = Place::new();
    let Some(small) = Small::mount(place.path().join("small")) else { return };
    fs::write(small.0.join("full"), vec![0; 224 << 10]).unwrap();
    let ended = place.run(&["man", "small/man"]);
    demand_one_line(&ended, &["small/man", "cannot write man pages there"]);
    assert_eq!(fs::read_dir(small.0.join("man")).unwrap().count(), 0, "something is left");
    fs::remove_file(small.0.join("full")).unwrap();
    assert_eq!(place.run(&["man", "man"]).code, Some(0));
    assert!(place.path().join("man/fairdisk.1").exists());
}

#[test]
fn where_no_thread_can_be_started_one_does_all() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_fairdisk");
    let run = format!("ulimit -u 1; exec {NOBODY} {program} run two-groups --duration 1s -q");
    let mut shell = Command::new("bash");
    shell.args(["-c", &run]).current_dir("/");
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: only root may run a program as somebody else");
    }
    let ended = Ended::of(shell.output().unwrap());
    let alone = place.run(&["run", "two-groups", "--duration", "1s", "-q"]);
    assert_eq!(ended.quiet(), alone.quiet());
}

#[test]
fn a_limit_on_the_size_of_files_is_told_and_nothing_is_left() {
    let place = Place::new();
    let limited = |run: &str| {
        let mut shell = Command::new("sh");
        let program = env!("CARGO_BIN_EXE_fairdisk");
        shell.args(["-c", &format!("ulimit -f 1000; exec {program} {run}")]);
        Ended::of(shell.current_dir(place.path()).output().unwrap())
    };
    for device in ["wd2500js", "none"] {
        let run = format!("run two-groups --arm flat --on file:x -q --device {device}");
        demand_one_line(&limited(&run), &["x: ", "a limit does not allow a file of"]);
        assert_eq!(place.names(), [""; 0]);
    }
}

/// Under a modelled disk the file is sparse: what counts is what is written, not how large it is.
#[test]
fn a_disk_without_room_for_what_a_run_writes_is_told_beforehand() {
    let place = Place::new();
    let Some(small) = Small::mount(place.path().join("small")) else { return };
    let run = |text: &str| {
        place.write("mine.fio", format!("[a]\nsize=1m\ndirect=1\nruntime=60\n{text}"));
        place.run(&["run", "mine.fio", "--on", "file:small/x", "-q", "--device", "hdd-7200-2007"])
    };
    let words = ["small/x", "262144 bytes free, 1052672 are needed for what this run writes"];
    for jobs in ["rw=write\nbs=64k\n", "rw=write\nbs=64k\nnumjobs=2\nfilename=same\n"] {
        demand_one_line(&run(jobs), &words);
        assert_eq!(fs::read_dir(&small.0).unwrap().count(), 0, "something is left");
    }
    for jobs in ["rw=randwrite\nbs=4k\nnumber_ios=20\n", "rw=write\nbs=64k\nio_size=192k\n"] {
        assert_eq!(run(jobs).code, Some(0), "{jobs}: {}", run(jobs).err);
        assert!(small.0.join("x").exists());
        fs::remove_file(small.0.join("x")).unwrap();
    }
}

/// Writes 4 KiB five times a second, and fits.
const SLOW_WRITER: &str = "[a]\nrw=write\nbs=4k\nsize=128k\ndirect=1\nthinktime=200ms\n";

/// Runs the slow writer on `x`; once it has written, somebody else fills the disk.
fn run_while_it_fills(place: &Place, small: &Small, more: &[&str]) -> Ended {
    place.write("slow.fio", SLOW_WRITER);
    let run = ["run", "slow.fio", "--on", "file:small/x", "-q", "--device", "hdd-7200-2007"];
    let mut child = place.command(&[&run[..], more].concat()).spawn().unwrap();
    // All that a file of holes takes up before that is its mark.
    let has_written = || {
        let found = fs::metadata(small.0.join("x"));
        found.is_ok_and(|file| file.blocks() * 512 > 4096)
    };
    while !has_written() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let mut filler = fs::File::create(small.0.join("filler")).unwrap();
    while filler.write_all(&[7; 4096]).is_ok() {}
    Ended::of(child.wait_with_output().unwrap())
}

/// The run ends there, and failed I/Os do not count.
#[test]
fn a_disk_that_fills_up_under_way_ends_the_run_and_has_its_file_back() {
    let place = Place::new();
    let Some(small) = Small::mount(place.path().join("small")) else { return };
    let ended = run_while_it_fills(&place, &small, &[]);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    let removed = "small/x, which this run had made, is removed";
    for part in ["failed and ended the run", ": write of", "space", removed] {
        assert!(ended.err.contains(part), "no `{part}` in {}", ended.err);
    }
    assert!(ended.out.contains("partial: a request failed"), "no table: {}", ended.out);
    assert!(!small.0.join("x").exists() && small.0.join("filler").exists());

    // A file that was there before stays there.
    fs::remove_file(small.0.join("filler")).unwrap();
    place.write("short.fio", "[a]\nrw=read\nbs=4k\nsize=128k\nnumber_ios=1\n");
    let short =
        place.run(&["run", "short.fio", "--on", "file:small/x", "-q", "--device", "hdd-7200-2007"]);
    assert_eq!(short.code, Some(0), "{}", short.err);
    let ended = run_while_it_fills(&place, &small, &["--json"]);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(!ended.err.contains("removed"), "{}", ended.err);
    assert!(small.0.join("x").exists());
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    let rows = value["rows"].as_array().unwrap();
    assert_eq!(
        (rows.len(), &value["partial"], &rows[0]["partial"]),
        (1, &true.into(), &true.into())
    );
    assert!(rows[0]["total"]["ios"].as_f64().unwrap() < 32.0, "{:#}", rows[0]);
    assert!(rows[0]["backend"]["errors"].as_u64().unwrap() > 0, "{:#}", rows[0]);
}

/// Runs a copy of the program as the user `nobody`.
fn as_nobody(place: &Place, arguments: &[&str]) -> Result<Ended, String> {
    let program = place.path().join("fairdisk");
    fs::copy(env!("CARGO_BIN_EXE_fairdisk"), &program).unwrap();
    let everybody = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o755));
    everybody(place.path()).and_then(|()| everybody(&program)).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
    let output = command.args(arguments).current_dir(place.path()).output();
    let ended = Ended::of(output.map_err(|error| format!("cannot run setpriv: {error}"))?);
    let refused = ended.err.starts_with("setpriv:");
    if refused { Err(ended.err) } else { Ok(ended) }
}

#[test]
fn no_permission_is_told() {
    let place = Place::new();
    fs::create_dir(place.path().join("closed")).unwrap();
    fs::set_permissions(place.path().join("closed"), fs::Permissions::from_mode(0o700)).unwrap();
    place.write("mine.toml", "");
    let mine = place.path().join("mine.toml");
    fs::set_permissions(mine, fs::Permissions::from_mode(0o600)).unwrap();
    for path in ["closed/x", "x"] {
        let target = format!("file:{path}");
        match as_nobody(&place, &["run", "two-groups", "-q", "--on", &target]) {
            Ok(ended) => demand_one_line(&ended, &[path, "no permission"]),
            Err(why) => return eprintln!("skipped: {why}"),
        }
    }
    match as_nobody(&place, &["run", "mine.toml"]) {
        Ok(ended) => demand_one_line(&ended, &["mine.toml", "ermission denied"]),
        Err(why) => return eprintln!("skipped: {why}"),
    }
    assert_eq!(place.names(), ["closed", "fairdisk", "mine.toml"]);
}
