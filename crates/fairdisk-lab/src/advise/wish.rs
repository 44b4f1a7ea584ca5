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
    share_percents(&mut specs, &mut percents, &names)?;
    let members = loaded.numbers().members(&loaded.groups);
    let tasks = loaded.tasks_by_group();
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

/// Converts shares in percent to weights. Groups without one share the rest in their previous
/// proportions.
fn share_percents(
    specs: &mut [GroupSpec],
    percents: &mut [Option<f64>],
    names: &[&str],
) -> Result<(), String> {
    if percents.iter().all(Option::is_none) {
        return Ok(());
    }
    let inner = specs
        .iter()
        .zip(percents.iter())
        .position(|(spec, part)| spec.parent.is_some() && part.is_some());
    if let Some(at) = inner {
        let name = names[at];
        return Err(format!("--want: group `{name}` lies in another one; give it a weight there"));
    }
    let sum: f64 = percents.iter().flatten().sum();
    let outer: Vec<usize> = (0..specs.len()).filter(|at| specs[*at].parent.is_none()).collect();
    let others = || outer.iter().copied().filter(|at| percents[*at].is_none());
    let room = 100.0 - sum;
    if room < 0.0 || (room <= 0.0 && others().count() > 0) {
        return Err(format!("--want: shares add up to {sum} %; leave something for the others"));
    }
    if outer.len() == 1 {
        let name = names[outer[0]];
        return Err(format!(
            "--want: group `{name}` is the only one, so it has all of the disk; put tasks in other \
             groups, or wish something else"
        ));
    }
    let before: f64 = others().map(|at| f64::from(weight(&specs[at]))).sum();
    for at in others().collect::<Vec<_>>() {
        percents[at] = Some(room * f64::from(weight(&specs[at])) / before);
    }
    let least = outer.iter().filter_map(|at| percents[*at]).fold(f64::INFINITY, f64::min);
    // Weights near 100, the default, unless the smallest share would be too coarse there.
    let scale = (outer.len() as f64).max(LEAST_WEIGHT / least);
    for at in outer {
        let scaled = percents[at].unwrap_or_default() * scale;
        let scaled = scaled.round().clamp(1.0, f64::from(Weight::MAX)) as u32;
        specs[at].share = Weight::new(scaled).map_or(Share::DEFAULT, Share::Weight);
    }
    Ok(())
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
