//! Names: lookups, renames and listings.

use crate::common::Tree;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{DirEntryExt, FileExt, FileTypeExt, MetadataExt};

#[test]
fn names_may_be_long_and_odd() {
    let Some(tree) = Tree::new() else { return };
    let (long, too_long) = ("n".repeat(255), "n".repeat(256));
    for name in [long.as_str(), "two words", "new\nline", "\u{fffd}", "-rf", "..."] {
        fs::write(tree.at(name), name).unwrap();
        assert_eq!(fs::read_to_string(tree.below(name)).unwrap(), name);
    }
    let error = fs::write(tree.at(&too_long), "").unwrap_err();
    assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::NAMETOOLONG.raw_os_error()));
    let deep = tree.at(&vec!["d".repeat(200); 15].join("/"));
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("file"), "deep").unwrap();
    assert_eq!(fs::read_to_string(deep.join("file")).unwrap(), "deep");
}

#[test]
fn renaming_replaces_unless_told_otherwise() {
    let Some(tree) = Tree::new() else { return };
    let rename = |from: &str, to: &str, flags| {
        renameat_with(CWD, tree.at(from), CWD, tree.at(to), flags).map_err(std::io::Error::from)
    };
    fs::write(tree.at("a"), "a").unwrap();
    fs::write(tree.at("b"), "b").unwrap();
    let refused = rename("a", "b", RenameFlags::NOREPLACE).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
    rename("a", "b", RenameFlags::EXCHANGE).unwrap();
    assert_eq!(fs::read_to_string(tree.at("a")).unwrap(), "b");
    assert_eq!(fs::read_to_string(tree.at("b")).unwrap(), "a");
    rename("a", "b", RenameFlags::empty()).unwrap();
    assert_eq!(fs::read_to_string(tree.at("b")).unwrap(), "b");
    assert!(!tree.at("a").exists());
    rename("b", "c", RenameFlags::WHITEOUT).unwrap();
    let left = fs::symlink_metadata(tree.below("b")).unwrap();
    assert!(left.file_type().is_char_device() && left.rdev() == 0);
}

#[test]
fn directories_move_with_what_is_in_them() {
    let Some(tree) = Tree::new() else { return };
    let said = tree.shell(
        "mkdir -p a/b/c d; echo x > a/b/c/f; mv a/b d/e; cat d/e/c/f
         ! mv d d/e/c 2> /dev/null; ! rmdir d 2> /dev/null; mkdir empty; mv -T empty a; ls",
    );
    assert_eq!(said, "x\na\nd");
    let error = fs::rename(tree.at("d"), tree.at("a/x/y")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn a_large_directory_is_listed_once_each_while_it_changes() {
    let Some(tree) = Tree::new() else { return };
    const FILES: usize = 5000;
    fs::create_dir(tree.at("many")).unwrap();
    for number in 0..FILES {
        fs::write(tree.below(&format!("many/{number:04}")), "").unwrap();
    }
    let mut seen = BTreeSet::new();
    for (at, entry) in fs::read_dir(tree.at("many")).unwrap().enumerate() {
        let entry = entry.unwrap();
        assert!(seen.insert(entry.file_name()), "{:?} twice", entry.file_name());
        if at % 2 == 0 {
            fs::remove_file(entry.path()).unwrap();
            fs::write(tree.at(&format!("many/new-{at:04}")), "").unwrap();
        }
    }
    let old = seen.iter().filter(|name| !name.to_string_lossy().starts_with("new-"));
    assert_eq!(old.count(), FILES);
}

#[test]
fn listings_can_be_gone_back_to() {
    let Some(tree) = Tree::new() else { return };
    for number in 0..500 {
        fs::write(tree.below(&format!("{number}")), "").unwrap();
    }
    let directory = fs::File::open(&tree.mount).unwrap();
    let mut batch = [std::mem::MaybeUninit::uninit(); 4096];
    let mut list = || {
        let mut names = Vec::new();
        let mut entries = rustix::fs::RawDir::new(&directory, &mut batch);
        while let Some(entry) = entries.next() {
            let entry = entry.unwrap();
            names.push((entry.file_name().to_owned(), entry.next_entry_cookie()));
        }
        names
    };
    let all = list();
    assert_eq!(all.len(), 502);
    for at in [0, 1, 250, 500] {
        rustix::fs::seek(&directory, rustix::fs::SeekFrom::Start(all[at].1)).unwrap();
        assert_eq!(list(), all[at + 1..]);
    }
    let inodes = |path| -> BTreeSet<u64> {
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().ino()).collect()
    };
    assert_eq!(inodes(&tree.mount), inodes(&tree.source));
}

/// A file that cannot be inspected, here a mount whose daemon is dead, still has a name. A program
/// that copies or mirrors the directory must not take it for removed.
#[test]
fn a_name_whose_file_cannot_be_looked_at_is_listed() {
    let (Some(tree), Some(mut dead)) = (Tree::new(), Tree::new()) else { return };
    for name in ["before", "dead", "later"] {
        fs::create_dir(tree.below(name)).unwrap();
    }
    rustix::mount::mount_bind(&dead.mount, tree.below("dead")).unwrap();
    dead.kill();
    // The attributes are cached for a second.
    crate::common::until("it is dead", || rustix::fs::stat(tree.below("dead")).is_err());
    let listed = |place: &std::path::Path| -> BTreeSet<_> {
        fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    let (here, below) = (listed(&tree.mount), listed(&tree.source));
    let looked_at = fs::metadata(tree.at("dead")).map_err(|error| error.kind());
    crate::common::detach(&tree.below("dead"));
    crate::common::detach(&dead.mount);
    assert_eq!((here.len(), &here), (3, &below));
    assert_eq!(looked_at.unwrap_err(), ErrorKind::NotConnected);
    crate::common::until("what is there again is seen", || fs::metadata(tree.at("dead")).is_ok());
}

/// This holds even if the file has the same length and its modification time was set back.
#[test]
fn what_is_changed_below_in_secret_is_seen() {
    let Some(tree) = Tree::new() else { return };
    fs::write(tree.at("file"), "old").unwrap();
    // Once read, the data is cached, and while the file is open it is not dropped.
    let open = fs::File::open(tree.at("file")).unwrap();
    assert_eq!(fs::read_to_string(tree.at("file")).unwrap(), "old");
    let modified = fs::metadata(tree.below("file")).unwrap().modified().unwrap();
    crate::common::until("the change is seen", || {
        // Change times have the granularity of the kernel's clock tick.
        let file = fs::File::options().write(true).open(tree.below("file")).unwrap();
        file.write_all_at(b"new", 0).unwrap();
        file.set_modified(modified).unwrap();
        fs::read_to_string(tree.at("file")).unwrap() == "new"
    });
    drop(open);
}

#[test]
fn what_changes_below_is_seen() {
    let Some(tree) = Tree::new() else { return };
    fs::write(tree.at("file"), "old").unwrap();
    let file = fs::File::open(tree.at("file")).unwrap();
    fs::write(tree.below("file"), "newer").unwrap();
    fs::write(tree.below("other"), "there").unwrap();
    assert_eq!(fs::read_to_string(tree.at("other")).unwrap(), "there");
    // Attributes may be cached for a second; after that, the cached data is dropped.
    let newer = || fs::read_to_string(tree.at("file")).unwrap() == "newer";
    crate::common::until("the change is seen", newer);
    drop(file);
}

/// Many threads create, rename, link, read and remove files at the same time: every name leads to a
/// complete file, and the only failures are about files that are gone.
#[test]
fn many_at_once_do_not_get_in_each_others_way() {
    let Some(tree) = Tree::new() else { return };
    fs::create_dir(tree.at("shared")).unwrap();
    std::thread::scope(|scope| {
        for worker in 0..6_u64 {
            let tree = &tree;
            scope.spawn(move || (0..300).for_each(|round| one_round(tree, worker, round)));
        }
    });
    let left = |root| fs::read_dir(root).unwrap().count();
    assert_eq!(left(tree.at("shared")), left(tree.below("shared")));
}

fn one_round(tree: &Tree, worker: u64, round: u64) {
    let mut prng = fairdisk_core::Prng::new(worker << 32 | round);
    let mut shared = || tree.at(&format!("shared/{}", prng.below(8)));
    let gone = |done: std::io::Result<()>| match done {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        other => other.unwrap(),
    };
    let own = tree.at(&format!("own-{worker}"));
    let text = format!("{worker} {round} ").repeat(200 * worker as usize + 1);
    fs::write(&own, &text).unwrap();
    assert_eq!(fs::read_to_string(&own).unwrap(), text);
    match round % 4 {
        0 | 1 => fs::rename(&own, shared()).unwrap(),
        2 => {
            match fs::hard_link(&own, shared()) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                other => other.unwrap(),
            }
            fs::remove_file(&own).unwrap();
        }
        _ => fs::remove_file(&own).unwrap(),
    }
    if let Ok(text) = fs::read_to_string(shared()) {
        let first = text.split_inclusive(' ').take(2).collect::<String>();
        assert!(text == first.repeat(text.len() / first.len()), "torn");
    }
    if round.is_multiple_of(5) {
        gone(fs::remove_file(shared()));
        let dir = tree.at(&format!("dir-{worker}"));
        fs::create_dir(&dir).unwrap();
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
        fs::remove_dir(dir).unwrap();
    }
}
