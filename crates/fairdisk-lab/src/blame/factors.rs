//! Factors: the changes between two scheduler revisions, or between two sets of `--set` options.

use super::{FACTORS_MAX, FactorSet};
use crate::catalog::error::CatalogError;
use crate::catalog::library::{Document, Kind, find};
use crate::catalog::memory::{KERNEL_KEY, SWITCHES_KEY};
use crate::catalog::overrides::{Override, read};
use crate::catalog::revision::{Revision, flatten};
use crate::catalog::schedulers::take;
use fairdisk_sched::{SchedulerSpec, Switch};
use fairdisk_sim::host::memory::{KERNEL_SWITCHES, Kernel, KernelSwitch};
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// One change: a key with a good and a bad value.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// The key with its scope first: `scheduler.cfq.slice_idle_ms`.
    pub key: String,
    /// The good value; `None` if the key is missing.
    pub good: Option<Value>,
    /// The bad value; `None` if the key is missing.
    pub bad: Option<Value>,
    /// The override of the good and of the bad side, if the key is not one of the scheduler.
    around: Option<[Option<Override>; 2]>,
}

impl Factor {
    /// The historical change of a scheduler that this factor switches, if it is one.
    fn switch(&self) -> Option<&'static Switch> {
        SchedulerSpec::switches_of(None).nth(self.place()?)
    }

    /// The index of that change in historical order.
    fn place(&self) -> Option<usize> {
        let name = self.key.strip_prefix("scheduler.switches.")?;
        SchedulerSpec::switches_of(None).position(|switch| switch.name == name)
    }

    /// The historical change of a scheduler or of memory management that this factor switches, if
    /// it is one.
    #[must_use]
    pub fn change(&self) -> Option<HistoricalChange> {
        if let Some(Switch { name, commit, author, summary, .. }) = self.switch() {
            return Some(HistoricalChange { name, commit, author, summary });
        }
        let name = self.key.strip_prefix(SWITCHES_KEY)?;
        let switch = KERNEL_SWITCHES.iter().find(|switch| switch.name == name)?;
        let KernelSwitch { name, commit, author, summary, .. } = switch;
        Some(HistoricalChange { name, commit, author, summary })
    }
}

/// A change that was made to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoricalChange {
    /// The name of its switch.
    pub name: &'static str,
    /// The commit, if it is known.
    pub commit: &'static str,
    /// The author, if it is known.
    pub author: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
}

/// The differences between a good and a bad state.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The good side.
    pub good: Side,
    /// The bad side.
    pub bad: Side,
    /// Changes made to both sides.
    common: Vec<Override>,
    /// The factors, in the order in which the changes were made.
    pub factors: Vec<Factor>,
    /// The file of the good scheduler, flattened and with its overrides.
    document: Document,
    /// For each factor that is a historical change, its prerequisites.
    needs: Vec<(usize, Vec<Needed>)>,
    /// What all mixtures have around the scheduler besides.
    base: Vec<Override>,
}

/// Keys of a revision that name it and have no effect.
const NAMES: [&str; 2] = ["id", "title"];

/// Settings of an experiment that do not affect a run.
const SAME_RUN: [&str; 7] = [
    "experiment.seeds",
    "experiment.id",
    "experiment.title",
    "experiment.question",
    "experiment.source",
    "experiment.caveats",
    "experiment.excluded",
];

/// A prerequisite of a historical change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needed {
    /// A factor that must have its bad, or its good, value.
    Factor { at: usize, is_bad: bool },
    /// A prerequisite that no mixture has.
    Never,
}

/// One side of a comparison: a scheduler, and changes to it and around it.
#[derive(Clone, Debug)]
pub struct Side {
    /// The name of the scheduler.
    pub scheduler: String,
    /// Changes for this side only.
    pub overrides: Vec<Override>,
}

impl Difference {
    /// The differences between two sides; `common` changes apply to both, except where a side has
    /// its own.
    ///
    /// # Errors
    /// Returns an error if a scheduler does not exist, the families differ, a change is malformed,
    /// a common one counts on neither side, or nothing differs.
    pub fn between(good: &Side, bad: &Side, common: &[Override]) -> Result<Self, CatalogError> {
        demand_count(good, bad, common)?;
        Self::under(good, bad, common, &[])
    }

    /// The differences under a load that makes changes of its own to the schedulers that can have
    /// them. Common changes and those of a side take precedence over these.
    ///
    /// # Errors
    /// Returns the same errors as [`between`](Self::between).
    pub(super) fn under_load(&self, changes: &[Override]) -> Result<Self, CatalogError> {
        Self::under(&self.good, &self.bad, &self.common, changes)
    }

    fn under(
        good: &Side,
        bad: &Side,
        common: &[Override],
        load: &[Override],
    ) -> Result<Self, CatalogError> {
        let [good_file, bad_file] = [flat(good, common, load)?, flat(bad, common, load)?];
        let tables = [table(&good_file)?, table(&bad_file)?];
        demand_family(good, bad, &tables)?;
        let [from, to] = tables.map(|table| keys(&table));
        let mut factors = differing(&from, &to);
        let needs = needs(&factors, &from);
        let mut all = good.overrides.iter().chain(&bad.overrides);
        if let Some(idle) = all.find(|change| SAME_RUN.contains(&change.key().as_str())) {
            return Err(idle.error("changes nothing about a run; --seeds says how many are made"));
        }
        for (key, sides) in other_settings(good, bad) {
            let [good, bad] = sides.each_ref().map(|side| side.as_ref().map(Override::value));
            let [good, bad] = [good.cloned(), bad.cloned()];
            if good != bad {
                factors.push(Factor { key, good, bad, around: Some(sides) });
            }
        }
        demand_comparable(factors.len(), load).map_err(|message| wrong(good, bad, &message))?;
        let [good, bad] = [good, bad].map(Side::clone);
        Ok(Self {
            good,
            bad,
            common: common.to_vec(),
            factors,
            document: good_file,
            needs,
            base: Vec::new(),
        })
    }

    /// Fills in the other side of each change around the scheduler that only one side makes, with
    /// the value from `usual`.
    ///
    /// # Errors
    /// Returns an error if a change sets the value that the other side already has.
    pub(super) fn complete(
        &mut self,
        usual: impl Fn(&str) -> Option<Value>,
    ) -> Result<(), CatalogError> {
        for Factor { key, good, bad, around } in &mut self.factors {
            let (own, other) = match around {
                Some([Some(own), None]) => (own, bad),
                Some([None, Some(own)]) => (own, good),
                _ => continue,
            };
            *other = usual(key);
            if other.as_ref() == Some(own.value()) {
                return Err(own.error("is what the other side has too; drop it"));
            }
        }
        self.spread_kernel();
        let found = self.factors.len();
        demand_comparable(found, &[]).map_err(|message| wrong(&self.good, &self.bad, &message))
    }

    /// If the sides have two kernels, puts the changes of memory management between these in place
    /// of that one factor, in historical order. A mixture has the good side's kernel, and each
    /// change on or off.
    fn spread_kernel(&mut self) {
        let Some(at) = self.factors.iter().position(|factor| factor.key == KERNEL_KEY) else {
            return;
        };
        let text = |value: &Option<Value>| value.as_ref()?.as_str().map(str::to_owned);
        let Factor { good, bad, .. } = &self.factors[at];
        let (Some(good), Some(bad)) = (text(good), text(bad)) else { return };
        let [Some(from), Some(to)] = [&good, &bad].map(|it| Kernel::of_release(it)) else { return };
        let Ok(base) = Override::parse(&format!("{KERNEL_KEY}={good}")) else { return };
        let own: BTreeSet<String> = self.factors.iter().map(|factor| factor.key.clone()).collect();
        self.factors.remove(at);
        self.base.push(base);
        for KernelSwitch { name, .. } in KERNEL_SWITCHES {
            let sides = [from.get(name), to.get(name)];
            let key = format!("{SWITCHES_KEY}{name}");
            let set = |on: Option<bool>| Override::parse(&format!("{key}={}", on?)).ok();
            if sides[0] == sides[1] || own.contains(&key) {
                continue;
            }
            let [good, bad] = sides.map(|on| on.map(Value::from));
            let around = Some(sides.map(set));
            self.factors.push(Factor { key, good, bad, around });
        }
    }

    /// The scheduler of a mixture.
    ///
    /// # Errors
    /// Returns an error if the mixture is not valid.
    pub fn revision(&self, set: FactorSet) -> Result<Revision, CatalogError> {
        let mut mixed = table(&self.document)?;
        for (_, factor) in self.factors.iter().enumerate().filter(|(at, _)| set.contains(*at)) {
            if factor.around.is_none() {
                let path = factor.key.split_once('.').map_or("", |(_, path)| path);
                put(&mut mixed, path, factor.bad.clone());
            }
        }
        let text = toml::to_string(&mixed)
            .map_err(|error| CatalogError::file(&self.document.path, error.to_string()))?;
        Revision::parse(&self.document.clone().derived(text))
    }

    /// The smallest mixture with the same behaviour: a historical change whose prerequisites are
    /// missing has no effect.
    #[must_use]
    pub fn effective(&self, set: FactorSet) -> FactorSet {
        let lacks = |needed: &Needed| match needed {
            Needed::Never => true,
            Needed::Factor { at, is_bad } => set.contains(*at) != *is_bad,
        };
        let idle = self.needs.iter().filter(|(_, needed)| needed.iter().any(lacks));
        idle.fold(set, |set, (at, _)| set.without(*at))
    }

    /// The changes around the scheduler in a mixture; `None` if there are none in any mixture.
    #[must_use]
    pub fn settings(&self, set: FactorSet) -> Option<Vec<Override>> {
        let sides = |(at, factor): (usize, &'_ Factor)| {
            factor.around.as_ref().map(|sides| sides[usize::from(set.contains(at))].clone())
        };
        let chosen: Vec<Option<Override>> =
            self.factors.iter().enumerate().filter_map(sides).collect();
        let all = self.base.iter().cloned().chain(chosen.iter().flatten().cloned());
        (!chosen.is_empty()).then(|| all.collect())
    }
}

/// The file of a side's scheduler with everything it inherits and all changes. Changes made by the
/// load come first, as far as the scheduler can have them.
fn flat(side: &Side, common: &[Override], load: &[Override]) -> Result<Document, CatalogError> {
    let document = flatten(find(Kind::Revision, &side.scheduler)?)?;
    let mut overrides = Vec::new();
    let refused = take(&side.scheduler, &mut overrides, load);
    if let Some(error) = refused.into_iter().flatten().find(|it| !it.is_about_a_name()) {
        return Err(error);
    }
    overrides.extend(common.iter().chain(&side.overrides).cloned());
    // Faults of the file are reported before anything is mixed.
    read(&document, &["scheduler"], &overrides, |document| {
        Revision::parse(document).map(|_| document.clone())
    })
}

/// Checks that no common change is replaced on both sides.
fn demand_count(good: &Side, bad: &Side, common: &[Override]) -> Result<(), CatalogError> {
    for change in common {
        let [own, other] =
            [good, bad].map(|side| side.overrides.iter().find(|own| own.replaces(change)));
        if let (Some(own), Some(other)) = (own, other) {
            let [own, other] = [own, other].map(|change| change.place().words());
            let message =
                format!("{own} and {other} change the same, so it counts nowhere; drop it");
            return Err(change.error(message));
        }
    }
    Ok(())
}

fn table(document: &Document) -> Result<Table, CatalogError> {
    document.text.parse().map_err(|error: toml::de::Error| {
        CatalogError::file(&document.path, error.message().to_owned())
    })
}

fn wrong(good: &Side, bad: &Side, message: &str) -> CatalogError {
    let message = format!("{} and {} {message}", good.scheduler, bad.scheduler);
    CatalogError::unstated(message)
}

fn demand_family(good: &Side, bad: &Side, tables: &[Table; 2]) -> Result<(), CatalogError> {
    let [one, other] = tables
        .each_ref()
        .map(|table| table.get("family").and_then(Value::as_str).unwrap_or_default());
    if one == other {
        return Ok(());
    }
    let message = format!(
        "are of different families, `{one}` and `{other}`, which have no changes between them to \
         mix; `fairdisk compare SPEC --scheduler {}` shows what each does with the load, `fairdisk \
         explain` why a request waited under either, and `fairdisk blame` takes two revisions of \
         one family, or one of them twice with --bad-set",
        [good, bad].map(|side| side.scheduler.as_str()).join(",")
    );
    Err(wrong(good, bad, &message))
}

/// Checks that there are enough differences to mix, and not too many, under a load that makes these
/// changes. An error says what the two schedulers do.
fn demand_comparable(factors: usize, load: &[Override]) -> Result<(), String> {
    let (found, remedy) = match factors {
        0 => (
            "no".to_owned(),
            "choose another scheduler, or change one side with --bad-set KEY=VALUE",
        ),
        1..=FACTORS_MAX => return Ok(()),
        many => (many.to_string(), "choose nearer ones"),
    };
    let keys: Vec<String> = load.iter().map(Override::key).collect();
    let under = match keys.is_empty() {
        true => String::new(),
        false => format!(" in this row, which sets {}", keys.join(", ")),
    };
    Err(format!("differ by {found} changes{under}; allowed: 1 to {FACTORS_MAX}; {remedy}"))
}

/// The keys of a scheduler that have another value on either side; those that are no historical
/// changes come first.
fn differing(good: &BTreeMap<String, Value>, bad: &BTreeMap<String, Value>) -> Vec<Factor> {
    let names: BTreeSet<&String> = good.keys().chain(bad.keys()).collect();
    let differing = names.into_iter().filter(|key| {
        // A switch that is not named is off.
        let off = key.starts_with("switches.").then(|| Value::from(false));
        good.get(*key).or(off.as_ref()) != bad.get(*key).or(off.as_ref())
    });
    let factor = |key: &String| Factor {
        key: format!("scheduler.{key}"),
        good: good.get(key).cloned(),
        bad: bad.get(key).cloned(),
        around: None,
    };
    let mut factors: Vec<Factor> = differing.map(factor).collect();
    factors.sort_by_key(Factor::place);
    factors
}

/// All values by `table.key`.
fn keys(table: &Table) -> BTreeMap<String, Value> {
    let mut keys = BTreeMap::new();
    for (name, value) in table.iter().filter(|(name, _)| !NAMES.contains(&name.as_str())) {
        match value {
            Value::Table(inner) => {
                let inner =
                    inner.iter().map(|(key, value)| (format!("{name}.{key}"), value.clone()));
                keys.extend(inner);
            }
            value => {
                keys.insert(name.clone(), value.clone());
            }
        }
    }
    keys
}

/// Sets or removes the value at `path`.
fn put(table: &mut Table, path: &str, value: Option<Value>) {
    let (at, key) = match path.split_once('.') {
        None => (table, path),
        Some((name, key)) => {
            let inner = table.entry(name).or_insert_with(|| Table::new().into());
            let Some(inner) = inner.as_table_mut() else { return };
            (inner, key)
        }
    };
    match value {
        Some(value) => at.insert(key.to_owned(), value),
        None => at.remove(key),
    };
}

/// The prerequisites, direct or indirect, of each factor that is a historical change, given the
/// values `good` of the good side.
fn needs(factors: &[Factor], good: &BTreeMap<String, Value>) -> Vec<(usize, Vec<Needed>)> {
    let is_on = |name: &str| good.get(&format!("switches.{name}")) == Some(&Value::from(true));
    let needed = |name: &&str| {
        let at = factors.iter().position(|one| one.switch().is_some_and(|one| one.name == *name));
        match at {
            Some(at) => Some(Needed::Factor { at, is_bad: !is_on(name) }),
            None => (!is_on(name)).then_some(Needed::Never),
        }
    };
    let of_factor = |(at, factor): (usize, &Factor)| {
        let needs = needs_of(factor.switch()?);
        Some((at, needs.iter().filter_map(needed).collect()))
    };
    factors.iter().enumerate().filter_map(of_factor).collect()
}

/// The names of all switches that a switch needs, directly or indirectly.
fn needs_of(switch: &Switch) -> Vec<&'static str> {
    let mut all = switch.needs.to_vec();
    let mut at = 0;
    while let Some(name) = all.get(at) {
        let next = SchedulerSpec::switches_of(None).find(|one| one.name == *name);
        let next = next.map_or(&[][..], |one| one.needs);
        let new: Vec<&str> = next.iter().copied().filter(|name| !all.contains(name)).collect();
        all.extend(new);
        at += 1;
    }
    all
}

/// The changes of both sides outside the scheduler, by key.
fn other_settings(good: &Side, bad: &Side) -> BTreeMap<String, [Option<Override>; 2]> {
    let mut settings: BTreeMap<String, [Option<Override>; 2]> = BTreeMap::new();
    for (at, side) in [good, bad].into_iter().enumerate() {
        for change in side.overrides.iter().filter(|change| change.scope() != "scheduler") {
            settings.entry(change.key()).or_default()[at] = Some(change.clone());
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(scheduler: &str, sets: &[&str]) -> Side {
        let overrides = sets.iter().map(|set| Override::parse(set).expect("well formed"));
        Side { scheduler: scheduler.to_owned(), overrides: overrides.collect() }
    }

    fn cfq(sets: &[&str]) -> Side {
        side("cfq-2.6.25", sets)
    }

    #[test]
    fn factors_are_the_keys_that_differ() {
        let bad =
            cfq(&["scheduler.cfq.slice_idle_ms=0", "scheduler.quirks.q8_idle_while_busy=false"]);
        let found = Difference::between(&cfq(&[]), &bad, &[]).expect("they differ");
        let keys: Vec<&str> = found.factors.iter().map(|factor| factor.key.as_str()).collect();
        assert_eq!(keys, ["scheduler.cfq.slice_idle_ms", "scheduler.quirks.q8_idle_while_busy"]);
        assert_eq!(found.factors[0].good, Some(Value::from(8)));
        assert_eq!(found.factors[0].bad, Some(Value::from(0)));
        assert_eq!(found.settings(FactorSet::first(2)), None);
    }

    /// Two kernels differ by the changes between them, in the order in which they were made.
    #[test]
    fn a_change_of_the_kernel_is_the_changes_that_it_made() {
        let kernel = |set: &[&str]| side("deadline", set);
        let ends = [
            kernel(&["host.memory.kernel=2.6.30", "host.hz=100"]),
            kernel(&["host.memory.kernel=2.6.32", "host.hz=250"]),
        ];
        let mut found = Difference::between(&ends[0], &ends[1], &[]).expect("they differ");
        found.complete(|_| None).expect("both sides say all");
        let names = found.factors.iter().map(|it| it.change().map_or("hz", |change| change.name));
        let of_memory = [
            "cold_ascending",
            "evict_once",
            "nap_ends_async",
            "list_per_type",
            "too_many_isolated",
        ];
        assert!(names.eq(["hz"].into_iter().chain(of_memory)), "{:?}", found.factors);
        let keys = |set| -> Vec<String> {
            let all = found.settings(set).expect("there are some");
            all.iter().map(|change| format!("{}={}", change.key(), change.value())).collect()
        };
        let mixed = keys(FactorSet::EMPTY.with(2));
        assert_eq!(mixed[..2], ["host.memory.kernel=\"2.6.30\"", "host.hz=100"]);
        assert_eq!(mixed[2], "host.memory.switches.cold_ascending=false");
        assert_eq!(mixed[3], "host.memory.switches.evict_once=true");
    }

    #[test]
    fn mixtures_go_from_one_end_to_the_other() {
        let bad = cfq(&["scheduler.cfq.slice_idle_ms=0", "scheduler.cfq.quantum=9"]);
        let found = Difference::between(&cfq(&[]), &bad, &[]).expect("they differ");
        let good = Revision::load("cfq-2.6.25").expect("it is there");
        assert_eq!(found.revision(FactorSet::EMPTY).expect("valid").spec, good.spec);
        let specs: Vec<_> = [1, 2, 3]
            .map(|mask: u64| FactorSet::parse(&mask.to_string()).expect("a set"))
            .iter()
            .map(|set| found.revision(*set).expect("valid").spec)
            .collect();
        let SchedulerSpec::Cfq(all) = specs[2] else { panic!("another family") };
        assert_eq!((all.quantum, all.slice_idle_ms), (9, 0));
        assert!(specs[0] != specs[1] && specs[0] != specs[2] && specs[1] != good.spec);
    }

    #[test]
    fn changes_of_history_are_in_its_order_and_do_nothing_without_what_they_need() {
        let [good, bad] = ["cfq-2.6.32", "cfq-2.6.33-rc1"].map(|name| side(name, &[]));
        let found = Difference::between(&good, &bad, &[]).expect("they differ");
        let named = |name: &str| {
            let of = |factor: &Factor| factor.switch().is_some_and(|switch| switch.name == name);
            found.factors.iter().position(of).expect("it is a change between them")
        };
        let places: Vec<_> = found.factors.iter().map(Factor::place).collect();
        assert!(places.is_sorted() && places.len() > 25, "{places:?}");
        let [seek, merge, split] = ["seek_per_queue", "coop_merge", "coop_split"].map(named);
        // Changes around the scheduler come first.
        assert_eq!(found.factors[0].key, "scheduler.plug.direct_writes_start");
        assert_eq!(found.factors[1].key, "scheduler.plug.read_ahead_starts");
        let set = |factors: &[usize]| factors.iter().copied().collect::<FactorSet>();
        assert_eq!(found.effective(set(&[merge, split])), FactorSet::EMPTY);
        assert_eq!(found.effective(set(&[seek, split])), set(&[seek]));
        assert_eq!(found.effective(set(&[seek, merge, split])), set(&[seek, merge, split]));
        let all = FactorSet::first(found.factors.len());
        assert_eq!(found.effective(all), all);
        // Mixtures with the same effective set are the same to the scheduler.
        let mut prng = fairdisk_core::Prng::new(1);
        for _ in 0..50 {
            let some: FactorSet = all.iter().filter(|_| prng.chance(1, 2)).collect();
            let [one, other] = [some, found.effective(some)].map(|set| {
                let revision = found.revision(set).expect("every combination is valid");
                let SchedulerSpec::Cfq(params) = revision.spec else { panic!("another family") };
                fairdisk_sched::cfq::CfqParams { switches: params.switches.effective(), ..params }
            });
            assert_eq!(one, other, "{some:?}");
        }
    }

    #[test]
    fn the_changes_of_bfq_are_factors_as_those_of_cfq_are() {
        let [good, bad] = ["bfq-v0", "bfq-6.2"].map(|name| side(name, &[]));
        let found = Difference::between(&good, &bad, &[]).expect("they differ");
        let names: Vec<&str> =
            found.factors.iter().filter_map(|one| one.change()).map(|it| it.name).collect();
        let all = SchedulerSpec::switches_of(Some("bfq")).map(|switch| switch.name);
        assert!(names.iter().copied().eq(all), "{names:?}");
        assert_eq!(names.len(), found.factors.len(), "nothing else differs");
        let at = |name: &str| names.iter().position(|one| *one == name).expect("it is one");
        let alone = FactorSet::EMPTY.with(at("write_overcharge_3"));
        assert_eq!(found.effective(alone), FactorSet::EMPTY, "it needs write_overcharge");
        let both = alone.with(at("write_overcharge"));
        assert_eq!(found.effective(both), both);
    }

    #[test]
    fn settings_around_the_scheduler_are_factors_too() {
        let [good, bad] = [cfq(&["host.hz=250"]), cfq(&["host.hz=1000", "device.depth=4"])];
        let found = Difference::between(&good, &bad, &[]).expect("they differ");
        let keys: Vec<&str> = found.factors.iter().map(|factor| factor.key.as_str()).collect();
        assert_eq!(keys, ["device.depth", "host.hz"]);
        assert_eq!(found.settings(FactorSet::EMPTY), Some(vec![good.overrides[0].clone()]));
        assert_eq!(found.settings(FactorSet::first(2)).map(|settings| settings.len()), Some(2));
    }

    #[test]
    fn what_the_load_changes_is_no_difference_unless_a_side_says_otherwise() {
        let load = |sets: &[&str]| {
            sets.iter().map(|set| Override::parse(set).expect("well formed")).collect::<Vec<_>>()
        };
        let [old, new] = ["cfq-2.6.32", "cfq-2.6.33"];
        let key = "scheduler.switches.slice_scaling";
        let has = |bad: &[&str], common: &[&str]| {
            let found = Difference::between(&side(old, &[]), &side(new, bad), &load(common));
            let found = found.expect("they differ").under_load(&load(&[
                &format!("{key}=false"),
                "scheduler.fair.turn_ms=1",
                "scheduler.mclock.horizon_ms=1",
            ]));
            found.expect("they still differ").factors.iter().any(|factor| factor.key == key)
        };
        assert!(!has(&[], &[]), "both have what the load says");
        assert!(has(&[&format!("{key}=true")], &[]), "one side has its own");
        assert!(!has(&[], &[&format!("{key}=true")]), "the caller says what both have");
        let near = Difference::between(&cfq(&[]), &side("cfq-2.6.27", &[]), &[]);
        let sets =
            ["scheduler.switches.idle_when_drained=true", "scheduler.writes.integrity=record"];
        let equal = near.expect("they differ").under_load(&load(&sets));
        let equal = equal.expect_err("nothing is left").to_string();
        assert!(
            equal.contains("differ by no changes in this row, which sets scheduler."),
            "{equal}"
        );
        let same = Difference::between(&cfq(&[]), &cfq(&["scheduler.cfq.quantum=9"]), &[]);
        let refused = same.expect("they differ").under_load(&load(&["scheduler.cfq.quantum=many"]));
        let refused = refused.expect_err("no number").to_string();
        assert!(refused.contains("scheduler.cfq.quantum=many"), "{refused}");
    }

    #[test]
    fn what_cannot_be_mixed_is_refused() {
        let error = |good: &Side, bad: &Side| {
            Difference::between(good, bad, &[]).expect_err("nothing to mix").to_string()
        };
        let families = error(&cfq(&[]), &side("deadline", &[]));
        assert!(families.contains("different families, `cfq` and `deadline`"), "{families}");
        assert!(error(&cfq(&[]), &cfq(&[])).contains("differ by no changes"));
        let wrong = error(&cfq(&[]), &cfq(&["scheduler.cfq.quantum=many"]));
        assert!(wrong.starts_with("--set scheduler.cfq.quantum=many"), "{wrong}");
    }
}
