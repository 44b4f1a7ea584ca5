//! Conformance of every backend: what is written is read back, whatever else goes on. All backends
//! run the same scenarios.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use common::backend::{perform, request};
use common::{LoopDevice, fixed_disk};
use fairdisk_core::{Flags, Instant, Op, Prng, Request, RequestId, Span};
use fairdisk_plane::backend::{
    Backend, FileThreads, FileUring, Memory, Modelled, Null, Preference, Ring, open,
};
use fairdisk_plane::buffer::{Buffer, payload_bytes};
use fairdisk_plane::file::Watch;
use fairdisk_plane::{Clock, Failure, FileNeeds, MonotonicClock, TargetFile};
use fairdisk_sim::device::DeviceModel;
use std::collections::BTreeMap;
use std::path::Path;

const SECTORS: u64 = 4096;
const DEPTH: u32 = 16;

fn filled(sectors: u32, byte: u8) -> Buffer {
    let mut data = Buffer::zeroed(sectors as usize * 512);
    data.bytes_mut().fill(byte);
    data
}

fn write(backend: &mut dyn Backend, start: u64, sectors: u32, byte: u8) {
    let done = perform(backend, &request(3, Op::Write, start, sectors), filled(sectors, byte));
    assert_eq!(done.result, Ok(()));
}

fn read(backend: &mut dyn Backend, start: u64, sectors: u32) -> Vec<u8> {
    let done = perform(backend, &request(5, Op::Read, start, sectors), filled(sectors, 0xEE));
    assert_eq!(done.result, Ok(()));
    done.data.bytes().iter().step_by(512).copied().collect()
}

/// The scenarios that every backend with data must pass.
fn conforms(backend: &mut dyn Backend) {
    assert_eq!((backend.depth(), backend.capacity_sectors()), (DEPTH, SECTORS));
    starts_as_zeroes_and_keeps_what_is_written(backend);
    flushes_discards_and_zeroes(backend);
    refuses_what_lies_beyond_the_end(backend);
    waits_no_longer_than_asked(backend);
    random_operations_match_a_model(backend, 5000);
}

fn starts_as_zeroes_and_keeps_what_is_written(backend: &mut dyn Backend) {
    assert_eq!(read(backend, 0, 16), [0; 16]);
    write(backend, 1, 3, 0xA1);
    write(backend, 3, 8, 0xB2);
    assert_eq!(read(backend, 0, 12), [0, 161, 161, 178, 178, 178, 178, 178, 178, 178, 178, 0]);
    write(backend, SECTORS - 8, 8, 0xC3);
    assert_eq!(read(backend, SECTORS - 9, 9), [0, 195, 195, 195, 195, 195, 195, 195, 195]);
}

fn flushes_discards_and_zeroes(backend: &mut dyn Backend) {
    write(backend, 100, 200, 0xD4);
    let durable = Request { flags: Flags::FUA, ..request(1, Op::Write, 96, 8) };
    assert_eq!(perform(backend, &durable, filled(8, 9)).result, Ok(()));
    assert_eq!(perform(backend, &request(1, Op::Flush, 0, 0), Buffer::empty()).result, Ok(()));
    for (flags, start) in [(Flags::NONE, 104), (Flags::FUA, 113)] {
        let zeroes = Request { flags, ..request(2, Op::WriteZeroes, start, 9) };
        assert_eq!(perform(backend, &zeroes, Buffer::empty()).result, Ok(()));
        assert_eq!(read(backend, start, 10)[8..], [0, 0xD4]);
    }
    // The contents of the discarded range are unspecified, but its neighbours must be intact.
    let discard = request(2, Op::Discard, 200, 50);
    assert_eq!(perform(backend, &discard, Buffer::empty()).result, Ok(()));
    assert_eq!(read(backend, 199, 1), [0xD4]);
    assert_eq!(read(backend, 250, 1), [0xD4]);
}

fn refuses_what_lies_beyond_the_end(backend: &mut dyn Backend) {
    let failure = Failure::OutOfRange { capacity_sectors: SECTORS };
    for (start, sectors) in [(SECTORS, 1), (SECTORS - 1, 2), (u64::MAX, 8)] {
        for op in [Op::Read, Op::Write, Op::Discard, Op::WriteZeroes] {
            let request = request(4, op, start, sectors);
            let done = perform(backend, &request, filled(sectors, 1));
            assert_eq!((done.id, done.result), (RequestId(4), Err(failure)), "{op:?} at {start}");
        }
    }
}

fn waits_no_longer_than_asked(backend: &mut dyn Backend) {
    let clock = MonotonicClock::start();
    let mut done = Vec::new();
    backend.wait(&clock, None, &mut done).unwrap();
    backend.wait(&clock, Some(Instant::ZERO), &mut done).unwrap();
    let deadline = clock.now() + Span::from_ms(2);
    backend.wait(&clock, Some(deadline), &mut done).unwrap();
    assert!(done.is_empty() && clock.now() >= deadline);
}

/// Runs many concurrent requests without overlaps, and compares with a model in memory.
fn random_operations_match_a_model(backend: &mut dyn Backend, count: u32) {
    let clock = MonotonicClock::start();
    let mut prng = Prng::new(11);
    let mut model: BTreeMap<u64, u8> = BTreeMap::new();
    let zeroes = request(0, Op::WriteZeroes, 0, SECTORS as u32);
    assert_eq!(perform(backend, &zeroes, Buffer::empty()).result, Ok(()));
    let mut flying: BTreeMap<RequestId, (Request, u8)> = BTreeMap::new();
    let (mut submitted, mut finished, mut done) = (0, 0, Vec::new());
    while finished < count {
        while submitted < count && flying.len() < DEPTH as usize {
            let Some((request, byte)) = next_request(&mut prng, &flying) else { break };
            let mut data = Buffer::zeroed(payload_bytes(&request));
            data.bytes_mut().fill(byte);
            backend.submit(clock.now(), &request, data);
            assert!(flying.insert(request.id, (request, byte)).is_none());
            submitted += 1;
        }
        assert_eq!(backend.in_flight(), submitted - finished);
        backend.wait(&clock, None, &mut done).unwrap();
        finished += done.len() as u32;
        for done in done.drain(..) {
            let (request, byte) = flying.remove(&done.id).unwrap();
            assert_eq!(done.result, Ok(()), "{request:?}");
            apply(&mut model, &request, byte, &done.data);
        }
    }
    assert!(flying.is_empty() && backend.in_flight() == 0);
}

fn next_request(
    prng: &mut Prng,
    flying: &BTreeMap<RequestId, (Request, u8)>,
) -> Option<(Request, u8)> {
    let id = (0..DEPTH).map(RequestId).find(|id| !flying.contains_key(id))?;
    let op = [Op::Read, Op::Read, Op::Write, Op::Write, Op::WriteZeroes, Op::Flush]
        [prng.below(6) as usize];
    // Half of the requests are aligned for direct I/O.
    let unit = if prng.chance(1, 2) { 8 } else { 1 };
    let sectors = if op == Op::Flush { 0 } else { prng.between(1, 128 / unit) * unit };
    let start = prng.below((SECTORS - sectors) / unit + 1) * unit;
    let request = request(id.0, op, start, sectors as u32);
    let clear = |other: &Request| other.start >= request.end() || request.start >= other.end();
    flying.values().all(|(other, _)| clear(other)).then(|| (request, prng.below(255) as u8 + 1))
}

fn apply(model: &mut BTreeMap<u64, u8>, request: &Request, byte: u8, data: &Buffer) {
    for (index, lba) in (request.start.0..request.end().0).enumerate() {
        match request.op {
            Op::Read => {
                let expected = model.get(&lba).copied().unwrap_or(0);
                let bytes = &data.bytes()[index * 512..][..512];
                assert!(bytes.iter().all(|byte| *byte == expected), "sector {lba} of {request:?}");
            }
            Op::Write => {
                model.insert(lba, byte);
            }
            Op::WriteZeroes => {
                model.remove(&lba);
            }
            Op::Flush | Op::Discard => {}
        }
    }
}

// ---- the backends ------------------------------------------------------------------------

fn target(path: &Path) -> TargetFile {
    TargetFile::open(path, &FileNeeds::scratch(SECTORS), &mut |_| Watch::Continue).unwrap()
}

/// A ring; `None`, with a message that says why, where the machine does not provide one.
fn ring() -> Option<Ring> {
    Ring::new(DEPTH).inspect_err(|refusal| eprintln!("skipped, io_uring: {refusal}")).ok()
}

/// Scratch directories: on the file system of the build, and on a tmpfs, which supports less, if
/// there is one.
fn places() -> Vec<tempfile::TempDir> {
    let mut places = vec![tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()];
    match tempfile::tempdir_in("/dev/shm") {
        Ok(place) => places.push(place),
        Err(error) => eprintln!("skipped, tmpfs: {error}"),
    }
    places
}

fn device(latency_us: u32) -> DeviceModel {
    fixed_disk(SECTORS, DEPTH, latency_us)
}

#[test]
fn memory_conforms() {
    conforms(&mut Memory::new(SECTORS, DEPTH));
}

#[test]
fn threads_conform() {
    for place in places() {
        conforms(&mut FileThreads::new(target(&place.path().join("t")), DEPTH, "test").unwrap());
        let buffered = target(&place.path().join("b")).buffered_only();
        conforms(&mut FileThreads::new(buffered, DEPTH, "test").unwrap());
    }
}

#[test]
fn io_uring_conforms() {
    for place in places() {
        for name in ["direct", "buffered"] {
            let Some(ring) = ring() else { return };
            let target = target(&place.path().join(name));
            let target = if name == "direct" { target } else { target.buffered_only() };
            conforms(&mut FileUring::new(target, ring, DEPTH, "test"));
        }
    }
}

#[test]
fn a_modelled_disk_conforms_over_memory_and_over_a_file() {
    conforms(&mut Modelled::new(Memory::new(SECTORS, DEPTH), device(0)));
    conforms(&mut Modelled::new(Memory::new(SECTORS, DEPTH), device(100)));
    let place = tempfile::tempdir().unwrap();
    let inner = open(target(&place.path().join("f")), Preference::Auto, DEPTH).unwrap();
    conforms(&mut Modelled::new(inner, device(20)));
}

#[test]
fn a_block_device_conforms() {
    for preference in [Preference::Threads, Preference::Auto] {
        let Some(device) = LoopDevice::attach(SECTORS * 512) else { return };
        let needs = FileNeeds { overwrite: true, ..FileNeeds::scratch(SECTORS) };
        let target = TargetFile::open(&device.path, &needs, &mut |_| Watch::Continue).unwrap();
        conforms(&mut *open(target, preference, DEPTH).unwrap());
    }
}

/// There is no data to compare, but everything else must hold.
#[test]
fn the_null_backend_conforms_but_for_its_data() {
    for mut backend in [
        Box::new(Null::new(SECTORS, DEPTH)) as Box<dyn Backend>,
        Box::new(Modelled::new(Null::new(SECTORS, DEPTH), device(10))),
    ] {
        refuses_what_lies_beyond_the_end(&mut *backend);
        waits_no_longer_than_asked(&mut *backend);
        let done = perform(&mut *backend, &request(0, Op::Read, 8, 8), filled(8, 3));
        assert_eq!((done.result, done.data.bytes().len()), (Ok(()), 4096));
    }
}

#[test]
fn what_one_backend_writes_another_reads() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = place.path().join("shared");
    write(&mut FileThreads::new(target(&path), DEPTH, "test").unwrap(), 8, 8, 0x77);
    let mut second = open(target(&path), Preference::Auto, DEPTH).unwrap();
    assert_eq!(read(&mut *second, 7, 3), [0, 0x77, 0x77]);
    drop(second);
    assert!(target(&path).mark().is_some(), "data never reaches the mark");
}

#[test]
fn a_target_opened_for_reading_fails_writes_and_serves_reads() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = place.path().join("ro");
    drop(target(&path));
    let needs = FileNeeds { writes: false, ..FileNeeds::scratch(SECTORS) };
    for preference in [Preference::Threads, Preference::Auto] {
        let target = TargetFile::open(&path, &needs, &mut |_| Watch::Continue).unwrap();
        assert!(!target.is_writable());
        let mut backend = open(target, preference, DEPTH).unwrap();
        for op in [Op::Write, Op::Discard, Op::WriteZeroes] {
            let done = perform(&mut *backend, &request(0, op, 8, 8), filled(8, 1));
            let text = done.result.unwrap_err().to_string();
            assert!(text.contains("open for reading only"), "{op:?}: {text}");
        }
        assert_eq!(read(&mut *backend, 0, 8), [0; 8]);
    }
}

/// The file is truncated after it was opened.
#[test]
fn a_file_that_ended_early_fails_reads() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for preference in [Preference::Threads, Preference::Auto] {
        let path = place.path().join(format!("{preference:?}"));
        let mut backend = open(target(&path), preference, DEPTH).unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(8192).unwrap();
        let done = perform(&mut *backend, &request(0, Op::Read, 8, 16), filled(16, 1));
        assert_eq!(done.result, Err(Failure::Short));
    }
}

#[test]
fn the_choice_is_reported_with_its_reason() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let name = |preference| {
        let chosen = open(target(&place.path().join("c")), preference, DEPTH).unwrap().chosen();
        eprintln!("{preference:?}: {}: {}", chosen.name, chosen.why);
        (chosen.name, chosen.why)
    };
    let (forced, why) = name(Preference::Threads);
    assert!(forced == "threads" && why.starts_with("asked for"));
    let (auto, why) = name(Preference::Auto);
    match ring() {
        Some(_) => assert!(auto == "io_uring" && why.starts_with("the kernel allows it")),
        None => assert!(auto == "threads" && why.contains("io_uring")),
    }
}

/// The depth exceeds that of any ring and the limit of threads.
#[test]
fn a_depth_that_nothing_serves_is_refused_with_its_reason() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = place.path().join("c");
    let refused = |preference, depth| {
        let error = open(target(&path), preference, depth).err().unwrap().to_string();
        assert!(error.contains(path.to_str().unwrap()), "{error}");
        error
    };
    let error = refused(Preference::Uring, 1 << 20);
    assert!(error.contains("ask for threads"), "{error}");
    let error = refused(Preference::Auto, 1 << 20);
    assert!(error.contains("io_uring") || error.contains("ring"), "{error}");
    assert!(error.contains("serve 1024 requests at once") && error.contains("depth"), "{error}");
    let error = refused(Preference::Threads, 1025);
    assert!(error.contains("serve 1024 requests at once, not 1025"), "{error}");
}

/// No request waits in a queue that the scheduler does not know.
#[test]
fn every_request_up_to_the_depth_has_a_thread() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let backend = FileThreads::new(target(&place.path().join("d")), 100, "test").unwrap();
    assert_eq!((backend.depth(), backend.threads()), (100, 100));
}

/// Nothing hangs, and nothing is written to freed memory.
#[test]
fn a_backend_can_be_dropped_with_requests_in_flight() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for preference in [Preference::Threads, Preference::Auto] {
        let mut backend = open(target(&place.path().join("d")), preference, DEPTH).unwrap();
        for id in 0..DEPTH {
            let request = request(id, Op::Read, u64::from(id) * 128, 128);
            backend.submit(Instant::ZERO, &request, filled(128, 0));
        }
    }
}
