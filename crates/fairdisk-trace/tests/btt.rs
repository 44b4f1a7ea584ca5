//! What is written as blktrace, and what is read of it, agrees with `blkparse` and `btt`.

use fairdisk_core::{Instant, IoPrio, Lba, Op, Prng, Sectors};
use fairdisk_trace::{
    About, By, Format, Options, Origins, Report, Request, Source, Summary, Traits, Writer, open,
};
use std::fs::File;
use std::path::Path;
use std::process::Command;

/// The output of a tool, which must succeed.
fn run(program: &str, args: &[&str], directory: &Path) -> String {
    let output = Command::new(program).args(args).current_dir(directory).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Whether the tools are missing, which is said.
fn is_missing() -> bool {
    let missing = Command::new("btt").arg("-V").output().is_err();
    if missing {
        println!("skipped: blkparse and btt are not installed");
    }
    missing
}

/// Reads at random and a stream of writes, some of which are done together.
fn write_load(path: &Path) {
    let (mut origins, mut prng) = (Origins::default(), Prng::new(1));
    let out = File::create(path).unwrap_or_else(|error| panic!("{error}"));
    let out = std::io::BufWriter::new(out);
    let mut writer = Writer::new(out, Format::Blktrace, &About::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let reader = origins.number("8,16", "", "fio-101", IoPrio::UNSET);
    let stream = origins.number("8,16", "", "dd-102", IoPrio::UNSET);
    let (mut at, mut end) = (0, 1 << 30);
    for _ in 0..20_000 {
        at += 1_000 + prng.below(60_000);
        let is_read = prng.chance(2, 3);
        let (origin, op, start, sectors) = match is_read {
            true => (reader, Op::Read, 8 * prng.below(1 << 24), 8),
            false => (stream, Op::Write, end, 256),
        };
        end = if is_read { end } else { end + 256 };
        let issued = at + 500 + prng.below(100_000);
        let done = issued + 50_000 + prng.below(900_000);
        let traits = Traits::NONE.with(Traits::SYNC, is_read);
        let request = Request {
            origin,
            op,
            traits,
            start: Lba(start),
            sectors: Sectors(sectors),
            queued: Instant::from_ns(at),
            issued: Some(Instant::from_ns(issued)),
            done: Some(Instant::from_ns(done)),
        };
        writer.add(&request, &origins).unwrap_or_else(|error| panic!("{error}"));
    }
    writer.finish().unwrap_or_else(|error| panic!("{error}"));
}

fn report(path: &Path, by: By) -> Report {
    let mut reader = open(path, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut summary = Summary::new(by);
    while let Some(request) = reader.next().unwrap_or_else(|error| panic!("{error}")) {
        summary.add(&request, reader.origins());
    }
    let head = (reader.format.to_string(), reader.about());
    Report::new(&summary, head, (reader.lost(), reader.skipped()))
}

/// The figures of a line of btt, in ms, and its count.
fn line(btt: &str, name: &str) -> (f64, f64, f64, u64) {
    let line = btt.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{btt}"));
    let of: Vec<f64> =
        line.split_ascii_whitespace().skip(1).map(|word| word.parse().expect("a number")).collect();
    (1e3 * of[0], 1e3 * of[1], 1e3 * of[2], of[3] as u64)
}

#[test]
fn figures_are_those_of_btt_and_blkparse() {
    if is_missing() {
        return;
    }
    let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    write_load(&dir.path().join("load.blktrace.0"));
    let report = report(&dir.path().join("load"), By::Task);
    run("blkparse", &["-i", "load", "-d", "load.bin", "-O"], dir.path());
    let btt = run("btt", &["-i", "load.bin"], dir.path());
    let all = &report.all;
    for (name, ours) in [("D2C", all.served_ms), ("Q2C", all.took_ms)] {
        let ours = ours.unwrap_or_else(|| panic!("{name}"));
        let (_, mean, max, count) = line(&btt, name);
        assert_eq!(ours.count, count, "{name}");
        assert!((ours.mean - mean).abs() < 1e-6, "{name}: {} and {mean} ms", ours.mean);
        assert!((ours.max - max).abs() < 1e-6, "{name}: {} and {max} ms", ours.max);
    }
    let text = run("blkparse", &["-i", "load"], dir.path());
    let queued = format!("Reads Queued: {:11},", all.reads);
    assert!(text.contains(&queued), "{queued}");
    let kib = |name: &str| {
        report.parts.iter().find(|part| part.name == name).expect("it is there").bytes / 1024
    };
    assert!(text.contains(&format!("Writes Completed: {:8}, {:8}KiB", all.writes, kib("dd-102"))));
}

/// What blkparse prints is read as the binary is.
#[test]
fn the_text_of_blkparse_says_the_same() {
    if is_missing() {
        return;
    }
    let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let binary = dir.path().join("load.blktrace.0");
    write_load(&binary);
    let text = run("blkparse", &["-i", "load"], dir.path());
    let path = dir.path().join("load.txt");
    std::fs::write(&path, text).unwrap_or_else(|error| panic!("{error}"));
    let json = |path: &Path| {
        let mut json = serde_json::to_value(report(path, By::Task)).expect("it is JSON");
        json["format"] = "".into();
        json
    };
    assert_eq!(json(&path), json(&binary));
}
