//! Rules for groups: settings that outlive the cgroups, the mount and the machine.

use crate::host::{Host, fairdisk, finish, lacks_something, text, wait_until};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A host whose mount goes by the rules in a directory of its own, with this `groups.toml`.
fn ruled(rules: &str) -> (Host, PathBuf) {
    let host = Host::new();
    let directory = host.scratch().join("rules");
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("groups.toml"), rules).unwrap();
    (host, directory)
}

fn mount(host: &mut Host, rules: &Path) -> Output {
    host.mount_in(&[("FAIRDISK_RULES", rules)], &["--device-model", "sata-ssd"])
}

/// A service begins: its cgroup is made, and a program in it reads.
fn begin(host: &Host, name: &str) {
    host.make_group(name);
    let read = format!("dd if={} of=/dev/null iflag=direct bs=4k count=1", host.file("data"));
    finish(host.start(&host.path_of(name), &read));
}

/// A service ends, and its cgroup goes with it.
fn end(host: &Host, name: &str) {
    wait_until(|| fs::remove_dir(host.group_directory(name)).is_ok());
}

fn get(host: &Host, name: &str) -> String {
    text(&host.ctl(&["get", &host.path_of(name)]))
}

const RULES: &str = "[[group]]\nmatch = \"/fairdisk-test-*/db*\"\nweight = 300\n\
                     max_bps = \"8M\"\n";

#[test]
fn a_service_has_its_settings_again_after_it_was_restarted() {
    if lacks_something() {
        return;
    }
    let (mut host, rules) = ruled(RULES);
    host.make_file("data", 1);
    assert!(mount(&mut host, &rules).status.success());
    for _ in 0..2 {
        begin(&host, "db1.service");
        let entry = host.entry(&host.path_of("db1.service"));
        assert_eq!((&entry["weight"], &entry["max_bps"]), (&300.into(), &(8 << 20).into()));
        let file = rules.join("groups.toml");
        let from = |key| format!("  {key} is from {}:1\n", file.display());
        let shown = format!("weight=300 max_bps=8388608\n{}{}", from("max_bps"), from("weight"));
        assert_eq!(get(&host, "db1.service"), shown);
        // What is set counts more, as long as the cgroup is there.
        let set = host.ctl(&["set", &host.path_of("db1.service"), "weight=7", "max_bps=none"]);
        assert!(set.status.success(), "{}", text(&set));
        assert_eq!(get(&host, "db1.service"), "weight=7\n");
        end(&host, "db1.service");
    }
    begin(&host, "other.service");
    assert_eq!(get(&host, "other.service"), "weight=100\n");
    host.unmount();
}

#[test]
fn a_changed_file_of_rules_holds_at_once_unless_it_is_wrong() {
    if lacks_something() {
        return;
    }
    let (mut host, rules) = ruled(RULES);
    host.make_file("data", 1);
    assert!(mount(&mut host, &rules).status.success());
    begin(&host, "db");
    let weight = |host: &Host| host.entry(&host.path_of("db"))["weight"].clone();
    assert_eq!(weight(&host), 300);
    let file = rules.join("groups.toml");
    fs::write(&file, RULES.replace("300", "20000")).unwrap();
    let log = host.scratch().join("log");
    let logged = || fs::read_to_string(&log).unwrap();
    wait_until(|| logged().contains("rules refused"));
    let says = format!("{}:3:10: weight=20000: a weight is", file.display());
    assert!(logged().contains(&says), "{}", logged());
    assert_eq!(weight(&host), 300, "the former rules hold");
    let check = fairdisk(&["ctl", "rules", "check", rules.to_str().unwrap()]);
    assert_eq!(check.status.code(), Some(2));
    assert!(text(&check).contains(&says), "{}", text(&check));
    fs::write(&file, RULES.replace("300", "50")).unwrap();
    wait_until(|| weight(&host) == 50);
    let check = text(&fairdisk(&["ctl", "rules", "check", rules.to_str().unwrap()]));
    let says = "match \"/fairdisk-test-*/db*\": weight=50, max_bps=8388608 (1 cgroup)\n1 rule in 1";
    assert!(check.contains(says), "{check}");
    host.unmount();
}

/// After a reboot all cgroups are made anew, and the mount is.
#[test]
fn what_is_kept_holds_after_a_reboot() {
    if lacks_something() {
        return;
    }
    let (mut host, rules) = ruled("");
    host.make_file("data", 1);
    assert!(mount(&mut host, &rules).status.success());
    host.make_group("db");
    let settings = ["weight=300", "fsync_p99_ms=2.5"];
    let path = host.path_of("db");
    let set = host.ctl(&[&["set", &path, "--keep"], &settings[..]].concat());
    assert!(set.status.success(), "{}", text(&set));
    let kept = rules.join("groups.d/ctl.toml");
    assert!(text(&set).contains(&format!("kept in {}", kept.display())), "{}", text(&set));
    host.unmount();
    end(&host, "db");
    assert!(mount(&mut host, &rules).status.success());
    begin(&host, "db");
    let shown = get(&host, "db");
    assert!(shown.starts_with("weight=300 fsync_p99_ms=2.5"), "{shown}");
    // Before a service has ever been there.
    let to_come = host.ctl(&["set", &host.path_of("to-come"), "--keep", "weight=70"]);
    assert!(to_come.status.success(), "{}", text(&to_come));
    assert!(text(&to_come).contains("is there now; the rule is for one to come"));
    begin(&host, "to-come");
    wait_until(|| get(&host, "to-come").starts_with("weight=70\n"));
    end(&host, "to-come");
    host.unmount();
    // Without a mount as well.
    end(&host, "db");
    host.make_group("db");
    let disk_less = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fairdisk"));
        let command = command.arg("ctl").args(args).env("FAIRDISK_RULES", &rules);
        text(&command.output().unwrap())
    };
    let set = disk_less(&["set", "--keep", &path, "weight=40"]);
    if set.contains("no mount that schedules was found") {
        end(&host, "db");
        host.make_group("db");
        assert!(
            disk_less(&["get", &path]).starts_with("weight=40"),
            "{}",
            disk_less(&["get", &path])
        );
    }
}
