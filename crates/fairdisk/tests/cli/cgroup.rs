//! `fairdisk cgroup mount`, used by a shell as posted with the two-layer CFQ patches of 2008.

use crate::program::{NOBODY, Place};
use fairdisk_core::Span;
use fairdisk_plane::{Clock as _, MonotonicClock};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory of groups with a hierarchy of its own.
struct Groups {
    place: Place,
    hierarchy: String,
    directory: PathBuf,
}

/// Repeats a check until it holds, for at most `limit`.
fn within(limit: Span, what: &str, mut holds: impl FnMut() -> bool) {
    let clock = MonotonicClock::start();
    let begun = clock.now();
    while !holds() {
        assert!(clock.now().since(begun) < limit, "not within {limit:?}: {what}");
        std::thread::yield_now();
    }
}

fn until(what: &str, holds: impl FnMut() -> bool) {
    within(Span::from_s(30), what, holds);
}

/// The standard output and standard error of a shell script.
fn bash(script: &str) -> (String, String) {
    let output = Command::new("bash").args(["-c", script]).output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).trim_end().to_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Whether something is missing that the tests need; prints what.
pub(crate) fn is_missing() -> bool {
    let missing = if !Path::new("/dev/fuse").exists() {
        "/dev/fuse (modprobe fuse)"
    } else if !geteuid().is_root() {
        "root"
    } else if Command::new("setpriv").arg("true").status().is_err() {
        "setpriv (package util-linux)"
    } else {
        return false;
    };
    println!("skipped: a directory of groups needs {missing}");
    assert!(std::env::var("CI").as_deref() != Ok("true"), "missing in CI: {missing}");
    true
}

impl Groups {
    fn new() -> Option<Self> {
        static LAST: AtomicU32 = AtomicU32::new(0);
        if is_missing() {
            return None;
        }
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let place = Place::new();
        // Other users need access to this directory.
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let directory = place.path().join("cgroup");
        fs::create_dir(&directory).unwrap();
        let hierarchy = format!("fairdisk-test-{}-{number}", std::process::id());
        let groups = Self { place, hierarchy, directory };
        groups.mount();
        Some(groups)
    }

    /// Mounts the directory in the background. Returns the process that serves it.
    fn mount(&self) -> Pid {
        let ended = self.place.run(&["cgroup", "mount", "cgroup", "--hierarchy", &self.hierarchy]);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        let (_, pid) = ended.out.trim().rsplit_once("pid=").unwrap();
        Pid::from_raw(pid.parse().unwrap()).unwrap()
    }

    fn umount(&self) -> String {
        let ended = self.place.run(&["cgroup", "umount", "cgroup", "--hierarchy", &self.hierarchy]);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        ended.err
    }

    /// Runs a script with the directory as `$D`.
    fn shell(&self, script: &str) -> (String, String) {
        bash(&format!("D={}; {script}", self.directory.display()))
    }

    /// The output of a script, which must not complain.
    fn quiet(&self, script: &str) -> String {
        let (out, err) = self.shell(script);
        assert_eq!(err, "", "{script}: {out}");
        out
    }

    fn is_mounted(&self) -> bool {
        let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let name = format!("name={}", self.hierarchy);
        table.lines().any(|line| line.split([' ', ',']).any(|word| word == name))
    }

    /// The line for a group in `/proc/PID/cgroup`.
    fn line(&self, group: &str) -> String {
        format!("name={}:{group}", self.hierarchy)
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        let paths = format!("{}/*/", self.directory.display());
        bash(&format!("for d in {paths}*/ {paths}; do rmdir $d; done 2> /dev/null"));
        let umount = ["cgroup", "umount", "cgroup", "--hierarchy", &self.hierarchy];
        self.place.run(&umount);
    }
}

/// A program that is ended with the test.
struct Running(Child);

impl Running {
    fn new(script: &str) -> Self {
        let mut command = Command::new("bash");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::null());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The script ends at the end of its input.
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

#[test]
fn the_posted_lines_work() {
    let Some(groups) = Groups::new() else { return };
    // The commands are taken from the documents.
    let document =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/patchset.md"));
    let document = document.unwrap();
    let (_, posted) = document.split_once("```sh\n").unwrap();
    let (posted, _) = posted.split_once("```").unwrap();
    assert_eq!(posted.lines().count(), 4, "{posted}");
    let posted = posted.replace("/dev/cgroup", "$D");
    let more = "cat $D/test1/cfq.weight; sh -c 'cat /proc/$$/cgroup' | grep -o \"$H.*\"; \
                grep -cx $$ $D/test1/tasks $D/test1/cgroup.procs; rmdir $D/test1";
    let (out, err) = groups.shell(&format!("H={}; {posted}{more}", groups.hierarchy));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[..2], ["2", "150"], "{out}{err}");
    assert_eq!(lines[2], format!("{}:/test1", groups.hierarchy), "children inherit");
    assert!(lines[3].ends_with("tasks:1") && lines[4].ends_with("procs:1"), "{out}");
    assert!(err.contains("Device or resource busy") && err.lines().count() == 1, "{err}");
    // Possible because the shell and its children have ended.
    groups.quiet("rmdir $D/test1");
    assert_eq!(
        groups.quiet("find $D -mindepth 1 -type d; mkdir $D/test1; cat $D/test1/cfq.ioprio"),
        "4"
    );
}

#[test]
fn the_number_0_is_whoever_writes() {
    let Some(groups) = Groups::new() else { return };
    for file in ["tasks", "cgroup.procs"] {
        let script = format!("mkdir -p $D/a; echo 0 > $D/a/{file}; cat /proc/self/cgroup");
        let out = groups.quiet(&script);
        assert!(out.contains(&groups.line("/a\n")), "{file}: {out}");
    }
    groups.quiet("rmdir $D/a");
}

/// In another PID namespace a task has another number, which denotes another task here.
#[test]
fn who_counts_tasks_otherwise_moves_itself_only() {
    let Some(groups) = Groups::new() else { return };
    let (out, err) = groups.shell(
        "mkdir $D/a; sleep 60 & child=$!; export D child
         unshare --pid --fork bash -c 'echo $child > $D/a/tasks; echo 0 > $D/a/tasks
           cat /proc/self/cgroup'
         grep -c name=.*:/a$ /proc/$child/cgroup; kill $child",
    );
    assert!(out.contains(&groups.line("/a\n")) && out.ends_with("\n0"), "{out}");
    assert!(err.contains("No such process") && err.lines().count() == 1, "{err}");
    groups.quiet("rmdir $D/a");
}

#[test]
fn values_that_make_no_sense_are_refused_and_change_nothing() {
    let Some(groups) = Groups::new() else { return };
    groups.quiet("mkdir $D/a; echo ' 3 ' > $D/a/cfq.ioprio");
    let long = "1".repeat(9000);
    for (file, values) in [
        ("cfq.ioprio", ["8", "-1", "4294967298", "two", "2 3", "", "ioprio=2", &long]),
        ("cfq.weight", ["0", "10001", "-5", "1e2", "0x10", "\u{1F680}", "weight=7", &long]),
        ("cfq.idle", ["1001", "-1", "8ms", "never", "1 2", "", "idle=8", &long]),
        ("tasks", ["x", "-1", "1 2", "", "99999999999", "\u{1}", "$", &long]),
    ] {
        for value in values {
            let (_, err) = groups.shell(&format!("printf '%s\\n' '{value}' > $D/a/{file}"));
            assert!(err.contains("write error"), "{file} {value:.20}: {err}");
            let says = if value == "-1" || file == "tasks" { "" } else { "Invalid argument" };
            assert!(err.contains(says), "{file} {value:.20}: {err}");
        }
    }
    let (_, err) = groups.shell("printf '\\377\\376\\0' > $D/a/cfq.ioprio");
    assert!(err.contains("Invalid argument"), "{err}");
    let (_, err) = groups.shell("echo 4194305 > $D/a/tasks");
    assert!(err.contains("No such process"), "{err}");
    assert_eq!(groups.quiet("cat $D/a/cfq.ioprio $D/a/cfq.weight $D/a/tasks"), "3\n125");
    for (refused, why) in [
        ("echo > $D/a/cfq.slice", "denied"),
        ("mkdir $D/a/cfq.weight", "exists"),
        ("mkdir $D/a/$'\\377'", "Invalid"),
        ("rm $D/a/cfq.ioprio", "not permitted"),
        ("chmod 666 $D/a/cfq.ioprio", "not permitted"),
        ("ln -s x $D/a/link", "not"),
        ("mv $D/a $D/cfq.stat", "cannot overwrite"),
        ("cat $D/release_agent", "No such file"),
    ] {
        let (_, err) = groups.shell(refused);
        assert!(err.to_lowercase().contains(&why.to_lowercase()), "{refused}: {err}");
    }
}

#[test]
fn how_long_the_disk_waits_is_a_file_too() {
    let Some(groups) = Groups::new() else { return };
    let out = groups.quiet(
        "mkdir $D/a; cd $D/a; cat cfq.idle; echo 0 > cfq.idle; cat cfq.idle cfq.ioprio
         echo 20 > cfq.idle; echo 2 > cfq.ioprio; cat cfq.idle cfq.weight
         echo default > cfq.idle; cat cfq.idle cfq.weight; cd /; rmdir $D/a",
    );
    assert_eq!(out, "default\n0\n4\n20\n150\ndefault\n150");
}

#[test]
fn groups_below_take_the_nearest_setting() {
    let Some(groups) = Groups::new() else { return };
    let out = groups.quiet(
        "mkdir -p $D/a/b; echo 300 > $D/a/cfq.weight; cd $D/a/b; cat cfq.ioprio cfq.weight
         echo 7 > cfq.ioprio; cat cfq.weight ../cfq.weight; cd $D; mv a c; cat c/b/cfq.ioprio",
    );
    assert_eq!(out, "none\n300\n25\n300\n7");
}

#[test]
fn others_look_and_change_only_what_is_theirs() {
    let Some(groups) = Groups::new() else { return };
    groups.quiet("mkdir $D/a; echo 2 > $D/a/cfq.ioprio");
    let read = "cat $D/a/cfq.ioprio $D/a/cfq.stat $D/a/tasks | head -1; ls $D > /dev/null";
    assert_eq!(groups.quiet(&format!("export D; {NOBODY} bash -c '{read}'")), "2");
    // The final `:` keeps root's shell, whose number is P, alive.
    let refused = |script: &str| {
        let (_, err) = groups.shell(&format!("export D P=$$; {NOBODY} bash -c '{script}'; :"));
        assert!(err.contains("denied") || err.contains("not permitted"), "{script}: {err}");
    };
    for script in [
        "echo 1 > $D/a/cfq.ioprio",
        "echo 1 > $D/a/cfq.weight",
        "echo 1 > $D/a/cfq.stat",
        "echo $$ > $D/a/tasks",
        "mkdir $D/b",
        "rmdir $D/a",
        "chmod 777 $D/a/cfq.ioprio",
        "chown 65534 $D/a",
    ] {
        refused(script);
    }
    // The owner of a group may move its own tasks, but not others', and not set shares.
    for file in ["a", "a/tasks", "a/cgroup.procs"] {
        chown(groups.directory.join(file), Some(65534), None).unwrap();
    }
    let own = "mkdir $D/a/b; echo $$ > $D/a/b/tasks; echo 0 > $D/a/tasks; cat /proc/$$/cgroup";
    let out = groups.quiet(&format!("export D; {NOBODY} bash -c '{own}'"));
    assert!(out.contains(&groups.line("/a\n")), "{out}");
    refused("echo $P > $D/a/tasks");
    refused("echo 1 > $D/a/cfq.ioprio");
    refused("echo 1 > $D/a/b/cfq.ioprio");
    assert_eq!(groups.quiet("cat $D/a/cfq.ioprio $D/a/tasks"), "2");
}

#[test]
fn a_group_that_was_removed_is_none() {
    let Some(groups) = Groups::new() else { return };
    let script = "mkdir $D/a; echo 1 > $D/cfq.ioprio; cat $D/cfq.ioprio
                  exec 3<> $D/a/cfq.ioprio 4<> $D/a/tasks; rmdir $D/a; mkdir $D/a
                  echo 2 >&3; cat <&3; echo $$ >&4; cat $D/a/cfq.ioprio";
    let (out, err) = groups.shell(script);
    assert_eq!(out, "1\n4");
    assert_eq!(err.matches("No such device").count(), 3, "{err}");
}

#[test]
fn mounts_from_before_are_named() {
    let Some(groups) = Groups::new() else { return };
    groups.umount();
    for folder in ["source", "mnt"] {
        fs::create_dir(groups.place.path().join(folder)).unwrap();
    }
    let mnt = groups.place.path().join("mnt");
    assert_eq!(groups.place.run(&["mount", "--separate", "source", "mnt"]).code, Some(0));
    let mount = ["cgroup", "mount", "cgroup", "--hierarchy", &groups.hierarchy];
    let ended = groups.place.run(&mount);
    let note = format!("note: {} was mounted before", mnt.display());
    assert!(ended.err.contains(&note), "{}", ended.err);
    assert_eq!(groups.quiet("cat $D/cfq.stat"), "");
    until("nobody uses the mount", || bash(&format!("umount {}", mnt.display())).1.is_empty());
}

/// The number after a key of `cfq.stat`.
fn number(stat: &str, key: &str) -> Option<f64> {
    stat.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.parse().ok())
}

#[test]
fn what_a_group_does_through_a_mount_is_in_its_stat() {
    let Some(groups) = Groups::new() else { return };
    let (source, mount) = (groups.place.path().join("source"), groups.place.path().join("mnt"));
    for folder in [&source, &mount] {
        fs::create_dir(folder).unwrap();
    }
    let mnt = mount.to_str().unwrap();
    let start = ["mount", "--separate", "source", "mnt", "--cgroups", &groups.hierarchy];
    assert_eq!(groups.place.run(&start).code, Some(0));
    groups.quiet("mkdir $D/test1 $D/other; echo 2 > $D/test1/cfq.ioprio");
    let before = groups.quiet("cat $D/test1/cfq.stat");
    assert!(before.starts_with(&format!("mount {mnt}\ngroup /test1\nrequests 0\n")), "{before}");
    let busy = Running::new(&format!(
        "echo $$ > {}/test1/tasks
         until read -t 0.001; [ $? -le 128 ]; do
           dd if=/dev/zero of={mnt}/file bs=64k count=2 conv=fsync 2> /dev/null
         done",
        groups.directory.display()
    ));
    until("the first request", || {
        number(&groups.quiet("cat $D/test1/cfq.stat"), "requests") > Some(0.0)
    });
    within(Span::from_s(1), "more requests", || {
        let stat = groups.quiet("cat $D/test1/cfq.stat");
        number(&stat, "writes") > Some(1.0)
            && number(&stat, "written_bytes") >= Some(65536.0)
            && number(&stat, "device_time_ms") > Some(0.0)
            && number(&stat, "latency_p99_ms") > Some(0.0)
    });
    assert_eq!(number(&groups.quiet("cat $D/other/cfq.stat"), "requests"), Some(0.0));
    for (setting, weight) in [("0 > $D/test1/cfq.ioprio", 200), ("42 > $D/test1/cfq.weight", 42)] {
        groups.quiet(&format!("echo {setting}"));
        within(Span::from_s(1), setting, || {
            let list = groups.place.run(&["ctl", "--at", mnt, "list", "--json"]).json();
            let all = list["groups"].as_array().unwrap();
            all.iter().any(|group| group["name"] == "/test1" && group["weight"] == weight)
        });
    }
    drop(busy);
    groups.place.run(&["ctl", "--at", mnt, "set", "/test1", "ioprio=5"]).quiet();
    assert_eq!(groups.quiet("cat $D/test1/cfq.ioprio"), "5");
    until("nobody uses the mount", || bash(&format!("umount {mnt}")).1.is_empty());
}

#[test]
fn it_ends_with_everything_put_away_unless_groups_are_left() {
    let Some(groups) = Groups::new() else { return };
    assert!(groups.is_mounted());
    groups.quiet("mkdir -p $D/a/b; echo 1 > $D/a/cfq.ioprio");
    let err = groups.umount();
    assert!(err.contains("2 groups stay"), "{err}");
    assert!(groups.is_mounted() && fs::read_dir(&groups.directory).unwrap().next().is_none());
    let pid = groups.mount();
    assert_eq!(groups.quiet("cat $D/a/cfq.ioprio; rmdir $D/a/b $D/a"), "1");
    kill_process(pid, Signal::TERM).unwrap();
    until("the hierarchy is unmounted", || !groups.is_mounted());
    let again = groups.place.run(&["cgroup", "umount", "cgroup"]);
    assert_eq!(again.code, Some(2));
    assert!(again.err.contains("no groups are mounted there"), "{}", again.err);
}

#[test]
fn what_a_dead_daemon_left_is_taken_over_or_away() {
    let Some(groups) = Groups::new() else { return };
    groups.umount();
    for remedy in ["mount", "umount"] {
        let pid = groups.mount();
        groups.quiet("mkdir $D/a");
        kill_process(pid, Signal::KILL).unwrap();
        until("it is dead", || groups.shell("ls $D").1.contains("not connected"));
        if remedy == "mount" {
            groups.mount();
            groups.quiet("rmdir $D/a");
        }
        groups.umount();
        assert_eq!(groups.is_mounted(), remedy == "umount", "a group is left or not");
    }
    groups.mount();
}

#[test]
fn who_uses_it_is_cut_off_by_the_end_and_not_by_umount() {
    let Some(groups) = Groups::new() else { return };
    groups.umount();
    let pid = groups.mount();
    let inside = Running::new(&format!("cd {}; read", groups.directory.display()));
    let cwd = PathBuf::from(format!("/proc/{}/cwd", inside.0.id()));
    until("it is inside", || fs::read_link(&cwd).unwrap() == groups.directory);
    let umount = ["cgroup", "umount", "cgroup", "--hierarchy", &groups.hierarchy];
    let ended = groups.place.run(&umount);
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.contains("still in use"), "{}", ended.err);
    kill_process(pid, Signal::TERM).unwrap();
    until("the hierarchy is unmounted", || !groups.is_mounted());
    until("it is gone", || !Path::new(&format!("/proc/{}", pid.as_raw_nonzero())).exists());
    assert!(fs::read_dir(&groups.directory).unwrap().next().is_none());
}

#[test]
fn what_cannot_work_is_said_in_one_line() {
    let Some(groups) = Groups::new() else { return };
    for (arguments, says) in [
        (vec!["cgroup"], "mounted there already"),
        (vec!["nowhere"], "no such directory to mount on"),
        (vec!["nowhere", "--hierarchy", "a,b"], "cannot name a hierarchy"),
    ] {
        let hierarchy = ["--hierarchy", groups.hierarchy.as_str()];
        let own: &[&str] = if arguments.len() == 1 { &hierarchy } else { &[] };
        let ended = groups.place.run(&[&["cgroup", "mount"], &arguments[..], own].concat());
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{}", ended.err);
        assert!(ended.err.contains(says) && ended.err.lines().count() == 1, "{}", ended.err);
    }
    let program = env!("CARGO_BIN_EXE_fairdisk");
    // Root of a user namespace cannot mount hierarchies.
    let (_, err) = groups.shell(&format!(
        "mkdir $D.other; unshare -Urm {program} cgroup mount $D.other --hierarchy fairdisk-none"
    ));
    assert!(err.contains("version 1 is needed") && err.contains("fairdisk ctl set"), "{err}");
    let weak = "setpriv --bounding-set=-all --inh-caps=-all";
    let (_, err) = groups.shell(&format!("{weak} {program} cgroup mount $D"));
    assert!(err.contains("by root only"), "{err}");
}
