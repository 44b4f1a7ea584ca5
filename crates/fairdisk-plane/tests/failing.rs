//! Runs that end with the first failed request.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use common::{ClosedLoop, Mix};
use fairdisk_core::{EngineConfig, Span};
use fairdisk_plane::backend::{Faults, Faulty, Memory};
use fairdisk_plane::{FakeClock, Pattern, Shell, ShellReport};
use fairdisk_sched::SchedulerSpec;

const SECTORS: u64 = 1 << 12;
const DEPTH: u32 = 4;

fn run(end_on_failure: bool) -> ShellReport {
    let config = EngineConfig { depth: DEPTH, ..EngineConfig::default() };
    let elevator = SchedulerSpec::named("deadline").unwrap().build();
    let load = ClosedLoop::new(elevator, config, Mix::new(8, 100, SECTORS), 1);
    let faults =
        Faults { errors_per_mille: 50, delays_per_mille: 500, delay_max: Span::from_ms(1) };
    let backend = Faulty::new(Memory::new(SECTORS, DEPTH), faults, 7);
    let shell = Shell::new(load, backend, FakeClock::new()).with_payload(Pattern::new());
    let mut shell = if end_on_failure { shell.end_on_failure() } else { shell };
    shell.run().unwrap()
}

#[test]
fn the_first_failure_ends_a_run_that_wants_it() {
    let (to_its_end, ended) = (run(false), run(true));
    assert!(to_its_end.errors > 10 && to_its_end.stopped.is_none(), "{to_its_end:?}");
    let first = ended.first_error.unwrap();
    assert_eq!(ended.stopped, Some(first.at), "{ended:?}");
    assert_eq!(Some(first), to_its_end.first_error, "the same until then");
    assert!(ended.requests < to_its_end.requests / 2, "{ended:?}");
}
