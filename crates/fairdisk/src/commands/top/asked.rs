//! The share of the disk that each group asks for, by the weights of the groups that use the disk.
//!
//! A group's weight counts relative to its siblings, and the groups inside it divide its share. The
//! group's own tasks count among those inside like a group of weight 100.

use fairdisk_mount::control::Status;
use fairdisk_sched::{Nesting, SchedulerSpec};
use std::collections::BTreeMap;

/// The weight of a group's own tasks among the groups inside it.
const OWN: f64 = 100.0;

/// The groups as a tree, by their indices in the status.
struct Tree<'a> {
    weights: &'a [u32],
    uses: &'a [bool],
    /// The groups directly inside each group; the last entry has the outermost groups.
    inside: Vec<Vec<usize>>,
}

/// The fraction of the whole disk for each group of `status`, if the groups that `uses` marks use
/// the disk.
pub(super) fn parts(status: &Status, uses: &[bool]) -> Vec<f64> {
    let weights: Vec<u32> = status.groups.iter().map(|group| group.weight).collect();
    let nowhere = weights.len();
    let mut inside = vec![Vec::new(); nowhere + 1];
    for (at, place) in places(status).into_iter().enumerate() {
        inside[place.unwrap_or(nowhere)].push(at);
    }
    let tree = Tree { weights: &weights, uses, inside };
    let mut parts = vec![0.0; nowhere];
    tree.share_out(nowhere, 1.0, &mut parts);
    parts
}

/// The parent of each group, as far as the scheduler supports nested groups.
fn places(status: &Status) -> Vec<Option<usize>> {
    let honours = SchedulerSpec::named(&status.scheduler).map(|spec| spec.honours());
    let numbers: BTreeMap<&str, usize> =
        status.groups.iter().enumerate().map(|(at, group)| (&*group.path, at)).collect();
    let told = status.groups.iter().map(|group| numbers.get(group.parent.as_deref()?).copied());
    let told: Vec<Option<usize>> = told.collect();
    match honours.map(|it| it.nesting) {
        Some(Nesting::Deep) => told,
        Some(Nesting::OneLevel) => told.iter().map(|place| outermost(&told, *place)).collect(),
        Some(Nesting::None) | None => vec![None; told.len()],
    }
}

fn outermost(told: &[Option<usize>], place: Option<usize>) -> Option<usize> {
    std::iter::successors(place, |at| told[*at]).last()
}

impl Tree<'_> {
    /// Whether the group, or any group inside it, uses the disk.
    fn counts(&self, group: usize) -> bool {
        self.uses[group] || self.inside[group].iter().any(|inner| self.counts(*inner))
    }

    /// Divides `part` of the disk among the own tasks of `place` and the groups inside it.
    fn share_out(&self, place: usize, part: f64, parts: &mut [f64]) {
        let inside = self.inside[place].iter().copied().filter(|inner| self.counts(*inner));
        let inside: Vec<(usize, f64)> =
            inside.map(|inner| (inner, f64::from(self.weights[inner]))).collect();
        let own = if self.uses.get(place) == Some(&true) { OWN } else { 0.0 };
        let whole = own + inside.iter().map(|(_, weight)| weight).sum::<f64>();
        if own > 0.0 {
            parts[place] = part * own / whole;
        }
        for (inner, weight) in inside {
            self.share_out(inner, part * weight / whole, parts);
        }
    }
}
