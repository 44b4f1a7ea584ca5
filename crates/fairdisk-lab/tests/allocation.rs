//! In steady state, a run in the lab does not allocate memory: neither tasks, host and engine nor
//! scheduler and disk.

#[path = "../../fairdisk-sched/tests/support/counting.rs"]
mod counting;

use counting::allocations;
use fairdisk_core::{Instant, Span};
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::jobfile::{Context, JobFile};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_sim::World;

/// Allocations in the second minute of a run, and the bios completed in it.
fn second_minute(plan: &Plan) -> (u64, u64) {
    minute_after(plan, 1)
}

/// Allocations in the minute after `minutes` minutes, and the bios completed in it.
fn minute_after(plan: &Plan, minutes: u64) -> (u64, u64) {
    let setup = plan.setup(&plan.arms[0], &plan.rows[0], 0).expect("it fits");
    let mut world = World::new(setup.machine, setup.jbod);
    let begin = Instant::ZERO + Span::from_s(60 * minutes);
    world.run_until(begin);
    let count = |world: &World<_>| (allocations(), world.machine().engine(0).accounts().completed);
    let before = count(&world);
    world.run_until(begin + Span::from_s(60));
    let after = count(&world);
    (after.0 - before.0, after.1 - before.1)
}

fn jobs(text: &str, sets: &[&str]) -> Plan {
    let text = format!("[global]\nsize=1g\nruntime=1h\ntime_based\n{text}");
    let resolved = JobFile::parse("test.fio", &text, &Context::closed())
        .and_then(|file| file.resolve())
        .unwrap_or_else(|problems| panic!("{problems}"));
    let overrides = sets.iter().map(|set| Override::parse(set).expect("well formed")).collect();
    let options = Options { overrides, ..Options::default() };
    Plan::job_file("test.fio", &resolved, &options).expect("disk and scheduler exist")
}

#[test]
fn jobs_do_not_allocate_in_steady_state() {
    let kinds = [
        "[direct]\nrw=randrw\ndirect=1\nnumjobs=8\n",
        "[queued]\nrw=randread\ndirect=1\nioengine=libaio\niodepth=16\nnumjobs=4\n",
        "[sequential]\nrw=read\nbs=64k\nnumjobs=3\n",
        "[written-back]\nrw=randwrite\nnumjobs=3\n",
        "[mapped]\nrw=randread\nioengine=mmap\nbs=64k\nnumjobs=8\n",
        "[mapped-writers]\nrw=randwrite\nioengine=mmap\nfadvise_hint=0\nnumjobs=3\n",
        "[durable]\nrw=write\nfsync=8\nthinktime=10ms\n",
    ];
    for kind in kinds {
        let (allocations, finished) = second_minute(&jobs(kind, &[]));
        assert!(finished > 500, "{finished} in {kind}");
        assert_eq!(allocations, 0, "for {finished} bios of {kind}");
    }
}

/// The number of pages being written back reaches its maximum only after a while.
#[test]
fn dirty_pages_are_written_back_without_allocating() {
    let kinds = [
        "[sequential]\nrw=write\nbs=64k\nnumjobs=3\n",
        "[random]\nrw=randwrite\nnumjobs=3\n",
        "[mapped]\nrw=randwrite\nioengine=mmap\nfadvise_hint=0\nnumjobs=3\n",
        "[durable]\nrw=write\nfsync=8\nthinktime=10ms\n",
    ];
    for kind in kinds {
        let plan = jobs(kind, &["host.write_back.limit_percent=20", "host.memory.mib=64"]);
        let (allocations, finished) = minute_after(&plan, 5);
        assert!(finished > 500, "{finished} in {kind}");
        assert_eq!(allocations, 0, "for {finished} bios of {kind}");
    }
}

/// Passes over small files that visit every block once, and therefore end and restart all the time.
#[test]
fn a_new_pass_does_not_allocate() {
    let kinds = [
        "[mapped]\nrw=randwrite\nioengine=mmap\nfadvise_hint=0\nnumjobs=3\nsize=1m\nthinktime=2ms\n",
        "[written-back]\nrw=randwrite\nnumjobs=3\nsize=1m\nthinktime=2ms\n",
        "[direct]\nrw=randread\ndirect=1\nnumjobs=3\nsize=1m\n",
    ];
    for kind in kinds {
        for sets in [&[][..], &["host.write_back.limit_percent=20", "host.memory.mib=64"]] {
            let (allocations, finished) = minute_after(&jobs(kind, sets), 5);
            assert!(finished > 0, "in {kind} with {sets:?}");
            assert_eq!(allocations, 0, "for {finished} bios of {kind} with {sets:?}");
        }
    }
}

#[test]
fn experiments_do_not_allocate_in_steady_state() {
    for name in ["two-groups", "satoshi-2008-05-27-test1", "zhang-2009-12-31-fio-mmap"] {
        let plan = Plan::experiment(name, &Options::default()).expect("it is in the catalogue");
        let (allocations, finished) = second_minute(&plan);
        assert_eq!(allocations, 0, "for {finished} bios of {name}");
    }
}
