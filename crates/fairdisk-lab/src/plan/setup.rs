//! From a plan to a machine for one arm, one row and one seed.

use super::loaded::{Children, GroupLabel, Loaded, sectors_needed};
use super::{GroupNumbers, Plan, PlannedArm, PlannedRow, ROOT_GROUP, Rig};
use crate::catalog::device::{Adapter, Array};
use crate::catalog::error::Where;
use crate::catalog::host::Host;
use crate::catalog::library::Document;
use crate::catalog::revision::Revision;
use fairdisk_core::{EngineConfig, Instant, PlugConfig, PoolConfig, Prng, Refusal, Span, Ticks};
use fairdisk_sched::Scheduler;
use fairdisk_sim::device::{Attachment, Device as _, DeviceModel, DeviceSpec, Jbod};
use fairdisk_sim::host::CpuSpec;
use fairdisk_sim::{DiskConfig, GroupSpec, Machine, MachineConfig};
use std::fmt;
use std::ops::Range;

/// A load that can be laid out on a disk.
pub trait Load: fmt::Debug + Send + Sync {
    /// Lays out the load, with positions and order drawn from `prng`.
    fn build(&self, host: &Host, ionice: bool, prng: &mut Prng) -> Loaded;

    /// Where a part of the load is written.
    fn place(&self, _what: Written) -> Where {
        Where::Unstated
    }

    /// The experiment of which the load is a row, if it is one.
    fn document(&self) -> Option<&Document> {
        None
    }

    /// A text of all that determines the load. Where it is written does not.
    fn identity(&self) -> String {
        format!("{self:?}")
    }

    /// The tests of iozone that the load consists of, with the lines of the report for each.
    fn children(&self) -> &[Children] {
        &[]
    }

    /// What of the load counts against what the caller says, in sentences.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The names of the groups, without the root group.
    fn group_names(&self) -> Vec<String>;

    /// The names of the lines in the report on tasks.
    fn task_names(&self) -> Vec<String>;

    /// Whether the tasks of a line end by themselves, so that their rates can be compared only when
    /// they have.
    fn has_end(&self, line: usize) -> bool;
}

/// A part of a load that is written in a file.
#[derive(Clone, Copy, Debug)]
pub enum Written {
    /// The volume with this index.
    Volume(usize),
    /// A key of the group with this index.
    Group(usize, &'static str),
}

/// Why a load cannot be run.
#[derive(Clone, Debug, PartialEq)]
pub enum Obstacle {
    /// The load does not fit the disk or the time, whatever the scheduler.
    Load(String),
    /// The scheduler refuses the floor of a group; other schedulers may not.
    Refusal {
        /// The reason.
        reason: String,
        /// Index of the group in the load; `None` for the root group.
        group: Option<usize>,
        /// The part of the floor for which the scheduler has room.
        room: f64,
    },
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Load(why) | Self::Refusal { reason: why, .. }) = self;
        f.write_str(why)
    }
}

impl From<Obstacle> for String {
    fn from(obstacle: Obstacle) -> Self {
        let (Obstacle::Load(why) | Obstacle::Refusal { reason: why, .. }) = obstacle;
        why
    }
}

/// A disk with its scheduler and its load.
struct Part {
    scheduler: Scheduler,
    model: DeviceModel,
    config: DiskConfig,
    loaded: Loaded,
    sectors_needed: u64,
    tick_phase: Span,
}

/// A machine ready to run, and the disks for it.
#[derive(Debug)]
pub struct Setup {
    /// The machine.
    pub machine: Machine<Scheduler>,
    /// The disks, with their platters at random angles.
    pub jbod: Jbod,
    /// The groups, without the root group.
    pub groups: Vec<GroupLabel>,
    /// The tasks of each line of the report, in the order of [`Load::task_names`], disk by disk and
    /// partition by partition.
    pub named: Vec<Range<usize>>,
    /// Index of the root group among the groups, if it is one of them.
    pub root: Option<usize>,
    /// The number of sectors that each disk must have for the load to fit.
    pub sectors_needed: u64,
    /// For each disk, when its ticks are.
    pub tick_phases: Vec<Span>,
}

/// The first seed of an ensemble; any number would do.
const SEED_BASE: u64 = 0x5EED_2008;

impl Plan {
    /// Builds the machine for one arm, row and seed: with all disks if they run together, else with
    /// the first disk and its part of the memory.
    ///
    /// # Errors
    /// Returns an error if the load does not fit the disk, or if the scheduler refuses a group's
    /// floor.
    pub fn setup(&self, arm: &PlannedArm, row: &PlannedRow, seed: u32) -> Result<Setup, Obstacle> {
        let first = arm.rig.machines().next().unwrap_or(0..1);
        self.setup_disks(arm, row, seed, first)
    }

    /// Builds the machine of some disks: their tasks and their part of the memory.
    ///
    /// # Errors
    /// Returns an error if the load does not fit a disk, or if the scheduler refuses a group's
    /// floor.
    pub fn setup_disks(
        &self,
        arm: &PlannedArm,
        row: &PlannedRow,
        seed: u32,
        disks: Range<u32>,
    ) -> Result<Setup, Obstacle> {
        if !row.events.is_empty() {
            let why = "events are carried out by `fairdisk run` in the lab alone";
            return Err(Obstacle::Load(format!("row `{}`: {why}; leave it out", row.label)));
        }
        self.assemble(arm, row, seed, disks)
    }

    /// Builds the machine of some disks, whose events the caller carries out.
    ///
    /// # Errors
    /// As [`Self::setup_disks`].
    pub(crate) fn assemble(
        &self,
        arm: &PlannedArm,
        row: &PlannedRow,
        seed: u32,
        disks: Range<u32>,
    ) -> Result<Setup, Obstacle> {
        let rig = &arm.rig;
        let memory_pages =
            rig.host.memory.mib * 256 * disks.len() as u64 / u64::from(rig.array.disks);
        let mut loaded = Loaded::default();
        let (mut schedulers, mut models, mut configs) = (Vec::new(), Vec::new(), Vec::new());
        let (mut sectors_needed, mut tick_phases) = (0, Vec::new());
        for (at, number) in (0..).zip(disks) {
            let one = self.one_disk(arm, row, (number, root(seed, number)))?;
            sectors_needed = sectors_needed.max(one.sectors_needed);
            tick_phases.push(one.tick_phase);
            schedulers.push(one.scheduler);
            models.push(one.model);
            configs.push(one.config);
            loaded.add_disk(one.loaded, at);
        }
        let Loaded { groups: labels, volumes, files, tasks, named, root: root_at, .. } = loaded;
        let root_spec = root_at.map_or_else(GroupSpec::default, |at| labels[at].spec);
        let mut groups = vec![root_spec];
        // The index of the root group in the load stays empty, because the machine has its own root
        // group.
        let own = |(at, group): (usize, &GroupLabel)| {
            if root_at == Some(at) { GroupSpec::default() } else { group.spec }
        };
        groups.extend(labels.iter().enumerate().map(own));
        let numbers = GroupNumbers { root: root_at };
        let made_later = row.made_later().map(|at| numbers.id(at)).collect();
        let config = MachineConfig {
            disks: configs,
            cpu: cpu_spec(&rig.host),
            read_ahead_pages: rig.host.read_ahead_kib / 4,
            memory_pages,
            memory: rig.host.memory.config(rig.host.cpus),
            write_behind_bytes: rig.host.write_behind_kib * 1024,
            write_back: rig.host.write_back.map(|back| back.spec()),
            meta_hint: rig.host.meta_hint,
            async_of_submitter: arm.revision.async_of_submitter,
            integrity_writes: arm.revision.integrity_writes,
            unplugs: arm.revision.unplugs,
            groups,
            made_later,
            volumes,
            files,
            tasks,
            keep_journal: self.keep_journal,
        };
        let Array { link_mb_per_s: shared_mb_per_s, adapter, .. } = rig.array;
        let Adapter { link_mb_per_s: own_mb_per_s, cost, .. } = adapter;
        let jbod = Jbod::attached(models, Attachment { shared_mb_per_s, own_mb_per_s, cost });
        let (groups, root) = (labels, root_at);
        let machine = Machine::of_disks(schedulers, config);
        match machine.refused() {
            None => Ok(Setup { machine, jbod, groups, named, root, sectors_needed, tick_phases }),
            Some(refusal @ &Refusal::Floor { group, takes, left }) => {
                let group = GroupNumbers { root }.place(group);
                let room = left.as_ns() as f64 / takes.as_ns() as f64;
                let reason = self.refused(arm, row, refusal, (group, &groups));
                Err(Obstacle::Refusal { reason, group, room })
            }
            // Not of groups as they are read: each was added, and none is in itself.
            Some(refusal) => Err(Obstacle::Load(refusal.to_string())),
        }
    }

    /// One disk with its load, drawn from its own random numbers: it is the same beside other disks
    /// of the machine as in a machine of its own.
    fn one_disk(
        &self,
        arm: &PlannedArm,
        row: &PlannedRow,
        (number, root): (u32, Prng),
    ) -> Result<Part, Obstacle> {
        let rig = &arm.rig;
        let mut prng = root.fork(1);
        let (mut loaded, sectors_needed) = self.load_partitions(arm, row, (number, &mut prng))?;
        arm.prioritize(&mut loaded.groups);
        for volume in &mut loaded.volumes {
            if let Some(journal) = &mut volume.journal {
                journal.second_phase = Span::from_ns(prng.below(1_000_000_000));
            }
        }
        let model = rig.device.build_at_phase(prng.next_u64());
        let tick_phase = Span::from_ns(prng.below(1_000_000_000 / u64::from(rig.host.hz)));
        let (honours, queue) = (arm.revision.spec.honours(), &rig.host.queue);
        let tells_costs = honours.costs && queue.tells_costs;
        let engine = engine_config(&rig.host, &arm.revision, model.depth(), tick_phase);
        let config = DiskConfig {
            seed: root.fork(2).next_u64(),
            engine: EngineConfig { segments: rig.array.adapter.segments, ..engine },
            rotational: rig.device.is_rotational(),
            serves_together: model.serves_together(),
            costs: tells_costs.then(|| rig.costs()),
        };
        let scheduler = arm.revision.on_host(rig.host.hz, tick_phase).build();
        Ok(Part { scheduler, model, config, loaded, sectors_needed, tick_phase })
    }

    /// The reason for which a scheduler refuses the floor of the group with index `at`.
    fn refused(
        &self,
        arm: &PlannedArm,
        row: &PlannedRow,
        refusal: &Refusal,
        (at, groups): (Option<usize>, &[GroupLabel]),
    ) -> String {
        let label = at.and_then(|at| Some((at, groups.get(at)?)));
        let name = label.map_or(ROOT_GROUP, |(_, label)| &label.name);
        let place = label.and_then(|(at, label)| {
            // Floors come first.
            let (floor, _) = label.spec.qos.settings().next()?;
            Some(row.load.place(Written::Group(at, floor.name())))
        });
        format!(
            "{}`{}` refuses group `{name}` on device `{}`: {refusal}; ask for less, or choose a \
             faster --device",
            place.unwrap_or(Where::Unstated).prefix(),
            arm.revision.id,
            arm.rig.device_id
        )
    }

    /// The load on every partition of a disk, and the number of sectors it needs.
    fn load_partitions(
        &self,
        arm: &PlannedArm,
        row: &PlannedRow,
        (number, prng): (u32, &mut Prng),
    ) -> Result<(Loaded, u64), Obstacle> {
        let rig = &arm.rig;
        let partition = partition_sectors(&rig.device, rig.array);
        let mut loaded = Loaded::default();
        let mut reach = 0;
        for partition_number in 0..u64::from(rig.array.partitions) {
            let mut part = row.load.build(&rig.host, arm.ionice, prng);
            part.keep_disk(number);
            let (needed, volume) = sectors_needed(&part);
            if needed > partition {
                let place = row.load.place(Written::Volume(volume));
                let words = too_small(rig, needed, partition);
                let message = format!("{}{words}", place.prefix());
                return Err(Obstacle::Load(message));
            }
            let start = partition_number * partition;
            reach = start + needed;
            loaded.add_partition(part, start);
        }
        Ok((loaded, reach))
    }
}

fn too_small(rig: &Rig, needed: u64, partition: u64) -> String {
    let has = match rig.array.partitions {
        1 => "has",
        _ => "has partitions of",
    };
    // Whole GiB would say too little about a small device.
    let (unit, name) = match partition {
        small if small < 10 * GIB_SECTORS => (MIB_SECTORS, "MiB"),
        _ => (GIB_SECTORS, "GiB"),
    };
    format!(
        "the load needs {} {name}, device `{}` {has} {} {name}; choose a larger --device or a \
         smaller load",
        needed.div_ceil(unit),
        rig.device_id,
        partition / unit,
    )
}

/// The generator of a disk's random numbers. That of the first disk is the run's own.
fn root(seed: u32, disk: u32) -> Prng {
    let root = Prng::new(SEED_BASE.wrapping_add(u64::from(seed)));
    if disk == 0 { root } else { root.fork(FIRST_DISK + u64::from(disk)) }
}

/// Forks of a run's generator below this number belong to the first disk.
const FIRST_DISK: u64 = 1000;
const MIB_SECTORS: u64 = 1 << 11;
const GIB_SECTORS: u64 = 1 << 21;

/// The size of each partition, in whole blocks of 4 KiB.
pub(super) fn partition_sectors(device: &DeviceSpec, array: Array) -> u64 {
    match array.partitions {
        1 => device.capacity_sectors(),
        partitions => device.capacity_sectors() / partitions as u64 / 8 * 8,
    }
}

fn engine_config(host: &Host, revision: &Revision, depth: u32, tick_phase: Span) -> EngineConfig {
    let plug = host.plug.map(|plug| PlugConfig {
        requests: plug.requests,
        delay: Span::from_ms(plug.delay_ms),
        flash: revision.plug_flash,
    });
    let allowed = if host.queue.depth == 0 { depth } else { host.queue.depth };
    EngineConfig {
        depth: depth.min(allowed).max(1),
        peek: host.queue.peek,
        pool: PoolConfig {
            layout: revision.pool,
            requests: host.queue.requests,
            batch_requests: host.queue.batch_requests,
        },
        ticks: Ticks::new(host.hz, tick_phase),
        merge_sectors_max: host.queue.merge_kib_max * 2,
        segments: None,
        keeps_order: true,
        plug,
    }
}

const fn cpu_spec(host: &Host) -> CpuSpec {
    CpuSpec {
        cpus: host.cpus,
        turnaround_min: Span::from_us(host.turnaround_us[0]),
        turnaround_max: Span::from_us(host.turnaround_us[1]),
        slot_wake: Span::from_us(host.slot_wake_us),
        metadata_wake: Span::from_us(host.metadata_wake_us),
        page_copy: Span::from_ns(host.page_copy_ns),
        page_fault: Span::from_ns(host.memory.fault_ns),
    }
}

/// Tasks do not start at the same instant but spread over this time.
pub(crate) const START_SPREAD: Span = Span::from_ms(50);

/// A random start within the spread.
pub(super) fn start(prng: &mut Prng) -> Instant {
    Instant::ZERO + Span::from_ns(prng.below(START_SPREAD.as_ns()))
}
