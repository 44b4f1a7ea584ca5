//! Wishes: what a group is to have.

use super::cgroup;
use crate::byte_rate::bytes_a_second;
use crate::catalog::error::unknown;
use crate::plan::Loaded;
use fairdisk_core::{Qos, QosKey, Rates, Share, Span, Weight, WeightMap};
use fairdisk_sim::GroupSpec;

/// The wishes for a group, as on the command line: `GROUP: KEY=VALUE, KEY=VALUE`.
#[derive(Clone, Debug, PartialEq)]
pub struct Want {
    /// The group's name.
    pub group: String,
    /// The settings that are wished for.
    pub settings: Vec<Setting>,
}

/// One wished setting of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    /// A weight among the group's siblings.
    Weight(Weight),
    /// A share of the disk in percent.
    Percent(f64),
    /// A limit and its value.
    Limit(QosKey, u64),
}

impl Want {
    /// Parses the wishes for one group.
    ///
    /// # Errors
    /// Returns what is wrong with the text, and what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (group, settings) =
            text.split_once(':').ok_or("expected GROUP: KEY=VALUE, KEY=VALUE")?;
        let settings = settings.split(',').map(|setting| Setting::parse(setting.trim()));
        let settings = settings.collect::<Result<_, _>>()?;
        Ok(Self { group: group.trim().to_owned(), settings })
    }
}

impl Setting {
    /// The key of the setting.
    const fn key(&self) -> &'static str {
        match self {
            Self::Weight(_) => "weight",
            Self::Percent(_) => "share",
            Self::Limit(limit, _) => limit.name(),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let (key, value) =
            text.split_once('=').ok_or_else(|| format!("expected KEY=VALUE, not `{text}`"))?;
        let (key, value) = (key.trim(), value.trim());
        if let Some((before, _)) = value.split_once('=') {
            let next = before.split_whitespace().next_back().unwrap_or_default();
            return Err(format!("a comma is missing before `{next}`"));
        }
        let wrong = |allowed: &str| format!("`{key}` is {value}; allowed: {allowed}");
        Ok(match (key, QosKey::named(key)) {
            ("weight", _) => {
                let weight = value.parse().ok().and_then(Weight::new);
                Self::Weight(weight.ok_or_else(|| wrong("a whole number from 1 to 10000"))?)
            }
            ("share", _) => {
                let percent = value.trim_end_matches('%').trim_end().parse().ok();
                let percent = percent.filter(|percent| (0.1..=99.9).contains(percent));
                Self::Percent(percent.ok_or_else(|| wrong("0.1 % to 99.9 %"))?)
            }
            (_, Some(limit)) => {
                Self::Limit(limit, limit.parse(value).ok_or_else(|| wrong(limit.notation().words))?)
            }
            (_, None) => {
                let known = ["weight", "share"].into_iter().chain(QosKey::ALL.map(QosKey::name));
                return Err(unknown("wish", key, &known.collect::<Vec<_>>()));
            }
        })
    }
}

/// The kinds of wishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A share of the disk.
    Share,
    /// A least rate.
    Floor,
    /// A highest rate.
    Ceiling,
    /// A latency for 99 of 100 I/Os.
    Latency,
    /// A time within which 99 of 100 flushes are answered.
    Fsync,
}

/// One wish for one group.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// Index of the group.
    pub group: usize,
    /// Name of the group.
    pub name: String,
    /// The kind of wish.
    pub kind: Kind,
    /// The wish in words.
    pub text: String,
    /// Whether it is for a share that is given in percent, and not as a weight.
    pub is_percentage: bool,
}

/// The settings and wishes of a load's groups: those of the load itself, with `wants` on top.
///
/// # Errors
/// Returns an error if a group does not exist or the shares exceed the disk.
pub(super) fn wished(
    loaded: &Loaded,
    wants: &[Want],
) -> Result<(Vec<GroupSpec>, Vec<Wish>), String> {
    let mut specs: Vec<GroupSpec> = loaded.groups.iter().map(|label| label.spec).collect();
    // Priorities become weights, because their worth depends on the scheduler and that of a wish
    // must not.
    for spec in specs.iter_mut().filter(|spec| says_share(spec)) {
        spec.share = Weight::new(weight(spec)).map_or(Share::DEFAULT, Share::Weight);
    }
    demand_once(wants)?;
    let mut percents: Vec<Option<f64>> = vec![None; specs.len()];
    let names: Vec<&str> = loaded.groups.iter().map(|label| label.name.as_str()).collect();
    for want in wants {
        let is_it = |at: &usize| names[*at] == want.group || cgroup(loaded, *at) == want.group;
        let at = (0..names.len()).find(is_it);
        let at = at.ok_or_else(|| format!("--want: {}", unknown("group", &want.group, &names)))?;
        for setting in &want.settings {
            match *setting {
                Setting::Percent(percent) => percents[at] = Some(percent),
                setting => apply(&mut specs[at], setting),
            }
        }
    }
    for (name, spec) in names.iter().zip(&specs) {
        let bursts = |want: &Want| want.settings.iter().any(|it| it.key() == QosKey::Burst.name());
        let has_burst = wants.iter().any(|want| want.group == *name && bursts(want));
        let checked = spec.qos.check(has_burst);
        checked.map_err(|why| format!("--want: group `{name}`: {why}"))?;
    }
    let said: Vec<bool> = specs
        .iter()
        .zip(&percents)
        .map(|(spec, part)| part.is_some() || says_share(spec))
        .collect();
    let (numbers, tasks) = (loaded.numbers(), loaded.tasks_by_group());
    let parent = |spec: &GroupSpec| spec.parent.and_then(|id| numbers.place(id));
    let parents: Vec<Option<usize>> = specs.iter().map(parent).collect();
    let has_tasks: Vec<bool> = tasks.iter().map(|tasks| !tasks.is_empty()).collect();
    share_percents(&mut specs, &mut percents, &names, (&parents, &has_tasks))?;
    let members = numbers.members(&loaded.groups);
    let wishes = (0..specs.len())
        .filter(|at| members[*at].iter().any(|member| !tasks[*member].is_empty()))
        .flat_map(|at| wishes_of(at, names[at], &specs[at], said[at].then_some(percents[at])))
        .collect();
    Ok((specs, wishes))
}

/// Returns an error if two wishes of one kind contradict each other.
fn demand_once(wants: &[Want]) -> Result<(), String> {
    // A weight is another way to wish for a share.
    let kind = |key| if key == "weight" { "share" } else { key };
    let mut known: Vec<(&str, &str)> = Vec::new();
    for want in wants {
        for key in want.settings.iter().map(Setting::key) {
            let group = &want.group;
            let earlier = known.iter().find(|(of, one)| of == group && kind(one) == kind(key));
            match earlier {
                None => known.push((group, key)),
                Some((_, one)) if *one == key => {
                    return Err(format!(
                        "--want: group `{group}` has `{key}` twice; drop one of them"
                    ));
                }
                Some(_) => {
                    return Err(format!(
                        "--want: group `{group}` has both `share` and `weight`, which are about \
                         the same; drop one of them"
                    ));
                }
            }
        }
    }
    Ok(())
}

fn apply(spec: &mut GroupSpec, setting: Setting) {
    match setting {
        Setting::Weight(weight) => spec.share = Share::Weight(weight),
        Setting::Percent(_) => {}
        Setting::Limit(limit, value) => limit.set(&mut spec.qos, Some(value)),
    }
}

/// The weight of a group.
pub(super) fn weight(spec: &GroupSpec) -> u32 {
    spec.share.weight(WeightMap::LinearHigh0).get()
}

/// The smallest weight that a share in percent is converted to; smaller ones are too coarse.
const LEAST_WEIGHT: f64 = 10.0;

/// Whether a group asks for a share explicitly.
fn says_share(spec: &GroupSpec) -> bool {
    spec.share != Share::DEFAULT
}

/// A group, or the disk, with the groups inside it.
struct Level<'a> {
    /// The name of the group; `None` for the disk.
    outer: Option<&'a str>,
    /// Its part of the disk, in percent.
    whole: f64,
    /// Whether it has tasks of its own, which count as one more group of the default weight.
    has_tasks: bool,
    /// The groups directly inside it.
    members: Vec<usize>,
}

/// Converts shares in percent of the disk to weights, from the outermost groups to the innermost
/// ones. Groups without one share the rest in their previous proportions.
fn share_percents(
    specs: &mut [GroupSpec],
    percents: &mut [Option<f64>],
    names: &[&str],
    (parents, has_tasks): (&[Option<usize>], &[bool]),
) -> Result<(), String> {
    if percents.iter().all(Option::is_none) {
        return Ok(());
    }
    let inside = |outer: Option<usize>| -> Vec<usize> {
        (0..parents.len()).filter(|at| parents[*at] == outer).collect()
    };
    let disk = Level { outer: None, whole: 100.0, has_tasks: false, members: inside(None) };
    let mut left = vec![disk];
    while let Some(level) = left.pop() {
        level.divide(specs, percents, names)?;
        left.extend(level.members.into_iter().filter_map(|at| {
            let (outer, members) = (Some(names[at]), inside(Some(at)));
            let whole = percents[at]?;
            (!members.is_empty()).then(|| Level { outer, whole, has_tasks: has_tasks[at], members })
        }));
    }
    Ok(())
}

impl Level<'_> {
    /// Gives every member its percentage, and weights of these proportions if any was wished.
    fn divide(
        &self,
        specs: &mut [GroupSpec],
        percents: &mut [Option<f64>],
        names: &[&str],
    ) -> Result<(), String> {
        let Self { whole, ref members, .. } = *self;
        let own = if self.has_tasks { f64::from(weight(&GroupSpec::default())) } else { 0.0 };
        let wished: Vec<f64> = members.iter().filter_map(|at| percents[*at]).collect();
        let others: Vec<usize> =
            members.iter().copied().filter(|at| percents[*at].is_none()).collect();
        let before = others.iter().map(|at| f64::from(weight(&specs[*at]))).sum::<f64>() + own;
        let room = whole - wished.iter().sum::<f64>();
        if room < 0.0 || (room <= 0.0 && before > 0.0) {
            return Err(self.too_much(whole - room));
        }
        if let ([at], false, false) = (&members[..], self.has_tasks, wished.is_empty()) {
            let (name, all) = (names[*at], self.outer.map_or("the disk", |outer| outer));
            return Err(format!(
                "--want: group `{name}` is the only one, so it has all of {all}; put tasks in \
                 other groups, or wish something else"
            ));
        }
        for at in others {
            percents[at] = Some(room * f64::from(weight(&specs[at])) / before);
        }
        if wished.is_empty() {
            return Ok(());
        }
        let part = |at: usize| 100.0 * percents[at].unwrap_or_default() / whole;
        let least = members.iter().map(|at| part(*at)).fold(f64::INFINITY, f64::min);
        // Weights near 100, the default, unless the smallest share would be too coarse there. Those
        // beside tasks of the group itself are measured by the weight of these.
        let near = (members.len() as f64).max(LEAST_WEIGHT / least);
        let scale = if self.has_tasks { before * whole / (100.0 * room) } else { near };
        for at in members {
            let scaled = (part(*at) * scale).round().clamp(1.0, f64::from(Weight::MAX)) as u32;
            specs[*at].share = Weight::new(scaled).map_or(Share::DEFAULT, Share::Weight);
        }
        Ok(())
    }

    fn too_much(&self, sum: f64) -> String {
        let whole = self.whole;
        match self.outer {
            None => format!("--want: shares add up to {sum} %; leave something for the others"),
            Some(outer) => format!(
                "--want: shares inside `{outer}`, which has {whole:.1} % of the disk, add up to \
                 {sum} %; leave something for the others there"
            ),
        }
    }
}

/// The wishes of a group. `share` is set if one of them is for a share, with the percentage if
/// given.
fn wishes_of(at: usize, name: &str, spec: &GroupSpec, share: Option<Option<f64>>) -> Vec<Wish> {
    let Qos { floor, ceiling, latency_p99, fsync_p99, .. } = spec.qos;
    let is_percentage = share.flatten().is_some();
    let share = share.map(|percent| match percent {
        Some(percent) => format!("{percent:.1} % of the disk"),
        None => format!("weight {}", weight(spec)),
    });
    let least = (!floor.is_none()).then(|| format!("at least {}", rates(&floor)));
    let most = (!ceiling.is_none()).then(|| format!("at most {}", rates(&ceiling)));
    let within = |span: Span| format!("p99 within {} ms", span.as_ns() as f64 / 1e6);
    let wishes = [
        (Kind::Share, share),
        (Kind::Floor, least),
        (Kind::Ceiling, most),
        (Kind::Latency, latency_p99.map(within)),
        (Kind::Fsync, fsync_p99.map(|span| format!("fsync {}", within(span)))),
    ];
    wishes
        .into_iter()
        .filter_map(|(kind, text)| Some((kind, text?)))
        .map(|(kind, text)| {
            let is_percentage = is_percentage && kind == Kind::Share;
            Wish { group: at, name: name.to_owned(), kind, text, is_percentage }
        })
        .collect()
}

/// Rates in words.
fn rates(rates: &Rates) -> String {
    let ios = rates.iops.map(|rate| format!("{rate} I/Os/s"));
    let bytes = rates.bytes_per_s.map(|rate| bytes_a_second(rate.get()));
    let all: Vec<String> = ios.into_iter().chain(bytes).collect();
    all.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_read() {
        let text = "database: share=70 %, min_iops=2K,latency_p99_ms=2.5, fsync_p99_ms=10";
        let want = Want::parse(text).unwrap();
        assert_eq!(want.group, "database");
        let expected = [
            Setting::Percent(70.0),
            Setting::Limit(QosKey::MinIops, 2048),
            Setting::Limit(QosKey::LatencyP99, 2_500_000),
            Setting::Limit(QosKey::FsyncP99, 10_000_000),
        ];
        assert_eq!(want.settings, expected);
    }

    /// The weights of groups by these parents and percentages, if the groups in `busy` have tasks
    /// of their own.
    fn weights(
        parents: &[Option<usize>],
        percents: &[Option<f64>],
        busy: &[usize],
    ) -> Result<Vec<u32>, String> {
        let mut specs = vec![GroupSpec::default(); parents.len()];
        let names = &["a", "b", "c", "d"][..parents.len()];
        let has_tasks: Vec<bool> = (0..parents.len()).map(|at| busy.contains(&at)).collect();
        let mut percents = percents.to_vec();
        share_percents(&mut specs, &mut percents, names, (parents, &has_tasks))?;
        Ok(specs.iter().map(weight).collect())
    }

    #[test]
    fn a_share_inside_a_group_is_a_part_of_what_that_has() {
        let inside = [None, None, Some(0), Some(0)];
        let half = [Some(60.0), None, Some(30.0), None];
        assert_eq!(weights(&inside, &half, &[]), Ok(vec![120, 80, 100, 100]));
        // The outer group has its own tasks, which count as 100: they and `d` have 15 % each.
        assert_eq!(weights(&inside, &half, &[0]), Ok(vec![120, 80, 200, 100]));
        // Of the default weight the outer group has 50 %.
        let inner = [None, None, Some(10.0), None];
        assert_eq!(weights(&inside, &inner, &[]), Ok(vec![100, 100, 40, 160]));
        let error = weights(&inside, &[None, None, Some(60.0), None], &[]).unwrap_err();
        assert!(
            error.contains("inside `a`, which has 50.0 % of the disk, add up to 60 %"),
            "{error}"
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, word) in [
            ("database", "expected GROUP: KEY=VALUE"),
            ("database: min_iops=80 max_iops=20", "a comma is missing before `max_iops`"),
            ("database: fast", "expected KEY=VALUE, not `fast`"),
            ("database: min_iop=3", "did you mean `min_iops`?"),
            ("database: min_iops=0", "`min_iops` is 0"),
            ("database: weight=0", "allowed: a whole number from 1 to 10000"),
            ("database: weight=1.5", "`weight` is 1.5; allowed: a whole number"),
            ("database: share=100", "0.1 % to 99.9 %"),
            ("database: max_bps=20000000000G", "allowed: a number"),
        ] {
            let error = Want::parse(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
