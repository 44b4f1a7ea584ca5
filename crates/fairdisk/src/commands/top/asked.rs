//! What groups ask for: their parts of the disk by the weights of those that use it.
//!
//! A group's weight counts among the groups that lie where it lies, and what lies in it shares its
//! part. The own tasks of a group in which others lie count there like one of weight 100.

use fairdisk_mount::control::Status;
use fairdisk_sched::{Nesting, SchedulerSpec};
use std::collections::BTreeMap;

/// What the own tasks of a group weigh among the groups inside it.
const OWN: f64 = 100.0;

/// Groups by where they lie.
struct Tree<'a> {
    weights: &'a [u32],
    uses: &'a [bool],
    /// The groups inside each, and at the end those that lie in no other.
    inside: Vec<Vec<usize>>,
}

/// The part of each group of `status`, of the whole disk, if those use it that `uses` says.
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

/// The group each lies in, as far as the scheduler looks at that.
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
    /// Whether the group or one that lies in it uses the disk.
    fn counts(&self, group: usize) -> bool {
        self.uses[group] || self.inside[group].iter().any(|inner| self.counts(*inner))
    }

    /// Gives `part` to those who lie in one place.
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
