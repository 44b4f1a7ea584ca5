//! Everything that can be wrong with a target file, and what the error says.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use common::SmallDisk;
use common::backend::{perform, request};
use common::target::{open, overwrite, read_only};
use fairdisk_core::Op;
use fairdisk_plane::buffer::Buffer;
use fairdisk_plane::file::{Allocated, TargetProblem, Watch};
use fairdisk_plane::{FileNeeds, TargetFile, parse_target};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const SECTORS: u64 = 100;
const DATA_BYTES: u64 = 53_248; // 100 sectors, rounded up to 4 KiB

fn place() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

const fn allocate(sectors: u64) -> FileNeeds {
    FileNeeds { allocate: true, ..FileNeeds::scratch(sectors) }
}

const fn read_written_out() -> FileNeeds {
    FileNeeds { writes: false, ..allocate(SECTORS) }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

// ---- what works --------------------------------------------------------------------------

#[test]
fn a_missing_file_is_made_of_holes_and_marked() {
    let place = place();
    let path = place.path().join("new");
    let target = open(&path, &FileNeeds::scratch(SECTORS)).unwrap();
    assert_eq!(target.capacity_sectors(), DATA_BYTES / 512);
    assert!(target.is_writable());
    assert_eq!(target.mark().unwrap().written_bytes, 0);
    let found = fs::metadata(&path).unwrap();
    assert_eq!(found.len(), DATA_BYTES + 4096);
    assert!(found.blocks() * 512 < DATA_BYTES, "sparse");
    assert_eq!(names(place.path()), ["new"]);
}

#[test]
fn a_name_may_be_as_long_as_file_systems_allow() {
    let place = place();
    for name in ["x".repeat(255), "ß".repeat(127)] {
        open(&place.path().join(&name), &FileNeeds::scratch(SECTORS)).unwrap();
        assert!(names(place.path()).contains(&name));
    }
    assert_eq!(names(place.path()).len(), 2);
}

#[test]
fn a_file_of_ours_is_used_again_kept_and_lengthened_if_need_be() {
    let place = place();
    let path = place.path().join("again");
    drop(open(&path, &FileNeeds::scratch(SECTORS)).unwrap());
    let mut bytes = fs::read(&path).unwrap();
    bytes[..DATA_BYTES as usize].fill(7);
    fs::write(&path, bytes).unwrap();
    let smaller = open(&path, &FileNeeds::scratch(1)).unwrap();
    assert_eq!(smaller.capacity_sectors(), DATA_BYTES / 512);
    drop(smaller);
    let larger = open(&path, &FileNeeds::scratch(10_000)).unwrap();
    assert_eq!(larger.capacity_sectors(), 10_000);
    drop(larger);
    let bytes = fs::read(&path).unwrap();
    assert!(bytes[..DATA_BYTES as usize].iter().all(|byte| *byte == 7), "the data stays");
    assert!(bytes[DATA_BYTES as usize..5_120_000].iter().all(|byte| *byte == 0), "no old mark");
    assert_eq!(open(&path, &FileNeeds::scratch(1)).unwrap().capacity_sectors(), 10_000);
}

#[test]
fn allocating_writes_the_file_out_once_and_tells_how_far_it_is() {
    let place = place();
    let path = place.path().join("full");
    let mut told = Vec::new();
    let mut watch = |progress: Allocated| {
        told.push(progress.done);
        Watch::Continue
    };
    let sectors = 5 << 11; // 5 MiB
    let target = TargetFile::open(&path, &allocate(sectors), &mut watch).unwrap();
    assert_eq!(target.mark().unwrap().written_bytes, 5 << 20);
    drop(target);
    assert!(fs::metadata(&path).unwrap().blocks() >= sectors);
    assert_eq!(told, [1 << 20, 2 << 20, 3 << 20, 4 << 20, 5 << 20]);
    let mut again = |_: Allocated| panic!("it is written out already");
    drop(TargetFile::open(&path, &allocate(sectors), &mut again).unwrap());

    let sparse = place.path().join("sparse");
    drop(open(&sparse, &FileNeeds::scratch(sectors)).unwrap());
    let target = open(&sparse, &allocate(sectors)).unwrap();
    assert_eq!(target.mark().unwrap().written_bytes, 5 << 20);
}

/// Opens `path` and has it written out as far as `sectors`. Returns the number of bytes written for
/// that.
fn written_for(path: &Path, sectors: u64) -> u64 {
    let mut written = 0;
    let mut watch = |progress: Allocated| {
        written = progress.total;
        Watch::Continue
    };
    drop(TargetFile::open(path, &allocate(sectors), &mut watch).unwrap());
    written
}

/// The number of bytes that the file occupies on its disk.
fn taken(path: &Path) -> u64 {
    fs::metadata(path).unwrap().blocks() * 512
}

#[test]
fn of_a_large_sparse_file_is_written_out_what_the_run_reaches() {
    let place = place();
    let path = place.path().join("large");
    drop(open(&path, &FileNeeds::scratch(1 << 25)).unwrap());
    assert_eq!(written_for(&path, 1 << 11), 1 << 20);
    assert!((1 << 20..2 << 20).contains(&taken(&path)), "{}", taken(&path));
    assert_eq!(written_for(&path, 3 << 11), 2 << 20, "the rest");
    assert_eq!(written_for(&path, 1 << 11), 0);
}

#[test]
fn a_written_out_file_that_grows_keeps_what_is_written() {
    let place = place();
    let path = place.path().join("growing");
    assert_eq!(written_for(&path, 2 << 11), 2 << 20);
    let before = fs::read(&path).unwrap();
    // First extended by a run that needs nothing written out, then by one that does.
    drop(open(&path, &FileNeeds::scratch(3 << 11)).unwrap());
    assert_eq!(written_for(&path, 5 << 11), 3 << 20);
    let after = fs::read(&path).unwrap();
    assert!(before[..2 << 20] == after[..2 << 20], "written again");
}

#[test]
fn what_was_discarded_is_written_out_again() {
    use rustix::fs::{FallocateFlags, fallocate};
    let place = place();
    let path = place.path().join("trimmed");
    assert_eq!(written_for(&path, 4 << 11), 4 << 20);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    // As a backend serves a discard.
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(&file, punch, 1 << 20, 4096).unwrap();
    assert_eq!(written_for(&path, 1 << 11), 0, "the run does not reach it");
    assert_eq!(written_for(&path, 4 << 11), 3 << 20);
    assert!(taken(&path) >= 4 << 20);
    assert_eq!(written_for(&path, 4 << 11), 0);
}

#[test]
fn a_file_that_is_replaced_while_it_is_written_out_is_not_touched() {
    use fairdisk_plane::backend::FileThreads;
    let place = place();
    let path = place.path().join("f");
    drop(open(&path, &FileNeeds::scratch(SECTORS)).unwrap());
    let mut replace = |_: Allocated| {
        fs::remove_file(&path).unwrap();
        fs::write(&path, vec![5; DATA_BYTES as usize]).unwrap();
        Watch::Continue
    };
    let target = TargetFile::open(&path, &allocate(SECTORS), &mut replace).unwrap();
    assert_eq!(target.direct_align(), None, "the path leads elsewhere");
    let mut backend = FileThreads::new(target, 1, "test").unwrap();
    let done = perform(&mut backend, &request(0, Op::Write, 0, 8), Buffer::noise(4096, 1));
    assert_eq!(done.result, Ok(()));
    assert!(fs::read(&path).unwrap().iter().all(|byte| *byte == 5), "somebody else's");
}

#[test]
fn what_a_killed_run_left_behind_is_removed_and_nothing_else() {
    let place = place();
    // A number that the kernel never gives to a process. A killed child of ours would do, but it
    // would hold the files of other tests, and their locks, until it executes its program.
    let dead = 1 << 23;
    let target = place.path().join("x");
    drop(open(&target, &FileNeeds::scratch(SECTORS)).unwrap());
    let alive = std::process::id();
    let at = |name: String| place.path().join(name);
    fs::copy(&target, at(format!(".y.{dead}-0.part"))).unwrap();
    fs::copy(&target, at(format!(".y.{alive}-99.part"))).unwrap();
    fs::copy(&target, at("y.part".to_owned())).unwrap();
    fs::write(at(format!(".z.{dead}-0.part")), "not ours").unwrap();
    // Files of runs killed before they wrote the mark: just created, or also extended.
    fs::write(at(format!(".new.{dead}-0.part")), "").unwrap();
    fs::File::create(at(format!(".long.{dead}-0.part"))).unwrap().set_len(1 << 20).unwrap();
    fs::write(at(format!(".young.{alive}-99.part")), "").unwrap();
    fs::copy(&target, at(format!(".locked.{dead}-0.part"))).unwrap();
    let locked = fs::File::open(at(format!(".locked.{dead}-0.part"))).unwrap();
    locked.lock().unwrap();
    drop(open(&target, &FileNeeds::scratch(SECTORS)).unwrap());
    let mut left = names(place.path());
    left.sort();
    let mut kept = [
        format!(".locked.{dead}-0.part"),
        format!(".y.{alive}-99.part"),
        format!(".young.{alive}-99.part"),
        format!(".z.{dead}-0.part"),
        "x".to_owned(),
        "y.part".to_owned(),
    ];
    kept.sort();
    assert_eq!(left, kept);
}

#[test]
fn somebody_elses_file_is_read_freely_and_written_only_on_demand() {
    let place = place();
    let path = place.path().join("foreign");
    fs::write(&path, vec![5; 51_200]).unwrap();
    assert!(!open(&path, &read_only(SECTORS)).unwrap().is_writable());
    let target = open(&path, &overwrite(SECTORS)).unwrap();
    assert_eq!((target.capacity_sectors(), target.mark()), (100, None));
    drop(target);
    assert_eq!(fs::read(&path).unwrap(), vec![5; 51_200], "opening changes nothing");
}

#[test]
fn two_readers_share_a_file() {
    let place = place();
    let path = place.path().join("shared");
    drop(open(&path, &FileNeeds::scratch(SECTORS)).unwrap());
    let one = open(&path, &read_only(SECTORS)).unwrap();
    let two = open(&path, &read_only(SECTORS)).unwrap();
    assert_eq!(one.capacity_sectors(), two.capacity_sectors());
    drop((one, two));
    drop(open(&path, &allocate(SECTORS)).unwrap());
    let _one = open(&path, &read_written_out()).unwrap();
    open(&path, &read_written_out()).unwrap();
}

#[test]
fn targets_are_taken_apart() {
    let parse = |text| parse_target(OsStr::new(text));
    assert_eq!(parse("file:/a b/c").unwrap(), PathBuf::from("/a b/c"));
    assert_eq!(parse("file:x:y").unwrap(), PathBuf::from("x:y"));
    let error = |text| parse(text).unwrap_err().to_string();
    assert_eq!(error("dir:/x"), "dir:/x: directories are not supported yet; use file:PATH");
    for text in ["file:", "/x", ""] {
        assert_eq!(error(text), format!("{text}: not a target; expected file:PATH"));
    }
}

// ---- what does not -----------------------------------------------------------------------

/// Opens `name` in a fresh directory after `prepare`. The error must contain the path and `words`,
/// and no file may be left behind or removed.
fn refused(
    name: &str,
    needs: &FileNeeds,
    prepare: impl FnOnce(&Path),
    words: &[&str],
) -> TargetProblem {
    let place = place();
    prepare(place.path());
    let (path, before) = (place.path().join(name), names(place.path()));
    let error = open(&path, needs).unwrap_err();
    let text = error.to_string();
    assert!(text.contains(path.to_str().unwrap()), "{text}");
    for word in words {
        assert!(text.contains(word), "{word:?} is missing in: {text}");
    }
    assert_eq!(names(place.path()), before, "left behind: {text}");
    error.problem
}

#[test]
fn a_directory() {
    let needs = FileNeeds::scratch(1);
    refused("d", &needs, |place| fs::create_dir(place.join("d")).unwrap(), &["is a directory"]);
}

#[test]
fn neither_a_file_nor_a_block_device() {
    let pipe = |place: &Path| {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, place.join("p"), rustix::fs::FileType::Fifo, mode, 0)
            .unwrap();
    };
    refused("p", &FileNeeds::scratch(1), pipe, &["is a pipe", "regular file"]);
    let error = open(Path::new("/dev/null"), &overwrite(1)).unwrap_err().to_string();
    assert!(error.contains("/dev/null is a character device"), "{error}");
}

#[test]
fn a_missing_parent() {
    let words = ["directory does not exist", "make it"];
    refused("no/such/file", &FileNeeds::scratch(1), |_| {}, &words);
    let file = |place: &Path| fs::write(place.join("file"), "").unwrap();
    refused("file/below", &FileNeeds::scratch(1), file, &words);
}

#[test]
fn a_name_that_only_a_directory_can_have() {
    for name in ["new/", "new/.", "new/..", "file/"] {
        let file = |place: &Path| fs::write(place.join("file"), "").unwrap();
        refused(name, &FileNeeds::scratch(1), file, &["is the name of a directory"]);
    }
}

#[test]
fn a_link_to_nowhere() {
    let link = |place: &Path| symlink("nowhere", place.join("l")).unwrap();
    refused("l", &FileNeeds::scratch(1), link, &["link to a missing file"]);
}

#[test]
fn somebody_elses_file() {
    let words = ["was not made by Fairdisk", "--overwrite"];
    let large = |place: &Path| fs::write(place.join("f"), vec![1; 100_000]).unwrap();
    refused("f", &FileNeeds::scratch(SECTORS), large, &words);
    let empty = |place: &Path| fs::write(place.join("f"), "").unwrap();
    refused("f", &FileNeeds::scratch(SECTORS), empty, &words);
}

#[test]
fn a_file_of_ours_that_was_cut_or_extended_counts_as_foreign() {
    for len in [DATA_BYTES + 4095, DATA_BYTES, DATA_BYTES + 8192] {
        let changed = |place: &Path| {
            let path = place.join("f");
            drop(open(&path, &FileNeeds::scratch(SECTORS)).unwrap());
            fs::OpenOptions::new().write(true).open(path).unwrap().set_len(len).unwrap();
        };
        refused("f", &FileNeeds::scratch(SECTORS), changed, &["was not made by Fairdisk"]);
    }
}

#[test]
fn too_small() {
    let small = |place: &Path| fs::write(place.join("f"), vec![1; 1000]).unwrap();
    let words = ["it has 1000 bytes, the run needs 51200", "smaller size"];
    refused("f", &read_only(SECTORS), small, &words);
    refused("f", &overwrite(SECTORS), small, &words);
}

#[test]
fn larger_than_any_file() {
    for sectors in [u64::MAX, u64::MAX / 512, 1 << 54] {
        for needs in [FileNeeds::scratch(sectors), allocate(sectors)] {
            let words = ["does not allow a file of"];
            refused("f", &needs, |_| {}, &words);
            let ours = |place: &Path| drop(open(&place.join("f"), &FileNeeds::scratch(1)).unwrap());
            refused("f", &needs, ours, &words);
        }
    }
}

#[test]
fn a_file_of_ours_that_could_not_be_lengthened_is_still_ours() {
    let place = place();
    let path = place.path().join("f");
    drop(open(&path, &FileNeeds::scratch(1)).unwrap());
    open(&path, &FileNeeds::scratch(1 << 53)).unwrap_err();
    assert_eq!(open(&path, &FileNeeds::scratch(1)).unwrap().capacity_sectors(), 8);
}

#[test]
fn in_use() {
    let place = place();
    let path = place.path().join("f");
    let first = open(&path, &FileNeeds::scratch(SECTORS)).unwrap();
    for needs in [FileNeeds::scratch(SECTORS), read_only(SECTORS)] {
        let error = open(&path, &needs).unwrap_err().to_string();
        assert!(error.contains("is in use by another run"), "{error}");
    }
    drop(first);
    open(&path, &FileNeeds::scratch(SECTORS)).unwrap();
}

#[test]
fn stopped_while_writing_out() {
    let place = place();
    let path = place.path().join("f");
    let error = TargetFile::open(&path, &allocate(SECTORS), &mut |_| Watch::Stop).unwrap_err();
    assert!(matches!(error.problem, TargetProblem::Stopped), "{error}");
    assert!(names(place.path()).is_empty());
}

#[test]
fn stopped_while_a_file_that_is_there_is_written_out() {
    let place = place();
    let path = place.path().join("f");
    drop(open(&path, &FileNeeds::scratch(1 << 25)).unwrap());
    let before = taken(&path);
    let mut stop = |progress: Allocated| {
        if progress.done < 3 << 20 { Watch::Continue } else { Watch::Stop }
    };
    let error = TargetFile::open(&path, &allocate(8 << 11), &mut stop).unwrap_err();
    assert!(matches!(error.problem, TargetProblem::Stopped), "{error}");
    assert_eq!(taken(&path), before, "given back");
    assert_eq!(open(&path, &read_only(1)).unwrap().mark().unwrap().written_bytes, 0);
}

#[test]
fn no_permission() {
    if rustix::process::geteuid().is_root() {
        eprintln!("root may do everything; the program is tested as another user in its own tests");
        return;
    }
    let locked = |place: &Path| {
        fs::write(place.join("f"), vec![1; 100_000]).unwrap();
        fs::set_permissions(place.join("f"), fs::Permissions::from_mode(0o400)).unwrap();
    };
    refused("f", &overwrite(SECTORS), locked, &["no permission to write"]);
}

// ---- on a small file system of its own ---------------------------------------------------

#[test]
fn a_full_disk_is_named_and_nothing_is_left() {
    let Some(disk) = SmallDisk::mount(c"size=512k") else { return };
    let path = disk.path().join("f");
    let error = open(&path, &allocate(4096)).unwrap_err();
    let TargetProblem::DiskFull { free: Some(free), need } = error.problem else {
        panic!("{error}");
    };
    assert!(free <= 512 * 1024 && need == 4096 * 512, "{free} {need}");
    assert!(error.to_string().contains("free space or run on a smaller size"), "{error}");
    assert!(names(disk.path()).is_empty());
}

#[test]
fn a_file_that_is_there_does_not_fill_the_disk() {
    const MIB: usize = 1 << 20;
    let Some(disk) = SmallDisk::mount(c"size=3m") else { return };
    let path = disk.path().join("f");
    drop(open(&path, &FileNeeds::scratch(8 << 11)).unwrap());
    let before = taken(&path);
    let mut nothing = |_: Allocated| panic!("it does not fit, so nothing is written");
    let error = TargetFile::open(&path, &allocate(4 << 11), &mut nothing).unwrap_err();
    assert!(matches!(error.problem, TargetProblem::DiskFull { need: 4_194_304, .. }), "{error}");
    assert_eq!(taken(&path), before);

    // What the file already occupies may be beyond the range to write; that shows only later.
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&[7; 3 * MIB / 2], 5 << 20).unwrap();
    let before = taken(&path);
    let error = open(&path, &allocate(5 << 10)).unwrap_err();
    assert!(matches!(error.problem, TargetProblem::DiskFull { need: 2_621_440, .. }), "{error}");
    assert_eq!(taken(&path), before, "given back");
    assert_eq!(written_for(&path, 1 << 11), 1 << 20);
    assert_eq!(fs::read(&path).unwrap()[5 * MIB..][..3 * MIB / 2], [7; 3 * MIB / 2]);
}

#[test]
fn a_read_only_file_system() {
    let Some(disk) = SmallDisk::mount(c"size=512k") else { return };
    let path = disk.path().join("f");
    drop(open(&path, &FileNeeds::scratch(SECTORS)).unwrap());
    disk.make_read_only();
    for path in [&path, &disk.path().join("new")] {
        let error = open(path, &FileNeeds::scratch(SECTORS)).unwrap_err();
        assert!(matches!(error.problem, TargetProblem::ReadOnly), "{error}");
    }
    open(&path, &read_only(SECTORS)).unwrap();
}

#[test]
fn a_written_out_file_on_a_read_only_file_system_serves_readers() {
    let Some(disk) = SmallDisk::mount(c"size=512k") else { return };
    let path = disk.path().join("f");
    drop(open(&path, &allocate(SECTORS)).unwrap());
    disk.make_read_only();
    open(&path, &read_written_out()).unwrap();
    let error = open(&path, &FileNeeds { writes: false, ..allocate(SECTORS + 8) }).unwrap_err();
    assert!(matches!(error.problem, TargetProblem::ReadOnly), "{error}");
}
