//! Why a change is refused.

use crate::request::GroupId;
use crate::time::Span;
use core::fmt;

/// Why an elevator does not do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A floor that could not be kept.
    Floor {
        /// The group that asks for it.
        group: GroupId,
        /// How much of a second of the device it takes.
        takes: Span,
        /// How much of a second is left beside the floors of others.
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
