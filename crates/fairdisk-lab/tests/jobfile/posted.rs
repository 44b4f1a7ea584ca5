//! Loads that people posted with reports of bugs do the same under the installed fio and in the
//! lab, on small files in memory.

use std::path::Path;

use crate::done;
use crate::fio;

/// The part by which counts may differ.
const PART: f64 = 0.03;
/// The size of the files, and the most clones of a job.
const SIZE: &str = "32m";
const CLONES_MAX: u32 = 4;

/// Keys that say where files are, how large they are, how long it takes and what is printed: a
/// comparison of counts has its own.
const OWN: [&str; 23] = [
    "filename",
    "directory",
    "size",
    "filesize",
    "io_size",
    "offset",
    "direct",
    "buffered",
    "runtime",
    "time_based",
    "ramp_time",
    "startdelay",
    "thread",
    "rate",
    "rate_iops",
    "rate_iops_min",
    "output",
    "unified_rw_reporting",
    "hipri",
    "output-format",
    "minimal",
    "eta",
    // fio does not count it.
    "fdatasync",
];
/// Loads whose end depends on the time that I/Os take, that do few I/Os as chance will have it, or
/// that are refused.
const NOT_COUNTED: [&str; 16] = [
    "issues/1676", // flushes depend on direct=1; `fio-1676` of counts.txt has it
    "issues/1582", // latency_target
    "issues/251",  // flow
    "issues/296",  // soon a block of 1 MiB has no room in a map of 4 KiB
    "issues/334",  // sixteen blocks of 2 MiB, some of them twice
    "issues/403",
    "issues/450",
    "issues/513",
    "issues/1323",
    "issues/1566",
    "issues/800", // on so small a file with zones of gigabytes fio does nothing
    "issues/399", // fio trims devices alone
    "issues/122", // so
    "issues/1039",
    "issues/596",
    "pull/1159",
];

/// The lines of a load, each with the place where it was posted.
fn posted() -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fairdisk/tests/cli/posted.txt");
    let text = std::fs::read_to_string(path).expect("the loads are there");
    let lines = text.lines().filter(|line| line.starts_with("https://"));
    lines
        .filter_map(|line| line.split_once(' '))
        .map(|(at, load)| (at.into(), load.into()))
        .collect()
}

/// The options of a command line as keys and values.
fn options(load: &str) -> Vec<(String, Option<String>)> {
    let mut options: Vec<(String, Option<String>)> = Vec::new();
    for word in load.split(' ') {
        match word.strip_prefix("--").or_else(|| word.strip_prefix('-')) {
            Some(option) => {
                let (key, value) = option.split_once('=').unzip();
                let value = value.map(|value| value.trim_matches('"').to_owned());
                options.push((key.unwrap_or(option).to_owned(), value));
            }
            None => options.last_mut().expect("an option").1 = Some(word.to_owned()),
        }
    }
    options
}

/// A load as a job file on small files in memory.
fn small(load: &str) -> String {
    let mut text = format!("[global]\nthread\ncreate_fsync=0\nsize={SIZE}\n");
    // Options before the first name are of the first job.
    let (mut before, mut is_named) = (String::new(), false);
    for (key, value) in options(load) {
        let line = match (key.as_str(), &value) {
            ("name", Some(name)) if name == "global" => {
                is_named = true;
                std::mem::take(&mut before)
            }
            ("name", Some(name)) => {
                is_named = true;
                format!("[{}]\n{}", name.replace('/', "-"), std::mem::take(&mut before))
            }
            ("numjobs", Some(count)) => {
                let count: u32 = count.parse().expect("a number");
                format!("numjobs={}\n", count.min(CLONES_MAX))
            }
            (key, _) if OWN.contains(&key) || key.starts_with("write_") => continue,
            (key, Some(value)) => format!("{key}={value}\n"),
            (key, None) => format!("{key}\n"),
        };
        if is_named { text += &line } else { before += &line }
    }
    text
}

#[test]
fn posted_loads_do_as_much_as_under_fio() {
    if !fio::is_installed() {
        return;
    }
    let scratch = fio::Scratch::in_memory("posted");
    let (mut off, mut compared) = (Vec::new(), 0);
    for (place, load) in posted() {
        if NOT_COUNTED.iter().any(|not| place.ends_with(not)) {
            continue;
        }
        let text = small(&load);
        let (fio, us) = (done::by_fio(&scratch, &text), done::by_lab(&text));
        compared += 1;
        if let Some(difference) = done::difference(&fio, &us, PART) {
            off.push(format!("{place}\n{text}{difference}"));
        }
    }
    assert!(compared >= 36, "{compared} loads");
    assert!(off.is_empty(), "{} of {compared}:\n{}", off.len(), off.join("\n"));
}
