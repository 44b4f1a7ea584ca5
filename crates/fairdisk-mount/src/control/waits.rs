//! Why groups wait, in few words.

use fairdisk_core::Why;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reason for which a group waited in the last second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitEntry {
    /// The thing that it waited for, as `its turn` or `ceiling`.
    pub why: String,
    /// In which part of the second, from 0 to 1.
    pub part: f64,
}

impl From<&(Option<Why>, f64)> for WaitEntry {
    fn from((why, part): &(Option<Why>, f64)) -> Self {
        Self { why: why.map_or("its turn", thing).to_owned(), part: *part }
    }
}

/// The thing that a group waits for whose requests are not dispatched for this reason.
const fn thing(why: Why) -> &'static str {
    match why {
        Why::AtCeiling => "ceiling",
        Why::BudgetUsed => "budget",
        Why::LatencyMissed | Why::TargetRoomUsed => "target of another",
        Why::FloorRoomUsed => "floor of another",
        Why::DepthLimited => "share of another",
        Why::BacklogLimited => "fsync of another",
        Why::IdleWait | Why::GroupIdleWait | Why::HeldForThinker | Why::GroupSliceKept => {
            "return of another"
        }
        Why::Gathering => "more requests",
        Why::DeviceBusy
        | Why::OneAtATime
        | Why::QuantumUsed
        | Why::OwnRequestInFlight
        | Why::OthersInFlight
        | Why::SyncInFlight
        | Why::AsyncInFlight => "completion",
        _ => "its turn",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever spares the device is more than a place in line.
    #[test]
    fn reasons_to_give_the_device_nothing_have_words_of_their_own() {
        for why in Why::ALL.into_iter().filter(|why| why.spares_device()) {
            assert_ne!(thing(why), "its turn", "{why:?}");
        }
        let turn = WaitEntry::from(&(None, 0.5));
        assert_eq!((&*turn.why, turn.part), ("its turn", 0.5));
    }
}
