//! What is measured, as the environment says:
//!
//! - `FAIRDISK_REAL_DISK=long`: the long form;
//! - `FAIRDISK_REAL_DISK_STORAGE`, `…_SCHEDULERS`, `…_LOADS`: names, separated by spaces. A family
//!   of loads stands for all of it, and `all` for every load. `fair-RULE` is `fair` without a rule,
//!   and `rules` stands for all of these: with them and `fair`, what each rule is worth is told;
//! - `FAIRDISK_REAL_DISK_SECONDS`, `…_ROUNDS`: how long and how often;
//! - `FAIRDISK_SCRATCH`: a directory on the disk that is measured, else `/var/tmp`;
//! - `UPDATE=1`: the tables of what was measured are rewritten.

use super::loads::{self, Load};
use fairdisk_sched::fair::{RULES, Rule};
use std::env;
use std::path::PathBuf;

/// Where loads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    /// A file on the machine's own disk.
    Disk,
    /// ext4 on a loop device over such a file.
    Loop,
    /// A mount at the pace of a device of the catalogue.
    Paced(&'static str),
    /// A device of the catalogue, simulated.
    Lab(&'static str),
}

impl Storage {
    /// Real disks first, the lab second.
    const ALL: [Self; 8] = [
        Self::Disk,
        Self::Loop,
        Self::Paced("nvme"),
        Self::Paced("sata-ssd"),
        Self::Paced("hdd-7200-2007"),
        Self::Lab("nvme"),
        Self::Lab("sata-ssd"),
        Self::Lab("hdd-7200-2007"),
    ];
    /// Those of the short form: one of each kind.
    const SHORT: [Self; 4] = [Self::Disk, Self::Loop, Self::Paced("nvme"), Self::Lab("nvme")];

    pub(super) fn name(self) -> String {
        match self {
            Self::Disk => "disk".to_owned(),
            Self::Loop => "loop".to_owned(),
            Self::Paced(device) => format!("paced-{device}"),
            Self::Lab(device) => format!("lab-{device}"),
        }
    }

    pub(super) fn title(self) -> String {
        match self {
            Self::Disk => "The machine's own disk".to_owned(),
            Self::Loop => "A loop device over a file on it".to_owned(),
            Self::Paced(device) => format!("A mount at the pace of `{device}`"),
            Self::Lab(device) => format!("In the lab, `{device}`"),
        }
    }
}

/// Who shares the disk out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scheduler {
    pub(super) name: &'static str,
    /// What the mount is told; without, there is no mount at all.
    pub(super) mounts: Option<&'static str>,
    /// Whether it knows what requests cost.
    pub(super) costs: bool,
    /// The rule of `fair` that is off.
    pub(super) without: Option<&'static str>,
}

impl Scheduler {
    const fn mounted(name: &'static str, mounts: &'static str, costs: bool) -> Self {
        Self { name, mounts: Some(mounts), costs, without: None }
    }

    pub(super) const NOOP: Self = Self::mounted("noop", "noop", false);
    const BARE: Self = Self { name: "bare", mounts: None, costs: false, without: None };
    pub(super) const FAIR: Self = Self::mounted("fair", "fair", false);
    pub(super) const ALL: [Self; 6] = [
        Self::BARE,
        Self::NOOP,
        Self::FAIR,
        Self::mounted("fair+costs", "fair", true),
        Self::mounted("two-layer-cfq", "two-layer-cfq", false),
        Self::mounted("bfq", "bfq", false),
    ];

    /// `fair` without each of its rules, as `fair-RULE`.
    fn without_rules() -> Vec<Self> {
        let without = |rule: &Rule| {
            let name: &'static str = format!("fair-{}", rule.name).leak();
            Self { without: Some(rule.name), ..Self::mounted(name, "fair", false) }
        };
        RULES.iter().map(without).collect()
    }

    /// This scheduler with all rules of `fair` on.
    pub(super) const fn with_all_rules(self) -> Self {
        if self.without.is_some() { Self::FAIR } else { self }
    }

    pub(super) const fn is_bare(&self) -> bool {
        self.mounts.is_none()
    }
}

/// How much of everything.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    pub(super) seconds: u32,
    /// What does not count, before.
    pub(super) ramp_seconds: u32,
    /// The length of each group's file.
    pub(super) file_mib: u32,
    pub(super) rounds: usize,
}

pub(super) struct Settings {
    pub(super) lengths: Lengths,
    pub(super) storages: Vec<Storage>,
    pub(super) schedulers: Vec<Scheduler>,
    pub(super) loads: Vec<Load>,
    /// Where the disk is that is measured.
    pub(super) scratch: PathBuf,
    pub(super) update: bool,
    /// The variables that chose, for whoever wants to do it again.
    pub(super) command: String,
}

const LONG: Lengths = Lengths { seconds: 2, ramp_seconds: 1, file_mib: 2048, rounds: 3 };
const SHORT: Lengths = Lengths { seconds: 1, ramp_seconds: 0, file_mib: 64, rounds: 1 };

const SHORT_SCHEDULERS: &[&str] = &["bare", "noop", "fair"];

const PREFIX: &str = "FAIRDISK_REAL_DISK";

fn variable(name: &str) -> Option<String> {
    env::var(format!("{PREFIX}_{name}")).ok().filter(|value| !value.is_empty())
}

impl Settings {
    pub(super) fn of_environment() -> Result<Self, String> {
        let long = env::var(PREFIX).is_ok_and(|form| form == "long");
        let mut lengths = if long { LONG } else { SHORT };
        lengths.seconds = number("SECONDS", lengths.seconds)?;
        lengths.rounds = number("ROUNDS", lengths.rounds as u32)? as usize;
        let usual = if long { Storage::ALL.to_vec() } else { Storage::SHORT.to_vec() };
        let storages = chosen("STORAGE", &Storage::ALL, |one| vec![one.name()], usual)?;
        let mut usual = Scheduler::ALL.to_vec();
        usual.retain(|one| long || SHORT_SCHEDULERS.contains(&one.name));
        let known = [Scheduler::ALL.to_vec(), Scheduler::without_rules()].concat();
        let names = |one: &Scheduler| {
            let all = one.without.map(|_| "rules".to_owned());
            all.into_iter().chain([one.name.to_owned()]).collect()
        };
        let schedulers = chosen("SCHEDULERS", &known, names, usual)?;
        let all = loads::all();
        let names = if long { loads::TABLE } else { loads::SHORT };
        let usual = all.iter().filter(|load| names.contains(&load.name.as_str())).cloned();
        let usual = usual.collect();
        let names =
            |load: &Load| vec!["all".to_owned(), load.family.name().to_owned(), load.name.clone()];
        let loads = chosen("LOADS", &all, names, usual)?;
        let scratch = env::var_os("FAIRDISK_SCRATCH").unwrap_or_else(|| "/var/tmp".into());
        let update = env::var_os("UPDATE").is_some();
        let command = command(long);
        Ok(Self { lengths, storages, schedulers, loads, scratch: scratch.into(), update, command })
    }
}

/// The variables of this run.
fn command(long: bool) -> String {
    let mut command = if long { format!("{PREFIX}=long") } else { String::new() };
    for name in ["STORAGE", "SCHEDULERS", "LOADS", "SECONDS", "ROUNDS"] {
        if let Some(value) = variable(name) {
            command += &format!(" {PREFIX}_{name}='{value}'");
        }
    }
    command.trim_start().to_owned()
}

fn number(name: &str, usual: u32) -> Result<u32, String> {
    let Some(value) = variable(name) else { return Ok(usual) };
    let parsed = value.parse().ok().filter(|number| *number > 0);
    parsed.ok_or_else(|| format!("{PREFIX}_{name}: \"{value}\" is no whole number from 1 on"))
}

/// Those that a variable names, in the order in which they are known.
fn chosen<T: Clone>(
    variable_name: &str,
    known: &[T],
    names: impl Fn(&T) -> Vec<String>,
    usual: Vec<T>,
) -> Result<Vec<T>, String> {
    let Some(value) = variable(variable_name) else { return Ok(usual) };
    named(&value, known, names).map_err(|why| format!("{PREFIX}_{variable_name}: {why}"))
}

fn named<T: Clone>(
    value: &str,
    known: &[T],
    names: impl Fn(&T) -> Vec<String>,
) -> Result<Vec<T>, String> {
    let asked: Vec<&str> = value.split_whitespace().collect();
    for word in &asked {
        if !known.iter().any(|one| names(one).iter().any(|name| name == word)) {
            let mut all: Vec<String> = Vec::new();
            for name in known.iter().flat_map(&names) {
                if !all.contains(&name) {
                    all.push(name);
                }
            }
            return Err(format!("no \"{word}\"; known: {}", all.join(" ")));
        }
    }
    let is_asked = |one: &&T| names(one).iter().any(|name| asked.contains(&name.as_str()));
    Ok(known.iter().filter(is_asked).cloned().collect())
}

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    let storages = |value| named(value, &Storage::ALL, |one| vec![one.name()]);
    assert_eq!(storages("loop disk"), Ok(vec![Storage::Disk, Storage::Loop]));
    let refused = storages("disc").unwrap_err();
    assert!(refused.starts_with("no \"disc\"; known: disk loop paced-nvme "), "{refused}");
    let names = |load: &Load| vec![load.family.name().to_owned(), load.name.clone()];
    let some = named("thinkers depth-8-7:1", &loads::all(), names).unwrap();
    assert_eq!((some.len(), some[0].name.as_str()), (9, "depth-8-7:1"));
}
