//! Memory: against a model that does everything in the slow and simple way, the identities that the
//! specification demands, and what each of the kernels' switches changes.

#[path = "../../../fairdisk-sched/tests/support/counting.rs"]
mod counting;
mod identities;
mod naive;
mod pair;
mod refaults;
mod scenes;
mod support;
mod switches;

use fairdisk_core::Span;
use fairdisk_sim::host::memory::{
    Arrival, KERNEL_SWITCHES, Kernel, Mark, MemorySpec, PageId, PageType, Reclaimer, Want,
};
use pair::{Act, Pair, TASKS};
use proptest::prelude::*;

fn want() -> impl Strategy<Value = Want> {
    let types = [PageType::Movable, PageType::Movable, PageType::Unmovable, PageType::Reclaimable];
    (1..50u32, any::<bool>(), prop::sample::select(types.to_vec()))
        .prop_map(|(pages, cold, page_type)| Want { pages, cold, page_type })
}

fn reclaim() -> impl Strategy<Value = Act> {
    let by = prop::sample::select(vec![Reclaimer::Kswapd, Reclaimer::Direct]);
    let priority = prop::sample::select(vec![0, 1, 2, 12]);
    (0..TASKS, by, priority, any::<bool>())
        .prop_map(|(who, by, priority, may_write)| Act::Reclaim { who, by, priority, may_write })
}

fn act() -> impl Strategy<Value = Act> {
    let id = || (0..2u32, 0..120u64).prop_map(|(file, page)| PageId::of_file(file, page));
    let mark = prop::sample::select(vec![Mark::None, Mark::Min, Mark::Low, Mark::High]);
    let arrival = prop::sample::select(vec![Arrival::Read, Arrival::Written]);
    prop_oneof![
        6 => (0..TASKS, want(), mark).prop_map(|(who, want, mark)| Act::Take { who, want, mark }),
        1 => (0..TASKS).prop_map(|who| Act::GiveBack { who }),
        8 => (0..TASKS, id(), 1..50u32, arrival)
            .prop_map(|(who, id, pages, arrival)| Act::Insert { who, id, pages, arrival }),
        6 => id().prop_map(|id| Act::Arrive { id }),
        6 => (id(), any::<bool>()).prop_map(|(id, mapped)| Act::Use { id, mapped }),
        2 => id().prop_map(|id| Act::Dirty { id }),
        2 => id().prop_map(|id| Act::WriteBegins { id }),
        2 => id().prop_map(|id| Act::Written { id }),
        2 => (id(), 0..4u32).prop_map(|(id, cpu)| Act::Drop { id, cpu }),
        1 => Just(Act::Drain),
        12 => reclaim(),
        2 => (0..20u64).prop_map(|us| Act::Pause { us }),
    ]
}

/// Small memory of any kernel, also of those that never were.
fn spec() -> impl Strategy<Value = MemorySpec> {
    let switches = prop::collection::vec(any::<bool>(), KERNEL_SWITCHES.len());
    let sizes = (1..4u32, 50..101u64, 0..40u64, prop::option::of(8..30u64));
    (switches, sizes, any::<bool>()).prop_map(
        |(on, (cpus, file_share_percent, anonymous_pages, cpu_list_fraction), activations_age)| {
            let mut kernel = Kernel::default();
            for (switch, on) in KERNEL_SWITCHES.iter().zip(on) {
                kernel.set(switch.name, on);
            }
            MemorySpec {
                cpu_list_fraction,
                anonymous_pages,
                file_share_percent,
                activations_age,
                page_return: Span::from_ns(300),
                ..MemorySpec::new(kernel, 1, cpus)
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn memory_does_what_the_naive_model_does(
        spec in spec(),
        acts in prop::collection::vec(act(), 1..200),
    ) {
        let mut pair = Pair::new(spec);
        for act in acts {
            pair.act(&act);
        }
    }
}
