//! The choice between two requests: which of them to serve next (spec: cfq, section 2.6).

use super::params::Tunables;
use super::requests::Rq;
use fairdisk_core::Lba;

/// The properties of a request on which the choice depends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) start: Lba,
    pub(crate) sync: bool,
    pub(crate) meta: bool,
}

impl From<&Rq> for Candidate {
    fn from(rq: &Rq) -> Self {
        Self { start: rq.start, sync: rq.sync, meta: rq.meta() }
    }
}

/// Whether `first` is the better choice when the head is at `last`.
pub(crate) fn is_better(
    first: &Candidate,
    second: &Candidate,
    last: Lba,
    tunables: &Tunables,
) -> bool {
    if first.sync != second.sync {
        return first.sync;
    }
    if first.meta != second.meta {
        return first.meta;
    }
    match (cost(first.start, last, tunables), cost(second.start, last, tunables)) {
        (Some(one), Some(two)) if one == two => first.start >= second.start,
        (Some(one), Some(two)) => one < two,
        (Some(_), None) => true,
        (None, Some(_)) => false,
        (None, None) => first.start <= second.start,
    }
}

/// The distance from `last`, or `None` if `start` lies so far back that the head has to wrap
/// around.
fn cost(start: Lba, last: Lba, tunables: &Tunables) -> Option<u64> {
    if start >= last {
        return Some(start.distance(last));
    }
    let back = start.distance(last);
    (back <= tunables.back_max_sectors).then(|| back * tunables.back_penalty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cfq::params::CfqParams;

    fn better(first: u64, second: u64, last: u64) -> u64 {
        let at = |start| Candidate { start: Lba(start), sync: true, meta: false };
        let tunables = Tunables::new(&CfqParams::default());
        if is_better(&at(first), &at(second), Lba(last), &tunables) { first } else { second }
    }

    /// Spec: cfq, section 8, with back_max 32768 sectors and penalty 2.
    #[test]
    fn golden_choices() {
        assert_eq!(better(10_400, 9_800, 10_000), 10_400);
        assert_eq!(better(10_400, 9_801, 10_000), 9_801);
        assert_eq!(better(60_000, 70_000, 100_000), 70_000);
        assert_eq!(better(60_000, 50_000, 100_000), 50_000);
    }
}
