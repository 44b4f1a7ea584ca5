//! `fairdisk kernel` on the command line, and advice for the kernel.

use crate::bad_input::demand_one_line;
use crate::program::{Place, fairdisk};
use serde_json::Value;
use std::fs;
use std::process::Command;

/// A loop device in memory that is gone when dropped.
struct Disk(String);

impl Disk {
    /// `None` with the reason printed without root or loop devices.
    fn new(place: &Place) -> Option<Self> {
        let image = place.write("disk", vec![0; 8 << 20]);
        let attached = Command::new("losetup").args(["--find", "--show"]).arg(&image).output();
        match attached.ok().filter(|attached| attached.status.success()) {
            Some(attached) => {
                Some(Self(String::from_utf8(attached.stdout).unwrap().trim().to_owned()))
            }
            None => {
                println!("skipped: no loop device");
                None
            }
        }
    }

    fn scheduler(&self) -> String {
        let name = self.0.trim_start_matches("/dev/");
        fs::read_to_string(format!("/sys/block/{name}/queue/scheduler")).unwrap()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

#[test]
fn a_check_says_what_is_under_a_device_and_exits_by_its_findings() {
    let place = Place::new();
    let Some(disk) = Disk::new(&place) else { return };
    let text = place.run(&["kernel", "check", &disk.0]);
    assert!(text.out.starts_with(&format!("{}\n", disk.0)), "{}", text.out);
    assert_eq!(text.code == Some(0), text.out.contains("Healthy"), "{}", text.out);
    let json = place.run(&["kernel", "check", &disk.0, "--json"]);
    let value: Value = serde_json::from_str(&json.out).unwrap();
    let layers = value["check"]["stacks"][0]["layers"].as_array().unwrap();
    assert_eq!(layers[0]["kind"], "loop", "{value:#}");
    assert!(value["check"]["findings"].is_array());
    demand_one_line(&fairdisk(&["kernel", "check", "/dev/none"]), &["no such device or path"]);
}

#[test]
fn a_plan_is_shown_applied_and_undone() {
    let place = Place::new();
    let Some(disk) = Disk::new(&place) else { return };
    let before = disk.scheduler();
    let to = if before.contains("[none]") { "mq-deadline" } else { "none" };
    let plan = format!("[[device]]\npath = '{}'\nscheduler = '{to}'\n", disk.0);
    place.write("plan.toml", plan);
    let shown = place.run(&["kernel", "apply", "plan.toml", "--dry-run"]).quiet();
    assert!(shown.contains(&format!("/queue/scheduler: {to} (was ")), "{shown}");
    assert_eq!(disk.scheduler(), before);
    let applied = place.run(&["kernel", "apply", "plan.toml", "--state", "state"]).quiet();
    assert_eq!(applied, shown);
    assert!(disk.scheduler().contains(&format!("[{to}]")));
    let again = place.run(&["kernel", "apply", "plan.toml", "--state", "state"]);
    assert_eq!(again.code, Some(1));
    assert!(again.err.contains("fairdisk kernel undo"), "{}", again.err);
    place.run(&["kernel", "undo", "--state", "state"]).quiet();
    assert_eq!(disk.scheduler(), before);
    let over = place.run(&["kernel", "undo", "--state", "state"]);
    assert_eq!(over.code, Some(1));
    assert!(over.err.contains("no plan is applied"), "{}", over.err);
}

#[test]
fn plans_with_faults_are_refused_with_the_file_and_what_was_expected() {
    let place = Place::new();
    place.write("plan.toml", "[[group]]\npath = 'db'\nio.bfq.weight = 2000\n");
    let refused = place.run(&["kernel", "apply", "plan.toml", "--dry-run"]);
    demand_one_line(&refused, &["plan.toml", "weights are 1 to 1000"]);
    demand_one_line(&place.run(&["kernel", "verify", "none.toml"]), &["none.toml"]);
}

const SHORT: [&str; 9] =
    ["advise", "two-groups", "--duration", "10s", "--seeds", "1", "--device", "fixed-8ms", "--for"];

#[test]
fn advice_for_the_kernel_is_a_plan_and_files() {
    let bfq = ["kernel", "--scheduler", "bfq", "--disk", "/dev/sdx"];
    let value = fairdisk(&[&SHORT[..], &bfq, &["--json"]].concat()).json();
    let plan = value["kernel"]["plan"].as_str().unwrap();
    assert!(plan.contains("scheduler = \"bfq\"") && plan.contains("path = \"/dev/sdx\""), "{plan}");
    assert!(plan.contains("path = \"database\"") && plan.contains("[group.predicted]"), "{plan}");
    let lasting = value["kernel"]["lasting"].as_str().unwrap();
    assert!(lasting.contains("KERNEL==\"sdx\", ATTR{queue/scheduler}=\"bfq\""), "{lasting}");
    assert!(lasting.contains("> '/sys/fs/cgroup/database/io.bfq.weight'"), "{lasting}");
    let limit = ["kernel", "--scheduler", "token-bucket", "--want", "backup: max_iops=40"];
    let text = fairdisk(&[&SHORT[..], &limit].concat());
    assert!(text.out.contains("\"/dev/DISK\" = \"riops=40 wiops=40\""), "{}", text.out);
    assert!(text.out.contains("what only a mount keeps (fair):"), "{}", text.out);
    let note = "backup: max_iops=40 is kept in part: io.max limits reads and writes apart";
    assert!(text.out.contains(note), "{}", text.out);
}

#[test]
fn advice_for_the_kernel_or_a_mount_tries_what_that_has() {
    let strange = fairdisk(&[&SHORT[..], &["kernel", "--scheduler", "fair"]].concat());
    demand_one_line(&strange, &["the kernel has no fair", "bfq, iocost"]);
    let tried = |target: &str| {
        let value = fairdisk(&[&SHORT[..], &[target, "--json"]].concat()).json();
        let tried = value["tried"].as_array().unwrap().clone();
        tried.iter().map(|one| one["scheduler"].to_string()).collect::<Vec<_>>()
    };
    let (kernel, mount) = (tried("kernel"), tried("mount"));
    assert!(kernel.contains(&"\"bfq\"".to_owned()) && !kernel.contains(&"\"fair\"".to_owned()));
    assert!(mount.contains(&"\"fair\"".to_owned()), "{mount:?}");
}
