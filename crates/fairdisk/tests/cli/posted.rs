//! Loads that people posted with reports of bugs run as they are.

use crate::program::fairdisk;

/// Loads that are refused, with what is said of them.
const REFUSED: [(&str, &str); 8] = [
    ("https://github.com/axboe/fio/issues/403", "`flow=-1`"),
    ("https://github.com/axboe/fio/issues/450", "zonesize takes zonemode=strided"),
    ("https://github.com/axboe/fio/issues/513", "zonesize takes zonemode=strided"),
    ("https://github.com/axboe/fio/issues/1323", "`zonemode=zbd`"),
    ("https://github.com/axboe/fio/issues/1566", "`serialize_overlap=1`"),
    ("https://github.com/axboe/fio/issues/1039", "fio reads 50 and drops the rest"),
    ("https://github.com/axboe/fio/issues/596", "`rate_ignore_thinktime=1`"),
    ("https://github.com/axboe/fio/pull/1159", "`file_service_type=gauss:10`"),
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
    assert!(all >= 40, "{all} loads");
    let is_expected = |why: &String| {
        REFUSED.iter().any(|(place, what)| why.starts_with(place) && why.contains(what))
    };
    refused.retain(|why| !is_expected(why));
    assert!(refused.is_empty(), "{} of {all}: {refused:#?}", refused.len());
}
