//! Changes that a kernel made to a scheduler, each as a switch that can be on or off, and revisions
//! as sets of them. A family lists its changes with the macro [`switches`]; whoever shows, sets or
//! mixes them needs only the list.

/// Description of a change that can be on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The switch's key in the `[switches]` table of a revision. No two families share one.
    pub name: &'static str,
    /// The change's number in the lists of a specification, or an empty string.
    pub id: &'static str,
    /// The commits that made the change.
    pub commit: &'static str,
    /// The author of the change.
    pub author: &'static str,
    /// The first kernel release with the change.
    pub release: &'static str,
    /// The first revision in the catalogue with the change; `None` if it was reverted before that.
    pub revision: Option<&'static str>,
    /// One line on what the change does.
    pub summary: &'static str,
    /// The switches without which this one does nothing.
    pub needs: &'static [&'static str],
}

/// Defines `Switches`, `SWITCHES` and `REVISIONS` of a family: the revision without any change, the
/// later ones in order, and by revision what each change is.
macro_rules! switches {
    (
        $first:literal then $($later:literal),*;
        $($revision:expr => { $(
            $field:ident $id:literal $commit:literal $author:literal $release:literal
            [$($need:ident),*] $summary:literal;
        )* })*
    ) => {
        /// Which of the changes are on.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Switches {
            $($(#[doc = $summary] pub $field: bool,)*)*
        }

        /// Every change, by revision and, within one, in the order in which they were made.
        pub const SWITCHES: &[Switch] = &[$($(Switch {
            name: stringify!($field),
            id: $id,
            commit: $commit,
            author: $author,
            release: $release,
            revision: $revision,
            summary: $summary,
            needs: &[$(stringify!($need)),*],
        },)*)*];

        /// The revisions in order, except the first, which has no switch on.
        pub const REVISIONS: &[&str] = &[$($later),*];

        impl Switches {
            /// The revision with all switches off.
            pub const FIRST: &str = $first;

            /// All switches off.
            pub const NONE: Self = Self { $($($field: false,)*)* };

            /// Whether the switch called `name` is on; `None` if there is no such switch.
            #[must_use]
            pub fn get(&self, name: &str) -> Option<bool> {
                self.clone().place(name).map(|place| *place)
            }

            /// Turns the switch called `name` on or off. Returns whether there is such a switch.
            pub fn set(&mut self, name: &str, on: bool) -> bool {
                self.place(name).map(|place| *place = on).is_some()
            }

            /// The field of the switch called `name`.
            fn place(&mut self, name: &str) -> Option<&mut bool> {
                match name {
                    $($(stringify!($field) => Some(&mut self.$field),)*)*
                    _ => None,
                }
            }

            /// The switches that have an effect: those that are on and whose prerequisites are too.
            #[must_use]
            pub const fn effective(mut self) -> Self {
                $($($(self.$field &= self.$need;)*)*)*
                self
            }

            /// The switches that are on in a revision of the catalogue; `None` if the revision is
            /// unknown.
            #[must_use]
            pub fn of_revision(revision: &str) -> Option<Self> {
                if revision == Self::FIRST {
                    return Some(Self::NONE);
                }
                let last = REVISIONS.iter().position(|known| *known == revision)?;
                let mut switches = Self::NONE;
                for switch in SWITCHES {
                    let on = switch.revision.is_some_and(|it| REVISIONS[..=last].contains(&it));
                    switches.set(switch.name, on);
                }
                Some(switches)
            }

            /// The revision of the catalogue that has exactly these switches on.
            #[must_use]
            pub fn revision(&self) -> Option<&'static str> {
                let mut known = [Self::FIRST].iter().chain(REVISIONS).copied();
                known.find(|revision| Self::of_revision(revision) == Some(*self))
            }
        }
    };
}

pub(crate) use switches;
