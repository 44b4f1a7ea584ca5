//! Memory as a wish: how much of it the load needs as it is proposed.

use super::{Advice, Want};
use crate::memory::{AtSize, Need, need, percent};
use crate::run::Progress;
use crate::sweep::Forgetful;
use std::sync::atomic::AtomicBool;

/// A wish as on the command line.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// For a group: `GROUP: KEY=VALUE, KEY=VALUE`.
    OfGroup(Want),
    /// So much memory that the load keeps this part of what it does with plenty, in percent:
    /// `memory=95%`.
    Memory(f64),
}

impl Wanted {
    /// Parses a wish.
    ///
    /// # Errors
    /// Returns what is wrong with the text, and what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((key, value)) if key.trim() == "memory" => percent(value.trim())
                .map(Self::Memory)
                .map_err(|expected| format!("`memory` is {}; {expected}", value.trim())),
            _ => Want::parse(text).map(Self::OfGroup),
        }
    }
}

impl Advice {
    /// With how much memory the wishes of groups were judged, which is not what is found to be
    /// enough.
    pub(super) fn memory_note(&self) -> String {
        format!(
            "The other wishes were tried with {} MiB, and what is said of them holds with that \
             alone.",
            self.host_mib
        )
    }
}

/// Finds out with how much memory the load keeps `want_percent` of its throughput as it is
/// proposed; `None` without a proposal. `plan_at` plans what `advice` is about, for a size of
/// memory.
///
/// # Errors
/// Returns an error if the load cannot be run.
pub fn memory(
    advice: &Advice,
    plan_at: AtSize<'_>,
    want_percent: f64,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Option<Need>, String> {
    let Some(best) = advice.proposed() else { return Ok(None) };
    let as_proposed = |mib: u64| {
        let plan = plan_at(mib)?;
        Ok(plan.configured(&plan.rows[0], plan.arms[best.arm].clone(), &best.groups))
    };
    need(&as_proposed, want_percent, &Forgetful, progress, stop).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_a_wish_for_all_and_the_others_are_for_a_group() {
        assert_eq!(Wanted::parse("memory=95%"), Ok(Wanted::Memory(95.0)));
        assert_eq!(Wanted::parse("memory = 50"), Ok(Wanted::Memory(50.0)));
        let of_group = Want::parse("memory: share=20").map(Wanted::OfGroup);
        assert_eq!(Wanted::parse("memory: share=20"), of_group);
        let error = Wanted::parse("memory=lots").unwrap_err();
        assert_eq!(error, "`memory` is lots; expected 1% to 100%, as in 95%");
    }
}
