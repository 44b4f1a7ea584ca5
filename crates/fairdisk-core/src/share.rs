//! How much of the disk a group asks for: one weight scale, and the maps that turn the priorities
//! of historical systems into it.

/// A weight from 1 to 10000, default 100: the scale of cgroup v2's `io.weight`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(u16);

impl Weight {
    /// The smallest weight.
    pub const MIN: u32 = 1;
    /// The largest weight.
    pub const MAX: u32 = 10_000;
    /// What a group has that asks for nothing.
    pub const DEFAULT: Self = Self(100);
    /// A weight is so many on the scale of `blkio.weight`, of cgroup v1: the defaults are 100 and
    /// 500.
    pub const BLKIO_SCALE: u32 = 5;

    /// The weight `value`, or `None` outside 1 to 10000.
    #[must_use]
    pub const fn new(value: u32) -> Option<Self> {
        if value >= Self::MIN && value <= Self::MAX { Some(Self(value as u16)) } else { None }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0 as u32
    }
}

/// What a group asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// A group priority from 0 (high) to 7 (low); the scheduler's [`WeightMap`] gives its weight.
    Priority(u8),
    /// A weight.
    Weight(Weight),
}

impl Share {
    /// The share of a group that asks for nothing: priority 4, which is weight 100.
    pub const DEFAULT: Self = Self::Priority(4);

    /// The weight under `map`.
    #[must_use]
    pub const fn weight(self, map: WeightMap) -> Weight {
        match self {
            Self::Weight(weight) => weight,
            Self::Priority(priority) => map.weight(priority),
        }
    }
}

impl Default for Share {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How a group priority of 0 to 7 becomes a weight (spec: groups, section 6 item 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WeightMap {
    /// 25 x (8 - p), 0 is high: shares 8:4:1 for 0/4/7.
    #[default]
    LinearHigh0,
    /// 25 x (p + 1), 7 is high.
    LinearHigh7,
    /// 105 x (1 + p / 7), 7 is high, a span of only 1:2.
    OpenVz,
    /// In proportion to CFQ's synchronous slices 180, 160 ... 40 ms, 0 is high.
    CfqSlice,
    /// 10 x (8 - p), the weights BFQ gives to I/O priorities.
    Bfq,
}

impl WeightMap {
    /// Every map with its name in the catalogue.
    pub const ALL: [(&'static str, Self); 5] = [
        ("linear-high0", Self::LinearHigh0),
        ("linear-high7", Self::LinearHigh7),
        ("openvz", Self::OpenVz),
        ("cfq-slice", Self::CfqSlice),
        ("bfq", Self::Bfq),
    ];

    /// The map called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, map)| *map)
    }

    /// The weight of priority `priority`; above 7 counts as 7.
    #[must_use]
    pub const fn weight(self, priority: u8) -> Weight {
        let p = if priority > 7 { 7 } else { priority as u16 };
        Weight(match self {
            Self::LinearHigh0 => 25 * (8 - p),
            Self::LinearHigh7 => 25 * (p + 1),
            Self::OpenVz => 105 + 15 * p,
            Self::CfqSlice => 180 - 20 * p,
            Self::Bfq => 10 * (8 - p),
        })
    }
}
