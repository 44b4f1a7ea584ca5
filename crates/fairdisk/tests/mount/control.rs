//! Mounting, querying, changing and unmounting.

use crate::host::{Host, fairdisk, finish, lacks_something, text, wait_until};
use crate::process::{is_alive, process, signal};
use fairdisk_mount::control::{directory, socket_name};
use rustix::fs::{XattrFlags, setxattr};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn a_mount_shows_the_source_and_goes_with_umount() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.mount_well(&[]);
    fs::write(host.file("a"), "hello").unwrap();
    assert_eq!(fs::read_to_string(host.source("a")).unwrap(), "hello");
    let again = host.mount(&[]);
    assert_eq!(again.status.code(), Some(2), "{}", text(&again));
    host.unmount();
    assert!(!Path::new(&host.file("a")).exists());
    host.mount_well(&["--read-only"]);
    let refused = fs::write(host.file("a"), "x").unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(30), "{refused}");
    host.unmount();
}

/// Threads that serve queries have no priority over programs that wait for the disk.
#[test]
fn those_who_look_are_served_by_threads_like_others() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    let program = host.program_for_all();
    let metrics = format!("unix:{}", host.scratch().join("metrics").display());
    let said = text(&host.mount(&["--metrics", &metrics]));
    let pid = process(&said);
    let at = host.at();
    let mut looks = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", &program, "top", "--batch"])
        .args(["--at", at.to_str().unwrap()])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let scrape = UnixStream::connect(host.scratch().join("metrics")).unwrap();
    let niceness = |name: &str| -> Vec<i32> {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
        let stats = tasks.filter_map(|task| fs::read_to_string(task.path().join("stat")).ok());
        let own = stats.filter(|stat| stat.contains(name));
        let nice = |stat: &str| stat.rsplit_once(") ")?.1.split(' ').nth(16)?.parse().ok();
        own.filter_map(|stat| nice(&stat)).collect()
    };
    // The threads that accept connections have the priority of those that serve files.
    for name in ["fairdisk-contro", "fairdisk-metric"] {
        wait_until(|| {
            let nice = niceness(name);
            assert!(nice.len() < 3, "{name}: {nice:?}");
            nice.contains(&0)
        });
    }
    drop(scrape);
    looks.kill().unwrap();
    looks.wait().unwrap();
    host.unmount();
}

/// Threads that perform requests are started on demand, up to the number of requests at the disk.
#[test]
fn a_mount_that_is_asked_for_nothing_has_few_threads() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    let said = text(&host.mount(&["--depth", "100", "--io", "threads"]));
    let pid = process(&said);
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap().count();
    assert!(tasks < 40, "{tasks}");
    host.unmount();
}

/// The mount point may be written in any way, but a file that only resembles a mount's socket does
/// not count.
#[test]
fn a_mount_is_asked_after_by_its_place() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.mount_well(&[]);
    let (link, other) = (host.scratch().join("link"), host.scratch().join("other"));
    symlink(host.at(), &link).unwrap();
    fs::create_dir(&other).unwrap();
    let name = |place: &Path| directory().join(socket_name(place));
    symlink(name(&host.at()), name(&other)).unwrap();
    let ctl = |at: &Path| fairdisk(&["ctl", "--at", at.to_str().unwrap(), "list"]);
    for at in [link, host.at().join("../source/../mount")] {
        let output = ctl(&at);
        assert!(output.status.success(), "{}", text(&output));
    }
    let output = ctl(&other);
    fs::remove_file(name(&other)).unwrap();
    assert!(text(&output).contains("it is not mounted there"), "{}", text(&output));
    host.unmount();
}

#[test]
fn what_is_wrong_is_said_before_anything_is_mounted() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    for (args, says) in [
        (&["--scheduler", "cfs"][..], "did you mean `cfq`? (known: noop, deadline, cfq, two"),
        (&["--device-model", "wd2500j"][..], "wd2500js"),
        (&["--cgroups", "memroy"][..], "`memroy` is not mounted"),
        (&["--depth", "0"][..], "expected a whole number from 1 to 1024"),
    ] {
        let output = host.mount(args);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains(says), "{}", text(&output));
    }
    for (source, says) in [
        ("/nonexistent", "/nonexistent: no such directory to show; check SOURCE"),
        ("/proc", "/proc: the kernel makes up the files there"),
    ] {
        let output = fairdisk(&["mount", source, host.at().to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains(says), "{}", text(&output));
    }
}

#[test]
fn settings_take_effect_and_schedulers_change_under_load() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.make_file("data", 64);
    host.mount_well(&["--device-model", "hdd-7200-2007"]);
    let group = host.group("tenant", "weight=200");
    let file = host.file("data");
    let command = format!(
        "fio --name=job --filename={file} --size=64M --bs=4k --rw=randread --direct=1 \
         --runtime=6 --time_based --minimal"
    );
    let load = host.start(&group, &command);
    assert_eq!(host.entry(&group)["weight"], 200);
    for (setting, weight, ioprio) in [("ioprio=0", 200, Some(0)), ("weight=50", 50, None)] {
        assert!(host.ctl(&["set", &group, setting]).status.success());
        let entry = host.entry(&group);
        assert_eq!((&entry["weight"], entry["ioprio"].as_u64()), (&weight.into(), ioprio));
    }
    for scheduler in ["noop", "cfq", "cfq-2.6.33", "deadline", "two-layer-cfq"] {
        let changed = host.ctl(&["scheduler", scheduler]);
        assert!(changed.status.success(), "{}", text(&changed));
        assert_eq!(host.status()["scheduler"], scheduler);
    }
    // One read at a time, which is nearly always at the disk.
    wait_until(|| host.entry(&group)["in_flight"] == 1);
    let at = host.at();
    let top = fairdisk(&["top", "--at", at.to_str().unwrap(), "--batch", "--count", "1"]);
    let line = text(&top).lines().find(|line| line.starts_with(&group)).unwrap().to_owned();
    assert_eq!(line.split_whitespace().nth(3), Some("100.0"), "{}", text(&top));
    let look = ["top", "--at", at.to_str().unwrap(), "--json", "--once"];
    let said = text(&fairdisk(&look));
    let object: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    let groups = object["groups"].as_array().unwrap();
    let shown = groups.iter().find(|entry| entry["name"] == group.as_str()).unwrap();
    for part in ["asked", "got", "got_of_asked"] {
        assert!(shown[part].as_f64() > Some(0.99), "{said}");
    }
    let [median, longest] = ["p50", "max"].map(|part| shown["latency_ms"][part].as_f64());
    assert!(median > Some(0.0) && longest >= median, "{said}");
    let got = host.ctl(&["get", &group]);
    assert_eq!(text(&got), "weight=50\n");
    assert_eq!(text(&host.ctl(&["get", group.trim_start_matches('/')])), "weight=50\n");
    let got: serde_json::Value =
        serde_json::from_slice(&host.ctl(&["get", "--json", &group]).stdout).unwrap();
    assert_eq!((&got["name"], &got["weight"]), (&group.as_str().into(), &50.into()));
    for (args, says) in [
        (&["set", &group, "weight=0"][..], "1 to 10000"),
        (&["set", &group, "colour=red"][..], "unknown setting"),
        (&["set", &group, "idle=1", "wieght=3"][..], "); did you mean `weight`?"),
        (&["set", &group, "weight=5", "weight=6"][..], "`weight` is given twice; give it once"),
        (&["set", "/no/such", "weight=1"][..], "no/such; mkdir makes one"),
        (&["set", "/../..", "weight=1"][..], "down from the root, without `..`"),
        (&["scheduler", "cfs"][..], "unknown scheduler `cfs`; did you mean `cfq`?"),
        (&["scheduler", "./short-turns.toml"][..], "a scheduler by its name, and no file"),
    ] {
        let refused = host.ctl(args);
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
        assert!(text(&refused).contains(says), "{}", text(&refused));
    }
    for back in ["weight=none", "ioprio=2", "ioprio=none", "latency_p99_ms=0.5"] {
        assert!(host.ctl(&["set", &group, back]).status.success(), "{back}");
    }
    let got = text(&host.ctl(&["get", &group]));
    assert!(got.starts_with("weight=100 latency_p99_ms=0.5 ["), "{got}");
    finish(load);
    host.unmount();
}

/// Whoever may create a group chooses its name, and root sees it.
#[test]
fn names_of_groups_do_nothing_to_a_terminal() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.make_file("data", 1);
    host.mount_well(&[]);
    let group = host.group("x\u{1b}]0;owned\u{7}", "weight=5");
    finish(host.start(&group, &format!("cat {}", host.file("data"))));
    let at = host.at();
    let looks = [
        host.ctl(&["list"]),
        host.ctl(&["get", &format!("{group}/.")]),
        fairdisk(&[
            "top",
            "--at",
            at.to_str().unwrap(),
            "--batch",
            "--interval",
            "100ms",
            "--once",
        ]),
    ];
    for look in looks {
        assert!(look.status.success(), "{}", text(&look));
        assert!(!text(&look).contains(['\u{1b}', '\u{7}']), "{:?}", text(&look));
    }
    let list = text(&host.ctl(&["list"]));
    assert!(list.contains(r"/x\u{1b}]0;owned\u{7} "), "{list}");
    assert_eq!(host.entry(&group)["weight"], 5, "programs are told the name as it is");
    host.unmount();
}

#[test]
fn tables_that_are_interrupted_end_as_other_commands_do() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.mount_well(&[]);
    let at = host.at();
    let mut top = Command::new(env!("CARGO_BIN_EXE_fairdisk"))
        .args(["top", "--batch", "--interval", "100ms", "--at", at.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The program has installed its signal handler before it prints.
    top.stdout.as_mut().unwrap().read_exact(&mut [0; 10]).unwrap();
    kill_process(Pid::from_child(&top), Signal::INT).unwrap();
    let ended = top.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{said}");
    assert!(said.starts_with("interrupted: "), "{said}");
    host.unmount();
}

/// A group belongs to the nearest enclosing one that has settings.
#[test]
fn floors_ceilings_and_inner_groups_are_told_and_shown() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.make_file("data", 1);
    host.mount_well(&[]);
    let outer = host.group("outer", "weight=300");
    let inner = host.group("outer/inner", "min_iops=50");
    let set = host.ctl(&["set", &inner, "max_bps=10M", "burst_ms=20", "latency_p99_ms=40"]);
    assert!(set.status.success(), "{}", text(&set));
    let file = host.file("data");
    finish(host.start(&inner, &format!("cat {file}")));
    let shown = host.entry(&inner);
    assert_eq!(shown["parent"], outer.as_str());
    for (key, value) in [
        ("min_iops", Some(50)),
        ("min_bps", None),
        ("max_bps", Some(10 << 20)),
        ("burst_ms", Some(20)),
        ("latency_p99_ms", Some(40)),
        ("weight", Some(100)),
    ] {
        assert_eq!(shown[key].as_f64(), value.map(f64::from), "{key}: {shown}");
    }
    assert_eq!(host.entry(&outer)["parent"], serde_json::Value::Null);
    let got = host.ctl(&["get", &inner]);
    let all = "min_iops=50 max_bps=10485760 burst_ms=20 latency_p99_ms=40";
    assert_eq!(text(&got), format!("weight=100 {all} in {outer}\n"));
    let wrong = host.ctl(&["set", &inner, "max_iops=7", "max_bps=0"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", text(&wrong));
    assert!(
        host.ctl(&["set", &inner, "max_bps=none", "burst_ms=none", "weight=7"]).status.success()
    );
    let shown = host.entry(&inner);
    assert_eq!(shown["weight"], 7, "{shown}");
    assert!(shown["max_bps"].is_null() && shown["max_iops"].is_null(), "{shown}");
    host.unmount();
}

#[test]
fn what_a_scheduler_takes_no_notice_of_is_said() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.mount_well(&[]);
    let group = host.group("tenant", "max_iops=50");
    let done = |args: &[&str]| {
        let output = host.ctl(args);
        assert!(output.status.success(), "{}", text(&output));
        text(&output)
    };
    let line = || {
        let list = done(&["list"]);
        list.lines().find(|line| line.starts_with(&group)).unwrap().to_owned()
    };
    let floor = done(&["set", &group, "min_iops=5"]);
    assert!(
        floor.starts_with("note: whether the disk can keep this floor is not known"),
        "{floor}"
    );
    assert_eq!(done(&["set", &group, "latency_p99_ms=0.5"]), "");
    assert!(line().ends_with("  >=5 iops <=50 iops p99<=0.5 ms"), "{}", line());
    let switched = done(&["scheduler", "mclock"]);
    let of_group = format!("mclock takes no notice of what is set for {group} (latency_p99_ms)");
    assert_eq!(switched, format!("note: {of_group}\n"));
    assert!(line().ends_with("  >=5 iops <=50 iops (p99<=0.5 ms)"), "{}", line());
    assert!(done(&["list"]).ends_with("in brackets: what mclock takes no notice of\n"));
    let got = done(&["get", &group]);
    assert!(got.ends_with(" [mclock takes no notice of latency_p99_ms]\n"), "{got}");
    let set = done(&["set", &group, "weight=7", "latency_p99_ms=1"]);
    let note =
        "note: mclock takes no notice of latency_p99_ms; schedulers that do: fair, iolatency";
    assert_eq!(set.trim_end(), note);
    assert_eq!(done(&["set", &group, "weight=8"]), "");
    assert_eq!(host.entry(&group)["ignored"], serde_json::json!(["latency_p99_ms"]));
    let at = host.at();
    let top = fairdisk(&["top", "--at", at.to_str().unwrap(), "--json", "--once"]);
    let object: serde_json::Value = serde_json::from_slice(&top.stdout).unwrap();
    let groups = object["groups"].as_array().unwrap();
    let shown = groups.iter().find(|entry| entry["name"] == group.as_str()).unwrap();
    assert_eq!(
        (&shown["limits"]["max_iops"], &shown["ignored"][0]),
        (&50.into(), &"latency_p99_ms".into())
    );
    assert_eq!(done(&["scheduler", "fair"]), "");
    host.unmount();
}

#[test]
fn a_group_that_has_done_nothing_is_answered_for() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.mount_well(&[]);
    let [quiet, inner] = ["quiet", "quiet/inner"].map(|name| host.group_directory(name));
    fs::create_dir_all(&inner).unwrap();
    // Set by somebody else, before any task of the group has made a request.
    setxattr(&quiet, "trusted.fairdisk.weight", b"300", XattrFlags::empty()).unwrap();
    let group = host.path_of("quiet");
    let get = |group: &str| text(&host.ctl(&["get", group]));
    assert_eq!(get(&group), "weight=300\n");
    assert_eq!(get(&host.path_of("quiet/inner")), format!("weight=300 as part of {group}\n"));
    let got: serde_json::Value =
        serde_json::from_slice(&host.ctl(&["get", "--json", &group]).stdout).unwrap();
    assert_eq!((&got["weight"], &got["reads"]), (&300.into(), &0.into()));
    assert!(host.entry(&group).is_null(), "looking at it changes nothing");
    // A known group, whose settings somebody else has changed since.
    let other = host.group("other", "weight=5");
    let directory = host.group_directory("other");
    setxattr(&directory, "trusted.fairdisk.weight", b"6", XattrFlags::empty()).unwrap();
    assert_eq!(get(&other), "weight=6\n");
    let nobody = host.ctl(&["get", "/no/such"]);
    assert_eq!(nobody.status.code(), Some(2), "{}", text(&nobody));
    assert!(text(&nobody).contains("no/such; mkdir makes one"), "{}", text(&nobody));
    host.unmount();
}

#[test]
fn who_names_the_wrong_mount_is_told_the_right_ones() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.mount_well(&[]);
    let wrong = fairdisk(&["ctl", "--at", "/no/such/mount", "list"]);
    assert_eq!(wrong.status.code(), Some(1), "{}", text(&wrong));
    let said = text(&wrong);
    let right = format!("\n  --at {} (", host.at().display());
    for part in ["--at /no/such/mount: no mount answers", "what does answer:", &right] {
        assert!(said.contains(part), "{part}: {said}");
    }
    host.unmount();
}

#[test]
fn garbage_at_the_socket_harms_nobody_and_others_may_only_look() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.mount_well(&[]);
    let socket = host.socket();
    for garbage in [&b"\0\xff\n"[..], b"{}\n", b"[[[[[[\n", &[b'x'; 200_000][..]] {
        let mut stream = UnixStream::connect(&socket).unwrap();
        // The daemon may hang up before everything is written.
        let _ = stream.write_all(garbage);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        assert!(answer.is_empty() || answer.contains("error"), "{answer}");
    }
    let group = host.group("tenant", "weight=100");
    let as_nobody = |action: &str| {
        let at = host.at();
        let script = format!(
            "exec setpriv --reuid=65534 --regid=65534 --clear-groups {} ctl --at {} {action}",
            host.program_for_all(),
            at.display()
        );
        Command::new("sh").args(["-c", &script]).output().unwrap()
    };
    let look = as_nobody("list");
    assert!(look.status.success(), "{}", text(&look));
    let change = as_nobody(&format!("set {group} weight=7"));
    assert_eq!(change.status.code(), Some(2), "{}", text(&change));
    assert!(text(&change).contains("only root"), "{}", text(&change));
    host.unmount();
}

/// Silent connections neither keep others out nor the mount from ending.
#[test]
fn silent_connections_are_in_nobodys_way() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    let metrics = host.at().with_file_name("metrics.sock");
    let mounted = host.mount(&["--metrics", &format!("unix:{}", metrics.display())]);
    assert!(mounted.status.success(), "{}", text(&mounted));
    let connect = |socket: &Path, count: usize| -> Vec<UnixStream> {
        (0..count).map(|_| UnixStream::connect(socket).unwrap()).collect()
    };
    let silent = (connect(&host.socket(), 200), connect(&metrics, 40));
    let look = host.ctl(&["list"]);
    assert!(look.status.success(), "{}", text(&look));
    let mut scrape = UnixStream::connect(&metrics).unwrap();
    scrape.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    let mut page = String::new();
    scrape.read_to_string(&mut page).unwrap();
    assert!(page.starts_with("HTTP/1.1 200 "), "{page}");
    let pid = process(&text(&mounted));
    signal(pid, Signal::TERM);
    wait_until(|| !is_alive(pid));
    host.has_ended();
    assert!(!host.socket().exists() && !metrics.exists(), "it has ended well");
    drop(silent);
}

/// A mount that was detached while a file is open is served on for that file, without a name.
#[test]
fn whoever_mounts_where_another_was_taken_away_is_asked_there() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.make_file("data", 1);
    let old = process(&text(&host.mount(&[])));
    let open = fs::File::open(host.file("data")).unwrap();
    let taken = Command::new("umount").arg("-l").arg(host.at()).status().unwrap();
    assert!(taken.success());
    host.mount_well(&["--scheduler", "noop"]);
    let at = host.at();
    let at = at.to_str().unwrap();
    let scheduler = || text(&fairdisk(&["ctl", "--at", at, "list"])).contains("noop");
    assert!(scheduler(), "{}", text(&fairdisk(&["ctl", "--at", at, "list"])));
    drop(open);
    // The end of the old mount removes nothing of the new one.
    wait_until(|| !is_alive(old));
    assert!(scheduler());
    host.unmount();
}
