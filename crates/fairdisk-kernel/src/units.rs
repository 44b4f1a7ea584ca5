//! The I/O settings that the files of systemd ask for.

use crate::root::Root;
use serde::Serialize;

/// A line of a unit file that asks for something about I/O. Source of the keys:
/// systemd.resource-control(5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ask {
    /// The name of the unit, such as `db.service`.
    pub unit: String,
    /// Whether a user's own service manager reads the file.
    #[serde(skip)]
    pub is_of_user: bool,
    /// The file.
    pub file: String,
    /// The key, such as `IOWeight`.
    pub key: String,
    /// The value.
    pub value: String,
}

impl Ask {
    /// The device or path that the line is about.
    pub fn device(&self) -> Option<&str> {
        self.value.split_whitespace().next().filter(|word| word.starts_with('/'))
    }
}

/// Where unit files and the drop-ins of `systemctl set-property` lie, those of users last.
const PLACES: [&str; 7] = [
    "/etc/systemd/system.control",
    "/run/systemd/system.control",
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/lib/systemd/system",
    "/etc/systemd/user",
    "/run/systemd/user",
];
const KINDS: [&str; 4] = [".service", ".slice", ".scope", ".socket"];

/// Reads what all unit files ask for.
pub(crate) fn read(root: &Root) -> Vec<Ask> {
    let mut asks = Vec::new();
    for place in PLACES {
        for name in root.names(place) {
            let path = format!("{place}/{name}");
            let unit = name.strip_suffix(".d").unwrap_or(&name);
            if !KINDS.iter().any(|kind| unit.ends_with(kind)) {
                continue;
            }
            if !root.is_dir(&path) {
                read_file(root, unit, &path, &mut asks);
                continue;
            }
            for drop_in in root.names(&path).iter().filter(|name| name.ends_with(".conf")) {
                read_file(root, unit, &format!("{path}/{drop_in}"), &mut asks);
            }
        }
    }
    asks
}

fn read_file(root: &Root, unit: &str, file: &str, asks: &mut Vec<Ask>) {
    let text = root.text(file).unwrap_or_default();
    for line in text.lines() {
        let Some((key, value)) = line.trim().split_once('=') else { continue };
        let (key, value) = (key.trim(), value.trim());
        let is_about_io = key.starts_with("IO") && !key.starts_with("IOAccounting");
        // An empty value takes back what was asked for before.
        if is_about_io && !value.is_empty() {
            asks.push(Ask {
                unit: unit.to_owned(),
                is_of_user: file.contains("/systemd/user/"),
                file: file.to_owned(),
                key: key.to_owned(),
                value: value.to_owned(),
            });
        }
    }
}

/// The name of the unit whose group lies at this path; `None` if it is no unit's.
pub(crate) fn unit_at(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    KINDS.iter().any(|kind| name.ends_with(kind)).then_some(name)
}

/// The largest weight that BFQ takes.
pub(crate) const BFQ_MOST: u64 = 1_000;

/// What systemd makes of a weight for BFQ: 1 to 100 stay, 100 to 10000 become 100 to 1000. Source:
/// systemd's issue 27622.
pub(crate) fn bfq_weight_of(io_weight: u64) -> u64 {
    if io_weight <= 100 { io_weight } else { 100 + (io_weight - 100) / 11 }
}

/// The weight to ask systemd for so that BFQ gets this one.
pub(crate) fn io_weight_for_bfq(weight: u64) -> u64 {
    if weight <= 100 { weight } else { 100 + (weight - 100) * 11 }
}

/// Whether a weight can be asked of systemd for what BFQ makes of it: it is above BFQ's range, or
/// just what [`io_weight_for_bfq`] says.
pub(crate) fn is_meant_for_bfq(io_weight: u64) -> bool {
    io_weight > BFQ_MOST || io_weight_for_bfq(bfq_weight_of(io_weight)) == io_weight
}

#[cfg(test)]
mod tests {
    use super::{bfq_weight_of, io_weight_for_bfq, is_meant_for_bfq};

    #[test]
    fn systemd_is_asked_for_what_becomes_the_weight() {
        for weight in [1, 99, 100, 101, 400, 1000] {
            let asked = io_weight_for_bfq(weight);
            assert_eq!(bfq_weight_of(asked), weight);
            assert!(asked <= 10_000 && is_meant_for_bfq(asked));
        }
    }
}
