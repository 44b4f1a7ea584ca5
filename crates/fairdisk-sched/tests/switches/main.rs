//! Every switch of a family has an effect: some journal differs with and without it. No revision
//! has the journals of an earlier one.

mod scene;

use fairdisk_core::{Flags, GroupId, IoClass, IoPrio, Span};
use fairdisk_sched::bfq::{self, BfqParams};
use fairdisk_sched::cfq::{self, CfqParams};
use fairdisk_sched::{SchedulerSpec, Switch};
use scene::{Habit, READER, Scene};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The switches that are on.
type On = BTreeSet<&'static str>;

/// A family with its revisions from the one with no switch on.
struct Family {
    name: &'static str,
    revisions: Vec<&'static str>,
    /// The scheduler with these switches on, in the variants in which they may matter.
    specs: fn(&On) -> Vec<SchedulerSpec>,
    crowds: fn() -> Vec<Vec<Habit>>,
}

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

/// Crowds in which queues are waited for or not by what they are due.
fn bfq_crowds() -> Vec<Vec<Habit>> {
    let level = |habit, level| with_class(habit, IoClass::BestEffort, level);
    let grouped = |habit| Habit { group: GroupId(1), ..habit };
    let deep = |number| Habit { at_once: 8, ..seeker(number) };
    vec![
        vec![seeker(0), seeker(1)],
        vec![grouped(seeker(0)), grouped(seeker(1))],
        vec![grouped(sequential(0)), grouped(sequential(1))],
        vec![level(seeker(0), 0), level(seeker(1), 7), level(deep(2), 7)],
        vec![level(sequential(0), 0), level(seeker(1), 7), writer(2)],
        vec![thinking(level(seeker(0), 0), 12), level(deep(1), 7), level(sequential(2), 7)],
        vec![writer(0), sequential(1), thinking(sequential(2), 40)],
        vec![Habit { sectors: 4096, at_once: 4, ..sequential(0) }, deep(1)],
        vec![thinking(seeker(0), 30), Habit { at_once: 16, ..sequential(1) }, writer(2)],
    ]
}

fn families() -> [Family; 2] {
    let revisions = |first, later: &[&'static str]| [&[first], later].concat();
    let of_cfq = |on: &On| {
        let mut switches = cfq::Switches::NONE;
        on.iter().for_each(|name| assert!(switches.set(name, true)));
        vec![SchedulerSpec::Cfq(CfqParams { switches, ..CfqParams::default() })]
    };
    let of_bfq = |on: &On| {
        let mut switches = bfq::Switches::NONE;
        on.iter().for_each(|name| assert!(switches.set(name, true)));
        let seeky_idle = Span::from_ms(2);
        let params = BfqParams { switches, seeky_idle, ..BfqParams::default() };
        let with = |low_latency| SchedulerSpec::Bfq(BfqParams { low_latency, ..params });
        [true, false].map(with).to_vec()
    };
    [
        Family {
            name: "cfq",
            revisions: revisions(cfq::Switches::FIRST, cfq::switches::REVISIONS),
            specs: of_cfq,
            crowds,
        },
        Family {
            name: "bfq",
            revisions: revisions(bfq::Switches::FIRST, bfq::switches::REVISIONS),
            specs: of_bfq,
            crowds: || [crowds(), bfq_crowds()].concat(),
        },
    ]
}

impl Family {
    fn switches(&self) -> impl Iterator<Item = &'static Switch> {
        SchedulerSpec::switches_of(Some(self.name))
    }

    /// What is on in the revision at `at`.
    fn on(&self, at: usize) -> On {
        let known = |revision| self.revisions[..=at].contains(&revision);
        self.switches().filter(|one| one.revision.is_some_and(known)).map(|one| one.name).collect()
    }

    fn scenes(&self) -> impl Iterator<Item = Scene> {
        let devices = [(1, true), (8, true), (31, true), (31, false), (2, true)];
        let crowds = (self.crowds)();
        let with = move |(depth, rotational)| {
            let scene = move |habits| Scene { depth, rotational, habits };
            crowds.clone().into_iter().map(scene)
        };
        devices.into_iter().flat_map(with)
    }

    /// Turns the switch on, and all that it needs.
    fn enable(&self, on: &mut On, name: &str) {
        let switch = self.switches().find(|switch| switch.name == name).expect("it is listed");
        on.insert(switch.name);
        switch.needs.iter().for_each(|need| self.enable(on, need));
    }

    /// Sets of switches with and without this one: at the time its prerequisites came, at the end
    /// of its revision, and alone.
    fn pairs(&self, switch: &Switch) -> Vec<(On, On)> {
        let past = self.switches().take_while(|one| one.name != switch.name);
        let before = past.filter(|one| one.revision.is_some()).map(|one| one.name).collect();
        let own = self.revisions.iter().position(|one| Some(*one) == switch.revision);
        let end = self.on(own.unwrap_or(self.revisions.len() - 1));
        let with_and_without = |mut with: On| {
            self.enable(&mut with, switch.name);
            let mut without = with.clone();
            without.remove(switch.name);
            (with, without)
        };
        [On::new(), before, end].map(with_and_without).to_vec()
    }

    /// Whether the switch has a scenario of its own: tables `FAMILY-switch-NAME-on.txt` and
    /// `-off.txt`, which are played by `tests/table`.
    fn is_told(&self, switch: &Switch) -> bool {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables");
        let told = |state: &str| {
            let table = folder.join(format!("{}-switch-{}-{state}.txt", self.name, switch.name));
            let text = fs::read_to_string(table).ok()?;
            let steps = text.lines().filter_map(|line| line.split_once("=>"));
            Some(steps.map(|(_, told)| told.trim().to_owned()).collect::<Vec<String>>())
        };
        let (on, off) = (told("on"), told("off"));
        on.is_some() && off.is_some() && on != off
    }

    fn does_something(&self, switch: &Switch) -> bool {
        let pairs = self.pairs(switch).into_iter();
        let specs = pairs.map(|(with, without)| ((self.specs)(&with), (self.specs)(&without)));
        let specs: Vec<_> =
            specs.flat_map(|(with, without)| with.into_iter().zip(without)).collect();
        [LENGTH, LONGER].into_iter().any(|length| {
            specs.iter().any(|(with, without)| {
                let play = |scene: &Scene, spec| scene.play(spec, 7, length);
                self.scenes().any(|scene| play(&scene, *with) != play(&scene, *without))
            })
        })
    }

    /// The scheduler of the revision at `at`.
    fn spec(&self, at: usize) -> SchedulerSpec {
        (self.specs)(&self.on(at))[0]
    }
}

#[test]
fn every_switch_changes_a_journal() {
    for family in families() {
        let idle =
            family.switches().filter(|one| !family.is_told(one) && !family.does_something(one));
        let idle: Vec<&str> = idle.map(|one| one.name).collect();
        assert!(idle.is_empty(), "{}: these do nothing: {idle:?}", family.name);
    }
}

/// What each revision does in each scene, as hashes of the journals. `UPDATE=1` rewrites them; the
/// commit that changes them says why.
#[test]
fn every_revision_has_its_golden_journals() {
    let mut text = String::new();
    for family in families() {
        let scenes: Vec<Scene> = family.scenes().collect();
        // CFQ of 2.6.25 has tests of its own.
        let first = usize::from(family.name == "cfq");
        for (at, revision) in family.revisions.iter().enumerate().skip(first) {
            for (number, scene) in scenes.iter().enumerate() {
                let hash = scene.play(family.spec(at), 7, LENGTH);
                let _ = writeln!(text, "{revision} scene {number}: {hash:016x}");
            }
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
    let [cfq, _] = families();
    let habits = [(1, 0), (1, 1), (2, 2), (2, 3)];
    let habits = habits.map(|(group, at)| Habit { group: GroupId(group), ..sequential(at) });
    let scene = Scene { depth: 1, rotational: true, habits: habits.to_vec() };
    for revision in ["cfq-2.6.33-rc1", "cfq-2.6.33", "cfq-2.6.34"] {
        let at = cfq.revisions.iter().position(|one| *one == revision).expect("a revision");
        let [great, small] = scene.device_times(cfq.spec(at), Span::from_s(60));
        let percent = 100 * great.as_ms() / (great.as_ms() + small.as_ms());
        // Time that a turn takes beyond its slice is not charged.
        assert!((76..=84).contains(&percent), "{revision}: {great} and {small}");
        let mut off = cfq.on(at);
        off.remove("cgroup_groups");
        let [one, other] = scene.device_times((cfq.specs)(&off)[0], Span::from_s(60));
        let percent = 100 * one.as_ms() / (one.as_ms() + other.as_ms());
        assert!((48..=52).contains(&percent), "{revision} without groups: {one} and {other}");
    }
}

#[test]
fn the_tables_are_in_order() {
    let all: Vec<&Switch> = SchedulerSpec::switches_of(None).collect();
    for (at, switch) in all.iter().enumerate() {
        let before = |name: &str| all[..at].iter().any(|earlier| earlier.name == name);
        assert!(!before(switch.name), "{} is there twice", switch.name);
        let known = switch.needs.iter().all(|need| before(need));
        assert!(known, "{}: prerequisites come first", switch.name);
        assert!(!switch.summary.ends_with('.') && switch.summary.len() <= 100, "{}", switch.name);
    }
}

#[test]
fn a_switch_without_its_prerequisites_does_nothing() {
    macro_rules! demand {
        ($family:ident) => {
            for switch in $family::SWITCHES {
                let mut alone = $family::Switches::NONE;
                assert!(alone.set(switch.name, true));
                let expected =
                    if switch.needs.is_empty() { alone } else { $family::Switches::NONE };
                assert_eq!(alone.effective(), expected, "{}", switch.name);
            }
        };
    }
    demand!(cfq);
    demand!(bfq);
}

#[test]
fn every_revision_differs_from_those_before() {
    for family in families() {
        let play = |spec: SchedulerSpec| -> Vec<u64> {
            family.scenes().map(|scene| scene.play(spec, 7, LENGTH)).collect()
        };
        let mut hashes: Vec<Vec<u64>> = Vec::new();
        for (at, revision) in family.revisions.iter().enumerate() {
            let known = match family.spec(at) {
                SchedulerSpec::Cfq(CfqParams { switches, .. }) => switches.revision(),
                SchedulerSpec::Bfq(BfqParams { switches, .. }) => switches.revision(),
                _ => None,
            };
            assert_eq!(known, Some(*revision));
            let here = play(family.spec(at));
            assert!(!hashes.contains(&here), "{revision} is like an earlier one");
            hashes.push(here);
        }
    }
}
