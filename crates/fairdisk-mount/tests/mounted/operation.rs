//! Mounting and unmounting.

use crate::closed::{ACCOUNT, closed, closed_with, mounted_behind, unmount};
use crate::common::{How, Tree, can_mount, place, until};
use crate::volume::Volume;
use fairdisk_mount::{Gate, Job, MountOptions, MountProblem, Mounted, OpenGate, Piece};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{FileExt, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, SystemTime};

#[test]
fn a_second_mount_on_the_same_place_is_refused() {
    let Some(mut tree) = Tree::new() else { return };
    let before = tree.shell("pwd");
    let daemon_of_first = tree.start(How::default());
    let why = daemon_of_first.unwrap_err();
    assert!(why.contains("already") && why.contains("umount"), "{why}");
    assert_eq!(tree.shell("pwd"), before);
}

#[test]
fn a_tree_can_be_mounted_on_itself() {
    if !can_mount() {
        return;
    }
    let place = place();
    fs::write(place.path().join("file"), "below").unwrap();
    let mount =
        || Mounted::mount(place.path(), place.path(), MountOptions::default(), Arc::new(OpenGate));
    let mut mounted = mount().unwrap();
    assert_eq!(fs::read_to_string(place.path().join("file")).unwrap(), "below");
    fs::write(place.path().join("new"), "through").unwrap();
    assert!(mounted.counts().nodes >= 2);
    unmount(&mut mounted);
    assert_eq!(fs::read_to_string(place.path().join("new")).unwrap(), "through");
}

#[test]
fn a_mount_in_use_is_not_unmounted_and_goes_on() {
    let behind = mounted_behind(OpenGate, MountOptions::default());
    let Some((place, mut mounted)) = behind else { return };
    let [source, mount] = ["source", "mount"].map(|name| place.path().join(name));
    let mut file = File::create(mount.join("file")).unwrap();
    let busy = mounted.unmount().unwrap_err();
    assert!(matches!(busy.problem(), MountProblem::Busy), "{busy}");
    file.write_all(b"still here").unwrap();
    drop(file);
    unmount(&mut mounted);
    assert_eq!(fs::read(source.join("file")).unwrap(), b"still here");
}

/// A writer far ahead of the disk is held back, while others and metadata are not. `fsync` is
/// answered after the earlier writes to its file, and unmounting waits for all writes.
#[test]
fn a_writer_is_held_back_and_fsync_waits_for_its_own() {
    let Some((_place, gate, mut mounted)) = closed() else { return };
    let path = mounted.mountpoint().join("file");
    let (tell, told) = mpsc::channel();
    let writer = thread::spawn(move || {
        let mut file = File::create(path).unwrap();
        for _ in 0..8 {
            file.write_all(&[7; 512 << 10]).unwrap();
        }
        tell.send("written").unwrap();
        file.sync_all().unwrap();
        tell.send("durable").unwrap();
    });
    until("the writer is held back", || mounted.counts().held_back > 0);
    assert!(told.try_recv().is_err());
    fs::create_dir(mounted.mountpoint().join("not-held-back")).unwrap();
    let dirty = mounted.counts().dirty_bytes;
    assert!(dirty > 1 << 20 && dirty <= 3 << 20, "{dirty}");
    let mut written = 0;
    until("it is durable", || {
        while let Some(piece) = gate.let_one_through() {
            match piece.op {
                fairdisk_core::Op::Write => {
                    assert!(!told.try_iter().any(|said| said == "durable"), "too early");
                    written += piece.sectors.bytes();
                }
                op => {
                    assert_eq!(op, fairdisk_core::Op::Flush);
                    // Ranges that begin or end within a sector count it twice.
                    assert!((4 << 20..5 << 20).contains(&written), "{written}");
                }
            }
        }
        writer.is_finished()
    });
    writer.join().unwrap();
    assert_eq!(gate.waiting(), 0);
    unmount(&mut mounted);
}

/// The writer may have ended by the time of write-back, and whoever waits for a write does not wait
/// for the disk.
#[test]
fn what_is_written_out_is_on_its_writers_account_and_performed_by_others() {
    let Some((_place, gate, mut mounted)) = closed() else { return };
    let mut file = File::create(mounted.mountpoint().join("file")).unwrap();
    for is_awaited in [false, true] {
        file.write_all(b"something").unwrap();
        until("it is being written out", || gate.waiting() == 1);
        let piece = gate.0.lock().unwrap()[0].0;
        assert_eq!((piece.account, piece.sync), (Some(ACCOUNT), is_awaited));
        assert!(!piece.may_wait);
        assert_eq!(gate.sync(&file), None);
    }
    drop(file);
    unmount(&mut mounted);
}

/// While the disk does nothing, more requests are taken than there are threads.
#[test]
fn a_disk_that_stands_still_stops_nobody_from_asking() {
    let Some((place, gate, mounted)) = closed() else { return };
    for number in 0..40 {
        fs::write(place.path().join(format!("source/{number}")), "text").unwrap();
    }
    let readers: Vec<_> = (0..40)
        .map(|number| {
            let path = mounted.mountpoint().join(number.to_string());
            thread::spawn(move || fs::read_to_string(path).unwrap())
        })
        .collect();
    until("all have asked", || gate.waiting() == 40);
    assert!(mounted.mountpoint().join("39").exists());
    while gate.let_one_through().is_some() {}
    until("all have read", || {
        while gate.let_one_through().is_some() {}
        readers.iter().all(thread::JoinHandle::is_finished)
    });
    assert!(readers.into_iter().all(|reader| reader.join().unwrap() == "text"));
}

/// Writes to a file below a mount, with a different time each time, because file times have a
/// coarse granularity.
fn write_below(path: &Path, text: &str) {
    static SECONDS: AtomicU64 = AtomicU64::new(1);
    fs::write(path, text).unwrap();
    let seconds = SECONDS.fetch_add(1, Ordering::Relaxed);
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// A notification about one file waits only for reads of that file.
#[test]
fn a_file_that_is_being_read_holds_up_no_news_of_others() {
    let options = MountOptions { ttl: Duration::ZERO, ..MountOptions::default() };
    let Some((place, gate, mounted)) = closed_with(options) else { return };
    let path = |name: &str| mounted.mountpoint().join(name);
    let write = |name: &str, text| {
        write_below(&place.path().join("source").join(name), text);
        // Of the same length: only the mount, when asked, notices that the data is different.
        fs::metadata(path(name)).unwrap();
    };
    for name in ["read", "other"] {
        write(name, "text");
    }
    let mut slow = File::open(path("read")).unwrap();
    let slow = thread::spawn(move || std::io::Read::read(&mut slow, &mut [0; 4]));
    until("it is asked for", || gate.waiting() == 1);
    write("read", "news");
    let other = File::open(path("other")).unwrap();
    let seen = |text: &str| {
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut data = [0; 4];
                other.read_exact_at(&mut data, 0).map(|()| data)
            });
            until("it is read", || {
                while gate.waiting() > 1 {
                    gate.let_last_through();
                }
                reader.is_finished()
            });
            reader.join().unwrap().unwrap() == text.as_bytes()
        })
    };
    assert!(seen("text"));
    write("other", "news");
    until("news of the other file are seen", || seen("news"));
    assert!(!slow.is_finished());
    until("the slow one is done", || {
        gate.let_one_through();
        slow.is_finished()
    });
}

/// Notifications wait for reads in progress, but delay nobody else.
#[test]
fn news_of_files_that_are_being_read_hold_nobody_up() {
    const FILES: usize = 40;
    let options = MountOptions { readers: 1, ttl: Duration::ZERO, ..MountOptions::default() };
    let Some((place, gate, mounted)) = closed_with(options) else { return };
    let path = |number: usize| mounted.mountpoint().join(number.to_string());
    let below = |number: usize| place.path().join(format!("source/{number}"));
    (0..FILES).for_each(|number| write_below(&below(number), "text"));
    let reader = |number| {
        let path = path(number);
        thread::spawn(move || fs::read(path).unwrap())
    };
    let readers: Vec<_> = (0..FILES).map(reader).collect();
    until("all have asked", || gate.waiting() == FILES);
    for number in 0..FILES {
        // Of the same length, since for another length the kernel would wait itself.
        write_below(&below(number), "news");
        fs::metadata(path(number)).unwrap();
    }
    fs::create_dir(mounted.mountpoint().join("not-held-up")).unwrap();
    until("all have read", || {
        while gate.let_one_through().is_some() {}
        readers.iter().all(thread::JoinHandle::is_finished)
    });
}

#[test]
fn forgotten_files_cost_nothing() {
    let Some((place, _gate, mounted)) = closed() else { return };
    fs::create_dir(place.path().join("source/many")).unwrap();
    for number in 0..2000 {
        fs::write(place.path().join(format!("source/many/{number}")), "").unwrap();
    }
    let list = || {
        let listed = fs::read_dir(mounted.mountpoint().join("many")).unwrap();
        listed.map(|entry| entry.unwrap().metadata().unwrap().len()).sum::<u64>()
    };
    list();
    assert!(mounted.counts().nodes > 1000);
    fs::remove_dir_all(mounted.mountpoint().join("many")).unwrap();
    until("all are forgotten", || mounted.counts().nodes <= 1);
    let open = fs::read_dir("/proc/self/fd").unwrap().count();
    assert!(open < 500, "{open} descriptors");
}

/// Another file system below the source has another device, and no usable file handles.
#[test]
fn file_systems_below_the_source_are_shown_too() {
    let Some(tree) = Tree::new() else { return };
    fs::create_dir(tree.below("other")).unwrap();
    let other = tree.below("other");
    let flags = rustix::mount::MountFlags::empty();
    if let Err(error) = rustix::mount::mount("tmpfs", &other, "tmpfs", flags, c"size=16m") {
        println!("skipped: cannot mount a tmpfs: {error}");
        return;
    }
    let said = tree.shell(
        "cd other; mkdir -p a/b; echo text > a/b/f; ln a/b/f g; cat g; stat -c %h g
         dd if=/dev/zero of=big bs=1M count=4 oflag=direct 2> /dev/null; cmp -n 4194304 big /dev/zero
         exec 3< g; rm g a/b/f; cat <&3; exec 3<&-; test $(stat -c %d .) != $(stat -c %d /)
         mkdir away; (cd away; rmdir ../away; stat -c %F .)
         for i in $(seq 300); do echo $i > $i; done; ls | wc -l; rm -r *; ls | wc -l
         cd ..; echo x > here; mv here other/there; cat other/there",
    );
    let expected = "text\n2\ntext\ndirectory\n302\n0\nx";
    let refused = rustix::fs::rename(tree.at("other/there"), tree.at("here")).unwrap_err();
    rustix::mount::unmount(&other, rustix::mount::UnmountFlags::DETACH).unwrap();
    assert_eq!(said, expected);
    assert_eq!(refused, rustix::io::Errno::XDEV);
}

/// A gate that counts the sectors read, and lets everything through.
#[derive(Clone, Default)]
struct CountingGate(Arc<AtomicU64>);

impl CountingGate {
    /// Whether `with`, which reads `len` bytes, reads from the disk: all of it, or at least a
    /// quarter, because the kernel may have dropped some pages.
    fn is_read<T>(&self, len: u64, with: impl FnOnce() -> T) -> (T, bool) {
        let before = self.0.load(Ordering::Relaxed);
        let read = with();
        (read, (self.0.load(Ordering::Relaxed) - before) * 512 >= len / 4)
    }
}

impl Gate for CountingGate {
    fn submit(&self, piece: Piece, job: Box<dyn Job>) {
        if piece.op == fairdisk_core::Op::Read {
            self.0.fetch_add(u64::from(piece.sectors.0), Ordering::Relaxed);
        }
        OpenGate.submit(piece, job);
    }
}

/// A mount whose reads are counted.
fn counting() -> Option<(tempfile::TempDir, CountingGate, Mounted)> {
    let gate = CountingGate::default();
    let options = MountOptions { ttl: Duration::ZERO, ..MountOptions::default() };
    let (place, mounted) = mounted_behind(gate.clone(), options)?;
    Some((place, gate, mounted))
}

/// The kernel's cached data of a file stays valid when the mount itself writes to the file,
/// inspects it and opens it again: a repeated read needs no request.
#[test]
fn what_was_read_is_not_read_again_because_of_own_writes() {
    let Some((place, gate, mut mounted)) = counting() else { return };
    let (source, mount) = (place.path().join("source"), place.path().join("mount"));
    let (path, below) = (mount.join("file"), source.join("file"));
    fs::write(&path, vec![7; 4 << 20]).unwrap();
    let is_read = || {
        let (data, is_read) = gate.is_read(4 << 20, || fs::read(&path).unwrap());
        assert_eq!(data.len(), 4 << 20);
        is_read
    };
    is_read();
    let file = File::options().write(true).open(&path).unwrap();
    for round in 0..5 {
        file.write_all_at(&[8; 4096], 4096 * round).unwrap();
        fs::metadata(&path).unwrap();
        assert!(!is_read(), "round {round}");
    }
    drop(file);
    assert!(!is_read(), "opened again");
    File::options().write(true).open(&below).unwrap().write_all_at(&[9], 0).unwrap();
    until("a change below is seen", || fs::read(&path).unwrap()[0] == 9);
    let open = File::open(&path).unwrap();
    File::options().write(true).open(&below).unwrap().write_all_at(&[10], 0).unwrap();
    until("a change below is seen while it is open", || {
        open.metadata().unwrap();
        let mut byte = [0];
        open.read_exact_at(&mut byte, 0).unwrap();
        byte == [10]
    });
    drop(open);
    unmount(&mut mounted);
}

/// Cached data also stays valid after a change of name, mode or attributes, which does not affect
/// the contents. Changes by others are seen all the same.
#[test]
fn what_was_read_is_not_read_again_because_of_another_name() {
    let Some((place, gate, mut mounted)) = counting() else { return };
    let (source, mount) = (place.path().join("source"), place.path().join("mount"));
    let [path, other] = ["file", "other"].map(|name| mount.join(name));
    fs::write(&path, vec![7; 1 << 20]).unwrap();
    let read = |path: &Path| gate.is_read(1 << 20, || fs::read(path).unwrap()[0]);
    read(&path);
    for is_open in [false, true] {
        let open = is_open.then(|| File::open(&path).unwrap());
        fs::rename(&path, &other).unwrap();
        assert_eq!(read(&other), (7, false), "renamed, open: {is_open}");
        let link = mount.join(format!("link, {is_open}"));
        fs::hard_link(&other, &link).unwrap();
        assert_eq!(read(&link), (7, false), "linked, open: {is_open}");
        fs::set_permissions(&other, fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(read(&other), (7, false), "of another mode, open: {is_open}");
        fs::rename(&other, &path).unwrap();
        drop(open);
    }
    let below = File::options().write(true).open(source.join("file")).unwrap();
    below.write_all_at(&[8], 0).unwrap();
    fs::rename(&path, &other).unwrap();
    until("a change before the rename is seen", || read(&other).0 == 8);
    // So is a change just before a write of our own elsewhere in the file.
    let open = File::options().read(true).write(true).open(&other).unwrap();
    below.write_all_at(&[9], 0).unwrap();
    open.write_all_at(&[1], 1 << 19).unwrap();
    until("a change before a write is seen", || {
        open.metadata().unwrap();
        let mut byte = [0];
        open.read_exact_at(&mut byte, 0).unwrap();
        byte == [9]
    });
    drop((open, below));
    unmount(&mut mounted);
}

/// However many changes are blocked below, reads continue.
#[test]
fn changes_that_are_held_up_hold_nobody_else_up() {
    if !can_mount() {
        return;
    }
    let Some(volume) = Volume::new(32, 5) else { return };
    let mut tree = Tree::over(&volume.path, How::default());
    // Each in a directory of its own, because the kernel locks a directory for a change.
    let names: Vec<PathBuf> = (0..80).map(|number| tree.at(&format!("{number}/file"))).collect();
    for name in &names {
        fs::create_dir(name.parent().unwrap()).unwrap();
        fs::write(name, "data").unwrap();
    }
    fs::write(tree.below("looked at"), "there").unwrap();
    if !volume.freeze() {
        println!("skipped: {} cannot be frozen", volume.path.display());
        return tree.unmount();
    }
    let change = |(number, name): (usize, PathBuf)| match number % 4 {
        0 => drop(File::create(&name)), // made shorter
        1 => drop(fs::remove_file(&name)),
        2 => drop(File::options().write(true).open(&name)),
        _ => drop(fs::create_dir(name.with_extension("directory"))),
    };
    let changes = names.into_iter().enumerate();
    let changes: Vec<_> = changes.map(|one| thread::spawn(move || change(one))).collect();
    until("all workers wait below", || tree.threads_held_up() >= 32);
    let (tell, told) = mpsc::channel();
    let file = tree.at("looked at");
    let look = thread::spawn(move || tell.send(fs::read_to_string(file)));
    let seen = told.recv_timeout(Duration::from_secs(20));
    volume.thaw();
    changes.into_iter().for_each(|change| change.join().unwrap());
    look.join().unwrap().unwrap();
    assert_eq!(seen.expect("it waits for changes").unwrap(), "there");
    tree.unmount();
}
