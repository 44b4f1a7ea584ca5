//! Changes of schedulers while groups come and go and tasks move between them, under load.
//! Switching the elevator while groups were in use crashed the kernel with the patches of 2008.

use crate::host::{Host, finish, lacks_something};
use fairdisk_core::Prng;
use fairdisk_mount::control::{Ask, Client};
use std::env;
use std::fs;
use std::process::Child;

const SCHEDULERS: [&str; 5] = ["noop", "deadline", "cfq", "two-layer-cfq", "fair"];
const GROUPS: u64 = 6;
const WANDERERS: usize = 4;
/// The longest permitted wait, whatever changes meanwhile.
const WAIT_MAX_MS: f64 = 30_000.0;

/// A program that is moved from group to group.
struct Wanderer {
    child: Child,
    command: String,
    /// The current group; `None` for the original one.
    group: Option<u64>,
}

struct Storm<'a> {
    host: &'a Host,
    control: Client,
    prng: Prng,
    home: String,
    groups: Vec<u64>,
    wanderers: Vec<Wanderer>,
    made: u32,
    removed: u32,
    moved: u32,
    wait_max_ms: f64,
}

impl<'a> Storm<'a> {
    fn new(host: &'a Host) -> Self {
        let home = host.group("home", "weight=100");
        let wanderers = (0..WANDERERS)
            .map(|at| {
                let command = match at % 2 {
                    0 => format!("dd if={} of=/dev/null bs=4k iflag=direct", host.file("data")),
                    _ => {
                        let file = host.file(&format!("written{at}"));
                        format!("dd if=/dev/zero of={file} bs=16k count=2000 conv=fsync")
                    }
                };
                Wanderer { child: host.start(&home, &command), command, group: None }
            })
            .collect();
        Self {
            host,
            control: Client::connect(&host.socket()).unwrap(),
            prng: Prng::new(1),
            home,
            groups: Vec::new(),
            wanderers,
            made: 0,
            removed: 0,
            moved: 0,
            wait_max_ms: 0.0,
        }
    }

    fn round(&mut self) {
        let name = SCHEDULERS[self.prng.below(SCHEDULERS.len() as u64) as usize].to_owned();
        self.control.ask(&Ask::Scheduler { name, tunables: Vec::new() }).unwrap();
        let group = self.prng.below(GROUPS);
        match self.groups.iter().position(|known| *known == group) {
            None => self.make(group),
            Some(at) => self.remove(at),
        }
        self.go_on();
        self.wander();
    }

    fn make(&mut self, group: u64) {
        fs::create_dir(self.host.group_directory(&name(group))).unwrap();
        let path = self.home.replace("/home", &format!("/{}", name(group)));
        let settings = vec![format!("weight={}", 1 + self.prng.below(1000))];
        self.control.ask(&Ask::Set { group: path, settings, own: false }).unwrap();
        self.groups.push(group);
        self.made += 1;
    }

    /// Moves the tasks of a group back and removes it. A task that has just ended may keep the
    /// group busy for a moment; then it stays until later.
    fn remove(&mut self, at: usize) {
        let group = self.groups[at];
        for at in 0..self.wanderers.len() {
            if self.wanderers[at].group == Some(group) {
                self.send(at, None);
            }
        }
        if fs::remove_dir(self.host.group_directory(&name(group))).is_ok() {
            self.groups.remove(at);
            self.removed += 1;
        }
    }

    fn wander(&mut self) {
        if let Some(last) = self.groups.len().checked_sub(1) {
            let group = self.groups[self.prng.below(last as u64 + 1) as usize];
            let at = self.prng.below(WANDERERS as u64) as usize;
            self.send(at, Some(group));
        }
    }

    fn send(&mut self, at: usize, group: Option<u64>) {
        let wanderer = &mut self.wanderers[at];
        let to = group.map_or("home".to_owned(), name);
        let procs = self.host.group_directory(&to).join("cgroup.procs");
        // The program may have ended meanwhile.
        if fs::write(procs, wanderer.child.id().to_string()).is_ok() {
            wanderer.group = group;
            self.moved += 1;
        }
    }

    /// Restarts programs that have ended.
    fn go_on(&mut self) {
        for wanderer in &mut self.wanderers {
            if let Some(status) = wanderer.child.try_wait().unwrap() {
                assert!(status.success(), "{}: {status}", wanderer.command);
                wanderer.child = self.host.start(&self.home, &wanderer.command);
                wanderer.group = None;
            }
        }
    }

    /// Records the longest waits of the groups, which are lost when a group is removed.
    fn note_waits(&mut self) {
        for group in self.control.status().unwrap().groups {
            self.wait_max_ms = self.wait_max_ms.max(group.wait_max_ms);
        }
    }
}

fn name(group: u64) -> String {
    format!("g{group}")
}

/// The number of rounds: `FAIRDISK_SWITCHES`, which `make soak` sets.
fn rounds() -> u32 {
    env::var("FAIRDISK_SWITCHES").map_or(300, |rounds| rounds.parse().unwrap())
}

#[test]
fn schedulers_and_groups_change_under_load() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.make_file("data", 32);
    host.mount_well(&["--depth", "4"]);
    let going = host.scratch().join("going");
    fs::write(&going, "").unwrap();
    let mut storm = Storm::new(&host);
    // fio verifies what it has written.
    let verify = format!(
        "sh -c 'while [ -e {} ]; do fio --name=verify --filename={} --size=8m --rw=randrw \
         --bs=4k-64k --ioengine=libaio --iodepth=8 --direct=1 --verify=crc32c --verify_fatal=1 \
         --verify_state_save=0 --minimal || exit 1; done'",
        going.display(),
        host.file("verified")
    );
    let verifier = host.start(&storm.home, &format!("{verify} >/dev/null"));
    for round in 0..rounds() {
        storm.round();
        if round % 16 == 0 {
            storm.note_waits();
        }
    }
    fs::remove_file(&going).unwrap();
    finish(verifier);
    storm.note_waits();
    let Storm { wanderers, made, removed, moved, wait_max_ms, .. } = storm;
    for wanderer in wanderers {
        finish(wanderer.child);
    }
    println!(
        "{} switches, {made} groups made, {removed} removed, {moved} moves, longest wait \
         {wait_max_ms:.0} ms",
        rounds()
    );
    assert!(removed > rounds() / 20, "{removed} groups removed");
    assert!(wait_max_ms < WAIT_MAX_MS, "somebody waited {wait_max_ms:.0} ms");
    // Nothing is lost: the daemon ends, and what was written is below.
    host.unmount();
    assert_eq!(fs::metadata(host.source("written1")).unwrap().len(), 2000 * 16 * 1024);
}
