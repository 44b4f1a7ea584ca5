//! The revisions of CFQ and BFQ: each keeps the laws (in the storms of the suite), as does any
//! combination of their switches. With all switches off, the later implementation of CFQ makes the
//! decisions of the one for 2.6.25.

use crate::storm::{Kind, Storm};
use crate::{configs, weather};
use fairdisk_core::{Prng, Span};
use fairdisk_sched::bfq::{self, BfqParams};
use fairdisk_sched::cfq::switches::REVISIONS;
use fairdisk_sched::cfq::{CfqParams, Quirks, SWITCHES, Switches};
use fairdisk_sched::revised::RevisedCfq;
use fairdisk_sched::{Scheduler, SchedulerSpec};

fn params(switches: Switches) -> CfqParams {
    CfqParams { switches, ..CfqParams::default() }
}

fn bfq(switches: bfq::Switches) -> BfqParams {
    let seeky_idle = Span::from_ms(2);
    BfqParams { switches, seeky_idle, ..BfqParams::default() }
}

/// Every revision of BFQ, and every one of CFQ after 2.6.25.
pub(crate) fn all() -> impl Iterator<Item = SchedulerSpec> {
    let switches = REVISIONS.iter().filter_map(|revision| Switches::of_revision(revision));
    let of_cfq = switches.map(|switches| SchedulerSpec::Cfq(params(switches)));
    let of_bfq = [bfq::Switches::FIRST].iter().chain(bfq::switches::REVISIONS);
    let of_bfq = of_bfq.filter_map(|revision| bfq::Switches::of_revision(revision));
    of_cfq.chain(of_bfq.map(|switches| SchedulerSpec::Bfq(bfq(switches))))
}

/// The set of quirks encoded in the bits.
fn quirks(bits: u64) -> Quirks {
    let on = |bit: u64| bits >> bit & 1 == 1;
    Quirks {
        q1_residual_sign: on(0),
        q2_unsigned_keys: on(1),
        q3_async_budget_per_round: on(2),
        q4_no_fifo_inheritance: on(3),
        q5_first_request_seeks: on(4),
        q6_queueing_latched: on(5),
        q7_reference_is_driver: on(6),
        q8_idle_while_busy: on(7),
    }
}

#[test]
fn without_switches_both_implementations_decide_the_same() {
    for (seed, config) in (0..).zip(configs()) {
        for bits in (0..256).step_by(5).chain([255]) {
            let params = CfqParams { quirks: quirks(bits), ..CfqParams::default() };
            let spec = SchedulerSpec::Cfq(params);
            let kind = &Kind::ANY;
            let storm = Storm { kind, spec, config, seed, bios: 600, switch: false };
            let later = Scheduler::RevisedCfq(RevisedCfq::new(&params));
            let [once, other] = [storm.run(), storm.run_on(later)].map(|outcome| outcome.hash);
            assert_eq!(once, other, "seed {seed}, {config:?}, {params:?}");
        }
    }
}

#[test]
fn any_combination_of_switches_keeps_the_laws() {
    let mut prng = Prng::new(4);
    for round in 0..96 {
        let mut switches = Switches::NONE;
        // Turns on few, half or most of the switches.
        let density = prng.between(1, 7);
        for switch in SWITCHES {
            switches.set(switch.name, prng.chance(density, 8));
        }
        let quirks = quirks(prng.next_u64());
        let low_latency = prng.chance(3, 4);
        let params = CfqParams { quirks, low_latency, ..params(switches) };
        let configs = configs();
        let config = configs[round as usize % configs.len()];
        weather(SchedulerSpec::Cfq(params), config, round, round % 2 == 1);
    }
}

#[test]
fn any_combination_of_switches_of_bfq_keeps_the_laws() {
    let mut prng = Prng::new(5);
    for round in 0..96 {
        let mut switches = bfq::Switches::NONE;
        let density = prng.between(1, 7);
        for switch in bfq::SWITCHES {
            switches.set(switch.name, prng.chance(density, 8));
        }
        let low_latency = prng.chance(1, 2);
        let params = BfqParams { low_latency, ..bfq(switches) };
        let configs = configs();
        let config = configs[round as usize % configs.len()];
        weather(SchedulerSpec::Bfq(params), config, round, round % 2 == 1);
    }
}
