//! Every switch of the CFQ family has an effect: some journal differs with and without it. Toggling
//! all switches of a revision gives the neighbouring revision.

mod scene;

use fairdisk_core::{Flags, GroupId, IoClass, IoPrio, Span};
use fairdisk_sched::SchedulerSpec;
use fairdisk_sched::cfq::switches::REVISIONS;
use fairdisk_sched::cfq::{CfqParams, SWITCHES, Switch, Switches};
use scene::{Habit, READER, Scene};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const LENGTH: Span = Span::from_ms(1000);
/// Long enough for what takes a second to notice.
const LONGER: Span = Span::from_s(3);

/// Far enough apart for a seek to cost something.
const fn at(number: u64) -> u64 {
    number << 24
}

const fn seeker(number: u64) -> Habit {
    Habit { home: at(number), span: 1 << 24, run: 1, ..READER }
}

const fn sequential(number: u64) -> Habit {
    Habit { home: at(number), ..READER }
}

/// The habit of a buffered writer.
const fn writer(number: u64) -> Habit {
    Habit { write: true, sync: false, at_once: 16, span: 1 << 24, run: 4, ..seeker(number) }
}

const fn thinking(habit: Habit, ms: u64) -> Habit {
    Habit { think: Span::from_ms(ms), ..habit }
}

const fn with_class(habit: Habit, class: IoClass, level: u8) -> Habit {
    Habit { ioprio: IoPrio { class, level }, ..habit }
}

/// The kinds of tasks that a disk of 2009 may have met.
fn crowds() -> Vec<Vec<Habit>> {
    let real_time = with_class(thinking(sequential(9), 6), IoClass::RealTime, 2);
    let idle = with_class(Habit { at_once: 6, ..seeker(10) }, IoClass::Idle, 0);
    let fsync =
        Habit { write: true, flags: Flags::NOIDLE, think: Span::from_ms(2), ..sequential(11) };
    let meta = Habit { flags: Flags::META, think: Span::from_ms(20), ..seeker(12) };
    // Two tasks that read alternate pieces of the same range.
    let one = Habit { gap: 8, span: 8, think: Span::from_us(300), ..sequential(13) };
    let other = Habit { home: at(13) + 8, ..one };
    let drifts = Habit { home: at(13) + 16, run: 300, span: 1 << 22, ..one };
    let pages = |number| Habit { run: 16, span: 1 << 21, ..sequential(number) };
    let large = |habit: Habit| Habit { sectors: 64, ..habit };
    let deep = Habit { at_once: 6, ..seeker(14) };
    let second = |habit: Habit| Habit { ioprio: IoPrio::best_effort(0), ..habit };
    vec![
        (0..8).map(pages).collect(),
        vec![sequential(0), seeker(1), seeker(2), writer(3), thinking(sequential(4), 3)],
        vec![writer(0), writer(1)],
        vec![writer(0), thinking(sequential(1), 400), fsync],
        vec![writer(0), seeker(1), fsync, thinking(fsync, 9), meta],
        vec![real_time, sequential(0), seeker(1), writer(2), idle, thinking(seeker(3), 5)],
        vec![real_time, with_class(seeker(4), IoClass::RealTime, 5), meta, sequential(1), fsync],
        vec![one, other, sequential(1), second(sequential(2))],
        vec![one, other, drifts, thinking(seeker(1), 1)],
        vec![one, other, idle, with_class(one, IoClass::Idle, 0)],
        vec![deep, thinking(deep, 4), sequential(0), thinking(seeker(1), 2)],
        vec![large(sequential(0)), large(seeker(1)), thinking(large(seeker(2)), 3)],
        vec![Habit { at_once: 40, ..sequential(0) }],
        vec![Habit { at_once: 40, ..seeker(0) }, thinking(sequential(1), 120)],
        vec![thinking(sequential(0), 9), thinking(sequential(1), 12), thinking(seeker(2), 12)],
        vec![thinking(sequential(0), 30)],
        vec![thinking(Habit { flags: Flags::NOIDLE, ..seeker(0) }, 5), thinking(seeker(1), 25)],
        vec![with_class(Habit { at_once: 20, ..sequential(0) }, IoClass::Idle, 0)],
        vec![
            Habit { group: GroupId(1), ..sequential(0) },
            Habit { group: GroupId(2), ..sequential(1) },
            Habit { group: GroupId(2), ..thinking(seeker(2), 2) },
            Habit { group: GroupId(1), ..writer(3) },
        ],
        vec![
            Habit { group: GroupId(1), ..writer(0) },
            Habit { group: GroupId(2), at_once: 12, ..sequential(1) },
            Habit { group: GroupId(1), ..fsync },
            Habit { group: GroupId(2), write: true, at_once: 8, sync: false, ..sequential(3) },
        ],
        vec![
            Habit { group: GroupId(1), ..one },
            Habit { group: GroupId(2), ..other },
            Habit { group: GroupId(1), ..thinking(sequential(4), 2) },
        ],
    ]
}

fn scenes() -> impl Iterator<Item = Scene> {
    let devices = [(1, true), (8, true), (31, true), (31, false), (2, true)];
    let with = |(depth, rotational)| {
        crowds().into_iter().map(move |habits| Scene { depth, rotational, habits })
    };
    devices.into_iter().flat_map(with)
}

fn spec(switches: Switches) -> SchedulerSpec {
    SchedulerSpec::Cfq(CfqParams { switches, ..CfqParams::default() })
}

/// Sets of switches with and without this one: at the time its prerequisites came, at the end of
/// its revision, and alone.
fn pairs(switch: &Switch) -> Vec<(Switches, Switches)> {
    let mut alone = Switches::NONE;
    enable(&mut alone, switch.name);
    let (mut before, mut end) = (Switches::NONE, Switches::NONE);
    for earlier in SWITCHES.iter().filter(|earlier| earlier.revision.is_some()) {
        let known =
            |switch: &Switch| REVISIONS.iter().position(|one| Some(*one) == switch.revision);
        let past = SWITCHES.iter().take_while(|one| one.name != switch.name);
        before.set(earlier.name, past.into_iter().any(|one| one.name == earlier.name));
        end.set(earlier.name, known(earlier) <= known(switch));
    }
    enable(&mut before, switch.name);
    enable(&mut end, switch.name);
    let without = |mut with: Switches| {
        with.set(switch.name, false);
        with
    };
    [alone, before, end].map(|with| (with, without(with))).to_vec()
}

fn enable(switches: &mut Switches, name: &str) {
    let switch = SWITCHES.iter().find(|switch| switch.name == name).expect("it is listed");
    switches.set(name, true);
    switch.needs.iter().for_each(|need| enable(switches, need));
}

/// Whether the switch has a scenario of its own: tables `cfq-switch-NAME-on.txt` and `-off.txt`,
/// which are played by `tests/table`.
fn is_told(switch: &Switch) -> bool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables");
    let told = |state: &str| {
        let table = folder.join(format!("cfq-switch-{}-{state}.txt", switch.name));
        let text = fs::read_to_string(table).ok()?;
        let steps = text.lines().filter_map(|line| line.split_once("=>"));
        Some(steps.map(|(_, told)| told.trim().to_owned()).collect::<Vec<String>>())
    };
    let (on, off) = (told("on"), told("off"));
    on.is_some() && off.is_some() && on != off
}

fn does_something(switch: &Switch) -> bool {
    let differs = |length| {
        pairs(switch).into_iter().any(|(with, without)| {
            let play = |scene: &Scene, on| scene.play(spec(on), 7, length);
            scenes().any(|scene| play(&scene, with) != play(&scene, without))
        })
    };
    differs(LENGTH) || differs(LONGER)
}

#[test]
fn every_switch_changes_a_journal() {
    let idle: Vec<&str> = SWITCHES
        .iter()
        .filter(|one| !is_told(one) && !does_something(one))
        .map(|one| one.name)
        .collect();
    assert!(idle.is_empty(), "these do nothing: {idle:?}");
}

/// What each revision does in each scene, as hashes of the journals. `UPDATE=1` rewrites them; the
/// commit that changes them says why.
#[test]
fn every_revision_has_its_golden_journals() {
    let mut text = String::new();
    let scenes: Vec<Scene> = scenes().collect();
    for revision in REVISIONS {
        let switches = Switches::of_revision(revision).expect("it is listed");
        for (number, scene) in scenes.iter().enumerate() {
            let hash = scene.play(spec(switches), 7, LENGTH);
            let _ = writeln!(text, "{revision} scene {number}: {hash:016x}");
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/switches/journals.expected");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &text).expect("it can be written");
    }
    let golden = fs::read_to_string(&path).expect("the golden journals");
    assert!(text == golden, "{} differs; UPDATE=1 rewrites it", path.display());
}

/// Weights of 1000 and 250, as in the scene.
#[test]
fn groups_get_the_disk_by_their_weights() {
    let habits = [(1, 0), (1, 1), (2, 2), (2, 3)];
    let habits = habits.map(|(group, at)| Habit { group: GroupId(group), ..sequential(at) });
    let scene = Scene { depth: 1, rotational: true, habits: habits.to_vec() };
    for revision in ["cfq-2.6.33-rc1", "cfq-2.6.33", "cfq-2.6.34"] {
        let switches = Switches::of_revision(revision).expect("a revision");
        let [great, small] = scene.device_times(spec(switches), Span::from_s(60));
        let percent = 100 * great.as_ms() / (great.as_ms() + small.as_ms());
        // Time that a turn takes beyond its slice is not charged.
        assert!((76..=84).contains(&percent), "{revision}: {great} and {small}");
        let mut off = switches;
        off.set("cgroup_groups", false);
        let [one, other] = scene.device_times(spec(off), Span::from_s(60));
        let percent = 100 * one.as_ms() / (one.as_ms() + other.as_ms());
        assert!((48..=52).contains(&percent), "{revision} without groups: {one} and {other}");
    }
}

#[test]
fn the_table_is_in_order() {
    for (at, switch) in SWITCHES.iter().enumerate() {
        let before = |name: &str| SWITCHES[..at].iter().any(|earlier| earlier.name == name);
        assert!(!before(switch.name), "{} is there twice", switch.name);
        let known = switch.needs.iter().all(|need| before(need));
        assert!(known, "{}: prerequisites come first", switch.name);
        assert!(!switch.summary.ends_with('.') && switch.summary.len() <= 100, "{}", switch.name);
    }
}

#[test]
fn a_switch_without_its_prerequisites_does_nothing() {
    for switch in SWITCHES {
        let mut alone = Switches::NONE;
        assert!(alone.set(switch.name, true));
        let expected = if switch.needs.is_empty() { alone } else { Switches::NONE };
        assert_eq!(alone.effective(), expected, "{}", switch.name);
    }
}

#[test]
fn the_switches_of_a_revision_make_its_neighbour() {
    let mut switches = Switches::NONE;
    let play = |switches| -> Vec<u64> {
        let scenes = crowds().into_iter();
        let scenes = scenes.map(|habits| Scene { depth: 31, rotational: true, habits });
        scenes.map(|scene| scene.play(spec(switches), 7, LENGTH)).collect()
    };
    let mut hashes = vec![play(switches)];
    for revision in REVISIONS {
        for switch in SWITCHES.iter().filter(|switch| switch.revision == Some(revision)) {
            switches.set(switch.name, true);
        }
        assert_eq!(Some(switches), Switches::of_revision(revision));
        assert_eq!(switches.revision(), Some(*revision));
        hashes.push(play(switches));
    }
    for revision in REVISIONS.iter().rev() {
        let here = hashes.pop().expect("one for each");
        assert_eq!(play(switches), here, "{revision}");
        assert!(!hashes.contains(&here), "{revision} is like an earlier one");
        for switch in SWITCHES.iter().filter(|switch| switch.revision == Some(revision)) {
            switches.set(switch.name, false);
        }
    }
    assert_eq!(switches, Switches::NONE);
}
