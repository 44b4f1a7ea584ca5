//! Mounts over a file system without file handles, for which a mount of our own serves: files are
//! reached by name.

use crate::common::{How, Tree};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::path::Path;

const DIRECTORIES: usize = 10;
/// Files in each directory. In total there are ten times as many files as the daemon may have
/// descriptors.
const FILES: usize = 128;

/// A tree that is served by a mount, and that mount served again by a daemon with few descriptors.
/// The kernel caches entries for long, so that files are found by their node numbers.
fn trees() -> Option<(Tree, Tree)> {
    let lower = Tree::new()?;
    for number in 0..DIRECTORIES {
        fs::create_dir(lower.below(&format!("{number}"))).unwrap();
        for file in 0..FILES {
            fs::write(lower.below(&format!("{number}/{file}")), text(number, file)).unwrap();
        }
    }
    let how = How { believed: true, few_files: true, ..How::default() };
    let upper = Tree::over(&lower.mount, how);
    upper.shell("find . -exec stat {} + > /dev/null");
    Some((lower, upper))
}

fn text(directory: usize, file: usize) -> String {
    format!("{directory}/{file}")
}

fn all_there(root: &Path, directory: impl Fn(usize) -> String) {
    for number in 0..DIRECTORIES {
        for file in 0..FILES {
            let path = root.join(directory(number)).join(file.to_string());
            assert_eq!(fs::read_to_string(path).unwrap(), text(number, file));
        }
    }
}

#[test]
fn many_more_files_are_of_use_than_can_be_open() {
    let Some((_lower, upper)) = trees() else { return };
    all_there(&upper.mount, |number| number.to_string());
    for number in 0..DIRECTORIES {
        fs::rename(upper.at(&number.to_string()), upper.at(&format!("moved-{number}"))).unwrap();
    }
    all_there(&upper.mount, |number| format!("moved-{number}"));
}

#[test]
fn what_is_renamed_linked_or_removed_is_found_where_it_is() {
    let Some((_lower, upper)) = trees() else { return };
    let said = upper.shell(
        "for f in 0 1 2; do mv 0/$f 1/from-$f; done; mv 2/3 2/4; mv 3 4/inside
         ln 5/5 6/linked; rm 5/5; exec 3< 7/7; rm 7/7; ! mv 9 9/9 2> /dev/null
         for d in 9 8 7; do cat $d/* > /dev/null; done
         cat 1/from-0 1/from-1 1/from-2 2/4 4/inside/17 6/linked 9/9 - <&3",
    );
    assert_eq!(said, "0/00/10/22/33/175/59/97/7");
    let (one, two) = (upper.at("8/1"), upper.at("8/2"));
    renameat_with(CWD, one, CWD, two, RenameFlags::EXCHANGE).unwrap();
    assert_eq!(upper.shell("for d in 9 6 7; do cat $d/* > /dev/null; done; cat 8/1 8/2"), "8/28/1");
}

/// A name may lead to another file by now, which is not the one that was meant.
#[test]
fn a_name_that_leads_to_another_file_is_looked_up_again() {
    let Some((lower, upper)) = trees() else { return };
    for file in 0..FILES {
        fs::rename(lower.at(&text(4, file)), lower.at(&text(3, file))).unwrap();
    }
    // Reads other files until these are known by name alone.
    upper.shell("cat 5/* 6/* 7/* > /dev/null");
    for file in 0..FILES {
        assert_eq!(fs::read_to_string(upper.at(&text(3, file))).unwrap(), text(4, file));
    }
}
