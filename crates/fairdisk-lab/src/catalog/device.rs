//! Device files: `catalog/devices/<id>.toml`. The key `kind` determines the other keys.

mod adapter;
mod fixed;
mod hdd;
mod measured;
mod null;
mod raid5;
mod ssd;
mod virtual_disk;

use super::allowed::{Wrong, demand_in, demand_within};
use super::error::{CatalogError, Fault, unknown};
use super::inherit;
use super::library::{Document, Kind, check_id, find};
use super::overrides::{Override, read};
use super::source::Source;
use super::text::check_line;
pub use adapter::Adapter;
use adapter::{AdapterTable, QueueHead};
use fairdisk_sim::device::{AdapterCost, Check, Checked, DeviceSpec, SpecError};
use fixed::FixedFile;
use hdd::HddFile;
use measured::MeasuredFile;
pub use measured::{keys_of, to_toml};
use null::NullFile;
use raid5::Raid5File;
use serde::Deserialize;
use ssd::SsdFile;
use toml::Table;
use virtual_disk::VirtualFile;

/// A device file.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceEntry {
    /// One line for lists.
    pub title: String,
    /// The device, or each disk of an array.
    pub spec: DeviceSpec,
    /// The number of disks and their partitions.
    pub array: Array,
    /// The file with what it inherits and all changes.
    pub resolved: Table,
}

/// A number of equal disks, used separately, and their partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    /// The number of disks.
    pub disks: u32,
    /// The number of equal partitions per disk.
    pub partitions: u32,
    /// The rate of the transport that the disks share, in each direction.
    pub link_mb_per_s: Option<u32>,
    /// What each disk is attached to.
    pub adapter: Adapter,
}

impl Array {
    /// A single disk without partitions, with a transport as fast as itself.
    pub const SINGLE: Self = Self {
        disks: 1,
        partitions: 1,
        link_mb_per_s: None,
        adapter: Adapter { segments: None, link_mb_per_s: None, cost: AdapterCost::NONE },
    };
}

/// Checks that a device may have this id.
///
/// # Errors
/// Returns what is wrong with it.
pub fn demand_id(id: &str) -> Result<(), String> {
    check_line("id", id).map_err(|(_, what)| what.to_string())
}

/// Loads the device `name`, with what it inherits and the changes of scope `device`.
///
/// # Errors
/// Returns an error if the name is unknown, or the first fault of the file or of a change.
pub fn load(name: &str, overrides: &[Override]) -> Result<DeviceEntry, CatalogError> {
    let document = find_flat(name)?;
    let parse = |document: &Document| parse_entry(Source::of(document));
    read(&document, &["device"], overrides, parse)
}

/// Checks that the disks of the device `name` share no transport.
///
/// # Errors
/// Returns an error, about the file or a change, if they do.
pub(crate) fn demand_unlinked(name: &str, overrides: &[Override]) -> Result<(), CatalogError> {
    let parse = |document: &Document| {
        let source = Source::of(document);
        match parse_entry(source)?.array {
            Array { disks: 2.., link_mb_per_s: Some(_), .. } => Err(source.error_at_key(
                "link_mb_per_s",
                "disks share a transport only where they run together; add --set \
                 host.disks_together=true, or drop it",
            )),
            _ => Ok(()),
        }
    };
    read(&find_flat(name)?, &["device"], overrides, parse)
}

/// The file of the device `name`, with what it inherits.
fn find_flat(name: &str) -> Result<Document, CatalogError> {
    inherit::flatten(Kind::Device, find(Kind::Device, name)?)
}

/// The contents of a device's file; `None` if there is no such device.
pub(crate) fn table(name: &str) -> Option<Table> {
    find_flat(name).ok()?.text.parse().ok()
}

fn parse_entry(source: Source<'_>) -> Result<DeviceEntry, CatalogError> {
    let head: Head = source.parse()?;
    head.check().map_err(|wrong| source.wrong(wrong))?;
    let spec = match head.kind.as_str() {
        "hdd" => DeviceSpec::Hdd(checked(source, source.parse::<HddFile>()?.params(source)?)?),
        "fixed" => DeviceSpec::Fixed(checked(source, source.parse::<FixedFile>()?.params())?),
        "raid5" => {
            DeviceSpec::Raid5(checked(source, source.parse::<Raid5File>()?.params(source)?)?)
        }
        "ssd" => DeviceSpec::Ssd(checked(source, source.parse::<SsdFile>()?.params())?),
        "measured" => {
            let params = source.parse::<MeasuredFile>()?.params();
            DeviceSpec::Measured(checked(source, params.map_err(|wrong| source.wrong(wrong))?)?)
        }
        "virtual" => {
            let params = source.parse::<VirtualFile>()?.params(source)?;
            DeviceSpec::Virtual(Box::new(checked(source, params)?))
        }
        "null" => DeviceSpec::Null(checked(source, source.parse::<NullFile>()?.params())?),
        other => {
            let known = ["hdd", "raid5", "ssd", "fixed", "measured", "virtual", "null"];
            return Err(source.error_at_key("kind", unknown("kind", other, &known)));
        }
    };
    let Head { jbod: disks, partitions, link_mb_per_s, queue, adapter, .. } = head;
    let shares_link = link_mb_per_s.is_some();
    let adapter = Adapter::of(source, queue.as_ref(), adapter.as_ref(), shares_link)?;
    let array = Array { disks, partitions, link_mb_per_s, adapter };
    Ok(DeviceEntry { title: head.title, spec, array, resolved: source.parse()? })
}

fn checked<P: Check>(source: Source<'_>, params: P) -> Result<Checked<P>, CatalogError> {
    Checked::new(params).map_err(|SpecError { field, value, allowed }| {
        source.error_at_key(field, Fault::NotAllowed { key: field.to_owned(), value, allowed })
    })
}

/// The keys that device files of every kind have.
#[derive(Deserialize)]
struct Head {
    id: String,
    title: String,
    kind: String,
    #[serde(default = "one")]
    jbod: u32,
    #[serde(default = "one")]
    partitions: u32,
    link_mb_per_s: Option<u32>,
    queue: Option<QueueHead>,
    adapter: Option<AdapterTable>,
}

impl Head {
    /// Checks that its values can be run.
    fn check(&self) -> Result<(), Wrong> {
        check_id(&self.id)?;
        check_line("title", &self.title)?;
        demand_within(1..=1024, "jbod", self.jbod)?;
        demand_within(1..=128, "partitions", self.partitions)?;
        let rate = self.link_mb_per_s;
        demand_in(1..=1_000_000, "link_mb_per_s", rate, "1 to 1000000")
    }
}

const fn one() -> u32 {
    1
}

/// Defines the struct of one kind of device file: its own keys, and those of [`Head`], repeated
/// because unknown keys are refused.
macro_rules! device_file {
    ($(#[$doc:meta])* $vis:vis struct $name:ident { $($keys:tt)* }) => {
        $(#[$doc])*
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        $vis struct $name {
            #[serde(rename = "id")]
            _id: serde::de::IgnoredAny,
            #[serde(rename = "title")]
            _title: serde::de::IgnoredAny,
            #[serde(rename = "kind")]
            _kind: serde::de::IgnoredAny,
            #[serde(rename = "jbod")]
            _jbod: Option<serde::de::IgnoredAny>,
            #[serde(rename = "partitions")]
            _partitions: Option<serde::de::IgnoredAny>,
            #[serde(rename = "link_mb_per_s")]
            _link_mb_per_s: Option<serde::de::IgnoredAny>,
            #[serde(rename = "adapter")]
            _adapter: Option<serde::de::IgnoredAny>,
            $($keys)*
        }
    };
}
use device_file;

#[cfg(test)]
mod tests {
    use super::{find_flat, parse_entry};
    use crate::catalog::error::CatalogError;
    use crate::catalog::source::Source;
    use fairdisk_sim::device::DeviceSpec;

    const FIXED: &str = "id = \"f\"\ntitle = \"t\"\nkind = \"fixed\"\ncapacity_sectors = 8\nparallel = 1\nlatency_us = 5\n";

    fn parse(text: &str) -> Result<DeviceSpec, CatalogError> {
        parse_entry(Source::new("f.toml", text)).map(|entry| entry.spec)
    }

    fn refusal(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_write_costs_what_a_read_costs_unless_told_otherwise() {
        let Ok(DeviceSpec::Fixed(spec)) = parse(FIXED) else { panic!("a fixed device") };
        assert_eq!(spec.params().write, spec.params().read);
    }

    /// A file that predates the key behaves as it did.
    #[test]
    fn a_write_cache_that_does_not_say_how_much_it_holds_has_room_in_each_place() {
        let text = find_flat("wd2500js").expect("it is built in").text;
        let lines = text.lines().filter(|line| !line.starts_with("kib = "));
        let text: String = lines.flat_map(|line| [line, "\n"]).collect();
        let Ok(DeviceSpec::Hdd(spec)) = parse(&text) else { panic!("a disk") };
        let cache = spec.params().write_cache.expect("it has one");
        assert_eq!(cache.kib, 512 * cache.depth);
    }

    #[test]
    fn an_adapter_without_segments_is_refused_with_place_and_remedy() {
        let table = format!("{FIXED}[adapter]\nsegment_ns = 5\n");
        assert_eq!(
            refusal(&table),
            "f.toml:7: an adapter takes so many segments, and nothing says how many; add \
             `segments_max` to [queue], such as 128, or drop [adapter]"
        );
        assert_eq!(
            refusal(&format!("{FIXED}[queue]\nsegments_max = 0\n")),
            "f.toml:8: `segments_max` is 0; allowed: 1 to 65536"
        );
        assert_eq!(
            refusal(&format!("{FIXED}[queue]\nsegments_max = 8\nsegment_kib_max = 6\n")),
            "f.toml:9: `segment_kib_max` is 6; allowed: 4 to 1048576, by whole pages of 4"
        );
        let error = refusal(&format!("{FIXED}[queue]\nsegment_kib_max = 64\n"));
        assert!(error.starts_with("f.toml:8: `segment_kib_max` is the size"), "{error}");
        let both = format!("link_mb_per_s = 9\n{FIXED}[adapter]\nlink_mb_per_s = 9\n");
        let error = refusal(&format!("{both}[queue]\nsegments_max = 8\n"));
        assert!(error.starts_with("f.toml:1: disks share a transport or have one each"), "{error}");
        assert!(parse(&format!("{table}[queue]\nsegments_max = 8\n")).is_ok());
    }

    #[test]
    fn errors_name_line_key_and_what_was_expected() {
        assert_eq!(
            refusal(&FIXED.replace("parallel", "paralel")),
            "f.toml:5: unknown key `paralel`; did you mean `parallel`? (known: id, title, kind, \
             jbod, partitions, link_mb_per_s, adapter, capacity_sectors, parallel, latency_us, mb_per_s, \
             write_latency_us, write_mb_per_s, flush_us, queue)"
        );
        assert_eq!(
            refusal(&FIXED.replace("= 1", "= 0")),
            "f.toml:5: `parallel` is 0; allowed: 1 to 65536"
        );
        assert_eq!(
            refusal(&FIXED.replace("= 5", "= \"5\"")),
            "f.toml:6: `latency_us`: expected a whole number from 0 to 4294967295, not the text \"5\""
        );
        assert_eq!(
            refusal(&FIXED.replace("fixed", "fixd")),
            "f.toml:3: unknown kind `fixd`; did you mean `fixed`? (known: hdd, raid5, ssd, fixed, measured, virtual, null)"
        );
        assert_eq!(refusal("id = \"f\"\ntitle = \"t\""), "f.toml:1: missing key `kind`");
        let array = "id = \"f\"\ntitle = \"t\"\nkind = \"raid5\"\ndisk = \"null\"\ndisks = 4\nchunk_kib = 64\ndepth = 8\n";
        assert_eq!(
            refusal(array),
            "f.toml:4: `disk`: `null` is of kind `null`; allowed: a single one of kind `hdd`"
        );
        assert!(
            refusal(&array.replace("\"null\"", "\"nul\""))
                .starts_with("f.toml:4: unknown device `nul`")
        );
        let two = array.replace("= 4", "= 2").replace("\"null\"", "\"wd2500js\"");
        assert_eq!(refusal(&two), "f.toml:5: `disks` is 2; allowed: 3 to 64");
    }
}
