//! Streams as their tasks see them.

use super::*;
use crate::host::FileSpec;
use fairdisk_core::{Instant, Lba, Op, Prng, Span};
use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};

const KIB: u64 = 1024;
const BLOCK: u64 = 4 * KIB;

fn stream_on(file_bytes: &[u64], spec: &StreamSpec) -> Stream {
    let file = |bytes: &u64| FileSpec { volume: 0, start: Lba(0), bytes: *bytes, inode: 0 };
    let files: Vec<FileSpec> = file_bytes.iter().map(file).collect();
    let task = TaskSpec {
        files: (0..files.len() as u32).collect(),
        stream: spec.clone(),
        ..TaskSpec::default()
    };
    Stream::new(&task, &files, &Prng::new(5))
}

/// Everything a stream does when time stands still, up to 100,000 steps.
fn steps(file_bytes: &[u64], spec: &StreamSpec) -> Vec<Next> {
    let mut stream = stream_on(file_bytes, spec);
    stream.begin(Instant::ZERO);
    let steps = std::iter::from_fn(|| Some(stream.next(Instant::ZERO)));
    steps.take_while(|next| *next != Next::Exit).take(100_000).collect()
}

fn ios(file_bytes: &[u64], spec: &StreamSpec) -> Vec<FileIo> {
    let io = |next| match next {
        Next::Io(io) => Some(io),
        _ => None,
    };
    steps(file_bytes, spec).into_iter().filter_map(io).collect()
}

/// Offsets in blocks of 4 KiB.
fn blocks(ios: &[FileIo]) -> Vec<u64> {
    ios.iter().map(|io| io.offset / BLOCK).collect()
}

fn once() -> StreamSpec {
    let limits = Limits { passes: Some(1), ..Limits::default() };
    StreamSpec { limits, ..StreamSpec::default() }
}

fn random(order: RandomOrder) -> StreamSpec {
    StreamSpec { order: IoOrder::Drawn(order), ..once() }
}

#[test]
fn a_sequential_pass_leaves_out_what_is_no_block() {
    assert_eq!(blocks(&ios(&[18 * KIB], &once())), [0, 1, 2, 3]);
}

#[test]
fn holes_go_round_until_the_bytes_are_done() {
    let forth = StreamSpec { order: IoOrder::Holes(4096), ..once() };
    assert_eq!(blocks(&ios(&[32 * KIB], &forth)), [0, 2, 4, 6, 0, 2, 4, 6]);
    let back = StreamSpec { order: IoOrder::Holes(-8192), ..once() };
    assert_eq!(blocks(&ios(&[32 * KIB], &back)), [0, 6, 5, 4, 3, 2, 1, 0]);
}

#[test]
fn files_take_turns_and_short_ones_end_early() {
    let files: Vec<(u32, u64)> = ios(&[8 * KIB, 16 * KIB, 4 * KIB], &once())
        .iter()
        .map(|io| (io.file, io.offset / BLOCK))
        .collect();
    assert_eq!(files, [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (1, 2), (1, 3)]);
}

#[test]
fn a_random_pass_has_every_block_once_and_the_next_goes_the_same_way() {
    let mut spec = random(RandomOrder::default());
    spec.limits.passes = Some(2);
    let visited = blocks(&ios(&[1000 * BLOCK + 5], &spec));
    let (first, second) = visited.split_at(1000);
    assert_eq!(first, second);
    let mut sorted = first.to_vec();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..1000).collect::<Vec<_>>());
    assert_ne!(sorted, first);
}

#[test]
fn pieces_of_many_sizes_cover_every_block_once() {
    let split = BlockSize::Split(vec![(BLOCK, 50), (4 * BLOCK, 50)]);
    let range = BlockSize::Range(BLOCK, 8 * BLOCK);
    for size in [split, range] {
        let spec = StreamSpec {
            blocks: Blocks::all(size),
            direction: Direction::Mixed(50),
            ..random(RandomOrder::default())
        };
        let mut seen = vec![false; 1000];
        for io in ios(&[1000 * BLOCK], &spec) {
            for block in io.offset / BLOCK..(io.offset + io.bytes) / BLOCK {
                assert!(!std::mem::replace(&mut seen[block as usize], true), "{block} twice");
            }
        }
        assert!(seen.iter().all(|seen| *seen));
    }
}

#[test]
fn with_replacement_blocks_repeat_and_are_alike() {
    let spec = random(RandomOrder { every_block_once: false, ..RandomOrder::default() });
    let mut counts = BTreeMap::new();
    for block in blocks(&ios(&[10_000 * BLOCK], &spec)) {
        *counts.entry(block / 1000).or_insert(0u32) += 1;
    }
    assert!(counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
    assert_eq!(counts.len(), 10);
}

#[test]
fn a_skewed_order_spreads_its_favourites_over_the_file() {
    let skew = Skew::Zipf { theta: Fixed::from_f64(1.2) };
    let mut counts = BTreeMap::new();
    for block in
        blocks(&ios(&[50_000 * BLOCK], &random(RandomOrder { skew, ..RandomOrder::default() })))
    {
        *counts.entry(block).or_insert(0u32) += 1;
    }
    let mut ranked: Vec<(u32, u64)> =
        counts.iter().map(|(block, count)| (*count, *block)).collect();
    ranked.sort_unstable_by(|a, b| b.cmp(a));
    // 1 / sum of k^-1.2 over 50,000 blocks is 0.2003.
    assert!((9_700..10_400).contains(&ranked[0].0), "{:?}", ranked[0]);
    assert!(ranked[0].1.abs_diff(ranked[1].1) > 1, "{:?}", &ranked[..2]);
}

#[test]
fn a_mix_keeps_its_percentage_and_two_places() {
    let spec = StreamSpec { direction: Direction::Mixed(30), ..once() };
    let ios = ios(&[20_000 * BLOCK], &spec);
    assert_eq!(ios.len(), 20_000);
    for op in [Op::Read, Op::Write] {
        let of_op: Vec<FileIo> = ios.iter().copied().filter(|io| io.op == op).collect();
        assert_eq!(blocks(&of_op), (0..of_op.len() as u64).collect::<Vec<_>>());
        let expected = if op == Op::Read { 5_800..6_200 } else { 13_800..14_200 };
        assert!(expected.contains(&of_op.len()), "{op:?}: {}", of_op.len());
    }
}

#[test]
fn a_write_follows_the_trim_of_its_range() {
    let order = IoOrder::Drawn(RandomOrder::default());
    let spec = StreamSpec { direction: Direction::TrimWrite, order, ..once() };
    let ios = ios(&[64 * BLOCK], &spec);
    assert_eq!(ios.len(), 128, "the bytes of a trim are not counted twice");
    for pair in ios.chunks(2) {
        assert_eq!((pair[0].op, pair[1].op), (Op::Discard, Op::Write));
        assert_eq!((pair[0].offset, pair[0].bytes), (pair[1].offset, pair[1].bytes));
    }
}

#[test]
fn a_drawn_place_serves_as_many_ios_as_asked() {
    let sequential =
        random(RandomOrder { repeat: Repeat::Sequential(4), ..RandomOrder::default() });
    let visited = blocks(&ios(&[4000 * BLOCK], &sequential));
    let follow = visited.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
    assert!((2_980..3_020).contains(&follow), "{follow}");
    let identical = random(RandomOrder { repeat: Repeat::Identical(4), ..RandomOrder::default() });
    let visited = blocks(&ios(&[4000 * BLOCK], &identical));
    assert!(visited.chunks(4).all(|four| four.iter().all(|block| *block == four[0])));
}

#[test]
fn only_a_part_of_the_ios_is_random() {
    let percent = PerOp::all(25);
    let spec = random(RandomOrder { random_percent: percent, ..RandomOrder::default() });
    let visited = blocks(&ios(&[8000 * BLOCK], &spec));
    let follow = visited.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
    assert!((5_850..6_150).contains(&follow), "{follow}");
}

#[test]
fn limits_end_passes_and_tasks() {
    let of = |limits: Limits| ios(&[16 * KIB], &StreamSpec { limits, ..StreamSpec::default() });
    let none = Limits::default();
    assert_eq!(of(Limits { bytes: Some(42 * KIB), ..none }).len(), 11, "the last one is whole");
    assert_eq!(of(Limits { passes: Some(3), ..none }).len(), 12);
    let two = Limits { passes: Some(3), pass_ios: Some(2), ..none };
    assert_eq!(blocks(&of(two)), [0, 1, 0, 1, 0, 1]);
    let bytes = Limits { passes: Some(2), pass_bytes: Some(8 * KIB), ..none };
    assert_eq!(blocks(&of(bytes)), [0, 1, 0, 1]);
    let least = Limits { passes: Some(1), bytes_min: 20 * KIB, ..none };
    assert_eq!(of(least).len(), 8, "whole passes");
    assert_eq!(of(Limits { bytes: Some(20 * KIB), ..least }).len(), 5);
}

#[test]
fn a_pass_that_visits_places_again_ends_with_the_last_byte() {
    let with_replacement = RandomOrder { every_block_once: false, ..RandomOrder::default() };
    assert_eq!(ios(&[18 * KIB], &random(with_replacement)).len(), 5);
    let repeating = RandomOrder { repeat: Repeat::Sequential(2), ..RandomOrder::default() };
    assert_eq!(ios(&[18 * KIB], &random(repeating)).len(), 5);
    let holes = StreamSpec { order: IoOrder::Holes(4096), ..once() };
    assert_eq!(blocks(&ios(&[18 * KIB], &holes)), [0, 2, 0, 2, 0]);
}

#[test]
fn a_piece_that_is_no_multiple_takes_the_blocks_it_touches() {
    let blocks = Blocks::all(BlockSize::Range(4 * KIB, 18 * KIB));
    let spec = StreamSpec { blocks, ..random(RandomOrder::default()) };
    let mut ios = ios(&[1024 * KIB], &spec);
    ios.sort_by_key(|io| io.offset);
    assert!(ios.iter().any(|io| io.bytes == 18 * KIB));
    assert!(ios.is_sorted_by(|a, b| (a.offset + a.bytes).next_multiple_of(BLOCK) == b.offset));
}

#[test]
fn an_empty_part_of_a_file_is_nothing_to_do() {
    assert_eq!(steps(&[8 * KIB], &StreamSpec { offset: 8 * KIB, ..StreamSpec::default() }), []);
}

#[test]
fn flushes_come_after_so_many_writes_but_not_at_the_end() {
    let flush = FlushEvery { fsync: NonZeroU32::new(3), fdatasync: None };
    let spec = StreamSpec { direction: Direction::Write, flush, ..once() };
    let flushes: Vec<usize> = steps(&[28 * KIB], &spec)
        .iter()
        .enumerate()
        .filter(|(_, next)| **next == Next::Flush)
        .map(|(at, _)| at)
        .collect();
    assert_eq!(flushes, [3, 7]);
    let six = steps(&[24 * KIB], &spec).iter().filter(|next| **next == Next::Flush).count();
    assert_eq!(six, 1);
}

#[test]
fn a_rate_is_exact() {
    let rates = Rates { read: NonZeroU64::new(BLOCK * 1000), ..Rates::default() };
    let runtime = Some(Span::from_ms(50));
    let limits = Limits { runtime, ..Limits::default() };
    let mut stream = stream_on(&[1 << 30], &StreamSpec { rates, limits, ..StreamSpec::default() });
    let began = Instant::from_ns(77);
    stream.begin(began);
    let (mut now, mut times) = (began, Vec::new());
    loop {
        match stream.next(now) {
            Next::Io(_) => times.push((now - began).as_us()),
            Next::Wait(until) => now = until,
            Next::Flush => unreachable!("not asked for"),
            Next::Exit => break,
        }
    }
    assert_eq!(times, (0..50).map(|ms| ms * 1000).collect::<Vec<_>>());
    assert_eq!(now, began + Span::from_ms(50));
}

#[test]
fn seeds_are_the_runs_unless_they_are_given() {
    let visited = |seeds: Seeds, run: u64| {
        let spec = StreamSpec { seeds, ..random(RandomOrder::default()) };
        let file = FileSpec { volume: 0, start: Lba(0), bytes: 1000 * BLOCK, inode: 0 };
        let task = TaskSpec { files: vec![0], stream: spec, ..TaskSpec::default() };
        let mut stream = Stream::new(&task, &[file], &Prng::new(run));
        std::iter::from_fn(|| Some(stream.next(Instant::ZERO))).take(20).collect::<Vec<_>>()
    };
    let given = Seeds { places: Some(1), choices: None };
    assert_eq!(visited(given, 1), visited(given, 2));
    assert_ne!(visited(Seeds::default(), 1), visited(Seeds::default(), 2));
}
