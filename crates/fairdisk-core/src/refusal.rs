//! Why a change is refused.

use crate::request::GroupId;
use crate::time::Span;
use core::fmt;

/// Why a change is refused: a floor by the elevator, the others by the engine.
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
    /// The group would be nested in itself.
    Circle {
        /// The group.
        group: GroupId,
    },
    /// The change is about a group that has not been added, or has been removed.
    Unknown {
        /// The group.
        group: GroupId,
    },
}

impl Refusal {
    /// The group that the change is about.
    #[must_use]
    pub const fn group(&self) -> GroupId {
        match *self {
            Self::Floor { group, .. } | Self::Circle { group } | Self::Unknown { group } => group,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Floor { takes, left, .. } => {
                let [takes, left] = [takes, left].map(|span| Rounded(*span));
                write!(
                    f,
                    "its floor takes {takes} of each second of the disk, and {left} are left \
                     beside the floors of others"
                )
            }
            Self::Circle { group } => write!(f, "group {} would lie in itself", group.0),
            Self::Unknown { group } => write!(f, "there is no group {}", group.0),
        }
    }
}

/// A time in whole ms, or in whole s if that says enough.
struct Rounded(Span);

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_ms() {
            ms if ms < 10_000 => write!(f, "{ms} ms"),
            ms => write!(f, "{} s", ms / 1000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_refused_with_what_it_takes_and_what_is_left() {
        let (takes, left) = (Span::from_ms(8_027_306), Span::from_ms(500));
        let refusal = Refusal::Floor { group: GroupId(3), takes, left };
        let text = std::string::ToString::to_string(&refusal);
        assert!(text.contains("takes 8027 s") && text.contains("500 ms are left"), "{text}");
    }
}
