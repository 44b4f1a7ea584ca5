//! Room that others make for groups with few requests on flash: only where it is worth its cost.

use super::{rate, run_in, shares};
use fairdisk_lab::plan::Options;

/// Four readers beside mixed requests may have 4/5 and use a tenth of `nvme`, most of which stood
/// idle for them: it did 0.47 of what it can. Two readers beside 64 have most of what they can use
/// with room, and keep it.
#[test]
fn room_is_made_on_flash_where_it_is_worth_what_it_costs() {
    let run = |arm: &str, row: &str| {
        let result = run_in("room.toml", "nvme", arm, row, Options::default()).expect("it runs");
        (shares(&result)[0], rate(&result, 0) + rate(&result, 1))
    };
    let ((_, most), (_, all)) = (run("noop", "beside mixed"), run("fair", "beside mixed"));
    assert!(all >= 0.95 * most, "{:.2} of what the disk does", all / most);
    let ((without, _), (got, _)) = (run("noop", "beside reads"), run("fair", "beside reads"));
    assert!(got >= 4.0 * without, "{got:.1} %, {without:.1} without room");
}
