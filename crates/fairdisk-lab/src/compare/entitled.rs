//! What groups are entitled to: their weights shared out over the hierarchy, within what each can
//! use, is promised, and may have.

/// One group as far as its part of the disk is concerned. Amounts are work: time of the disk.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    /// Its weight among the groups beside it.
    pub(super) weight: f64,
    /// The group it lies in, by place.
    pub(super) parent: Option<usize>,
    /// What its own tasks can use; `None` if it has no tasks but groups.
    pub(super) demand: Option<f64>,
    /// What it and the groups in it are promised.
    pub(super) floor: f64,
    /// What it and the groups in it may have at most.
    pub(super) ceiling: f64,
}

/// The weight of a group's own tasks among the groups in it.
const OWN_TASKS: f64 = 100.0;

/// Somebody who gets a part: a group with all in it, or the tasks of a group beside its groups.
#[derive(Clone, Copy, Debug)]
struct Part {
    weight: f64,
    least: f64,
    most: f64,
    /// The group, and whether its tasks alone are meant.
    group: usize,
    tasks: bool,
}

/// What the tasks of each group are entitled to of `amount`. What one cannot use or may not have is
/// shared by the others in proportion to their weights; what one is promised comes first.
pub(super) fn entitlements(claims: &[Claim], amount: f64) -> Vec<f64> {
    let mut out = vec![0.0; claims.len()];
    Tree::new(claims).share_out(None, amount, &mut out);
    out
}

/// Claims, and those of the groups in each group.
struct Tree<'a> {
    claims: &'a [Claim],
    /// By place; in the end those in no other.
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

    /// Among whom what `parent` gets is shared out.
    fn parts(&self, parent: Option<usize>) -> Vec<Part> {
        let inner = &self.inner[parent.unwrap_or(self.claims.len())];
        let mut parts: Vec<Part> = inner
            .iter()
            .map(|&group| {
                let (least, most) = self.bounds(group);
                Part { weight: self.claims[group].weight, least, most, group, tasks: false }
            })
            .collect();
        if let Some(group) = parent
            && let Some(most) = self.claims[group].demand
        {
            parts.push(Part { weight: OWN_TASKS, least: 0.0, most, group, tasks: true });
        }
        parts
    }

    /// What a group and those in it get at least and at most.
    fn bounds(&self, group: usize) -> (f64, f64) {
        let (parts, claim) = (self.parts(Some(group)), &self.claims[group]);
        let sum = |of: fn(&Part) -> f64| parts.iter().map(of).sum::<f64>();
        let most = sum(|part| part.most).min(claim.ceiling);
        (sum(|part| part.least).max(claim.floor).min(most), most)
    }
}

/// Halvings of the level's range: more than a number has digits.
const HALVINGS: u32 = 200;

/// What each part gets of `amount`: a level times its weight, within its bounds.
fn fill(parts: &[Part], amount: f64) -> Vec<f64> {
    let sum = |of: fn(&Part) -> f64| parts.iter().map(of).sum::<f64>();
    let least = sum(|part| part.least);
    if amount <= least && least > 0.0 {
        return parts.iter().map(|part| part.least * amount / least).collect();
    }
    if amount >= sum(|part| part.most) {
        return parts.iter().map(|part| part.most).collect();
    }
    let at = |level: f64| {
        parts.iter().map(move |part| (level * part.weight).clamp(part.least, part.most))
    };
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
        // Nobody can use more: the rest is nobody's.
        demand(&[idle.clone(), idle], &[0.1, 0.1]);
    }

    #[test]
    fn ceilings_cap_and_floors_lift() {
        let capped = Claim { ceiling: 0.2, ..claim(800.0) };
        demand(&[capped, claim(100.0)], &[0.2, 0.8]);
        let lifted = Claim { floor: 0.4, ..claim(100.0) };
        demand(&[lifted.clone(), claim(800.0), claim(100.0)], &[0.4, 8.0 / 15.0, 1.0 / 15.0]);
        // A floor is of no use to whom it is too much, and floors beyond the disk are cut alike.
        demand(&[Claim { demand: Some(0.1), ..lifted }, claim(100.0)], &[0.1, 0.9]);
        let greedy = Claim { floor: 1.5, ..claim(1.0) };
        demand(&[greedy.clone(), Claim { floor: 0.5, ..greedy }], &[0.75, 0.25]);
    }

    #[test]
    fn groups_share_what_the_group_gets_in_which_they_lie() {
        let outer = Claim { demand: None, ..claim(300.0) };
        let inner = |weight: f64| Claim { parent: Some(0), ..claim(weight) };
        demand(&[outer.clone(), inner(100.0), inner(200.0), claim(100.0)], &[0.0, 0.25, 0.5, 0.25]);
        // Its own tasks have weight 100 beside its groups.
        let with_tasks = claim(300.0);
        demand(&[with_tasks, inner(200.0), claim(100.0)], &[0.25, 0.5, 0.25]);
        // An inner floor lifts the outer group, and an outer ceiling caps the inner one.
        let lifted = Claim { floor: 0.9, ..inner(1.0) };
        demand(&[outer.clone(), lifted, claim(100.0)], &[0.0, 0.9, 0.1]);
        let capped = Claim { ceiling: 0.3, ..outer };
        demand(&[capped, inner(1.0), claim(100.0)], &[0.0, 0.3, 0.7]);
    }

    /// It takes no time to speak of; looking all of them through for each would take minutes.
    #[test]
    fn so_many_groups_are_shared_out_at_once() {
        let many = 200_000;
        let got = entitlements(&vec![claim(100.0); many], many as f64);
        assert!(got.iter().all(|got| (got - 1.0).abs() < 1e-6));
    }
}
