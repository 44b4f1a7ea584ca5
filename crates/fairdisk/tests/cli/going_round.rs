//! Tasks that come to the end of their file before they are done.

use crate::bad_files::line_of;
use crate::bad_input::demand_refused;
use crate::program::{Place, two_groups};

/// 64 MiB of less, from its start to its end and no further.
#[test]
fn more_in_sequence_than_there_is() {
    let place = Place::new();
    let text = two_groups()
        .replace("order = \"random\"", "order = \"sequential\"")
        .replace("duration_s = 30", "until = \"done\"")
        .replace("op = \"read\"", "op = \"read\"\nbytes_mib = 64");
    let run = |more: &[&str]| {
        let run = ["run", "mine.toml", "--arm", "flat", "--seeds", "1"];
        place.run(&[&run[..], more].concat())
    };
    for (gib, ios) in [("0.001", 262), ("0.0624", 16_357)] {
        let size = format!("volume.size_gib={gib}");
        let room = format!("room for {ios} I/Os of 4096 bytes in sequence");
        let words = ["`bytes_mib` = 64 goes beyond the end", "`scratch`", &room, "`size_mib`"];
        place.write("mine.toml", &text);
        let of_set = format!("--set {size}: ");
        demand_refused(&run(&["--set", &size]), &[&[&of_set[..]], &words[..]].concat());
        place.write("mine.toml", text.replace("size_gib = 4", &format!("size_gib = {gib}")));
        let line = format!("mine.toml:{}: ", line_of(&text, "bytes_mib"));
        demand_refused(&run(&[]), &[&[&line[..]], &words[..]].concat());
    }
    place.write("mine.toml", &text);
    let goes_round = "went on from its start";
    let all = run(&["--set", "volume.size_gib=0.0625"]).quiet();
    assert!(!all.contains(goes_round), "{all}");
    // Who says how much is used may have more of it.
    place.write("mine.toml", text.replace("bytes_mib = 64", "bytes_mib = 64\nsize_mib = 32"));
    let note = "note: readers: tasks of groups `backup`, `database` came to the end of their file \
                and went on from its start.";
    let round = run(&[]).quiet();
    assert!(round.contains(note), "{round}");
    // And so may who runs for a time.
    let text = two_groups().replace("order = \"random\"", "order = \"sequential\"");
    place.write("mine.toml", text.replace("size_gib = 4", "size_gib = 0.001"));
    let timed = run(&[]).quiet();
    assert!(timed.contains(note), "{timed}");
}
