//! Distribution of changes over several schedulers.

use super::error::CatalogError;
use super::overrides::Override;
use super::revision::load as load_revision;

/// The overrides that each scheduler can take. An override that a scheduler has no key for is meant
/// for others; if none has the key, that is an error. `taken` holds what each has already.
pub(crate) fn for_each_scheduler(
    schedulers: &[&str],
    mut taken: Vec<Vec<Override>>,
    overrides: &[Override],
) -> Result<Vec<Vec<Override>>, CatalogError> {
    let mut refusals: Vec<Option<CatalogError>> = vec![None; overrides.len()];
    let mut used = vec![false; overrides.len()];
    for (scheduler, taken) in schedulers.iter().zip(&mut taken) {
        let refused = take(scheduler, taken, overrides);
        for (at, refusal) in refused.into_iter().enumerate() {
            used[at] |= refusal.is_none();
            let earlier = refusals[at].take();
            refusals[at] = earlier.into_iter().chain(refusal).max_by_key(CatalogError::nearness);
        }
    }
    let mut unused = refusals.into_iter().zip(used).filter(|(_, used)| !used);
    unused.find_map(|(refusal, _)| refusal).map_or(Ok(taken), Err)
}

/// Adds to `taken` those changes that the scheduler can have, and returns why it cannot have the
/// others. Values that constrain each other, such as a minimum and a maximum, can be changed
/// together in either order.
pub(crate) fn take(
    scheduler: &str,
    taken: &mut Vec<Override>,
    overrides: &[Override],
) -> Vec<Option<CatalogError>> {
    let mut refusals: Vec<Option<CatalogError>> = vec![None; overrides.len()];
    let mut open: Vec<usize> = (0..overrides.len()).collect();
    let own = std::mem::take(taken);
    loop {
        let left = open.len();
        open.retain(|&at| {
            let with: Vec<Override> = own.iter().chain([&overrides[at]]).cloned().collect();
            let all = [with.as_slice(), taken.as_slice()].concat();
            refusals[at] = load_revision(scheduler, &all).err();
            if refusals[at].is_none() {
                taken.push(overrides[at].clone());
            }
            refusals[at].is_some()
        });
        if open.len() == left {
            break;
        }
    }
    let can = overrides.iter().zip(&refusals).filter(|(_, refusal)| refusal.is_none());
    *taken = own.into_iter().chain(can.map(|(change, _)| change.clone())).collect();
    refusals
}
