//! The changes between two scheduler revisions, or between two sets of `--set`.

use super::{FACTORS_MAX, FactorSet};
use crate::catalog::error::CatalogError;
use crate::catalog::library::{Document, Kind, find};
use crate::catalog::overrides::{Override, read};
use crate::catalog::revision::{Revision, flatten};
use crate::catalog::schedulers::take;
use fairdisk_sched::cfq::switches::{SWITCHES, Switch};
use std::collections::BTreeMap;
use toml::{Table, Value};

/// One change: a key with a good and a bad value.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// The key, its scope first: `scheduler.cfq.slice_idle_ms`.
    pub key: String,
    /// The good value; `None` where the key is missing.
    pub good: Option<Value>,
    /// The bad value.
    pub bad: Option<Value>,
}

impl Factor {
    /// The change of history that it is, if it is one.
    #[must_use]
    pub fn switch(&self) -> Option<&'static Switch> {
        self.place().map(|at| &SWITCHES[at])
    }

    /// Where that is in the order of history.
    fn place(&self) -> Option<usize> {
        let name = self.key.strip_prefix("scheduler.switches.")?;
        SWITCHES.iter().position(|switch| switch.name == name)
    }
}

/// What differs between a good and a bad state.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The good side.
    pub good: Side,
    /// The bad side.
    pub bad: Side,
    /// Changes made to both.
    common: Vec<Override>,
    /// The changes in the order in which they were made.
    pub factors: Vec<Factor>,
    /// The good scheduler's file, flattened and with its overrides.
    document: Document,
    /// Of each factor that is a change of history, what it needs.
    needs: Vec<(usize, Vec<Needed>)>,
    /// Of each factor that is no key of the scheduler, the change for the good and the bad state.
    settings: BTreeMap<usize, [Option<Override>; 2]>,
}

/// Keys of a revision that name it and change nothing.
const NAMES: [&str; 2] = ["id", "title"];

/// Settings of an experiment of which no run knows.
const SAME_RUN: [&str; 7] = [
    "experiment.seeds",
    "experiment.id",
    "experiment.title",
    "experiment.question",
    "experiment.source",
    "experiment.caveats",
    "experiment.excluded",
];

/// What a change of history needs to do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needed {
    /// A factor, at its bad value or at its good one.
    Factor { at: usize, is_bad: bool },
    /// Something that no mixture has.
    Never,
}

/// What is asked to be compared: a scheduler and the changes made to it and around it.
#[derive(Clone, Debug)]
pub struct Side {
    /// A scheduler's name.
    pub scheduler: String,
    /// Changes for this side alone.
    pub overrides: Vec<Override>,
}

impl Difference {
    /// What differs between two sides; `common` changes are made to both.
    ///
    /// # Errors
    /// A scheduler that does not exist, other families, a malformed change, or nothing differs.
    pub fn between(good: &Side, bad: &Side, common: &[Override]) -> Result<Self, CatalogError> {
        Self::under(good, bad, common, &[])
    }

    /// The same under a load that changes this of its own accord, for schedulers that can have it.
    /// `common` changes and those of a side count after that.
    ///
    /// # Errors
    /// As [`between`](Self::between).
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
        let mut names: Vec<&String> = from.keys().chain(to.keys()).collect();
        names.sort();
        names.dedup();
        let differing = names.into_iter().filter(|key| {
            // A switch that is not named is off.
            let off = key.starts_with("switches.").then(|| Value::from(false));
            from.get(*key).or(off.as_ref()) != to.get(*key).or(off.as_ref())
        });
        let mut factors: Vec<Factor> = differing
            .map(|key| Factor {
                key: format!("scheduler.{key}"),
                good: from.get(key).cloned(),
                bad: to.get(key).cloned(),
            })
            .collect();
        // What is no change of history comes first.
        factors.sort_by_key(Factor::place);
        let needs = needs(&factors, &from);
        let mut all = good.overrides.iter().chain(&bad.overrides);
        if let Some(idle) = all.find(|change| SAME_RUN.contains(&change.key().as_str())) {
            return Err(idle.error("changes nothing about a run; --seeds says how many are made"));
        }
        let mut settings = BTreeMap::new();
        for (key, sides) in other_settings(good, bad) {
            let [good, bad] = sides.each_ref().map(|side| side.as_ref().map(Override::value));
            if good != bad {
                settings.insert(factors.len(), sides.clone());
                factors.push(Factor { key, good: good.cloned(), bad: bad.cloned() });
            }
        }
        if factors.is_empty() || factors.len() > FACTORS_MAX {
            let found =
                if factors.is_empty() { "no".to_owned() } else { factors.len().to_string() };
            let keys: Vec<String> = load.iter().map(Override::key).collect();
            let under = match keys.is_empty() {
                true => String::new(),
                false => format!(" in this row, which sets {}", keys.join(", ")),
            };
            let message = format!("differ by {found} changes{under}; allowed: 1 to {FACTORS_MAX}");
            return Err(wrong(good, bad, &message));
        }
        let [good, bad] = [good, bad].map(Side::clone);
        Ok(Self {
            good,
            bad,
            common: common.to_vec(),
            factors,
            document: good_file,
            needs,
            settings,
        })
    }

    /// Asks `usual` for the value of each change around the scheduler that one side makes alone:
    /// the other side has that.
    ///
    /// # Errors
    /// A change to what the other side has.
    pub(super) fn complete(
        &mut self,
        usual: impl Fn(&str) -> Option<Value>,
    ) -> Result<(), CatalogError> {
        for (at, sides) in &self.settings {
            let factor = &mut self.factors[*at];
            let (own, other) = match sides {
                [Some(own), None] => (own, &mut factor.bad),
                [None, Some(own)] => (own, &mut factor.good),
                _ => continue,
            };
            *other = usual(&factor.key);
            if other.as_ref() == Some(own.value()) {
                return Err(own.error("is what the other side has too; drop it"));
            }
        }
        Ok(())
    }

    /// The scheduler of a mixture.
    ///
    /// # Errors
    /// The mixture is not valid.
    pub fn revision(&self, set: FactorSet) -> Result<Revision, CatalogError> {
        let mut mixed = table(&self.document)?;
        for (at, factor) in self.factors.iter().enumerate().filter(|(at, _)| set.contains(*at)) {
            if !self.settings.contains_key(&at) {
                let path = factor.key.split_once('.').map_or("", |(_, path)| path);
                put(&mut mixed, path, factor.bad.clone());
            }
        }
        let text = toml::to_string(&mixed)
            .map_err(|error| CatalogError::option(&self.document.path, error.to_string()))?;
        Revision::parse(&self.document.clone().derived(text))
    }

    /// The smallest mixture that does the same: a change of history whose prerequisites are not
    /// there does nothing.
    #[must_use]
    pub fn effective(&self, set: FactorSet) -> FactorSet {
        let lacks = |needed: &Needed| match needed {
            Needed::Never => true,
            Needed::Factor { at, is_bad } => set.contains(*at) != *is_bad,
        };
        let idle = self.needs.iter().filter(|(_, needed)| needed.iter().any(lacks));
        idle.fold(set, |set, (at, _)| set.without(*at))
    }

    /// The changes around the scheduler that a mixture has; `None` if no mixture has any.
    #[must_use]
    pub fn settings(&self, set: FactorSet) -> Option<Vec<Override>> {
        let side = |at: &usize| usize::from(set.contains(*at));
        let chosen = self.settings.iter().filter_map(|(at, sides)| sides[side(at)].clone());
        (!self.settings.is_empty()).then(|| chosen.collect())
    }
}

/// A scheduler's file with everything it inherits, and its changes: first those that the load makes
/// and it can have.
fn flat(side: &Side, common: &[Override], load: &[Override]) -> Result<Document, CatalogError> {
    let document = flatten(find(Kind::Revision, &side.scheduler)?)?;
    let mut overrides = Vec::new();
    let refused = take(&side.scheduler, &mut overrides, load);
    if let Some(error) = refused.into_iter().flatten().find(|it| !it.is_about_a_name()) {
        return Err(error);
    }
    overrides.extend(common.iter().chain(&side.overrides).cloned());
    // What is wrong with the file is said before anything is mixed.
    read(&document, &["scheduler"], &overrides, |document| {
        Revision::parse(document).map(|_| document.clone())
    })
}

fn table(document: &Document) -> Result<Table, CatalogError> {
    document.text.parse().map_err(|error: toml::de::Error| {
        CatalogError::option(&document.path, error.message().to_owned())
    })
}

fn wrong(good: &Side, bad: &Side, message: &str) -> CatalogError {
    let message = format!("{} and {} {message}", good.scheduler, bad.scheduler);
    CatalogError::option(&good.scheduler, message)
}

fn demand_family(good: &Side, bad: &Side, tables: &[Table; 2]) -> Result<(), CatalogError> {
    let [one, other] = tables
        .each_ref()
        .map(|table| table.get("family").and_then(Value::as_str).unwrap_or_default());
    if one == other {
        return Ok(());
    }
    let message = format!(
        "are of different families, `{one}` and `{other}`, which have nothing to mix; expected two \
         revisions of one family (the same `family` in their files)"
    );
    Err(wrong(good, bad, &message))
}

/// The values by `table.key`.
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

/// Gives `path` a value, or takes it away.
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

/// What each factor that is a change of history needs, directly or not, where the good side has
/// `good`.
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

/// What a switch needs, what that needs, and so on.
fn needs_of(switch: &Switch) -> Vec<&'static str> {
    let mut all = switch.needs.to_vec();
    let mut at = 0;
    while let Some(name) = all.get(at) {
        let next = SWITCHES.iter().find(|one| one.name == *name).map_or(&[][..], |one| one.needs);
        let new: Vec<&str> = next.iter().copied().filter(|name| !all.contains(name)).collect();
        all.extend(new);
        at += 1;
    }
    all
}

/// The changes of both sides that are not about the scheduler, by their keys.
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
        let fairdisk_sched::SchedulerSpec::Cfq(all) = specs[2] else { panic!("another family") };
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
        // What changed around the scheduler stands before.
        assert_eq!(found.factors[0].key, "scheduler.plug.direct_writes_start");
        assert_eq!(found.factors[1].key, "scheduler.plug.read_ahead_starts");
        let set = |factors: &[usize]| factors.iter().copied().collect::<FactorSet>();
        assert_eq!(found.effective(set(&[merge, split])), FactorSet::EMPTY);
        assert_eq!(found.effective(set(&[seek, split])), set(&[seek]));
        assert_eq!(found.effective(set(&[seek, merge, split])), set(&[seek, merge, split]));
        let all = FactorSet::first(found.factors.len());
        assert_eq!(found.effective(all), all);
        // Mixtures that are the same by this are the same to the scheduler.
        let mut prng = fairdisk_core::Prng::new(1);
        for _ in 0..50 {
            let some: FactorSet = all.iter().filter(|_| prng.chance(1, 2)).collect();
            let [one, other] = [some, found.effective(some)].map(|set| {
                let revision = found.revision(set).expect("every combination is valid");
                let fairdisk_sched::SchedulerSpec::Cfq(params) = revision.spec else {
                    panic!("another family")
                };
                fairdisk_sched::cfq::CfqParams { switches: params.switches.effective(), ..params }
            });
            assert_eq!(one, other, "{some:?}");
        }
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
