//! Why an elevator refuses a change.

use crate::request::GroupId;
use crate::time::Span;
use core::fmt;

/// Why an elevator refuses a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The floor asked for could not be kept.
    Floor {
        /// The group that asks for the floor.
        group: GroupId,
        /// Device time that the floor takes out of each second.
        takes: Span,
        /// Device time left in each second beside the floors of other groups.
        left: Span,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Floor { takes, left, .. } => write!(
                f,
                "its floor takes {takes} of each second of the disk, and {left} are left beside \
                 the floors of others"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_refused_with_what_it_takes_and_what_is_left() {
        let (takes, left) = (Span::from_ms(800), Span::from_ms(500));
        let refusal = Refusal::Floor { group: GroupId(3), takes, left };
        let text = std::string::ToString::to_string(&refusal);
        assert!(text.contains("800.000ms") && text.contains("500.000ms"), "{text}");
    }
}
