//! What a trace says about itself.

use serde::{Deserialize, Serialize};

/// Where a trace comes from. Most formats say only a little of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The name of the host.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// The host's kernel.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kernel: String,
    /// What the trace starts at, in nanoseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_unix_ns: Option<u64>,
    /// The program that recorded it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub recorded_by: String,
}
