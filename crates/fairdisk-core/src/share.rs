//! A group's share of the disk: one scale of weights, and the maps that convert the priorities of
//! historical systems to it.

/// A weight from 1 to 10000, default 100, on the scale of cgroup v2's `io.weight`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(u16);

impl Weight {
    /// The smallest weight.
    pub const MIN: u32 = 1;
    /// The largest weight.
    pub const MAX: u32 = 10_000;
    /// The weight of a group that sets none.
    pub const DEFAULT: Self = Self(100);
    /// Factor from this scale to that of cgroup v1's `blkio.weight`; the defaults are 100 and 500.
    pub const BLKIO_SCALE: u32 = 5;
    /// The smallest and the largest `blkio.weight`.
    pub const BLKIO_RANGE: [u32; 2] = [100, 1000];

    /// A weight of `value`, or `None` if that is not within 1 to 10000.
    #[must_use]
    pub const fn new(value: u32) -> Option<Self> {
        if value >= Self::MIN && value <= Self::MAX { Some(Self(value as u16)) } else { None }
    }

    /// The weight as a number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0 as u32
    }
}

/// The share that a group asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Share {
    /// A group priority from 0 (high) to 7 (low). The scheduler's [`WeightMap`] converts it to a
    /// weight.
    Priority(u8),
    /// A weight, used as it is.
    Weight(Weight),
}

impl Share {
    /// The share of a group that sets none: priority 4, which the default map converts to weight
    /// 100.
    pub const DEFAULT: Self = Self::Priority(4);

    /// The weight of this share under `map`.
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

/// How a group priority from 0 to 7 is converted to a weight (spec: groups, section 6 item 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WeightMap {
    /// 25 × (8 - p), where 0 is high: priorities 0, 4 and 7 get shares of 8:4:1.
    #[default]
    LinearHigh0,
    /// 25 × (p + 1), where 7 is high.
    LinearHigh7,
    /// 105 × (1 + p / 7), where 7 is high; the whole range spans only 1:2.
    OpenVz,
    /// Proportional to CFQ's synchronous slices of 180, 160 … 40 ms, where 0 is high.
    CfqSlice,
    /// 10 × (8 - p), where 0 is high: the weights that BFQ gives to I/O priorities.
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

    /// The map with the given name in the catalogue.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, map)| *map)
    }

    /// The weight of `priority`; values above 7 count as 7.
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
