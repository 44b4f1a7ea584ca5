//! The engine against a model that does everything in the slow and simple way: the same inputs must
//! cause the same effects in the same order. Merging is disabled here; the tables and storms of
//! `fairdisk-sched` cover it.

mod fifo;
mod naive;
mod pair;

use fairdisk_core::{
    Apart, EngineConfig, Op, PlugConfig, PlugFlash, PoolConfig, PoolLayout, Span, Ticks,
};
use pair::Pair;
use proptest::prelude::*;

/// One input, with small numbers that are taken modulo what exists.
#[derive(Clone, Debug)]
enum Act {
    Submit { op: Op, start: u64, sectors: u32, task: u32, group: u32, sync: bool },
    Complete { which: usize, ok: bool },
    Retry { which: usize },
    Cancel { back: u64 },
    Hurry { back: u64 },
    Pause { us: u64 },
    Tick,
    Unplug,
}

fn act() -> impl Strategy<Value = Act> {
    let op = prop_oneof![
        4 => Just(Op::Read),
        4 => Just(Op::Write),
        1 => Just(Op::Flush),
        1 => Just(Op::Discard),
    ];
    let submit = (op, 0..60u64, 1..12u32, 0..5u32, 0..3u32, any::<bool>());
    let submit = submit.prop_map(|(op, start, sectors, task, group, sync)| Act::Submit {
        op,
        start,
        sectors,
        task,
        group,
        sync,
    });
    prop_oneof![
        8 => submit,
        5 => (any::<usize>(), any::<bool>()).prop_map(|(which, ok)| Act::Complete { which, ok }),
        3 => any::<usize>().prop_map(|which| Act::Retry { which }),
        1 => (0..20u64).prop_map(|back| Act::Cancel { back }),
        1 => (0..20u64).prop_map(|back| Act::Hurry { back }),
        1 => (0..30_000u64).prop_map(|us| Act::Pause { us }),
        1 => Just(Act::Tick),
        1 => Just(Act::Unplug),
    ]
}

fn config() -> impl Strategy<Value = EngineConfig> {
    let layouts = [
        PoolLayout::Unlimited,
        PoolLayout::Shared(Apart::Direction),
        PoolLayout::Shared(Apart::Sync),
        PoolLayout::PerGroup(Apart::Direction),
        PoolLayout::PerGroup(Apart::Sync),
    ];
    let pool = (prop::sample::select(layouts.to_vec()), 1..8u32, 0..5u32).prop_map(
        |(layout, requests, batch_requests)| PoolConfig { layout, requests, batch_requests },
    );
    let plug = (1..6u32).prop_map(|requests| PlugConfig {
        requests,
        delay: Span::from_ms(3),
        flash: PlugFlash::All,
    });
    (1..4u32, any::<bool>(), pool, any::<bool>(), prop::option::of(plug)).prop_map(
        |(depth, peek, pool, keeps_order, plug)| EngineConfig {
            depth,
            peek,
            pool,
            merge_sectors_max: 0,
            segments: None,
            keeps_order,
            ticks: Ticks::new(1000, Span::ZERO),
            plug,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_does_what_the_naive_model_does(
        config in config(),
        acts in prop::collection::vec(act(), 1..120),
    ) {
        let mut pair = Pair::new(config);
        for act in acts {
            pair.act(&act);
        }
        pair.drain();
    }
}
