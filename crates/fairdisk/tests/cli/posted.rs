//! Loads that people posted with reports of bugs run as they are.

use crate::program::fairdisk;

/// Loads that are refused, with what is said of them.
const REFUSED: [(&str, &str); 2] = [
    ("https://github.com/axboe/fio/issues/1676", "`openfiles`"),
    ("https://github.com/axboe/fio/issues/1582", "`latency_target=1s`"),
];

#[test]
fn posted_loads_are_understood_as_they_are() {
    let lines = include_str!("posted.txt").lines().filter(|line| line.starts_with("https://"));
    let (mut refused, mut all) = (Vec::new(), 0);
    for (place, load) in lines.filter_map(|line| line.split_once(' ')) {
        all += 1;
        let ended = fairdisk(&["run", "--show-job", &format!("fio {load}")]);
        if ended.code != Some(0) {
            refused.push(format!("{place}: {}", ended.err));
        }
    }
    assert!(all >= 20, "{all} loads");
    let is_expected = |why: &String| {
        REFUSED.iter().any(|(place, what)| why.starts_with(place) && why.contains(what))
    };
    refused.retain(|why| !is_expected(why));
    assert!(refused.is_empty(), "{} of {all}: {refused:#?}", refused.len());
}
