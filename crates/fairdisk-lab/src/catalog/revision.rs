//! Scheduler revisions: `catalog/revisions/<id>.toml`. A revision may inherit from another one and
//! give only the differences.

mod bfq;
mod cfq;
mod deadline;
mod dm_ioband;
mod fair;
mod group_cfq;
mod iocost;
mod iolatency;
mod kyber;
mod mclock;
mod mq_deadline;
mod shares;
mod switches;
mod token_bucket;
pub mod tunables;
mod two_layer;

use super::allowed::demand_within;
use super::error::{CatalogError, Fault, unknown};
use super::inherit;
use super::library::{Document, Kind, check_id, find};
use super::overrides::{Override, read};
use super::source::Source;
use super::text::check_line;
use fairdisk_core::{Apart, PlugFlash, PoolLayout, Span, WeightMap};
use fairdisk_sched::SchedulerSpec;
use fairdisk_sched::group_cfq::GroupCfqParams;
use fairdisk_sched::noop::NoopParams;
use fairdisk_sched::two_layer::TwoLayerParams;
use fairdisk_sim::{IntegrityWrites, Unplugs};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use toml::{Table, Value};

/// A scheduler of the catalogue.
#[derive(Clone, Debug, PartialEq)]
pub struct Revision {
    /// The revision's id in the catalogue.
    pub id: String,
    /// One line for lists.
    pub title: String,
    /// Whether it is what a kernel or a patch of its time did, and is tried only if asked for.
    pub historical: bool,
    /// The scheduler and its settings; HZ and the phase of the timer come from the host.
    pub spec: SchedulerSpec,
    /// How request slots are divided into pools.
    pub pool: PoolLayout,
    /// Which devices without a moving head are plugged, on a host that plugs devices.
    pub plug_flash: PlugFlash,
    /// Which submissions unplug the device before any task waits, on a host that plugs devices.
    pub unplugs: Unplugs,
    /// How writes that make data durable are marked.
    pub integrity_writes: IntegrityWrites,
    /// Defect D5: buffered writes are charged to whoever writes them back.
    pub async_of_submitter: bool,
    /// The file with what it inherits and all changes.
    pub resolved: Table,
}

/// A revision file. Its tables belong to one or more families, each parsed by the family's module.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    id: String,
    title: String,
    #[serde(default)]
    historical: bool,
    family: String,
    #[serde(rename = "inherits")]
    _inherits: Option<String>,
    deadline: Option<deadline::DeadlineFile>,
    fair: Option<fair::FairFile>,
    cfq: Option<cfq::CfqFile>,
    quirks: Option<cfq::QuirksFile>,
    #[serde(default)]
    switches: BTreeMap<String, bool>,
    #[serde(default)]
    rules: BTreeMap<String, bool>,
    groups: Option<two_layer::GroupsFile>,
    group_layer: Option<group_cfq::GroupLayerFile>,
    defects: Option<two_layer::DefectsFile>,
    bfq: Option<bfq::BfqFile>,
    raising: Option<bfq::RaisingFile>,
    iocost: Option<iocost::IocostFile>,
    iolatency: Option<iolatency::IolatencyFile>,
    kyber: Option<kyber::KyberFile>,
    mq_deadline: Option<mq_deadline::MqDeadlineFile>,
    shares: Option<shares::SharesFile>,
    mclock: Option<mclock::MclockFile>,
    token_bucket: Option<token_bucket::TokenBucketFile>,
    dm_ioband: Option<dm_ioband::DmIobandFile>,
    #[serde(default)]
    slots: SlotsFile,
    #[serde(default)]
    plug: PlugFile,
    #[serde(default)]
    writes: WritesFile,
}

/// How request slots are divided into pools.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SlotsFile {
    by: SlotsBy,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SlotsBy {
    /// Reads share one pool, and writes another.
    #[default]
    Direction,
    /// Synchronous requests share one pool, and asynchronous ones another.
    Sync,
}

/// How the host marks its writes.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WritesFile {
    integrity: IntegrityName,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum IntegrityName {
    Async,
    Record,
    #[default]
    Noidle,
}

/// The rules of plugging, for hosts that plug devices.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PlugFile {
    flash: PlugFlashName,
    read_ahead_starts: bool,
    direct_writes_start: bool,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PlugFlashName {
    All,
    OneAtATime,
    NeverDeep,
}

impl Default for PlugFile {
    /// The rules before Linux 2.6.30.
    fn default() -> Self {
        Self { flash: PlugFlashName::All, read_ahead_starts: false, direct_writes_start: true }
    }
}

/// The text of a file with everything it inherits filled in.
///
/// # Errors
/// Returns an error if a parent does not exist or inheritance is circular.
pub fn flatten(document: Document) -> Result<Document, CatalogError> {
    inherit::flatten(Kind::Revision, document)
}

/// Loads the scheduler `name` with the changes of scope `scheduler`.
///
/// # Errors
/// Returns an error if the name is unknown, or the first fault of the file or of a change.
pub fn load(name: &str, overrides: &[Override]) -> Result<Revision, CatalogError> {
    let document = flatten(find(Kind::Revision, name)?)?;
    read(&document, &["scheduler"], overrides, Revision::parse)
}

impl Revision {
    /// Parses a revision whose inheritance is [flattened](flatten).
    ///
    /// # Errors
    /// Returns the first fault of the file.
    pub fn parse(document: &Document) -> Result<Self, CatalogError> {
        let source = Source::of(document);
        demand_own_tables(source)?;
        let file: File = source.parse()?;
        check_id(&file.id)
            .and_then(|()| check_line("title", &file.title))
            .map_err(|wrong| source.wrong(wrong))?;
        let defects = file.defects.unwrap_or_default();
        let spec = match file.family.as_str() {
            "noop" => SchedulerSpec::Noop(NoopParams),
            "deadline" => SchedulerSpec::Deadline(file.deadline(source)?),
            "mq-deadline" => SchedulerSpec::MqDeadline(file.mq_deadline(source)?),
            "kyber" => SchedulerSpec::Kyber(file.kyber(source)?),
            "cfq" => SchedulerSpec::Cfq(file.cfq(source)?),
            "two-layer-cfq" => SchedulerSpec::TwoLayerCfq(file.two_layer(source, &defects)?),
            "group-cfq" => SchedulerSpec::GroupCfq(file.group_cfq(source, &defects)?),
            "bfq" => SchedulerSpec::Bfq(file.bfq(source)?),
            "iocost" => SchedulerSpec::Iocost(file.iocost(source)?),
            "iolatency" => SchedulerSpec::Iolatency(file.iolatency(source)?),
            "shares" => SchedulerSpec::Shares(file.shares(source)?),
            "mclock" => SchedulerSpec::Mclock(file.mclock(source)?),
            "token-bucket" => SchedulerSpec::TokenBucket(file.token_bucket(source)?),
            "dm-ioband" => SchedulerSpec::DmIoband(file.dm_ioband(source)?),
            "fair" => SchedulerSpec::Fair(file.fair(source)?),
            other => {
                let message = unknown("family", other, SchedulerSpec::NAMES);
                return Err(source.error_at_key("family", message));
            }
        };
        if !matches!(spec, SchedulerSpec::TwoLayerCfq(_) | SchedulerSpec::GroupCfq(_)) {
            defects.demand_none_of_layers(source)?;
        }
        let shared = defects.d2_shared_request_slots;
        Ok(Self {
            id: document.id.clone(),
            title: file.title,
            historical: file.historical,
            resolved: source.parse()?,
            spec,
            pool: {
                let apart = match file.slots.by {
                    SlotsBy::Direction => Apart::Direction,
                    SlotsBy::Sync => Apart::Sync,
                };
                if shared { PoolLayout::Shared(apart) } else { PoolLayout::PerGroup(apart) }
            },
            plug_flash: match file.plug.flash {
                PlugFlashName::All => PlugFlash::All,
                PlugFlashName::OneAtATime => PlugFlash::OneAtATime,
                PlugFlashName::NeverDeep => PlugFlash::NeverDeep,
            },
            unplugs: Unplugs {
                read_ahead: file.plug.read_ahead_starts,
                direct_writes: file.plug.direct_writes_start,
            },
            integrity_writes: match file.writes.integrity {
                IntegrityName::Async => IntegrityWrites::Async,
                IntegrityName::Record => IntegrityWrites::Record,
                IntegrityName::Noidle => IntegrityWrites::Noidle,
            },
            async_of_submitter: defects.d5_async_of_submitter,
        })
    }

    /// Loads the scheduler `name`: an id of the catalogue or the path of a `.toml` file.
    ///
    /// # Errors
    /// Returns an error if there is no such scheduler, or the first fault of its file.
    pub fn load(name: &str) -> Result<Self, CatalogError> {
        load(name, &[])
    }

    /// The ids of the catalogue's schedulers that are not [history](Self::historical).
    #[must_use]
    pub fn of_today() -> Vec<String> {
        let is_history = |id: &str| Self::load(id).is_ok_and(|known| known.historical);
        Kind::Revision.ids().filter(|id| !is_history(id)).map(str::to_owned).collect()
    }

    /// The specification for a host with `hz` ticks per second and a timer that is `phase` into a
    /// tick.
    #[must_use]
    pub const fn on_host(&self, hz: u32, phase: Span) -> SchedulerSpec {
        let mut spec = self.spec;
        if let SchedulerSpec::Cfq(cfq)
        | SchedulerSpec::TwoLayerCfq(TwoLayerParams { cfq, .. })
        | SchedulerSpec::GroupCfq(GroupCfqParams { cfq, .. }) = &mut spec
        {
            cfq.hz = hz;
            cfq.tick_phase = phase;
        }
        spec
    }
}

/// The tables of all families.
const TABLES: &[&str] = &[
    "deadline",
    "mq_deadline",
    "kyber",
    "fair",
    "rules",
    "cfq",
    "quirks",
    "switches",
    "groups",
    "group_layer",
    "bfq",
    "raising",
    "iocost",
    "iolatency",
    "shares",
    "mclock",
    "token_bucket",
    "dm_ioband",
];

/// Checks that every table belongs to the file's family, before any of them is parsed.
fn demand_own_tables(source: Source<'_>) -> Result<(), CatalogError> {
    let file: Table = source.parse()?;
    let family = file.get("family").and_then(Value::as_str).unwrap_or_default();
    let odd = TABLES.iter().find(|table| file.contains_key(**table) && !is_own(family, table));
    let is_known = SchedulerSpec::NAMES.contains(&family);
    let Some(table) = odd.filter(|_| is_known) else { return Ok(()) };
    let text = format!("table `[{table}]` is of another family than `{family}`; drop it");
    Err(source.error_at_key(table, Fault::OtherFamily(text)))
}

/// Whether a table is of this family.
fn is_own(family: &str, table: &str) -> bool {
    const CFQ: &[&str] = &["cfq", "quirks", "switches"];
    match family {
        "two-layer-cfq" => table == "groups" || CFQ.contains(&table),
        "group-cfq" => table == "group_layer" || CFQ.contains(&table),
        "cfq" => CFQ.contains(&table),
        "bfq" => matches!(table, "bfq" | "raising" | "switches"),
        "mq-deadline" => matches!(table, "deadline" | "mq_deadline"),
        "fair" => matches!(table, "fair" | "rules"),
        _ => table == family.replace('-', "_"),
    }
}

fn need<T>(value: Option<T>, table: &str, source: Source<'_>) -> Result<T, CatalogError> {
    value.ok_or_else(|| source.error_at_key("family", format!("missing table `[{table}]`")))
}

/// Refuses values that a scheduler would misinterpret or that overflow.
fn demand(
    source: Source<'_>,
    range: RangeInclusive<u32>,
    values: &[(&str, u32)],
) -> Result<(), CatalogError> {
    let mut values = values.iter();
    let demanded = values.try_for_each(|(path, value)| demand_within(range.clone(), path, *value));
    demanded.map_err(|wrong| source.wrong(wrong))
}

/// The weight map called `name`, which is given at `path`.
fn weight_map(source: Source<'_>, path: &str, name: &str) -> Result<WeightMap, CatalogError> {
    WeightMap::named(name).ok_or_else(|| {
        let known = WeightMap::ALL.map(|(name, _)| name);
        source.error_at_key(path, unknown("weight map", name, &known))
    })
}

/// The largest time or count in a scheduler's settings.
const MOST: u32 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_sched::bfq::{self, BfqParams};
    use fairdisk_sched::cfq::switches::REVISIONS;
    use fairdisk_sched::cfq::{CfqParams, Switches};
    use fairdisk_sched::fair::FairParams;

    #[test]
    fn every_revision_of_the_catalogue_loads_under_its_own_name() {
        for id in Kind::Revision.ids() {
            let revision = Revision::load(id).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(revision.id, id);
        }
    }

    #[test]
    fn a_wrong_id_does_not_hide_what_a_number_may_be() {
        let document = find(Kind::Revision, "cfq-2.6.25").unwrap();
        let mut table: Table = document.text.parse().unwrap();
        table["id"] = "own".into();
        table["cfq"]["slice_idle_ms"] = (-1).into();
        let text = toml::to_string(&table).unwrap();
        let error = read(&document.derived(text), &["scheduler"], &[], Revision::parse);
        let error = error.err().unwrap().to_string();
        assert!(error.ends_with("`slice_idle_ms` is -1; allowed: 0 to 1000000"), "{error}");
    }

    /// The specification of a revision, whose file names all switches.
    fn revision_with_switches(id: &str) -> SchedulerSpec {
        let document = flatten(find(Kind::Revision, id).unwrap()).unwrap();
        let table: Table = document.text.parse().unwrap();
        let switches = table["switches"].as_table().unwrap();
        let spec = Revision::load(id).unwrap().spec;
        let names = || SchedulerSpec::switches_of(Some(spec.name())).map(|switch| switch.name);
        assert!(names().all(|name| switches.contains_key(name)), "{id}: not all named");
        assert_eq!(switches.len(), names().count(), "{id}");
        spec
    }

    #[test]
    fn every_revision_of_bfq_has_its_switches_and_names_them_all() {
        for id in [bfq::Switches::FIRST].iter().chain(bfq::switches::REVISIONS) {
            let SchedulerSpec::Bfq(params) = revision_with_switches(id) else {
                panic!("{id}: another family");
            };
            let (switches, seeky_idle) =
                (bfq::Switches::of_revision(id).unwrap(), Span::from_ms(2));
            let expected = BfqParams { switches, seeky_idle, ..BfqParams::default() };
            assert_eq!(params, expected, "{id}");
        }
        let documented = Revision::load("bfq").unwrap().spec;
        assert_eq!(documented, SchedulerSpec::Bfq(BfqParams::default()));
    }

    #[test]
    fn every_revision_of_cfq_has_its_switches_and_names_them_all() {
        let defaults = CfqParams::default();
        let revisions = ["cfq-2.6.25"].iter().chain(REVISIONS);
        for id in revisions {
            let SchedulerSpec::Cfq(params) = revision_with_switches(id) else {
                panic!("{id}: another family");
            };
            let switches = Switches::of_revision(id).unwrap();
            // The other tables are those of 2.6.25, except for one default.
            let quantum = if *id == "cfq-2.6.34" { 8 } else { defaults.quantum };
            assert_eq!(params, CfqParams { switches, quantum, ..defaults }, "{id}");
        }
    }

    #[test]
    fn what_a_file_leaves_out_is_as_in_the_code() {
        let mut document = flatten(find(Kind::Revision, "two-layer-cfq").unwrap()).unwrap();
        let optional = ["seeky_idle_ms", "target_latency_ms", "serve_together", "wait_max_ms"];
        let is_given = |line: &&str| !optional.iter().any(|key| line.starts_with(key));
        let (all, given) = (document.text.lines(), document.text.lines().filter(is_given));
        assert_eq!(all.count() - given.clone().count(), optional.len());
        document.text = given.collect::<Vec<_>>().join("\n").into();
        let spec = Revision::parse(&document).unwrap().spec;
        assert_eq!(spec, SchedulerSpec::TwoLayerCfq(TwoLayerParams::default()));
    }

    #[test]
    fn a_switch_that_is_unknown_or_of_another_family_is_refused() {
        let with = |id: &str, line: &str| {
            let mut document = flatten(find(Kind::Revision, id).unwrap()).unwrap();
            let lines: Vec<&str> = document.text.lines().collect();
            let name = line.split(' ').next().unwrap();
            let others = lines.into_iter().filter(|line| !line.starts_with(name));
            let text: Vec<&str> = others
                .flat_map(|one| [Some(one), (one == "[switches]").then_some(line)])
                .flatten()
                .collect();
            document.text = text.join("\n").into();
            Revision::parse(&document).map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(with("cfq-2.6.25", "idle_corner_a = true"), Ok(()));
        let error = with("cfq-2.6.25", "idle_corner_c = true").unwrap_err();
        assert!(error.contains("did you mean `idle_corner_"), "{error}");
        let error = with("two-layer-cfq", "idle_corner_a = true").unwrap_err();
        assert!(error.contains("of the family cfq"), "{error}");
    }

    #[test]
    fn fair_has_the_defaults_of_its_code() {
        let revision = Revision::load("fair").unwrap();
        assert_eq!(revision.spec, SchedulerSpec::Fair(FairParams::default()));
        assert_eq!(revision.pool, PoolLayout::PerGroup(Apart::Sync));
        assert!(!revision.async_of_submitter);
    }

    #[test]
    fn the_two_layer_scheduler_inherits_the_cfq_of_2_6_25() {
        let flat = Revision::load("cfq-2.6.25").map(|revision| revision.spec);
        let two_layer = Revision::load("two-layer-cfq").map(|revision| revision.spec);
        let (Ok(SchedulerSpec::Cfq(flat)), Ok(SchedulerSpec::TwoLayerCfq(two))) = (flat, two_layer)
        else {
            panic!("other families");
        };
        assert_eq!(two.cfq, flat);
        assert_eq!(flat, CfqParams::default());
    }
}
