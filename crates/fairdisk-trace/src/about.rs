//! What a trace says about itself.

use super::Settings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// Where a trace comes from. Most formats say only a little of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct About {
    /// The device or mount point that was recorded.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub device: String,
    /// The size of the device, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_bytes: Option<u64>,
    /// The scheduler that served it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub scheduler: String,
    /// Its tunables, as `KEY=VALUE` by the keys and in the units of the scheduler's file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tunables: Vec<String>,
    /// The most requests that the scheduler lets the device have at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Whether the scheduler was told what requests cost the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tells_costs: Option<bool>,
    /// The name of the host.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// The host's kernel.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kernel: String,
    /// What the trace starts at, in nanoseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_unix_ns: Option<u64>,
    /// The settings that groups had when they were first seen, by path, as far as they are known.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, Settings>,
    /// The program that recorded it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub recorded_by: String,
}

impl About {
    /// A recording of `device`, which `scheduler` serves, that begins on this host now.
    #[must_use]
    pub fn recording(device: &str, scheduler: &str, now: SystemTime) -> Self {
        let of_kernel = |name: &str| {
            let text = fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap_or_default();
            text.trim_end().to_owned()
        };
        let now = now.duration_since(UNIX_EPOCH).ok();
        Self {
            device: device.to_owned(),
            scheduler: scheduler.to_owned(),
            host: of_kernel("hostname"),
            kernel: of_kernel("osrelease"),
            start_unix_ns: now.and_then(|now| u64::try_from(now.as_nanos()).ok()),
            recorded_by: concat!("fairdisk ", env!("CARGO_PKG_VERSION")).to_owned(),
            ..Self::default()
        }
    }
}
