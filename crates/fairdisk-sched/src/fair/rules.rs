//! The rules of `fair` beyond its order, each as a switch.
//!
//! Without all of them `fair` serves groups and tasks by weight, floors first, within their
//! ceilings. Each rule answers one way in which a device or a load defeats that. A switch shows
//! what its rule is worth: `fairdisk blame` attributes a difference to rules as it does to the
//! changes of CFQ.

/// Description of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The rule's key in the table `[rules]` of a revision.
    pub name: &'static str,
    /// The modules of `fair` that serve nothing else.
    pub modules: &'static [&'static str],
    /// One line on what the rule does.
    pub summary: &'static str,
}

macro_rules! rules {
    ($($name:ident [$($module:literal),*] $summary:literal;)*) => {
        /// Which of the rules are on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Rules {
            $(#[doc = $summary] pub $name: bool,)*
        }

        /// Every rule.
        pub const RULES: &[Rule] = &[$(Rule {
            name: stringify!($name),
            modules: &[$($module),*],
            summary: $summary,
        },)*];

        impl Rules {
            /// Every rule on.
            pub const ALL: Self = Self { $($name: true,)* };

            /// Every rule off.
            pub const NONE: Self = Self { $($name: false,)* };

            /// Turns the rule called `name` on or off. Returns whether there is such a rule.
            pub fn set(&mut self, name: &str, on: bool) -> bool {
                match name {
                    $(stringify!($name) => self.$name = on,)*
                    _ => return false,
                }
                true
            }
        }
    };
}

rules! {
    awaited ["awaited"]
        "a request that another group waits for goes first";
    commits ["backlog", "commits"]
        "writes are held while they would delay the flush of a group that is behind";
    idling ["patience"]
        "the disk is kept free for a group or task that will be back soon";
    pauses []
        "a group with two kinds of think time is also waited for as long as its pauses are";
    returning ["returning"]
        "a group that thinks for too long is served as soon as it is back";
    write_allowance ["allowance"]
        "others write only as much as the disk can finish before a thinker is back";
    late_writes ["cache/comparison", "cache/traces"]
        "what reads take longer after writes is charged to the writer";
    full_cache ["cache/full", "median"]
        "what a write waits for room in a full cache is charged to those who filled it";
    writes_first ["writes_first"]
        "nothing is charged after a read on a device that finishes all writes before it reads";
    usual_by_depth ["usual"]
        "the usual time of a read is kept by the number of reads at the device";
    saving ["saving"]
        "a turn ends before another group loses what its ceiling allows";
    kept_slices []
        "a turn on a disk that takes several requests lasts until the last of its group is done";
    streams_alone ["stream", "idle"]
        "a stream has a disk that takes several requests to itself in turns";
    pace ["pace"]
        "modelled costs are converted to time beside a stream that has the array to itself";
    heads []
        "the time of an array is charged by how many of its heads can have worked";
    inside ["inside", "queues/expected", "queues/places"]
        "tasks of one group wait for each other where their priorities differ";
    room ["expected"]
        "a device that is fully busy takes nothing more while a group that is behind is expected";
    reserved ["reserved"]
        "the place of a task that is due back at an array counts as work there";
    depth_limit ["depth_limit"]
        "how much others may have at a device is searched for where no costs are told";
    room_worth ["room_worth"]
        "no room is made for a group that gains less by it than all others lose";
    sharing ["sharing"]
        "groups are served in turns where that is fairer and no costs are told";
    programs []
        "a durable write that programs a page counts beside the reads it delays";
    large_requests []
        "one request that fills a device without a head by itself waits as a write does";
    floor_room ["floor/room"]
        "others leave room for a floor on a device that takes several requests";
    target_first []
        "a group that is about to miss its latency target goes first";
    target_room ["target/room"]
        "others leave room for a latency target on a device that takes several requests";
    target_rounds ["target/intervals"]
        "turns are shorter for a latency target on a disk that serves one request at a time";
    brought ["hierarchy/brought"]
        "virtual time waits for those that were passed over for a latency target";
}

impl Default for Rules {
    fn default() -> Self {
        Self::ALL
    }
}

#[cfg(test)]
mod tests {
    use super::{RULES, Rules};

    #[test]
    fn each_rule_is_a_switch_of_its_own() {
        for rule in RULES {
            let mut rules = Rules::ALL;
            assert!(rules.set(rule.name, false));
            assert_ne!(rules, Rules::ALL, "{}", rule.name);
        }
        let mut all = Rules::NONE;
        assert!(RULES.iter().all(|rule| all.set(rule.name, true)));
        assert_eq!(all, Rules::ALL);
        assert!(!all.set("unknown", true));
    }
}
