//! The contract suite: one set of tests, run for every scheduler of the registry, through the
//! auditor and inside a real engine. Registering a new scheduler suffices to test it.

mod canary;
mod defects;
mod ledger;
mod revisions;
mod storm;
mod world;

use fairdisk_core::{
    Apart, Auditor, Bio, BioId, Change, EngineConfig, Flags, GroupId, Input, Instant, IoPrio, Lba,
    Op, PlugConfig, PlugFlash, PoolConfig, PoolLayout, Prng, Sectors, Share, Span, TaskId, Ticks,
    Weight,
};
use fairdisk_sched::SchedulerSpec;
use fairdisk_sched::fair::{FairParams, RULES, Rules};
use std::env;
use storm::{Kind, Outcome, Storm};
use world::World;

const SEEDS: u64 = 4;

/// Every kind of engine configuration, with a pool small enough to fill.
fn configs() -> Vec<EngineConfig> {
    let layouts =
        [PoolLayout::Unlimited, PoolLayout::Shared(Apart::Sync), PoolLayout::PerGroup(Apart::Sync)];
    let mut configs = Vec::new();
    for depth in [1, 8] {
        for peek in [false, true] {
            for layout in layouts {
                let pool = PoolConfig { layout, requests: 12, batch_requests: 4 };
                let keeps_order = !matches!(layout, PoolLayout::PerGroup(_));
                let merge_sectors_max = 256;
                let config = EngineConfig {
                    depth,
                    peek,
                    pool,
                    merge_sectors_max,
                    keeps_order,
                    ..EngineConfig::default()
                };
                configs.push(config);
            }
        }
    }
    let flash = [PlugFlash::All, PlugFlash::NeverDeep, PlugFlash::OneAtATime];
    let plugged = [0, 1, 7].into_iter().zip(flash).map(|(at, flash)| {
        let plug = Some(PlugConfig { requests: 4, delay: Span::from_ms(3), flash });
        let ticks = Ticks::new(1000, Span::from_us(300));
        EngineConfig { plug, ticks, ..configs[at] }
    });
    let plugged: Vec<EngineConfig> = plugged.collect();
    configs.extend(plugged);
    configs
}

/// Runs one storm and returns the hash of its journal.
fn weather(spec: SchedulerSpec, config: EngineConfig, seed: u64, switch: bool) -> u64 {
    reproducible(Storm { kind: &Kind::ANY, spec, config, seed, bios: 1000, switch }).hash
}

/// Runs the storm. A failure names what reproduces it.
fn reproducible(storm: Storm) -> Outcome {
    let Storm { spec, config, seed, .. } = storm;
    std::panic::catch_unwind(|| storm.run())
        .unwrap_or_else(|_| panic!("{} failed: seed {seed}, {config:?}", spec.name()))
}

fn specs() -> impl Iterator<Item = SchedulerSpec> {
    let named = SchedulerSpec::NAMES.iter().filter_map(|name| SchedulerSpec::named(name));
    let set = [
        defects::without_defects(),
        defects::as_mounted(),
        defects::strong_group_cfq(),
        defects::reads_of_the_root_group(),
        defects::strict_bfq(),
        defects::hasty_bfq(),
    ];
    named.chain(set).chain(revisions::all())
}

/// The factor by which to run more storms: `FAIRDISK_STORM_FACTOR`, as set by `make soak`.
fn factor() -> u64 {
    env::var("FAIRDISK_STORM_FACTOR").map_or(1, |factor| factor.parse().expect("a number"))
}

/// How many seeds: four times as many for the scheduler with the most rules, of which some meet
/// seldom.
fn seeds(spec: SchedulerSpec) -> u64 {
    SEEDS * factor() * if spec.name() == "fair" { 4 } else { 1 }
}

fn every_storm(switch: bool) {
    for spec in specs() {
        for config in configs() {
            for seed in 0..seeds(spec) {
                let once = weather(spec, config, seed, switch);
                let again = weather(spec, config, seed, switch);
                assert_eq!(once, again, "law 7: {} differs, seed {seed}", spec.name());
            }
        }
    }
}

#[test]
fn every_scheduler_keeps_the_laws_in_a_storm() {
    every_storm(false);
}

#[test]
fn every_scheduler_can_be_switched_under_load() {
    every_storm(true);
}

/// Where a disk with one head has a write cache, `fair` finds out whose writes it works on after it
/// has acknowledged them, with everything that may happen meanwhile.
#[test]
fn what_a_write_cache_hides_is_charged_in_a_storm() {
    let spec = SchedulerSpec::Fair(FairParams::default());
    for config in configs() {
        let deferred = |seed| {
            let (kind, switch) = (&Kind::CACHED, seed % 2 == 1);
            reproducible(Storm { kind, spec, config, seed, bios: 1000, switch }).deferred
        };
        let deferred = (0..SEEDS * factor()).map(deferred).fold(Span::ZERO, |sum, one| sum + one);
        assert!(deferred > Span::ZERO, "nobody was ever charged: {config:?}");
    }
}

/// `fair` keeps the contract without each of its rules, and without all of them.
#[test]
fn fair_keeps_the_contract_whatever_rules_are_off() {
    let without = |name: &str| {
        let mut rules = Rules::ALL;
        assert!(rules.set(name, false), "{name}");
        rules
    };
    let each = RULES.iter().map(|rule| without(rule.name));
    for rules in each.chain([Rules::NONE]) {
        let spec = SchedulerSpec::Fair(FairParams { rules, ..FairParams::default() });
        for (seed, config) in configs().into_iter().enumerate() {
            weather(spec, config, seed as u64, false);
        }
    }
}

/// Flushes that were issued before a scheduler took over end beside those it knows of.
#[test]
fn groups_that_read_and_groups_that_write_are_switched_under_load() {
    let spec = SchedulerSpec::Fair(FairParams::default());
    for config in configs() {
        for seed in 0..SEEDS * factor() {
            let kind = &Kind::ONE_WAY;
            reproducible(Storm { kind, spec, config, seed, bios: 8_000, switch: true });
        }
    }
}

#[test]
fn without_merging_every_bio_is_a_request() {
    for spec in specs() {
        let config = EngineConfig { merge_sectors_max: 0, ..configs()[1] };
        weather(spec, config, 99, false);
    }
}

/// A read by the task at a random position.
fn read(number: u64, task: u32, group: u32, prng: &mut Prng) -> Bio {
    Bio {
        id: BioId(number),
        task: TaskId(1 + task),
        group: GroupId(group),
        op: Op::Read,
        start: Lba(prng.below(1 << 20)),
        sectors: Sectors(8),
        sync: true,
        flags: Flags::NONE,
        ioprio: IoPrio::UNSET,
    }
}

/// Room is made for a task that thinks for longer than the disk idles for it, and that is behind
/// its share, shortly before it returns: until then, a group that has the disk to itself is held
/// back.
#[test]
fn nobody_is_let_through_shortly_before_a_thinker_is_back() {
    for spec in specs() {
        for thinks_ms in [12, 20, 30] {
            let mut world = World::new(Auditor::new(spec.build()), configs()[0], 1);
            world.service = Span::from_ms(8);
            let share = Share::Weight(Weight::new(800).expect("it is one"));
            world.handle(Input::Configure(Change::GroupAdded { group: GroupId(1), share }));
            world.handle(Input::Configure(Change::Rotational { rotational: true }));
            let (mut prng, mut back) = (Prng::new(1), Instant::ZERO);
            for number in 0..400 {
                world.submit(read(2 * number, 0, 0, &mut prng));
                world.run_while_busy(back.max(world.now));
                if world.now >= back {
                    world.submit(read(2 * number + 1, 1, 1, &mut prng));
                    world.run_while_busy(world.now + Span::from_s(1));
                    back = world.now + Span::from_ms(thinks_ms);
                }
                world.run_while_busy(world.now + Span::from_s(1));
                world.run_until(world.now + Span::from_us(50));
            }
            world.run_dry();
        }
    }
}

/// Two tasks that return soon: a task that briefly has the disk to itself may still have to wait
/// for the other one.
#[test]
fn who_is_let_through_is_served_at_once() {
    for spec in specs() {
        let mut let_through = 0;
        for (config, groups) in configs().into_iter().flat_map(|config| [(config, 1), (config, 2)])
        {
            let mut world = World::new(Auditor::new(spec.build()), config, 1);
            world.service = Span::from_ms(8);
            let share = Share::Weight(Weight::new(800).expect("it is one"));
            world.handle(Input::Configure(Change::GroupAdded { group: GroupId(1), share }));
            let rotational = config.peek;
            world.handle(Input::Configure(Change::Rotational { rotational }));
            if config.depth > 1 {
                world.handle(Input::Configure(Change::Depth { depth: config.depth }));
            }
            let (mut prng, mut one) = (Prng::new(1), 0);
            for number in 0..300 {
                one ^= u32::from(prng.chance(1, 6));
                world.submit(read(number, one, one % groups, &mut prng));
                let pause = prng.below([100, 3000][(number / 50) as usize % 2]);
                if prng.chance(3, 4) {
                    world.run_dry();
                    world.run_until(world.now + Span::from_us(pause));
                }
            }
            world.run_dry();
            let_through += world.let_through();
        }
        match spec.name() {
            "noop" | "fair" => assert!(let_through > 1000, "{}: {let_through}", spec.name()),
            _ => assert_eq!(let_through, 0, "{}: whom does it let through?", spec.name()),
        }
    }
}

/// A group that had the disk to itself for long must not have to wait for that when another one
/// arrives.
#[test]
fn what_a_group_had_alone_is_not_held_against_it() {
    const ON_THEIR_WAY: u64 = 4;
    for spec in specs() {
        let mut world = World::new(Auditor::new(spec.build()), EngineConfig::default(), 1);
        world.service = Span::from_ms(8);
        let groups = [GroupId(1), GroupId(2)];
        for group in groups {
            let change = Change::GroupAdded { group, share: Share::DEFAULT };
            world.handle(Input::Configure(change));
        }
        let (mut prng, mut asked, mut done) = (Prng::new(1), [0, 0], [0, 0]);
        let mut done_alone = 0;
        let (alone, together) = (Span::from_s(20), Span::from_s(4));
        while world.now < Instant::ZERO + alone + together {
            let is_alone = world.now < Instant::ZERO + alone;
            for (at, group) in groups.into_iter().enumerate().take(2 - usize::from(is_alone)) {
                let account = world.engine.accounts().group(group);
                done[at] = account.map_or(0, |account| account.ios());
                while asked[at] - done[at] < ON_THEIR_WAY {
                    let task = 10 * group.0 + (asked[at] % ON_THEIR_WAY) as u32;
                    let number = 2 * asked[at] + at as u64;
                    world.submit(read(number, task, group.0, &mut prng));
                    asked[at] += 1;
                }
            }
            done_alone = if is_alone { done[0] } else { done_alone };
            world.run_until(world.now + Span::from_ms(1));
        }
        // Half of what the disk does would be 250.
        let got = done[0] - done_alone;
        assert!(got > 100, "{}: {got} I/Os in {together}", spec.name());
        world.run_dry();
    }
}
