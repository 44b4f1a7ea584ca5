//! The lab's prediction for two readers side by side: the same disk, the same sizes, and the
//! scheduler as a mount runs it.

use crate::host::{fairdisk, text};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// A reader: its group, and its level in the best-effort class.
pub(crate) type Reader = (&'static str, u8);

/// The first reader's share of the bytes in percent, until the first of both is done. Groups have
/// settings in the syntax of `fairdisk ctl set`.
pub(crate) fn share(
    scratch: &Path,
    groups: &[(&str, &str)],
    readers: [Reader; 2],
    mib: usize,
) -> f64 {
    let file = scratch.join("pair.toml");
    fs::write(&file, experiment(groups, readers, mib)).unwrap();
    let file = file.to_str().unwrap();
    let whole = run(file, &[]);
    let seconds = |at: usize| whole["tasks"][at]["seconds"].as_f64().unwrap();
    let first_done = format!("{:.0}ms", 1e3 * seconds(0).min(seconds(1)));
    let until_then = run(file, &["--duration", &first_done]);
    let ios = |at: usize| until_then["tasks"][at]["ios"].as_f64().unwrap();
    100.0 * ios(0) / (ios(0) + ios(1))
}

/// The only row of an experiment, run in the lab.
pub(crate) fn run(file: &str, more: &[&str]) -> Value {
    let args = ["run", file, "--seeds", "1", "--json"];
    // The kernel's read-ahead in a mount.
    let host = ["--set", "host.read_ahead_kib=512", "--quiet"];
    let output = fairdisk(&[&args[..], &host, more].concat());
    assert!(output.status.success(), "{}", text(&output));
    let mut value: Value = serde_json::from_slice(&output.stdout).unwrap();
    value["rows"][0].take()
}

fn experiment(groups: &[(&str, &str)], readers: [Reader; 2], mib: usize) -> String {
    let mut text = String::from(
        "id = \"pair\"\ntitle = \"Two readers\"\ndevice = \"wd2500js\"\nhost = \"plain\"\n\
         until = \"done\"\n\n\
         [[volume]]\nname = \"first\"\nkind = \"raw\"\nsize_gib = 1\n\n\
         [[volume]]\nname = \"second\"\nkind = \"raw\"\nstart_gib = 1\nsize_gib = 1\n\n\
         [[row]]\nlabel = \"pair\"\ngroups = [\n",
    );
    for (name, setting) in groups {
        let priority = setting.strip_prefix("ioprio=").unwrap();
        writeln!(text, "  {{ name = \"{name}\", priority = {priority} }},").unwrap();
    }
    text.push_str("]\ntasks = [\n");
    for (name, (group, level)) in ["first", "second"].iter().zip(readers) {
        writeln!(
            text,
            "  {{ name = \"{name}\", group = \"{group}\", ionice = {level}, volume = \"{name}\", \
             direct = false, op = \"read\", order = \"sequential\", block_kib = 1024, bytes_mib = {mib} }},"
        )
        .unwrap();
    }
    text.push_str("]\n\n[[arm]]\nname = \"mounted\"\nscheduler = \"mount-two-layer-cfq\"\n");
    text.push_str("ionice = true\n");
    text
}
