//! Block sizes: a single one, a range, or a weighted list, for each operation.

use fairdisk_sim::workload;
use serde::Serialize;

use super::per_op::PerOp;
use super::setting::Given;
use super::value::{self, KbBase, Read, ValueError};

/// The block sizes of a job, for each operation.
pub type BlockSizes = PerOp<BlockSize>;

/// The size of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockSize {
    /// All requests have the same size.
    Fixed {
        /// The size in bytes, above 0.
        bytes: u64,
    },
    /// A uniform number of bytes up to the largest, rounded up to a multiple of the smallest but
    /// not above the largest.
    Range {
        /// The smallest size in bytes, above 0.
        min_bytes: u64,
        /// The largest size in bytes, at least the smallest.
        max_bytes: u64,
    },
    /// Sizes with weights that sum to 100.
    Split(Vec<WeightedBlock>),
}

/// One entry of `bssplit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct WeightedBlock {
    /// The size in bytes, above 0.
    pub bytes: u64,
    /// The percentage of requests of this size.
    pub percent: u8,
}

impl BlockSize {
    /// The size as fio asks for it: a listed one is rounded down to a multiple of the smallest.
    pub(super) fn rounded(self) -> Self {
        let smallest = self.min_bytes();
        match self {
            Self::Split(list) => {
                let rounded = |entry: WeightedBlock| WeightedBlock {
                    bytes: entry.bytes - entry.bytes % smallest,
                    ..entry
                };
                Self::Split(list.into_iter().map(rounded).collect())
            }
            other => other,
        }
    }

    /// Whether sizes of a list are no multiples of the smallest.
    pub(super) fn is_unaligned(&self) -> bool {
        *self != self.clone().rounded()
    }

    /// The sizes of which all requests are multiples.
    pub(super) fn units(&self) -> Vec<u64> {
        match self {
            Self::Fixed { bytes } | Self::Range { min_bytes: bytes, .. } => vec![*bytes],
            Self::Split(list) => list.iter().map(|entry| entry.bytes).collect(),
        }
    }

    /// The size of the smallest request.
    #[must_use]
    pub fn min_bytes(&self) -> u64 {
        match self {
            Self::Fixed { bytes } | Self::Range { min_bytes: bytes, .. } => *bytes,
            Self::Split(list) => list.iter().map(|entry| entry.bytes).min().unwrap_or(0),
        }
    }

    /// The size of the largest request.
    #[must_use]
    pub fn max_bytes(&self) -> u64 {
        match self {
            Self::Fixed { bytes } | Self::Range { max_bytes: bytes, .. } => *bytes,
            Self::Split(list) => list.iter().map(|entry| entry.bytes).max().unwrap_or(0),
        }
    }
}

const BYTES_MAX: u64 = workload::BlockSize::BYTES_MAX;
const OUT_OF_BOUNDS: &str = "a block has 1 byte to 1g";

/// Parses `bs=`.
pub(super) fn fixed(given: Given<'_>) -> Read<PerOp<Option<BlockSize>>> {
    given.per_op(|part| match part.bytes()? {
        0 => ValueError::bad("at least 1 byte, such as 4k"),
        bytes @ 1..=BYTES_MAX => Ok(BlockSize::Fixed { bytes }),
        _ => ValueError::unsupported(OUT_OF_BOUNDS),
    })
}

/// Parses `bsrange=`; a `/` separates operations like a comma.
pub(super) fn range(given: Given<'_>) -> Read<PerOp<Option<BlockSize>>> {
    let text = given.raw.map(|text| text.replace('/', ","));
    let given = Given { raw: text.as_deref(), ..given };
    given.per_op(|part| {
        if !part.raw.unwrap_or_default().contains(['-', ':']) {
            return ValueError::bad("a range, such as 1k-4k");
        }
        match part.range(|end| end.bytes())? {
            (min_bytes @ 1.., max_bytes @ ..=BYTES_MAX) => {
                Ok(BlockSize::Range { min_bytes, max_bytes })
            }
            _ => ValueError::unsupported(OUT_OF_BOUNDS),
        }
    })
}

/// Parses `bssplit=`, as in `4k/10:64k/50:32k/40`.
pub(super) fn split(given: Given<'_>) -> Read<PerOp<Option<BlockSize>>> {
    if given.raw.is_some_and(|text| text.trim().is_empty()) {
        return ValueError::unsupported("fio reads an empty list as none; remove the key");
    }
    given.per_op(|part| split_part(part.raw.unwrap_or_default(), part.base))
}

fn split_part(text: &str, base: KbBase) -> Read<BlockSize> {
    let entries: Vec<(u64, Option<u8>)> = text
        .split(':')
        .filter(|entry| !entry.trim().is_empty())
        .map(|entry| split_entry(entry, base))
        .collect::<Read<_>>()?;
    let given: u32 = entries.iter().filter_map(|(_, percent)| *percent).map(u32::from).sum();
    let blanks = entries.iter().filter(|(_, percent)| percent.is_none()).count();
    share_out(&entries, given, u32::try_from(blanks).unwrap_or(u32::MAX)).map(BlockSize::Split)
}

/// Blank percentages share what the others leave; the first ones get the remainder of the division.
fn share_out(entries: &[(u64, Option<u8>)], given: u32, blanks: u32) -> Read<Vec<WeightedBlock>> {
    let whole = if blanks == 0 { given == 100 } else { given + blanks <= 100 };
    if !whole {
        return ValueError::unsupported(format!(
            "the percentages sum to {given} and must sum to 100, with something left for those \
             that have none"
        ));
    }
    let (each, mut odd) = (
        (100 - given).checked_div(blanks).unwrap_or(0),
        (100 - given).checked_rem(blanks).unwrap_or(0),
    );
    let weighted = entries.iter().map(|(bytes, percent)| {
        let share = percent.unwrap_or_else(|| {
            let extra = u32::from(odd > 0);
            odd -= extra;
            u8::try_from(each + extra).unwrap_or(100)
        });
        WeightedBlock { bytes: *bytes, percent: share }
    });
    Ok(weighted.filter(|entry| entry.percent > 0).collect())
}

fn split_entry(text: &str, base: KbBase) -> Read<(u64, Option<u8>)> {
    let (bytes, percent) = text.split_once('/').unwrap_or((text, ""));
    let bytes = value::quantity(bytes, base)?;
    if !(1..=BYTES_MAX).contains(&bytes) {
        return ValueError::unsupported(OUT_OF_BOUNDS);
    }
    match percent.trim() {
        "" => Ok((bytes, None)),
        digits => match digits.parse::<u8>() {
            Ok(percent) if percent <= 100 => Ok((bytes, Some(percent))),
            _ => ValueError::unsupported(
                "write size/percent entries parted by colons, as in 4k/10:64k/90",
            ),
        },
    }
}
