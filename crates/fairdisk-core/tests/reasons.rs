//! Reasons are for readers: each has words of its own, and the page about them lists it.

use fairdisk_core::Why;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn no_two_reasons_read_the_same() {
    let texts: BTreeSet<&str> = Why::ALL.map(Why::text).into();
    assert_eq!(texts.len(), Why::ALL.len());
}

/// Journals hold the numbers, also of runs that were before a reason was taken out.
#[test]
fn reasons_keep_their_numbers() {
    let last = Why::ALL.last().copied();
    let beside_gaps = [
        [Why::Displaced, Why::IdleWait],
        [Why::TargetRoomUsed, Why::GroupSliceContinues],
        [Why::Awaited, Why::FloorRoomUsed],
    ];
    let numbers = beside_gaps.map(|pair| pair.map(|why| why as u8));
    assert_eq!(numbers, [[12, 14], [35, 37], [40, 43]]);
    assert_eq!((last, last.map(|why| why as u8)), (Some(Why::Injected), Some(45)));
}

#[test]
fn the_page_about_reasons_has_each_with_its_words() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/explain.md");
    let page = fs::read_to_string(path).expect("the page");
    let listed: BTreeSet<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    let rows = Why::ALL.map(|why| format!("| `{why:?}` | {} |", why.text()));
    assert_eq!(listed, rows.iter().map(String::as_str).collect());
}
