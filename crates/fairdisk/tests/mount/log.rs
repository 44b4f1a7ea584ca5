//! The event log of a mount.

use crate::host::{Host, finish, lacks_something, text, wait_until};
use crate::process::{is_alive, process};
use fairdisk_core::Span;
use fairdisk_plane::{Clock as _, MonotonicClock};
use rustix::mount::{MountFlags, UnmountFlags};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader, ErrorKind};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{ChildStderr, Command, Output, Stdio};
use std::time::Duration;

/// The value of a key in a logfmt line.
pub(crate) fn of<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let at = line.find(&format!("{key}="))? + key.len() + 1;
    let rest = &line[at..];
    match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split(' ').next(),
    }
}

/// Reads the next event, which must have this name.
fn event(lines: &mut BufReader<ChildStderr>, name: &str) -> String {
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert_eq!(of(&line, "event"), Some(name), "{line}");
    let ts = of(&line, "ts").unwrap();
    assert!(ts.len() == 24 && ts.ends_with('Z') && ts.starts_with("20"), "{line}");
    line.trim_end().to_owned()
}

#[test]
fn a_mount_in_the_foreground_tells_what_happens_to_it() {
    if lacks_something() {
        return;
    }
    let host = Host::new();
    host.make_file("data", 4);
    let socket = host.at().with_file_name("metrics.sock");
    let mut daemon = Command::new(env!("CARGO_BIN_EXE_fairdisk"))
        .args(["mount", "--foreground", "--allow-other", "--metrics"])
        .arg(format!("unix:{}", socket.display()))
        .args([host.source(""), host.at()])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(daemon.stderr.take().unwrap());
    let mounted = event(&mut lines, "mounted");
    assert_eq!(of(&mounted, "level"), Some("info"));
    assert_eq!(of(&mounted, "mountpoint").map(Path::new), Some(&*host.at()));
    assert_eq!(of(&mounted, "pid"), Some(&*daemon.id().to_string()));
    assert_eq!(of(&mounted, "scheduler"), Some("fair"));
    event(&mut lines, "metrics up");
    while !host.ctl(&["list"]).status.success() {}
    let group = host.group("tenant", "weight=200");
    let read = format!("dd if={} of=/dev/null bs=4k count=1 iflag=direct", host.file("data"));
    finish(host.start(&group, &read));
    assert!(host.ctl(&["set", &group, "ioprio=0"]).status.success());
    assert!(host.ctl(&["set", &group, "idle=9"]).status.success());
    for (old, new) in
        [("weight=100", "weight=200"), ("weight=200", "ioprio=0"), ("ioprio=0", "ioprio=0 idle=9")]
    {
        let changed = event(&mut lines, "setting changed");
        let values = ["group", "old", "new"].map(|key| of(&changed, key).unwrap());
        assert_eq!(values, [&group, old, new]);
    }
    assert!(host.ctl(&["scheduler", "deadline"]).status.success());
    let switched = event(&mut lines, "scheduler switched");
    assert_eq!((of(&switched, "from"), of(&switched, "to")), (Some("fair"), Some("deadline")));
    let script =
        format!("{} ctl --at {} scheduler noop", host.program_for_all(), host.at().display());
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", &script];
    assert!(!Command::new("setpriv").args(nobody).output().unwrap().status.success());
    let refused = event(&mut lines, "change refused");
    assert_eq!((of(&refused, "level"), of(&refused, "uid")), (Some("warn"), Some("65534")));
    kill_process(Pid::from_child(&daemon), Signal::TERM).unwrap();
    event(&mut lines, "unmounting");
    event(&mut lines, "unmounted");
    assert!(daemon.wait().unwrap().success());
}

#[test]
fn a_mount_in_the_background_writes_to_a_file_and_names_what_failed() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    let source = host.source("");
    let no_flags = MountFlags::empty();
    rustix::mount::mount("tmpfs", &source, "tmpfs", no_flags, c"size=1m").unwrap();
    let log = host.at().with_file_name("log");
    let refused = host.mount(&["--log-file", "/nonexistent/log"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(text(&refused).contains("--log-file /nonexistent/log: cannot append"));
    let args = ["--log-format", "json", "--log-level", "warn", "--log-file"];
    let mounted = host.mount(&[&args[..], &[log.to_str().unwrap()]].concat());
    assert!(mounted.status.success(), "{}", text(&mounted));
    for how in ["oflag=direct", "conv=notrunc"] {
        let write = format!("dd if=/dev/zero of={} bs=64k count=64 {how}", host.file("big"));
        assert!(!Command::new("sh").args(["-c", &write]).output().unwrap().status.success());
    }
    host.unmount();
    // What was not said alone is said at the end of the process.
    wait_until(|| !is_alive(process(&text(&mounted))));
    rustix::mount::unmount(&source, UnmountFlags::DETACH).unwrap();
    let said = fs::read_to_string(&log).unwrap();
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (warned, lines) = lines.split_first().unwrap();
    assert!(warned["level"] == "warn" && said.contains("this is in memory"), "{said}");
    let known = ["I/O error", "more I/O errors"];
    let is_known = |line: &Value| known.iter().any(|event| line["event"] == *event);
    assert!(lines.iter().all(is_known), "nothing below a warning: {said}");
    // One a second is said at most, and the rest at the end.
    let said_alone = lines.iter().filter(|line| line["event"] == known[0]).count() as u64;
    let unsaid: u64 = lines.iter().filter_map(|line| line["unsaid"].as_u64()).sum();
    assert_eq!(said_alone + unsaid, 2, "{said}");
    let wanted = [("level", "error"), ("event", "I/O error"), ("op", "write")];
    for (key, value) in wanted {
        assert_eq!(lines[0][key], value, "{said}");
    }
    assert_eq!(lines[0]["errno"], 28, "{said}");
    assert!(lines[0]["path"].as_str().unwrap().ends_with("/big"), "{said}");
}

/// The socket of the system log.
const SYSTEM: &str = "/dev/log";

/// The options of a mount that logs to the system log.
const TO_SYSTEM: &[&str] = &["--log-level", "info"];

/// Whether there is a system log already, which is not so in a container; prints that. The host
/// parameter proves that no other test creates one meanwhile.
fn has_system_log(_: &Host) -> bool {
    let has = Path::new(SYSTEM).exists();
    if has {
        println!("skipped: something has {SYSTEM} already");
    }
    has
}

/// The time limit for a line, whatever other processes log meanwhile.
const PATIENCE: Span = Span::from_s(30);

/// A system log, until dropped.
struct System(UnixDatagram);

impl System {
    /// Creates the system log. The host parameter serves as in [`has_system_log`].
    fn new(_: &Host) -> Self {
        Self(UnixDatagram::bind(SYSTEM).unwrap())
    }

    /// The next line of a process. Mounts of other tests log here, too.
    fn hears(&self, pid: &str) -> std::io::Result<String> {
        let (mut buffer, of) = ([0; 2000], format!("fairdisk[{pid}]: "));
        let clock = MonotonicClock::start();
        let begun = clock.now();
        loop {
            let left = PATIENCE.as_ms().saturating_sub(clock.now().since(begun).as_ms());
            if left == 0 {
                return Err(ErrorKind::TimedOut.into());
            }
            self.0.set_read_timeout(Some(Duration::from_millis(left)))?;
            let length = self.0.recv(&mut buffer)?;
            let said = String::from_utf8_lossy(&buffer[..length]);
            if said.contains(&of) {
                return Ok(said.into_owned());
            }
        }
    }
}

impl Drop for System {
    fn drop(&mut self) {
        let _ = fs::remove_file(SYSTEM);
    }
}

/// The process that serves a mount, as printed by the command that mounted it.
fn pid(mounted: &Output) -> String {
    String::from_utf8_lossy(&mounted.stdout).trim_end().rsplit('=').next().unwrap().to_owned()
}

#[test]
fn a_mount_in_the_background_tells_the_log_of_the_system() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    if has_system_log(&host) {
        return;
    }
    let system = System::new(&host);
    let mounted = host.mount(TO_SYSTEM);
    let pid = pid(&mounted);
    let said = system.hears(&pid);
    if mounted.status.success() {
        host.unmount();
    }
    drop(system);
    let said = said.unwrap();
    assert!(said.starts_with(&format!("<30>fairdisk[{pid}]: event=mounted source=")), "{said}");
    assert_eq!(mounted.stderr, b"", "there is nothing to remark");
}

/// The parent is told once; a log that appears later receives the events from then on.
#[test]
fn a_mount_in_the_background_without_a_log_says_so() {
    if lacks_something() {
        return;
    }
    for how in ["--separate", "--unscheduled"] {
        let mut host = Host::new();
        if has_system_log(&host) {
            return;
        }
        let mounted = host.mount(&[&[how], TO_SYSTEM].concat());
        let note = String::from_utf8_lossy(&mounted.stderr).into_owned();
        assert!(mounted.status.success(), "{note}");
        assert!(note.starts_with("note: there is no system log (/dev/log: No such file"), "{note}");
        assert!(note.ends_with("; --log-file FILE keeps it\n"), "{note}");
        assert_eq!(note.lines().count(), 1, "{note}");
        let system = System::new(&host);
        host.unmount();
        wait_until(|| system.hears(&pid(&mounted)).unwrap().contains("event=unmounted"));
    }
}
