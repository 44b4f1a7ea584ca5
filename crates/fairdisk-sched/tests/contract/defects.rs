//! The defects that schedulers have as switches: they show when on, and are gone when off.
//! (Two-layer CFQ without any of them also goes through the storms of the suite: no record stays
//! behind after any sequence of changes, and the auditor enforces the bound on waiting that it
//! states.)

use crate::world::World;
use fairdisk_core::{
    Auditor, Bio, BioId, Change, Elevator, EngineConfig, Flags, GroupId, Input, Instant, IoPrio,
    Lba, Op, Sectors, Share, Span, TaskId, WeightMap,
};
use fairdisk_sched::bfq::BfqParams;
use fairdisk_sched::group_cfq::GroupCfqParams;
use fairdisk_sched::two_layer::{TwoLayerParams, WAIT_MAX};
use fairdisk_sched::{Scheduler, SchedulerSpec};

/// Two-layer CFQ without defects.
pub(crate) fn without_defects() -> SchedulerSpec {
    SchedulerSpec::TwoLayerCfq(TwoLayerParams {
        d1_stale_group_records: false,
        d3_unbounded_wait: false,
        d4_nominal_turns: false,
        inner_turn_resumes: true,
        ..TwoLayerParams::default()
    })
}

/// Two-layer CFQ without defects, with tasks served together where the device is faster that way.
pub(crate) fn as_mounted() -> SchedulerSpec {
    match without_defects() {
        SchedulerSpec::TwoLayerCfq(mut params) => {
            params.cfq.serve_together = true;
            SchedulerSpec::TwoLayerCfq(params)
        }
        other => other,
    }
}

/// group-cfq without the causes of weak priorities, and with a bound on waiting.
pub(crate) fn strong_group_cfq() -> SchedulerSpec {
    SchedulerSpec::GroupCfq(GroupCfqParams {
        weight_map: WeightMap::LinearHigh7,
        group_slice_ms: 20,
        turn_ends_when_empty: false,
        device_wide_busy_count: false,
        foreign_preemption: false,
        d3_unbounded_wait: false,
        ..GroupCfqParams::default()
    })
}

/// group-cfq in which all reads belong to the root group.
pub(crate) fn reads_of_the_root_group() -> SchedulerSpec {
    let params = GroupCfqParams { reads_of_group: false, ..GroupCfqParams::default() };
    SchedulerSpec::GroupCfq(params)
}

/// BFQ configured for exact shares.
pub(crate) fn strict_bfq() -> SchedulerSpec {
    SchedulerSpec::Bfq(BfqParams {
        strict_guarantees: true,
        low_latency: false,
        ..BfqParams::default()
    })
}

/// BFQ with short turns of few sectors, so that turns end in every possible way.
pub(crate) fn hasty_bfq() -> SchedulerSpec {
    SchedulerSpec::Bfq(BfqParams {
        timeout: Span::from_ms(3),
        slice_idle: Span::from_ms(1),
        max_budget_sectors: 64,
        ..BfqParams::default()
    })
}

fn historical() -> SchedulerSpec {
    SchedulerSpec::TwoLayerCfq(TwoLayerParams::default())
}

const WRITE: BioId = BioId(0);
const HOG: TaskId = TaskId(0);
const WRITER: TaskId = TaskId(1);

fn bio(number: u64) -> Bio {
    let write = BioId(number) == WRITE;
    Bio {
        id: BioId(number),
        task: if write { WRITER } else { HOG },
        group: GroupId(1),
        op: if write { Op::Write } else { Op::Read },
        start: Lba(1000 * number),
        sectors: Sectors(8),
        sync: !write,
        flags: Flags::NONE,
        ioprio: IoPrio::UNSET,
    }
}

/// Runs one asynchronous write beside a task that keeps the disk busy with reads, and returns
/// whether the write was served. Its queue gets turns, but each is preempted by the next read
/// before the disk has drained.
fn write_beside_a_hog(spec: SchedulerSpec, length: Span) -> (bool, World<Auditor<Scheduler>>) {
    let config = EngineConfig { depth: 8, ..EngineConfig::default() };
    let mut world = World::new(Auditor::new(spec.build()), config, 1);
    world.service = Span::from_ms(10);
    let (group, share) = (GroupId(1), Share::Priority(0));
    world.handle(Input::Configure(Change::GroupAdded { group, share }));
    let mut submitted = 0;
    while world.now - Instant::ZERO < length {
        while world.ledger.live() < 40 {
            submitted += 1;
            // The hog is there first.
            world.submit(bio(if submitted == 40 { WRITE.0 } else { submitted }));
        }
        world.run_until(world.now + Span::from_us(50));
    }
    let waits = world.ledger.leftovers().iter().any(|left| left.id == WRITE);
    (!waits, world)
}

#[test]
fn d3_on_starves_a_write_and_off_does_not() {
    let (served, world) = write_beside_a_hog(historical(), Span::from_s(12));
    assert!(!served, "the hog let it pass");
    assert_eq!(world.engine.elevator().describe().wait_max, None);
    let (served, world) = write_beside_a_hog(without_defects(), Span::from_s(12));
    assert!(served, "it has waited for twelve seconds");
    let bound = world.engine.elevator().describe().wait_max.expect("it states a bound");
    assert!(bound > WAIT_MAX && bound < WAIT_MAX + Span::from_s(1), "{bound}");
    let waited = world.engine.accounts().iter().map(|(_, group)| group.wait_max()).max();
    assert!(waited >= Some(WAIT_MAX) && waited < Some(WAIT_MAX + Span::from_s(1)), "{waited:?}");
}
