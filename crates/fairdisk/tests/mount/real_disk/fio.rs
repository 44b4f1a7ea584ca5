//! A job as a command of fio or as a section of a job file, and what fio says of it.

use super::figures::{Figures, Measure, Percentiles};
use super::loads::{Files, Fio, Job};
use super::settings::Lengths;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;

/// The most clones that have a file each.
pub(super) const FILES_EACH: u32 = 32;

/// The length of each of their files, in MiB.
pub(super) const fn each_mib(lengths: &Lengths) -> u32 {
    lengths.file_mib / FILES_EACH
}

/// The command that runs it in a directory.
pub(super) fn command(job: &Job, fio: &Fio, directory: &Path, lengths: &Lengths) -> String {
    let (group, at) = (job.group, directory.display());
    let mut command = format!(
        "fio --output-format=json --name={group} --thread --group_reporting --time_based \
         --runtime={} --ramp_time={}",
        lengths.seconds, lengths.ramp_seconds
    );
    let files = match fio.files {
        Files::One => format!("--filename={at}/{group} --size={}m", lengths.file_mib),
        Files::Each => {
            format!(
                "--directory={at} --filename_format='each.$jobnum' --size={}m",
                each_mib(lengths)
            )
        }
    };
    let options = fio.options.iter().map(|(key, value)| format!("--{key}={value}"));
    for word in std::iter::once(files).chain(options) {
        let _ = write!(command, " {word}");
    }
    command
}

/// The section of a job file that says the same.
pub(super) fn section(job: &Job, fio: &Fio, lengths: &Lengths) -> String {
    let (group, weight) = (job.group, job.weight);
    let mut section = format!("[{group}]\ngroup=/{group}\ngroup_weight={weight}\n");
    let files = match fio.files {
        Files::One => format!("filename={group}\nsize={}m\n", lengths.file_mib),
        Files::Each => format!("size={}m\n", each_mib(lengths)),
    };
    section += &files;
    for (key, value) in &fio.options {
        let _ = writeln!(section, "{key}={value}");
    }
    section
}

/// What fio measured.
pub(super) fn figures(said: &str, measure: Measure) -> Result<Figures, String> {
    // Warnings may stand before the object.
    let from = said.find('{').ok_or_else(|| format!("fio: {said}"))?;
    let values = serde_json::Deserializer::from_str(&said[from..]).into_iter::<Value>().next();
    let value = values.and_then(Result::ok).ok_or_else(|| format!("fio: {said}"))?;
    let job = &value["jobs"][0];
    let number = |way: &str, key: &str| job[way][key].as_f64().unwrap_or(0.0);
    let ios_per_s = number("read", "iops") + number("write", "iops");
    let bytes_per_s = number("read", "bw_bytes") + number("write", "bw_bytes");
    let way = if number("write", "iops") > 0.0 { "write" } else { "read" };
    Ok(Figures {
        rate: measure.rate(ios_per_s, bytes_per_s),
        ios_per_s,
        latency: percentiles(&job[way]["clat_ns"]),
        fsync: percentiles(&job["sync"]["lat_ns"]),
    })
}

fn percentiles(latency_ns: &Value) -> Option<Percentiles> {
    let of = |name: &str| latency_ns["percentile"][name].as_f64().map(|ns| ns / 1e6);
    Some([of("50.000000")?, of("99.000000")?])
}

#[test]
fn what_fio_says_is_read() {
    let said = r#"note: something
        {"jobs": [{"read": {"iops": 0, "bw_bytes": 0}, "write": {"iops": 800, "bw_bytes": 3276800,
        "clat_ns": {"percentile": {"50.000000": 1000000, "99.000000": 3000000}}},
        "sync": {"lat_ns": {"percentile": {"50.000000": 2000000, "99.000000": 5000000}}}}]} rest"#;
    let figures = figures(said, Measure::Commits { writes: 8 }).unwrap();
    assert_eq!((figures.rate, figures.ios_per_s), (100.0, 800.0));
    assert_eq!((figures.latency, figures.fsync), (Some([1.0, 3.0]), Some([2.0, 5.0])));
    assert!(super::fio::figures("fio: no such file", Measure::Ios).is_err());
}
