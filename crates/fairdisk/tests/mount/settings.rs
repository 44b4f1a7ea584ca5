//! Settings of groups: when they take effect, which are refused, and whose count.

use crate::host::{Host, fairdisk, finish, is_missing, lacks_something, text, wait_until};
use fairdisk_mount::identity::Hierarchy;
use rustix::fs::{XattrFlags, getxattr, setxattr};
use rustix::io::Errno;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;
use std::process::{Child, Command, Output};

/// Stores a setting with a group as others do: users, or root without the mount.
fn keep(directory: &Path, name: &str, value: &str) {
    setxattr(directory, name, value.as_bytes(), XattrFlags::empty()).unwrap();
}

/// A group whose only program has exceeded its ceiling by an hour and now waits.
fn waits(host: &Host, name: &str) -> (String, Child) {
    let group = host.group(name, "max_bps=1");
    let file = host.file("data");
    let read = format!("timeout 120 dd if={file} of=/dev/null bs=4k count=3 iflag=direct");
    let child = host.start(&group, &read);
    while host.entry(&group)["reads"] == 0 {}
    (group, child)
}

#[test]
fn settings_reach_a_group_that_waits() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.make_file("data", 1);
    host.mount_well(&["--device-model", "hdd-7200-2007"]);
    let (group, reader) = waits(&host, "tenant");
    let set = host.ctl(&["set", &group, "max_bps=none", "weight=50"]);
    assert!(set.status.success(), "{}", text(&set));
    let shown = host.entry(&group);
    assert_eq!((&shown["weight"], &shown["max_bps"]), (&50.into(), &Value::Null));
    finish(reader);
    // Set by somebody else, without telling the mount.
    let (group, reader) = waits(&host, "other");
    let disk = host.status()["disk"].as_str().unwrap().to_owned();
    let name = format!("trusted.fairdisk.max_bps@{disk}");
    keep(&host.group_directory("other"), &name, "1000000000");
    finish(reader);
    assert_eq!(host.entry(&group)["max_bps"], 1_000_000_000);
    host.unmount();
}

#[test]
fn a_floor_that_cannot_be_kept_is_refused_and_nothing_changes() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    let log = host.mount_with_log(&["--device-model", "hdd-7200-2007"]);
    let group = host.group("tenant", "min_iops=10");
    let before = text(&host.ctl(&["get", &group]));
    let set = host.ctl(&["set", &group, "weight=300", "min_iops=1000000"]);
    assert_eq!(set.status.code(), Some(2), "{}", text(&set));
    assert!(text(&set).contains("of each second of the disk"), "{}", text(&set));
    assert_eq!(text(&host.ctl(&["get", &group])), before);
    let at = host.at();
    let again = fairdisk(&["ctl", "--at", at.to_str().unwrap(), "set", &group, "min_iops=1000000"]);
    assert_eq!(again.status.code(), Some(2), "{}", text(&again));
    // The stored settings are unchanged, too.
    let directory = host.group_directory("tenant");
    let kept = |key: &str| {
        let mut value = [0; 20];
        let disk = host.status()["disk"].as_str().unwrap().to_owned();
        let name = format!("trusted.fairdisk.{key}@{disk}");
        getxattr(&directory, name, &mut value[..]).map(|length| value[..length].to_vec())
    };
    assert_eq!((kept("min_iops"), kept("weight")), (Ok(b"10".to_vec()), Err(Errno::NODATA)));
    let logged = fs::read_to_string(&log).unwrap();
    let told = |event: &str| logged.matches(event).count();
    assert_eq!((told("floor refused"), told("setting changed")), (2, 1), "{logged}");
    let set = host.ctl(&["set", &group, "weight=300", "min_iops=11"]);
    assert!(set.status.success(), "{}", text(&set));
    assert_eq!(text(&host.ctl(&["get", &group])), "weight=300 min_iops=11\n");
    host.unmount();
}

/// A floor that was stored before the mount, and is refused, does not take a ceiling with it, nor
/// is it in the way of other settings.
#[test]
fn a_refused_floor_takes_nothing_else_with_it() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.make_file("data", 1);
    fs::create_dir(host.group_directory("tenant")).unwrap();
    for (key, value) in [("min_iops", "1000000"), ("max_bps", "262144")] {
        keep(&host.group_directory("tenant"), &format!("trusted.fairdisk.{key}"), value);
    }
    let log = host.mount_with_log(&["--device-model", "hdd-7200-2007"]);
    let group = host.path_of("tenant");
    let read = format!("dd if={} of=/dev/null iflag=direct bs=4k count=1", host.file("data"));
    finish(host.start(&group, &read));
    let got = |asks: &str| {
        let shown = text(&host.ctl(&["get", &group]));
        assert_eq!(shown, format!("{asks} [fair refused min_iops=1000000]\n"), "{asks}");
    };
    got("weight=100 max_bps=262144");
    assert_eq!(text(&host.ctl(&["set", &group, "weight=120"])), "");
    assert_eq!(text(&host.ctl(&["set", &group, "max_bps=64K"])), "");
    got("weight=120 max_bps=65536 [other disks: max_bps=262144]");
    // Examined again with what is new of it, and named.
    let set = host.ctl(&["set", &group, "max_bps=none", "min_bps=1M"]);
    assert_eq!(set.status.code(), Some(2), "{}", text(&set));
    assert!(text(&set).contains("(min_iops=1000000 min_bps=1048576)"), "{}", text(&set));
    got("weight=120 max_bps=65536 [other disks: max_bps=262144]");
    // What is asked for again because of that is not examined once more.
    finish(host.start(&group, &read));
    let logged = fs::read_to_string(&log).unwrap();
    assert_eq!(logged.matches("floor refused").count(), 2, "{logged}");
    host.unmount();
}

/// Removes a group, which is busy for a moment after its last task has left it.
fn remove(host: &Host, name: &str) {
    wait_until(|| fs::remove_dir(host.group_directory(name)).is_ok());
}

#[test]
fn a_group_that_is_made_again_has_what_is_set_for_it() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    let log = host.mount_with_log(&["--device-model", "hdd-7200-2007"]);
    let asks = ["min_iops=60", "max_bps=1M"];
    let mut group = String::new();
    for _ in 0..2 {
        group = host.group("service", asks[0]);
        assert_eq!(text(&host.ctl(&["set", &group, asks[1]])), "");
        remove(&host, "service");
    }
    // Most of the disk was promised to it, and is free again.
    let other = host.group("other", asks[0]);
    assert_eq!(text(&host.ctl(&["get", &other])), "weight=100 min_iops=60\n");
    let logged = fs::read_to_string(&log).unwrap();
    assert!(!logged.contains("refused"), "{logged}");
    let of_group = format!("event=\"setting changed\" group={group} old=\"weight=100\" ");
    assert_eq!(logged.matches(&of_group).count(), 2, "{logged}");
    host.unmount();
}

/// What is queued for a removed group is served without its ceiling, and shown with the group that
/// is charged for it.
#[test]
fn the_settings_of_a_removed_group_hold_nobody_up() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.make_file("data", 1);
    host.mount_well(&["--device-model", "hdd-7200-2007"]);
    for (name, setting) in [("open", "weight=100"), ("limited", "max_bps=1")] {
        let around = host.group(name, setting);
        let inside = format!("{name}/tenant");
        let (group, reader) = waits(&host, &inside);
        assert_eq!(host.entry(&around)["queued"], 0);
        let tasks = fs::read_to_string(host.group_directory(&inside).join("cgroup.procs")).unwrap();
        for task in tasks.lines() {
            fs::write(host.group_directory(name).join("cgroup.procs"), task).unwrap();
        }
        remove(&host, &inside);
        if name == "limited" {
            // The ceiling around it is another's, which is charged for it.
            wait_until(|| host.entry(&around)["queued"] == 1);
            assert!(host.entry(&group).is_null());
            assert_eq!(text(&host.ctl(&["set", &around, "max_bps=none"])), "");
        }
        finish(reader);
    }
    host.unmount();
}

/// A disk that serves one request at a time is measured, and until then every floor is promised:
/// one stored before the mount, and one that is set before the first I/O.
#[test]
fn floors_that_nobody_could_examine_are_examined_as_soon_as_the_disk_is_known() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.make_file("data", 1);
    let [early, modest] = [("early", "1000000"), ("modest", "1")].map(|(name, floor)| {
        fs::create_dir(host.group_directory(name)).unwrap();
        keep(&host.group_directory(name), "trusted.fairdisk.min_iops", floor);
        host.path_of(name)
    });
    let log = host.mount_with_log(&["--depth", "1"]);
    let late = host.group("late", "weight=100");
    let set = host.ctl(&["set", &late, "min_iops=1000000"]);
    assert!(set.status.success(), "{}", text(&set));
    assert!(text(&set).contains("is not known yet"), "{}", text(&set));
    assert_eq!(text(&host.ctl(&["set", &late, "weight=200"])), "");
    assert!(text(&host.ctl(&["list"])).contains("floors are promised unexamined"));
    let read = format!("dd if={} of=/dev/null iflag=direct bs=4k count=64", host.file("data"));
    for group in [&early, &modest] {
        finish(host.start(group, &read));
    }
    for (group, asks) in [(&early, "weight=100"), (&late, "weight=200")] {
        wait_until(|| host.entry(group)["min_iops"].is_null());
        let got = text(&host.ctl(&["get", group]));
        assert_eq!(got, format!("{asks} [fair refused min_iops=1000000]\n"));
    }
    assert_eq!(text(&host.ctl(&["get", &modest])), "weight=100 min_iops=1\n");
    let list = text(&host.ctl(&["list"]));
    let line = |group: &str| list.lines().find(|line| line.starts_with(group)).unwrap();
    assert!(line(&early).ends_with("[refused: min_iops=1000000]"), "{list}");
    assert!(line(&modest).ends_with(">=1 iops"), "{list}");
    let refused = |group: &str| {
        let logged = fs::read_to_string(&log).unwrap();
        let of_group = format!("event=\"floor refused\" group={group} ");
        logged.lines().filter(|line| line.contains(&of_group)).count()
    };
    assert_eq!([&early, &late, &modest].map(|group| refused(group)), [1, 1, 0]);
    let set = host.ctl(&["set", &late, "min_iops=1000000"]);
    assert_eq!(set.status.code(), Some(2), "{}", text(&set));
    assert_eq!(text(&host.ctl(&["set", &late, "min_iops=none"])), "");
    assert_eq!(text(&host.ctl(&["get", &late])), "weight=200\n");
    host.unmount();
}

/// The first scheduler ignores floors; the next one does not, and cannot guarantee this one.
#[test]
fn a_scheduler_that_takes_over_says_which_floor_it_does_not_keep() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.make_file("data", 1);
    host.mount_well(&["--device-model", "wd2500js", "--scheduler", "two-layer-cfq"]);
    let group = host.group("tenant", "min_iops=1000000");
    let get = || text(&host.ctl(&["get", &group]));
    assert!(get().contains("min_iops=1000000"), "{}", get());
    let over = host.ctl(&["scheduler", "fair"]);
    assert_eq!(over.status.code(), Some(2), "{}", text(&over));
    let says = format!("`fair` has taken over, but does not keep the floor of {group}: its floor");
    assert!(text(&over).contains(&says), "{}", text(&over));
    assert_eq!(get(), "weight=100 [fair refused min_iops=1000000]\n");
    assert!(host.ctl(&["scheduler", "two-layer-cfq"]).status.success());
    assert!(get().contains("min_iops=1000000"), "{}", get());
    host.unmount();
}

/// The rules are those of experiments, with the same message everywhere.
#[test]
fn what_cannot_be_meant_together_is_refused_and_nothing_changes() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.make_file("data", 1);
    let log = host.mount_with_log(&[]);
    let group = host.group("tenant", "max_iops=50");
    let set = |settings: &[&str]| host.ctl(&[&["set", &group], settings].concat());
    let get = || text(&host.ctl(&["get", &group]));
    let before = get();
    for (settings, says) in [
        (&["min_iops=60"][..], "`max_iops` is 50; allowed: 60 or more, which the group is to get"),
        (&["min_iops=10", "max_iops=5"], "`max_iops` is 5; allowed: 10 or more"),
        (&["max_iops=none", "burst_ms=100"], "`burst_ms` is about a ceiling; add `max_iops` or"),
        (&["weight=7", "ioprio=2"], "`ioprio` and `weight` exclude each other; drop one of them"),
    ] {
        let refused = set(settings);
        assert_eq!(refused.status.code(), Some(2), "{settings:?}: {}", text(&refused));
        assert!(text(&refused).contains(says), "{settings:?}: {}", text(&refused));
        assert_eq!(get(), before, "{settings:?}");
    }
    // Removing a setting leaves the others in place.
    let done = set(&["weight=50", "ioprio=none", "min_iops=50", "burst_ms=20"]);
    assert!(done.status.success(), "{}", text(&done));
    assert_eq!(get(), "weight=50 min_iops=50 max_iops=50 burst_ms=20\n");
    // Set by somebody else, past all checks: neither the ceiling nor its burst counts.
    let disk = host.status()["disk"].as_str().unwrap().to_owned();
    let name = format!("trusted.fairdisk.max_iops@{disk}");
    keep(&host.group_directory("tenant"), &name, "49");
    let read = format!("dd if={} of=/dev/null iflag=direct bs=4k count=1", host.file("data"));
    while !host.entry(&group)["max_iops"].is_null() {
        finish(host.start(&group, &read));
    }
    assert_eq!(get(), "weight=50 min_iops=50\n");
    // Read again and again, but logged once.
    keep(&host.group_directory("tenant"), "trusted.fairdisk.weight", "51");
    while host.entry(&group)["weight"] == 50 {
        finish(host.start(&group, &read));
    }
    let logged = fs::read_to_string(&log).unwrap();
    let of_group = format!("group={group} ");
    let told = |event: &str| {
        let is_it = |line: &&str| line.contains(event) && line.contains(&of_group);
        logged.lines().filter(is_it).count()
    };
    assert_eq!((told("setting refused"), told("setting changed")), (5, 4), "{logged}");
    host.unmount();
}

/// Runs a script in a place where no mount is found. `ctl ARGUMENTS` stands for `fairdisk ctl`.
fn without_a_mount(host: &Host, script: &str) -> Output {
    let begin = "mount -t tmpfs none /run; ctl() { \"$PROGRAM\" ctl \"$@\"; }";
    Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", &format!("{begin}\n{script}")])
        .env("PROGRAM", env!("CARGO_BIN_EXE_fairdisk"))
        .env("GROUP", host.path_of("tenant"))
        .env("SOURCE", host.source(""))
        .env("MNT", host.at())
        .output()
        .unwrap()
}

/// The standard output of a script, whose complaints must be as expected.
#[track_caller]
fn prints(output: &Output, complaints: &str) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said == complaints, "{}", text(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The order at boot: groups first, then mounts.
#[test]
fn settings_are_made_before_anything_is_mounted() {
    if lacks_something() || is_missing("unshare") {
        return;
    }
    let host = Host::new();
    fs::create_dir_all(host.group_directory("tenant/inner")).unwrap();
    let at = Hierarchy::find(None).unwrap().unwrap().mount().display().to_string();
    let note = format!(
        "note: no mount that schedules was found; what is set is kept with the cgroup, below {at}, \
         where mounts of root to come find it"
    );
    let floor = "; whether its floor can be kept is checked by their scheduler only then";
    let set = without_a_mount(&host, "ctl set $GROUP weight=300 max_iops=70");
    assert_eq!(prints(&set, &format!("{note}\n")), "");
    let set = without_a_mount(&host, "ctl set $GROUP/inner ioprio=0 min_iops=50");
    assert_eq!(prints(&set, &format!("{note}{floor}\n")), "");
    let get = "ctl get $GROUP; ctl get $GROUP/inner; ctl get --json $GROUP";
    let before = prints(&without_a_mount(&host, get), "");
    let group = host.path_of("tenant");
    let inner = format!("ioprio=0 (weight 200) min_iops=50 in {group}");
    let words = format!("weight=300 max_iops=70\n{inner}\n{{\n");
    assert!(before.starts_with(&words), "{before}");
    // A mount reports the same, word for word.
    let mounted = format!(
        "$PROGRAM mount --separate --log-file $MNT.log $SOURCE $MNT > $MNT.said
         {get}; umount $MNT; tail -s 0.02 --pid=$(sed 's/.*pid=//' $MNT.said) -f /dev/null"
    );
    assert_eq!(prints(&without_a_mount(&host, &mounted), ""), before);
}

#[test]
fn what_cannot_be_set_is_refused_without_a_mount_as_well() {
    if lacks_something() || is_missing("unshare") {
        return;
    }
    let host = Host::new();
    fs::create_dir(host.group_directory("tenant")).unwrap();
    for (arguments, code, says) in [
        ("set $GROUP weight=5 wieght=3", 2, "; did you mean `weight`?"),
        ("set $GROUP weight=5 idle=1001", 2, "idle=1001: how long to wait is"),
        ("set $GROUP weight=5 burst_ms=5", 2, "`burst_ms` is about a ceiling"),
        ("set $GROUP/none weight=5", 2, "/none; mkdir makes one"),
        ("get $GROUP/none", 2, "/none; mkdir makes one"),
        ("set $GROUP/.. weight=5", 2, "without `..`"),
        ("list", 1, "error: no mount that schedules was found (start one with"),
        ("scheduler fair", 1, "error: no mount that schedules was found"),
        ("--at $MNT set $GROUP weight=5", 1, "no mount answers at"),
        ("--at $MNT get $GROUP", 1, "no mount answers at"),
    ] {
        let refused = without_a_mount(&host, &format!("ctl {arguments}"));
        assert_eq!(refused.status.code(), Some(code), "{arguments}: {}", text(&refused));
        let said = text(&refused);
        assert!(said.starts_with("error: ") && said.contains(says), "{arguments}: {said}");
    }
    let kept = prints(&without_a_mount(&host, "ctl get $GROUP"), "");
    assert_eq!(kept, "weight=100\n", "nothing has been set");
    // Without groups, or where the mount table cannot be read.
    let nowhere = "for at in $(awk '/ - cgroup2? / { print $5 }' /proc/self/mountinfo | tac)
        do umount -l $at; done";
    let none = "error: there are no groups: no cgroup hierarchy is mounted; fairdisk cgroup mount";
    for (script, says) in [
        (nowhere, none),
        ("umount -l /proc", "error: /proc/self/mountinfo cannot be read: No such file"),
    ] {
        for arguments in ["set $GROUP weight=5", "get $GROUP"] {
            let refused = without_a_mount(&host, &format!("{script}; ctl {arguments}"));
            assert_eq!(refused.status.code(), Some(1), "{}", text(&refused));
            assert!(text(&refused).starts_with(says), "{arguments}: {}", text(&refused));
        }
    }
}

/// A mount reports these in its log.
#[test]
fn values_that_make_no_sense_are_named_without_a_mount_as_well() {
    if lacks_something() || is_missing("unshare") {
        return;
    }
    let host = Host::new();
    let (outer, inner) = (host.group_directory("tenant"), host.group_directory("tenant/inner"));
    fs::create_dir_all(&inner).unwrap();
    keep(&outer, "trusted.fairdisk.weight", "300");
    keep(&outer, "trusted.fairdisk.burst_ms", "20");
    keep(&inner, "trusted.fairdisk.idle", "5000");
    let got = without_a_mount(&host, "ctl get $GROUP/inner");
    let group = host.path_of("tenant");
    let says = format!(
        "note: a setting of {group}/inner does not count: idle=5000: how long to wait is a whole \
         number of ms from 0 to 1000, or default\n\
         note: a setting of {group} does not count: `burst_ms` is about a ceiling; add `max_iops` \
         or `max_bps`, or drop it\n"
    );
    assert_eq!(prints(&got, &says), format!("weight=300 as part of {group}\n"));
}

/// Settings of users count for their own mounts, where nobody else can change them.
#[test]
fn a_user_without_a_mount_is_told_whose_mounts_find_what_is_set() {
    if lacks_something() || is_missing("unshare") {
        return;
    }
    let host = Host::new();
    let directory = host.group_directory("tenant");
    fs::create_dir(&directory).unwrap();
    chown(&directory, Some(65534), None).unwrap();
    let script = format!(
        "as() {{ setpriv --reuid=65534 --regid=65534 --clear-groups \"$@\"; }}
         as {} ctl set $GROUP weight=5",
        host.program_for_all()
    );
    let told = |mode| {
        fs::set_permissions(&directory, fs::Permissions::from_mode(mode)).unwrap();
        let set = without_a_mount(&host, &script);
        assert!(set.status.success(), "{}", text(&set));
        text(&set)
    };
    let own = told(0o755);
    assert!(own.ends_with(", where mounts of yours to come find it\n"), "{own}");
    let at = directory.display();
    let note = format!("note: it does not count while others than you may write to {at}\n");
    assert_eq!(told(0o777), own + &note);
    assert_eq!(prints(&without_a_mount(&host, "ctl get $GROUP"), ""), "weight=100\n");
}

/// The owner of a group's directory can change its user attributes.
#[test]
fn a_tenant_does_not_give_itself_a_share() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.make_file("data", 1);
    host.mount_well(&[]);
    host.group("tenant", "weight=50");
    let directory = host.group_directory("tenant");
    let inner = directory.join("inner");
    fs::create_dir(&inner).unwrap();
    for directory in [&directory, &inner] {
        chown(directory, Some(65534), None).unwrap();
        keep(directory, "user.fairdisk.weight", "10000");
        keep(directory, "user.fairdisk.min_iops", "10");
    }
    // Nor does it prevent root from setting a share.
    keep(&directory, "user.fairdisk.burst_ms", "5");
    let outer = host.group("tenant", "idle=0");
    let inner_group = format!("{outer}/inner");
    let read = format!("dd if={} of=/dev/null iflag=direct bs=4k count=1", host.file("data"));
    finish(host.start(&inner_group, &read));
    assert_eq!(text(&host.ctl(&["get", &outer])), "weight=50 idle=0\n");
    assert_eq!(host.entry(&inner_group), Value::Null, "it has no settings that count");
    // A directory that only root can change counts as root's, whichever namespace is used.
    chown(&inner, Some(0), None).unwrap();
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o755)).unwrap();
    host.group("tenant/inner", "idle=0");
    let got = text(&host.ctl(&["get", &inner_group]));
    assert_eq!(got, format!("weight=10000 idle=0 min_iops=10 in {outer}\n"));
    host.group("tenant/inner", "ioprio=7");
    let got = text(&host.ctl(&["get", &inner_group]));
    assert_eq!(got, format!("ioprio=7 (weight 25) idle=0 min_iops=10 in {outer}\n"));
    host.unmount();
}
