//! Write-back of a host, in host files: when dirty pages are written, who pays for it, and how many
//! there may be.

use super::allowed::{Wrong, demand, demand_within};
use super::host::GIB_KIB;
use fairdisk_core::Span;
use fairdisk_sim::host::{GroupLimits, Payer, WriteBackSpec};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How a host writes dirty pages back.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub struct WriteBack {
    /// Percentage of memory above which the flusher starts to write.
    pub background_percent: u32,
    /// The largest percentage of memory that may be dirty.
    pub limit_percent: u32,
    /// How often the flusher checks for old data.
    pub interval_ms: u64,
    /// The age at which dirty data counts as old.
    pub age_ms: u64,
    /// Who is charged for what is written back; without this, the scheduler's defect D5 decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charged_to: Option<ChargedTo>,
    /// What a group may have dirty before its flusher writes; without this, half its limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_background_kib: Option<u64>,
    /// What a group may have dirty or on its way before its writers wait; without this, only the
    /// limit of the machine counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_limit_kib: Option<u64>,
}

impl Default for WriteBack {
    /// The defaults of Linux 2.6.32.
    fn default() -> Self {
        Self {
            background_percent: 10,
            limit_percent: 20,
            interval_ms: 5_000,
            age_ms: 30_000,
            charged_to: None,
            group_background_kib: None,
            group_limit_kib: None,
        }
    }
}

/// Who is charged for what is written back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChargedTo(pub Payer);

impl Serialize for ChargedTo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de> Deserialize<'de> for ChargedTo {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = Payer::ALL.into_iter().find(|payer| payer.name() == name);
        known.map(Self).ok_or_else(|| {
            let names = Payer::ALL.map(|payer| format!("\"{}\"", payer.name())).join(", ");
            serde::de::Error::custom(format!("`{name}` is no rule for who pays; allowed: {names}"))
        })
    }
}

/// KiB per page.
const PAGE_KIB: u64 = 4;

impl WriteBack {
    /// Checks the values.
    pub(super) fn check(&self) -> Result<(), Wrong> {
        let percent = |percent: u32| u64::from(percent);
        for (path, value, range) in [
            ("write_back.background_percent", percent(self.background_percent), 0..=100),
            ("write_back.limit_percent", percent(self.limit_percent), 5..=100),
            ("write_back.interval_ms", self.interval_ms, 1..=3_600_000),
            ("write_back.age_ms", self.age_ms, 0..=3_600_000),
        ] {
            demand_within(range, path, value)?;
        }
        if let Some(limit) = self.group_limit_kib {
            demand_within(PAGE_KIB..=1024 * GIB_KIB, "write_back.group_limit_kib", limit)?;
        }
        let Some(background) = self.group_background_kib else { return Ok(()) };
        let path = "write_back.group_background_kib";
        match self.group_limit_kib {
            None => demand(false, path, background, "only beside `group_limit_kib`"),
            Some(limit) => {
                let allowed = format!("less than `group_limit_kib`, which is {limit}");
                demand(background < limit, path, background, allowed)
            }
        }
    }

    /// The settings of a machine.
    pub(crate) fn spec(&self) -> WriteBackSpec {
        let of_group = |limit| {
            let background = self.group_background_kib.unwrap_or(limit / 2);
            GroupLimits { background: background / PAGE_KIB, limit: limit / PAGE_KIB }
        };
        WriteBackSpec {
            background_percent: self.background_percent,
            limit_percent: self.limit_percent,
            interval: Span::from_ms(self.interval_ms),
            age: Span::from_ms(self.age_ms),
            payer: self.charged_to.map(|to| to.0),
            of_group: self.group_limit_kib.map(of_group),
        }
    }
}
