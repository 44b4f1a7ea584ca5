//! Golden values that must be the same on every machine and in every version, because journals of
//! different origin are compared by them.

use fairdisk_core::{
    Bio, BioId, Change, Cost, CostModel, Flags, GroupId, Instant, IoClass, IoPrio, Journal, Lba,
    Op, Prng, Record, RequestId, Sectors, Share, Span, TaskId, Weight, WeightMap, Why,
};
use std::collections::BTreeSet;

fn submitted() -> Bio {
    Bio {
        id: BioId(7),
        task: TaskId(5),
        group: GroupId(2),
        op: Op::Write,
        start: Lba(123_456),
        sectors: Sectors(64),
        sync: true,
        flags: Flags::META,
        ioprio: IoPrio::best_effort(6),
    }
}

/// One record of every kind.
fn records() -> Vec<Record> {
    let (bio, request) = (BioId(7), RequestId(3));
    vec![
        Record::Submitted(submitted()),
        Record::Held(bio),
        Record::Sleeps(bio),
        Record::Woken(bio),
        Record::Merged(bio, request),
        Record::Absorbed(request, RequestId(4)),
        Record::Queued(bio, request),
        Record::Dispatched(request, Why::SectorOrder),
        Record::Waits(Instant::from_ns(9_000_000), Why::IdleWait),
        Record::WaitsCompletion(Why::NothingQueued),
        Record::Issued(request),
        Record::Completed(request, true),
        Record::Finished(bio, true),
        Record::Cancelled(bio),
        Record::Configured(Change::TaskExited { task: TaskId(5) }),
        Record::Switched("noop"),
        Record::Hurried(bio),
        Record::TooManySegments(bio, request),
    ]
}

fn journal_of(records: &[Record]) -> Journal {
    let mut journal = Journal::keeping();
    for (at, record) in records.iter().enumerate() {
        journal.push(Instant::from_ns(1_000 * at as u64), *record);
    }
    journal
}

#[test]
fn the_hash_of_a_journal_is_for_ever() {
    assert_eq!(Journal::hashing().hash(), GOLDEN_EMPTY);
    assert_eq!(journal_of(&records()).hash(), GOLDEN_ALL);
}

const GOLDEN_EMPTY: u64 = 0xA667_94EB_F2CD_24D2;
const GOLDEN_ALL: u64 = 0x3059_9721_953B_EE80;

#[test]
fn giving_entries_away_changes_no_hash() {
    let mut journal = Journal::keeping();
    for (at, record) in records().iter().enumerate() {
        journal.push(Instant::from_ns(1_000 * at as u64), *record);
        assert!(journal.drain().map(|entry| entry.record).eq([*record]));
        assert_eq!(journal.drain().count(), 0);
    }
    assert_eq!((journal.hash(), journal.len()), (GOLDEN_ALL, records().len() as u64));
    assert_eq!(Journal::hashing().drain().count(), 0);
}

#[test]
fn leaving_out_or_swapping_any_record_shows() {
    let records = records();
    let whole = journal_of(&records).hash();
    for at in 0..records.len() {
        let mut fewer = records.clone();
        fewer.remove(at);
        assert_ne!(journal_of(&fewer).hash(), whole, "without {:?}", records[at]);
        let mut swapped = records.clone();
        swapped.swap(at, (at + 1) % records.len());
        assert_ne!(journal_of(&swapped).hash(), whole, "swapped at {at}");
    }
}

#[test]
fn whatever_differs_in_what_was_asked_shows() {
    let bio = submitted();
    let far = Lba(bio.start.0 + (1 << 20));
    let others = [
        Bio { id: BioId(8), ..bio },
        Bio { task: TaskId(6), ..bio },
        Bio { group: GroupId(3), ..bio },
        Bio { op: Op::Read, ..bio },
        Bio { start: far, ..bio },
        Bio { group: GroupId(bio.group.0 ^ 1), start: far, ..bio },
        Bio { sectors: Sectors(72), ..bio },
        Bio { sync: false, ..bio },
        Bio { flags: Flags::NONE, ..bio },
        Bio { ioprio: IoPrio::best_effort(5), ..bio },
        Bio { ioprio: IoPrio { class: IoClass::RealTime, level: 6 }, ..bio },
    ];
    let group = GroupId(2);
    let costs = |alone| {
        let (read, saturation) = (Cost::default(), Span::from_ms(4));
        Change::Costs(CostModel { depth: 32, saturation, alone, read, write: read })
    };
    let share = |weight| Change::GroupShare { group, share: Share::Weight(weight) };
    let changes = [
        share(Weight::DEFAULT),
        share(Weight::new(101).unwrap()),
        Change::GroupAdded { group, share: Share::DEFAULT },
        Change::GroupRemoved { group },
        Change::Depth { depth: 2 },
        Change::Rotational { rotational: true },
        costs(Span::from_ms(8)),
        costs(Span::from_ms(9)),
    ];
    let mut records: Vec<Record> = others.map(Record::Submitted).into();
    records.push(Record::Submitted(bio));
    records.extend(changes.map(Record::Configured));
    records.extend(["noop", "fair"].map(Record::Switched));
    let hashes: BTreeSet<u64> =
        records.iter().map(|record| journal_of(&[*record]).hash()).collect();
    assert_eq!(hashes.len(), records.len());
}

#[test]
fn a_journal_that_keeps_entries_hashes_like_one_that_does_not() {
    let kept = journal_of(&records());
    let mut hashed = Journal::hashing();
    kept.entries().iter().for_each(|entry| hashed.push(entry.at, entry.record));
    assert_eq!((hashed.hash(), hashed.len()), (kept.hash(), kept.len()));
    assert!(hashed.entries().is_empty() && !hashed.is_empty());
}

#[test]
fn the_generator_is_splitmix64() {
    // The reference outputs for seed 1234567.
    let mut prng = Prng::new(1_234_567);
    let reference = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973];
    assert_eq!([prng.next_u64(), prng.next_u64()], reference);
    assert_eq!(prng.below(0), 0);
    assert!((0..1000).all(|_| (3..=5).contains(&prng.between(3, 5))));
    assert_ne!(Prng::new(1).fork(0).next_u64(), Prng::new(1).fork(1).next_u64());
}

#[test]
fn priorities_have_the_weights_of_the_specification() {
    let weights = |map: WeightMap| [0, 4, 7].map(|level| map.weight(level).get());
    assert_eq!(weights(WeightMap::LinearHigh0), [200, 100, 25]);
    assert_eq!(weights(WeightMap::LinearHigh7), [25, 125, 200]);
    assert_eq!(weights(WeightMap::OpenVz), [105, 165, 210]);
    assert_eq!(weights(WeightMap::CfqSlice), [180, 100, 40]);
    assert_eq!(weights(WeightMap::Bfq), [80, 40, 10]);
    assert_eq!(Share::DEFAULT.weight(WeightMap::LinearHigh0), Weight::DEFAULT);
    assert!(WeightMap::ALL.iter().all(|(name, map)| WeightMap::named(name) == Some(*map)));
    assert_eq!(Weight::new(0).or(Weight::new(10_001)), None);
}

#[test]
fn time_is_shown_in_milliseconds() {
    assert_eq!(Span::from_ns(12_345_678).to_string(), "12.345ms");
    assert_eq!((Instant::from_ns(5) - Instant::from_ns(9)), Span::ZERO);
}
