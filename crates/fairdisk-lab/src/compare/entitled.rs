//! Entitlements: the weights of groups shared out over the hierarchy, within what each group can
//! use, is promised and may have.

/// The claim of one group to a part of the disk. Amounts are work, that is, time of the disk.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    /// The weight of the group among its siblings.
    pub(super) weight: f64,
    /// Index of the parent group.
    pub(super) parent: Option<usize>,
    /// The most the group's own tasks can use; `None` if it has only nested groups.
    pub(super) demand: Option<f64>,
    /// The floor of the group, including nested groups.
    pub(super) floor: f64,
    /// The ceiling of the group, including nested groups.
    pub(super) ceiling: f64,
}

/// The weight of a group's own tasks among the groups nested in it.
const OWN_TASKS: f64 = 100.0;

/// What floors inside a group leave of its share to those beside them.
const LEFT_BY_FLOORS: f64 = 0.1;

/// A recipient of a part: a group with everything in it, or only the own tasks of a group.
#[derive(Clone, Copy, Debug)]
struct Part {
    weight: f64,
    bounds: Bounds,
    /// The group, and whether only its own tasks are meant.
    group: usize,
    tasks: bool,
}

impl Part {
    /// What it gets where a weight of one is worth `level`.
    fn at(&self, level: f64) -> f64 {
        let (share, Bounds { least, most, floors, beside }) = (level * self.weight, self.bounds);
        share.max(floors + beside.min(LEFT_BY_FLOORS * share)).clamp(least, most)
    }
}

/// The least and the most that a recipient gets.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    least: f64,
    most: f64,
    /// The floors of groups inside.
    floors: f64,
    /// What those without a floor may have beside them by their weights, if the group gets no more
    /// than the floors need.
    beside: f64,
}

/// What the tasks of each group are entitled to out of `amount`. Floors come first. What a group
/// cannot use or may not have is shared by the others in proportion to their weights.
pub(super) fn entitlements(claims: &[Claim], amount: f64) -> Vec<f64> {
    let mut out = vec![0.0; claims.len()];
    Tree::new(claims).share_out(None, amount, &mut out);
    out
}

/// The claims, and the children of each group.
struct Tree<'a> {
    claims: &'a [Claim],
    /// Children by index of the parent; the last entry has the top-level groups.
    inner: Vec<Vec<usize>>,
}

impl<'a> Tree<'a> {
    fn new(claims: &'a [Claim]) -> Self {
        let mut inner = vec![Vec::new(); claims.len() + 1];
        for (at, claim) in claims.iter().enumerate() {
            inner[claim.parent.unwrap_or(claims.len())].push(at);
        }
        Self { claims, inner }
    }

    fn share_out(&self, parent: Option<usize>, amount: f64, out: &mut [f64]) {
        let parts = self.parts(parent);
        for (part, amount) in parts.iter().zip(fill(&parts, amount)) {
            if part.tasks {
                out[part.group] = amount;
            } else {
                self.share_out(Some(part.group), amount, out);
            }
        }
    }

    /// The recipients of what `parent` gets.
    fn parts(&self, parent: Option<usize>) -> Vec<Part> {
        let inner = &self.inner[parent.unwrap_or(self.claims.len())];
        let mut parts: Vec<Part> = inner
            .iter()
            .map(|&group| {
                let (weight, bounds) = (self.claims[group].weight, self.bounds(group));
                Part { weight, bounds, group, tasks: false }
            })
            .collect();
        if let Some(group) = parent
            && let Some(most) = self.claims[group].demand
        {
            let bounds = Bounds { least: 0.0, most, floors: 0.0, beside: 0.0 };
            parts.push(Part { weight: OWN_TASKS, bounds, group, tasks: true });
        }
        parts
    }

    /// The least and the most that a group, with everything in it, gets.
    fn bounds(&self, group: usize) -> Bounds {
        let (parts, claim) = (self.parts(Some(group)), &self.claims[group]);
        let most = parts.iter().map(|part| part.bounds.most).sum::<f64>().min(claim.ceiling);
        let floors = parts.iter().map(|part| part.bounds.least).sum::<f64>().min(most);
        let is_lifted = |part: &&Part| part.bounds.least > 0.0;
        let level = parts.iter().filter(is_lifted).map(|part| part.bounds.least / part.weight);
        let level = level.fold(f64::INFINITY, f64::min);
        let beside = parts.iter().map(|part| match is_lifted(&part) {
            true => part.bounds.beside,
            false => part.bounds.most.min(level * part.weight),
        });
        let beside = if floors > 0.0 { beside.sum() } else { 0.0 };
        Bounds { least: floors.max(claim.floor).min(most), most, floors, beside }
    }
}

/// Halvings of the level's range: more than the digits of a number.
const HALVINGS: u32 = 200;

/// The part of `amount` for each recipient: a common level times its weight, within its bounds.
fn fill(parts: &[Part], amount: f64) -> Vec<f64> {
    let sum = |of: fn(&Part) -> f64| parts.iter().map(of).sum::<f64>();
    let least = sum(|part| part.bounds.least);
    if amount <= least && least > 0.0 {
        return parts.iter().map(|part| part.bounds.least * amount / least).collect();
    }
    if amount >= sum(|part| part.bounds.most) {
        return parts.iter().map(|part| part.bounds.most).collect();
    }
    let at = |level: f64| parts.iter().map(move |part| part.at(level));
    let lightest = parts.iter().map(|part| part.weight).fold(f64::INFINITY, f64::min);
    let (mut low, mut high) = (0.0, amount / lightest);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if at(middle).sum::<f64>() < amount { low = middle } else { high = middle }
    }
    at(high).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(weight: f64) -> Claim {
        let (demand, ceiling) = (Some(f64::INFINITY), f64::INFINITY);
        Claim { weight, parent: None, demand, floor: 0.0, ceiling }
    }

    fn demand(claims: &[Claim], expected: &[f64]) {
        let got = entitlements(claims, 1.0);
        let same = got.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-9);
        assert!(same && got.len() == expected.len(), "{got:?}, expected {expected:?}");
    }

    #[test]
    fn who_can_use_all_of_the_disk_gets_what_its_weight_is_worth() {
        demand(&[claim(100.0), claim(800.0)], &[1.0 / 9.0, 8.0 / 9.0]);
        demand(&[claim(3.0)], &[1.0]);
        demand(&[], &[]);
    }

    #[test]
    fn what_one_cannot_use_the_others_share_by_weight() {
        let idle = Claim { demand: Some(0.1), ..claim(700.0) };
        demand(&[idle.clone(), claim(100.0), claim(200.0)], &[0.1, 0.3, 0.6]);
        // If no group can use more, the rest is left over.
        demand(&[idle.clone(), idle], &[0.1, 0.1]);
    }

    #[test]
    fn ceilings_cap_and_floors_lift() {
        let capped = Claim { ceiling: 0.2, ..claim(800.0) };
        demand(&[capped, claim(100.0)], &[0.2, 0.8]);
        let lifted = Claim { floor: 0.4, ..claim(100.0) };
        demand(&[lifted.clone(), claim(800.0), claim(100.0)], &[0.4, 8.0 / 15.0, 1.0 / 15.0]);
        // A floor above what a group can use has no effect, and floors that exceed the disk are all
        // reduced.
        demand(&[Claim { demand: Some(0.1), ..lifted }, claim(100.0)], &[0.1, 0.9]);
        let greedy = Claim { floor: 1.5, ..claim(1.0) };
        demand(&[greedy.clone(), Claim { floor: 0.5, ..greedy }], &[0.75, 0.25]);
    }

    #[test]
    fn groups_share_what_the_group_gets_in_which_they_lie() {
        let outer = Claim { demand: None, ..claim(300.0) };
        let inner = |weight: f64| Claim { parent: Some(0), ..claim(weight) };
        demand(&[outer.clone(), inner(100.0), inner(200.0), claim(100.0)], &[0.0, 0.25, 0.5, 0.25]);
        // The group's own tasks have weight 100 beside its nested groups.
        let with_tasks = claim(300.0);
        demand(&[with_tasks, inner(200.0), claim(100.0)], &[0.25, 0.5, 0.25]);
        // An inner floor raises the outer group, and an outer ceiling limits the inner one.
        let lifted = Claim { floor: 0.9, ..inner(1.0) };
        demand(&[outer.clone(), lifted, claim(100.0)], &[0.0, 0.9, 0.1]);
        let capped = Claim { ceiling: 0.3, ..outer };
        demand(&[capped, inner(1.0), claim(100.0)], &[0.0, 0.3, 0.7]);
    }

    #[test]
    fn floors_inside_leave_a_tenth_of_the_share_around_them() {
        let outer = |weight: f64| Claim { demand: None, ..claim(weight) };
        let floor = |weight: f64| Claim { floor: 0.24, parent: Some(0), ..claim(weight) };
        let beside = Claim { parent: Some(0), ..claim(100.0) };
        // A weight of one is worth 0.76 / 505.
        let of_one = 0.76 / 505.0;
        let rest = [5.0 * of_one, 500.0 * of_one];
        for weight in [1.0, 100.0] {
            let claims = [outer(50.0), floor(weight), beside.clone(), claim(500.0)];
            demand(&claims, &[0.0, 0.24, rest[0], rest[1]]);
        }
        // The own tasks of the outer group as well.
        demand(&[claim(50.0), floor(100.0), claim(500.0)], &[rest[0], 0.24, rest[1]]);
        // Nobody gets more of it than the weights say, or than can be used.
        let light = Claim { weight: 0.01, ..beside.clone() };
        let lightest = 0.24 * 0.01 / 100.0;
        let claims = [outer(50.0), floor(100.0), light, claim(500.0)];
        demand(&claims, &[0.0, 0.24, lightest, 0.76 - lightest]);
        let idle = Claim { demand: Some(0.002), ..beside.clone() };
        demand(&[outer(50.0), floor(100.0), idle, claim(500.0)], &[0.0, 0.24, 0.002, 0.758]);
        // A share that is enough for the floors pays for them.
        demand(&[outer(500.0), floor(1.0), beside, claim(500.0)], &[0.0, 0.24, 0.26, 0.5]);
    }

    /// Runs in almost no time; scanning all groups for each one would take minutes.
    #[test]
    fn so_many_groups_are_shared_out_at_once() {
        let many = 200_000;
        let got = entitlements(&vec![claim(100.0); many], many as f64);
        assert!(got.iter().all(|got| (got - 1.0).abs() < 1e-6));
    }
}
