//! Tests of streams as their tasks see them.

use super::*;
use crate::host::FileSpec;
use fairdisk_core::{Instant, Lba, Op, Prng, Span};
use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};

const KIB: u64 = 1024;
const BLOCK: u64 = 4 * KIB;

fn stream_on(file_bytes: &[u64], spec: &StreamSpec) -> Stream {
    stream_of(file_bytes, spec, 5)
}

/// The stream of a run with the given seed.
fn stream_of(file_bytes: &[u64], spec: &StreamSpec, seed: u64) -> Stream {
    let file = |bytes: &u64| FileSpec { volume: 0, start: Lba(0), bytes: *bytes, inode: 0 };
    let files: Vec<FileSpec> = file_bytes.iter().map(file).collect();
    let task = TaskSpec {
        files: (0..files.len() as u32).collect(),
        stream: spec.clone(),
        ..TaskSpec::default()
    };
    Stream::new(&task, &files, &Prng::new(seed))
}

/// Everything a stream does while time stands still, up to 100,000 steps.
fn steps(file_bytes: &[u64], spec: &StreamSpec) -> Vec<Next> {
    let mut stream = stream_on(file_bytes, spec);
    stream.begin(Instant::ZERO);
    let steps = std::iter::from_fn(|| {
        let next = stream.next(Instant::ZERO);
        if matches!(next, Next::Io(_)) {
            stream.took_up();
        }
        Some(next)
    });
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
fn holes_go_round_or_end_with_the_file() {
    let holes = |bytes: i64| {
        let limits = Limits { bytes: Some(32 * KIB), ..once().limits };
        StreamSpec { order: IoOrder::Holes(bytes), limits, ..StreamSpec::default() }
    };
    assert_eq!(blocks(&ios(&[32 * KIB], &holes(4096))), [0, 2, 4, 6, 0, 2, 4, 6]);
    assert_eq!(blocks(&ios(&[28 * KIB], &holes(8192))), [0, 3, 6]);
    assert_eq!(blocks(&ios(&[32 * KIB], &holes(-8192))), [0, 6, 5, 4, 3, 2, 1, 0]);
    let behind = StreamSpec { offset: 12 * KIB, ..holes(-8192) };
    assert_eq!(blocks(&ios(&[64 * KIB], &behind)), [11, 10, 9, 8, 7, 6, 5, 4]);
}

#[test]
fn interleaved_blocks_all_have_their_turn() {
    let laps = |gap: u64, bytes: u64| {
        let limits = Limits { bytes: Some(bytes), ..once().limits };
        let order = IoOrder::Interleaved(gap);
        blocks(&ios(&[bytes], &StreamSpec { order, limits, ..StreamSpec::default() }))
    };
    assert_eq!(laps(8192, 32 * KIB), [0, 3, 6, 1, 4, 7, 2, 5]);
    assert_eq!(laps(4096, 28 * KIB), [0, 2, 4, 6, 1, 3, 5]);
    assert_eq!(laps(64 * KIB, 12 * KIB), [0, 1, 2]);
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
    spec.seeds.same_passes = true;
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
    let mut spec = random(RandomOrder { every_block_once: false, ..RandomOrder::default() });
    spec.limits.ios = Some(10_000);
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
    let mut spec = random(RandomOrder { skew, ..RandomOrder::default() });
    spec.limits.ios = Some(50_000);
    let mut counts = BTreeMap::new();
    for block in blocks(&ios(&[50_000 * BLOCK], &spec)) {
        *counts.entry(block).or_insert(0u32) += 1;
    }
    let mut ranked: Vec<(u32, u64)> =
        counts.iter().map(|(block, count)| (*count, *block)).collect();
    ranked.sort_unstable_by(|a, b| b.cmp(a));
    // 1 / sum of k^-1.2 over 50,000 blocks is 0.2003.
    assert!((9_700..10_400).contains(&ranked[0].0), "{:?}", ranked[0]);
    assert!(ranked[0].1.abs_diff(ranked[1].1) > 1, "{:?}", &ranked[..2]);
}

/// The number of reads in 100 mixes of 1000 I/Os: the mean, and the mean squared deviation.
fn reads(direction: Direction) -> (f64, f64) {
    let limits = Limits { ios: Some(1000), ..Limits::default() };
    let spec = StreamSpec { direction, limits, ..StreamSpec::default() };
    let count = |seed| {
        let mut stream = stream_of(&[1 << 30], &spec, seed);
        let ops = std::iter::from_fn(|| match stream.next(Instant::ZERO) {
            Next::Io(io) => Some(io.op),
            _ => None,
        });
        ops.filter(|op| *op == Op::Read).count() as f64
    };
    let counts: Vec<f64> = (0..100).map(count).collect();
    let mean = counts.iter().sum::<f64>() / 100.0;
    (mean, counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 100.0)
}

#[test]
fn a_mix_keeps_its_percentage_and_an_even_one_keeps_near_it() {
    let (drawn, spread) = reads(Direction::Mixed(10));
    assert!((98.0..102.0).contains(&drawn), "{drawn}");
    assert!((60.0..120.0).contains(&spread), "1000 x 0.1 x 0.9, not {spread}");
    let (even, less) = reads(Direction::MixedEvenly(10));
    assert!((100.0..106.0).contains(&even), "{even}");
    assert!(less < spread * 0.9, "{less}");
}

#[test]
fn the_operations_of_a_mix_have_a_place_each() {
    let spec = StreamSpec { direction: Direction::Mixed(30), ..once() };
    let ios = ios(&[20_000 * BLOCK], &spec);
    for op in [Op::Read, Op::Write] {
        let of_op: Vec<FileIo> = ios.iter().copied().filter(|io| io.op == op).collect();
        assert_eq!(blocks(&of_op), (0..of_op.len() as u64).collect::<Vec<_>>());
    }
    let writes = ios.iter().filter(|io| io.op == Op::Write).count();
    assert_eq!(writes, 20_000, "the first that comes to the end ends the file");
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

fn repeating(repeat: Repeat) -> StreamSpec {
    random(RandomOrder { repeat, ..RandomOrder::default() })
}

#[test]
fn a_drawn_place_serves_as_many_ios_as_asked() {
    let mut sequential = repeating(Repeat::Sequential(4));
    sequential.limits.ios = Some(4000);
    let visited = blocks(&ios(&[4000 * BLOCK], &sequential));
    let follow = visited.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
    assert!((2_980..3_020).contains(&follow), "{follow}");
    let visited = blocks(&ios(&[1000 * BLOCK], &repeating(Repeat::Identical(4))));
    assert!(visited.chunks(4).all(|four| four.iter().all(|block| *block == four[0])));
    assert_eq!(visited.len(), 4000, "places are drawn once");
}

#[test]
fn only_a_part_of_the_ios_is_random() {
    let random_percent = PerOp::all(25);
    let mut spec = random(RandomOrder { random_percent, ..RandomOrder::default() });
    spec.limits.ios = Some(8000);
    let visited = blocks(&ios(&[80_000 * BLOCK], &spec));
    let follow = visited.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
    assert!((5_850..6_150).contains(&follow), "{follow}");
}

/// A position drawn at the end of the file is not marked as visited.
#[test]
fn what_follows_goes_on_elsewhere_at_the_end() {
    let order = RandomOrder { random_percent: PerOp::all(0), ..RandomOrder::default() };
    let mut spec = random(order);
    spec.limits.ios = Some(1000);
    let visited = blocks(&ios(&[16 * BLOCK], &spec));
    assert_eq!(visited[..16], (0..16).collect::<Vec<_>>());
    let turns: Vec<&[u64]> = visited.chunk_by(|a, b| *b == a + 1).collect();
    assert!(turns[..turns.len() - 1].iter().all(|turn| turn.last() == Some(&15)), "{turns:?}");
    assert!(turns.len() > 60, "{turns:?}");
    let odd = StreamSpec { limits: once().limits, ..spec };
    assert_eq!(blocks(&ios(&[8 * BLOCK + 5], &odd)), [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn limits_end_passes_and_tasks() {
    let of = |limits: Limits| ios(&[16 * KIB], &StreamSpec { limits, ..StreamSpec::default() });
    let none = Limits::default();
    assert_eq!(of(Limits { bytes: Some(42 * KIB), ..none }).len(), 11, "the last one is whole");
    assert_eq!(of(Limits { passes: Some(3), ..none }).len(), 12);
    let six = Limits { passes: Some(3), ios: Some(6), ..none };
    assert_eq!(blocks(&of(six)), [0, 1, 2, 3, 0, 1]);
    let least = Limits { passes: Some(1), bytes_min: 20 * KIB, ..none };
    assert_eq!(of(least).len(), 8, "whole passes");
    assert_eq!(of(Limits { bytes: Some(20 * KIB), ..least }).len(), 5);
}

/// In an order that revisits positions, only an I/O that leaves the file can end it.
#[test]
fn a_file_ends_with_an_io_that_does_not_fit() {
    let bytes = Limits { bytes: Some(18 * KIB), ..once().limits };
    let anywhere = RandomOrder { every_block_once: false, ..RandomOrder::default() };
    let spec = StreamSpec { limits: bytes, ..random(anywhere) };
    assert_eq!(ios(&[18 * KIB], &spec).len(), 5);
    let skew = Skew::Zipf { theta: Fixed::from_f64(0.5) };
    let skewed = random(RandomOrder { skew, ..RandomOrder::default() });
    let whole = StreamSpec { limits: Limits { ios: Some(999), ..bytes }, ..skewed.clone() };
    assert_eq!(ios(&[16 * KIB], &whole).len(), 5);
    assert!(ios(&[18 * KIB], &skewed).len() < 100, "the half block at the end is drawn");
    let sequential = repeating(Repeat::Sequential(2));
    let visited = ios(&[18 * KIB], &sequential);
    assert!(visited.last().is_some_and(|io| io.offset == 12 * KIB), "{visited:?}");
}

/// fio's map counts in blocks of the operation, and has as many as the smallest block size needs.
#[test]
fn operations_of_different_sizes_get_in_each_others_way() {
    let blocks = Blocks { write: BlockSize::Fixed(KIB), ..Blocks::fixed(BLOCK) };
    let spec = StreamSpec { blocks, ..random(RandomOrder::default()) };
    let counts: Vec<usize> = (0..50)
        .map(|seed| {
            let mut stream = stream_of(&[64 * BLOCK], &spec, seed);
            std::iter::from_fn(|| Some(stream.next(Instant::ZERO)))
                .take_while(|next| *next != Next::Exit)
                .count()
        })
        .collect();
    let mean = counts.iter().sum::<usize>() / counts.len();
    assert!((35..55).contains(&mean), "of 64 blocks: {counts:?}");
}

#[test]
fn what_is_endless_begins_again_by_itself() {
    let limits = Limits { ios: Some(40), endless: true, ..Limits::default() };
    let mix = StreamSpec { direction: Direction::Mixed(80), limits, ..StreamSpec::default() };
    let all = ios(&[8 * BLOCK], &mix);
    for op in [Op::Read, Op::Write] {
        let of_op: Vec<FileIo> = all.iter().copied().filter(|io| io.op == op).collect();
        assert!(blocks(&of_op).iter().enumerate().all(|(at, block)| *block == at as u64 % 8));
    }
    let mapped = StreamSpec { limits, ..random(RandomOrder::default()) };
    let visited = blocks(&ios(&[8 * BLOCK], &mapped));
    for pass in visited.chunks(8) {
        let mut sorted = pass.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..8).collect::<Vec<_>>());
    }
    assert_ne!(visited[..8], visited[8..16]);
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
        .filter(|(_, next)| matches!(next, Next::Flush(_)))
        .map(|(at, _)| at)
        .collect();
    assert_eq!(flushes, [3, 7]);
    let six = StreamSpec { limits: Limits { bytes: Some(24 * KIB), ..spec.limits }, ..spec };
    let flushes =
        steps(&[24 * KIB], &six).iter().filter(|next| matches!(next, Next::Flush(_))).count();
    assert_eq!(flushes, 1);
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
            Next::Flush(_) | Next::Await(_) => unreachable!("not asked for"),
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
    let given = Seeds { places: Some(1), ..Seeds::default() };
    assert_eq!(visited(given, 1), visited(given, 2));
    assert_ne!(visited(Seeds::default(), 1), visited(Seeds::default(), 2));
}

/// A stream that has written eight blocks and reads the first of them back.
fn reading_back(limits: Limits) -> Stream {
    let read_back = ReadBack { at_end: true, ..ReadBack::default() };
    let spec = StreamSpec { direction: Direction::Write, limits, read_back, ..once() };
    let mut stream = stream_on(&[8 * BLOCK], &spec);
    stream.begin(Instant::ZERO);
    let is_read = |next: Next| matches!(next, Next::Io(FileIo { op: Op::Read, .. }));
    assert!((0..9).any(|_| is_read(stream.next(Instant::ZERO))));
    stream
}

#[test]
fn nothing_is_read_back_after_the_runtime_or_a_verdict() {
    let runtime = Span::from_ms(10);
    let limits = Limits { runtime: Some(runtime), ..once().limits };
    let mut late = reading_back(limits);
    assert!(matches!(late.next(Instant::ZERO), Next::Io(_)));
    assert_eq!(late.next(Instant::ZERO + runtime), Next::Exit);
    let mut judged = reading_back(limits);
    judged.finish();
    assert_eq!(judged.next(Instant::ZERO), Next::Exit);
}

/// Also where passes begin again by themselves, an I/O that does not fit ends one.
#[test]
fn each_pass_that_ends_is_read_back() {
    let limits = Limits { endless: true, ..Limits::default() };
    let read_back = ReadBack { at_end: true, ..ReadBack::default() };
    let spec = StreamSpec { direction: Direction::Write, limits, read_back, ..once() };
    let reads = |bytes: u64, spec: &StreamSpec| {
        ios(&[bytes], spec).iter().filter(|io| io.op == Op::Read).count()
    };
    assert_eq!(reads(8 * BLOCK + 5, &spec), 50_000, "every second I/O");
    assert_eq!(reads(8 * BLOCK, &spec), 0, "no pass ends");
    let once = StreamSpec { limits: once().limits, ..spec };
    assert_eq!(reads(8 * BLOCK, &once), 8);
}
