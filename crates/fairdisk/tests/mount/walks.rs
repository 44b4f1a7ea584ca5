//! Pages that are walks, with each of their commands.

use crate::host::{Host, is_missing, lacks_something, text};
use std::fmt::Write as _;
use std::process::Command;

/// A command of the document, and the lines that it prints.
struct Step {
    command: String,
    prints: Vec<String>,
}

fn steps(document: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut walks = false;
    for line in document.lines() {
        if line.starts_with("```") {
            walks = line == "```console,walk";
        } else if let Some(command) = line.strip_prefix("# ").filter(|_| walks) {
            steps.push(Step { command: command.to_owned(), prints: Vec::new() });
        } else if walks {
            steps.last_mut().unwrap().prints.push(line.to_owned());
        }
    }
    steps
}

/// A line in which the number of a process is any.
fn without_pid(line: &str) -> &str {
    line.split_once(" pid=").map_or(line, |(before, _)| before)
}

/// A page that was walked: its commands, and all that each of them printed.
struct Walked {
    steps: Vec<Step>,
    parts: Vec<String>,
}

/// Runs each command of a page, and checks that it succeeds and prints what the page says. The
/// disks are in memory, but for what the shell does `before`; paths and cgroups are those of a
/// system of its own. `None` without the programs that are needed.
fn walked(name: &str, page: &str, before: &str) -> Option<Walked> {
    let needs = ["unshare", "curl", "fio"];
    if lacks_something() || needs.into_iter().any(is_missing) {
        return None;
    }
    let steps = steps(page);
    let host = Host::new();
    host.make_group(name);
    let script = "echo $$ > $GROUP/cgroup.procs
        exec unshare --cgroup --mount --propagation private bash $PLACE/walk";
    let mut walk = format!(
        "exec 2>&1
        mount -t cgroup2 none /sys/fs/cgroup
        for each in /media /mnt /srv /run; do mount -t tmpfs none $each; done
        mkdir /media/upper /media/work /media/here
        mount -t overlay -o lowerdir=/etc,upperdir=/media/upper,workdir=/media/work none /etc
        rm -rf /etc/fairdisk
        for each in fast slow; do mkdir /srv/$each; mount -t tmpfs none /srv/$each; done
        cd /media/here
        {before}
        fairdisk() {{ \"$PROGRAM\" \"$@\"; }}\n"
    );
    for (at, step) in steps.iter().enumerate() {
        let _ = writeln!(walk, "echo '@@ {at}'\n{}\nstatus=$?", step.command);
        let _ = writeln!(walk, "[ $status -eq 0 ] || echo \"!! $status\"");
    }
    walk.push_str("rmdir /sys/fs/cgroup/* 2> /dev/null\ntrue\n");
    std::fs::write(host.scratch().join("walk"), &walk).unwrap();
    let done = Command::new("bash")
        .args(["-c", script])
        .env("PLACE", host.scratch())
        .env("PROGRAM", env!("CARGO_BIN_EXE_fairdisk"))
        .env("GROUP", host.group_directory(name))
        .output()
        .unwrap();
    let said = text(&done);
    let parts: Vec<String> = said.split("@@ ").skip(1).map(str::to_owned).collect();
    assert_eq!(parts.len(), steps.len(), "{said}");
    for (step, part) in steps.iter().zip(&parts) {
        assert!(!part.contains("!! "), "{}\n{part}", step.command);
        for line in &step.prints {
            let is_it = |printed: &str| without_pid(printed) == without_pid(line);
            assert!(part.lines().any(is_it), "{}: no `{line}` in\n{part}", step.command);
        }
    }
    Some(Walked { steps, parts })
}

impl Walked {
    /// Checks that commands which begin so print these words.
    fn demand(&self, begins: &str, shows: &[&str]) {
        let found = self.steps.iter().zip(&self.parts);
        let found = found.filter(|(step, _)| step.command.starts_with(begins));
        let shown = |text: &&str| found.clone().any(|(_, part)| part.contains(*text));
        let missing: Vec<_> = shows.iter().filter(|text| !shown(text)).collect();
        assert!(missing.is_empty(), "{begins} shows no {missing:?}:\n{}", self.parts.join("@@ "));
    }
}

#[test]
fn every_command_of_the_day_does_what_the_page_says() {
    let page = include_str!("../../../../docs/a-day-with-two-disks.md");
    let Some(walked) = walked("day", page, "") else { return };
    for (begins, shows) in [
        ("fairdisk ctl status", &["/srv/fast on /mnt/fast", "/srv/slow on /mnt/slow"][..]),
        ("fairdisk ctl rules check", &["\"/tenant-*\": weight=50 (0 cgroups)"]),
        ("fairdisk top --once --at /mnt/slow", &["/backup", "ceiling", "of 40MB/s"]),
        ("fairdisk top --once --json --at /mnt/fast", &["\"/database\"", "\"fsync\":{"]),
        ("fairdisk ctl list --since noon", &["since mark noon", "  fsync ", "own data"]),
        ("fairdisk ctl list --at /mnt/fast", &["fsync p99<=10 ms", "  fsync "]),
    ] {
        walked.demand(begins, shows);
    }
}

/// From a recording to settings that hold.
#[test]
fn every_command_of_the_way_from_a_recording_does_what_the_page_says() {
    let page = include_str!("../../../../docs/what-is-my-disk-doing.md");
    // What is in memory cannot be calibrated.
    let on_disk = "mkdir $PLACE/fast && mount --bind $PLACE/fast /srv/fast";
    let Some(walked) = walked("way", page, on_disk) else { return };
    for (begins, shows) in [
        (
            "fairdisk record --at /mnt/fast --for 2s -o load.fdt",
            &["requests recorded, none lost"][..],
        ),
        ("fairdisk trace load.fdt", &["/database", "/backup", "under noop", "fio-"]),
        ("fairdisk validate load.fdt --device fast.toml", &["noop on fast.toml", "demerit"]),
        ("fairdisk validate load.fdt --device better.toml", &["noop on better.toml"]),
        ("fairdisk compare load.fdt", &["fair", "bfq", "/database"]),
        ("fairdisk trace then.fdt", &["under fair", "/database"]),
    ] {
        walked.demand(begins, shows);
    }
}
