//! Checks of groups.

use super::check_names;
use crate::catalog::allowed::{Wrong, demand, demand_in};
use crate::catalog::error::unknown;
use crate::catalog::experiment::Group;
use fairdisk_core::{Contradiction, Notation, QosKey, Weight};
use std::collections::BTreeMap;

/// Checks the groups at `path`.
pub(super) fn check_groups(path: &str, groups: &[Group]) -> Result<(), Wrong> {
    check_names("group", groups.iter().map(|group| &group.name), |at| format!("{path}.{at}.name"))?;
    for (at, group) in groups.iter().enumerate() {
        let key = |key: &str| format!("{path}.{at}.{key}");
        check_together(group)
            .map_err(|it| (key(it.key()), format!("group `{}`: {it}", group.name).into()))?;
        demand_in(0..=7, &key("priority"), group.priority, "0 (high) to 7 (low)")?;
        let weight = group.weight.unwrap_or(1);
        demand(Weight::new(weight).is_some(), &key("weight"), weight, "1 to 10000")?;
        let blkio = group.blkio_weight;
        let step = Weight::BLKIO_SCALE;
        let fits = blkio.is_none_or(|it| (100..=1000).contains(&it) && it.is_multiple_of(step));
        let allowed = format!("100 to 1000, in steps of {step}");
        demand(fits, &key("blkio_weight"), blkio.unwrap_or_default(), allowed)?;
        if blkio.is_some() && (group.weight.is_some() || group.priority.is_some()) {
            let text = format!(
                "group `{}` has a `weight` or `priority` too; drop one of them",
                group.name
            );
            return Err((key("blkio_weight"), text.into()));
        }
        demand_in(0..=7, &key("ionice"), group.ionice, "0 (high) to 7 (low)")?;
        check_qos(&key, group)?;
    }
    check_parents(path, groups)
}

/// The deepest nesting; deeper is a mistake.
const DEPTH_MAX: usize = 100;

/// Checks that every parent is in the list and that no group is its own ancestor.
fn check_parents(path: &str, groups: &[Group]) -> Result<(), Wrong> {
    let places: BTreeMap<&str, usize> =
        groups.iter().enumerate().map(|(at, group)| (group.name.as_str(), at)).collect();
    // The depth of each group, where it is known.
    let mut depths: Vec<Option<usize>> = vec![None; groups.len()];
    for at in 0..groups.len() {
        let path = format!("{path}.{at}.parent");
        let mut chain = vec![at];
        let mut inner = at;
        while let (None, Some(parent)) = (depths[inner], &groups[inner].parent) {
            let Some(outer) = places.get(parent.as_str()) else {
                let names: Vec<&str> = groups.iter().map(|one| one.name.as_str()).collect();
                return Err((path, unknown("group", parent, &names).into()));
            };
            if chain.contains(outer) {
                let text = format!("group `{}` would lie in itself", groups[at].name);
                return Err((path, text.into()));
            }
            inner = *outer;
            chain.push(inner);
            let depth = chain.len() - 1 + depths[inner].unwrap_or(0);
            if depth > DEPTH_MAX {
                let name = &groups[at].name;
                let message = format!("group `{name}` lies in more than {DEPTH_MAX} groups");
                return Err((path, message.into()));
            }
        }
        let outermost = depths[inner].unwrap_or(0);
        for (above, member) in chain.iter().rev().enumerate() {
            depths[*member] = Some(outermost + above);
        }
    }
    Ok(())
}

/// Checks that the settings of a group do not contradict each other.
fn check_together(group: &Group) -> Result<(), Contradiction> {
    if group.priority.is_some() && group.weight.is_some() {
        return Err(Contradiction::Shares { priority: "priority" });
    }
    group.qos().check(group.burst_ms.is_some())
}

fn check_qos(key: &impl Fn(&str) -> String, group: &Group) -> Result<(), Wrong> {
    let burst = group.burst_ms.map(f64::from);
    let times = [
        (QosKey::Burst, burst),
        (QosKey::BurstFor, group.burst_for.map(f64::from)),
        (QosKey::LatencyP99, group.latency_p99_ms),
        (QosKey::FsyncP99, group.fsync_p99_ms),
    ];
    times.into_iter().try_for_each(|(time, ms)| {
        let Notation { unit, range, words } = time.notation();
        let [least, most] = range.map(|bound| bound as f64 / unit as f64);
        demand_in(least..=most, &key(time.name()), ms, words)
    })
}
