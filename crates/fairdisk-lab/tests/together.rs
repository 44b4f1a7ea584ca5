//! The disks of a JBOD on one machine, compared with each on a machine of its own.

use fairdisk_core::{Instant, Span};
use fairdisk_lab::blame::{Between, Difference, FactorSet, Metric, Side, divergence};
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::jobfile::{Context, JobFile};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::{RunResult, run_once};
use fairdisk_sim::{TaskReport, World};
use std::sync::atomic::AtomicBool;

const FOUR_DISKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/experiments/four-disks.toml");
const PROMISES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/experiments/promises.toml");
const FLUSHED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/experiments/fsync.toml");
const TOGETHER: &str = "host.disks_together=true";

fn options(sets: &[&str]) -> Options {
    let overrides = sets.iter().map(|set| Override::parse(set).expect("well formed")).collect();
    Options { overrides, ..Options::default() }
}

fn plan(spec: &str, options: &Options) -> Plan {
    Plan::experiment(spec, options).unwrap_or_else(|error| panic!("{error}"))
}

/// The first seed of every arm and row.
fn runs(spec: &str, options: &Options) -> Vec<RunResult> {
    let plan = plan(spec, options);
    let cells =
        (0..plan.arms.len()).flat_map(|arm| (0..plan.rows.len()).map(move |row| (arm, row)));
    let run = |(arm, row)| {
        let (arm, row) = plan.cell(arm, row);
        run_once(&plan, arm, row, 0, &AtomicBool::new(false)).expect("it fits")
    };
    cells.map(run).collect()
}

fn with(options: &Options, set: &str) -> Options {
    let mut options = options.clone();
    options.overrides.push(Override::parse(set).expect("well formed"));
    options
}

/// A CPU for each task and memory for all: every journal is the same, and so is every figure.
#[test]
fn where_nothing_is_scarce_disks_do_together_what_they_do_apart() {
    let enough = ["device.jbod=3", "host.cpus=256"];
    let partitions = [&enough[..], &["device.partitions=2"]].concat();
    // So short a run dirties less than the part of this memory that begins write-back.
    let old = ["host.write_back.age_ms=150", "host.write_back.interval_ms=50"];
    let writes_back = [&["device.jbod=2", "host.cpus=256"][..], &old, &["host.memory.mib=196608"]];
    // Writers fill that memory at its own speed, which is the time that this test takes.
    let written = Options {
        duration: Some(Span::from_ms(1100)),
        rows: vec!["random write".to_owned()],
        ..options(&writes_back.concat())
    };
    let short = Some(Span::from_s(2));
    let cases = [
        (FOUR_DISKS, options(&partitions)),
        ("tiobench-threads", Options { duration: short, ..options(&enough) }),
        ("tiobench-threads", written),
        ("satoshi-2008-05-27-test1", Options { duration: short, ..options(&enough) }),
        (PROMISES, Options { schedulers: vec!["fair".to_owned()], ..options(&enough) }),
        (FLUSHED, Options { duration: short, ..options(&enough) }),
    ];
    for (spec, options) in &cases {
        let (apart, together) = (runs(spec, options), runs(spec, &with(options, TOGETHER)));
        assert!(apart.iter().all(|run| run.completed > 300), "{spec}: too little happened");
        for (at, (apart, together)) in apart.iter().zip(&together).enumerate() {
            assert_eq!(apart.journal_hash, together.journal_hash, "{spec}, run {at}");
            assert_eq!(format!("{apart:#?}"), format!("{together:#?}"), "{spec}, run {at}");
        }
    }
}

/// The journal of each disk, and not only of all of them.
#[test]
fn each_disk_has_the_journal_of_its_own_machine() {
    let options = options(&["device.jbod=4", "host.cpus=64"]);
    let (apart, together) =
        (plan(FOUR_DISKS, &options), plan(FOUR_DISKS, &with(&options, TOGETHER)));
    let world = |plan: &Plan, disks| {
        let setup = plan.setup_disks(&plan.arms[0], &plan.rows[0], 0, disks).expect("it fits");
        let mut world = World::new(setup.machine, setup.jbod);
        world.run_until(Instant::ZERO + Span::from_s(2));
        world
    };
    let hashes = |plan: &Plan, disks| -> Vec<u64> {
        world(plan, disks).machine().engines().map(|engine| engine.journal().hash()).collect()
    };
    let own: Vec<u64> = (0..4).flat_map(|disk| hashes(&apart, disk..disk + 1)).collect();
    assert_eq!(hashes(&together, 0..4), own);
    assert!((1..4).all(|disk| own[disk] != own[0]), "disks differ as seeds do: {own:x?}");
}

/// Hashes of runs of several disks from before a machine could have more than one.
#[test]
fn disks_that_run_apart_leave_the_journals_that_they_always_left() {
    let hashes: Vec<u64> =
        runs(FOUR_DISKS, &options(&["device.jbod=3"])).iter().map(|run| run.journal_hash).collect();
    let always = [
        0x57e9_3262_8223_1a5a,
        0x9dea_fcbf_4c01_c483,
        0x7edf_6689_234c_0600,
        0x65bd_ef21_491e_7a3c,
    ];
    assert_eq!(hashes, always, "{hashes:x?}");
}

#[test]
fn a_machine_short_of_cpus_shows_it() {
    let sets = ["device.jbod=8", "host.cpus=1", "host.turnaround_us=[4000, 4000]"];
    let ios = |options: &Options| runs(FOUR_DISKS, options)[0].groups[0].ios as f64;
    let (apart, together) = (ios(&options(&sets)), ios(&with(&options(&sets), TOGETHER)));
    assert!(together < apart / 2.0, "{together} of {apart}");
}

#[test]
fn disks_share_the_rate_of_their_link() {
    let rate = |options: &Options| {
        let large = with(options, "experiment.defaults.block_kib=64");
        let large = Options { device: Some("fixed-8ms".to_owned()), ..large };
        let run = &runs("two-groups", &Options { duration: Some(Span::from_s(2)), ..large })[0];
        let bytes: u64 = run.groups.iter().map(|group| group.bytes).sum();
        bytes as f64 / 1e6 / (run.elapsed.as_ns() as f64 / 1e9)
    };
    let options_of = |sets: &[&str]| options(&[&["device.latency_us=500"], sets].concat());
    let eight = options_of(&["device.jbod=8", "host.cpus=64", TOGETHER]);
    let (free, shared) = (rate(&eight), rate(&with(&eight, "device.link_mb_per_s=100")));
    assert!(free > 300.0, "{free} MB/s");
    assert!((90.0..=100.1).contains(&shared), "{shared} of {free} MB/s");
    // With one disk there is nothing to share, and the link has its rate all the same.
    let one = rate(&options_of(&["device.link_mb_per_s=10"]));
    assert!((8.0..=10.1).contains(&one), "{one} MB/s");
}

// ---- waits for other tasks ---------------------------------------------------------------------

/// The reports of a job file's tasks on two disks, disk by disk.
fn jobs(text: &str, sets: &[&str]) -> Vec<Vec<TaskReport>> {
    let text = format!("[global]\ndevice=hdd-7200-2007\nscheduler=noop\ndirect=1\n{text}");
    let resolved = JobFile::parse("test.fio", &text, &Context::closed())
        .and_then(|file| file.resolve())
        .unwrap_or_else(|problems| panic!("{problems}"));
    let plan = Plan::job_file("test.fio", &resolved, &options(sets)).expect("it is well formed");
    let arm = &plan.arms[0];
    let mut reports = Vec::new();
    for disks in arm.rig.machines() {
        let setup = plan.setup_disks(arm, &plan.rows[0], 0, disks.clone()).expect("it fits");
        let mut world = World::new(setup.machine, setup.jbod);
        world.run_until_done(Instant::ZERO + Span::from_s(3600));
        assert!(world.machine().is_done(), "it comes to an end");
        let of_machine: Vec<TaskReport> = world.machine().task_reports().cloned().collect();
        let each = of_machine.len() / disks.len();
        reports.extend(of_machine.chunks(each).map(<[TaskReport]>::to_vec));
    }
    reports
}

#[test]
fn a_stonewall_waits_for_the_tasks_of_all_disks() {
    for wait in ["stonewall", "wait_for=first"] {
        let text =
            format!("bs=4k\nrw=randread\nsize=1g\nnumber_ios=200\n[first]\n[second]\n{wait}\n");
        let waits = |sets: &[&str]| {
            let disks = jobs(&text, sets);
            let end = disks.iter().map(|tasks| tasks[0].finished).max().expect("two disks");
            disks.iter().map(|tasks| tasks[1].started == end).collect::<Vec<_>>()
        };
        assert_eq!(waits(&["device.jbod=2", TOGETHER]), [true, true], "{wait}");
        let alone = waits(&["device.jbod=2"]);
        assert_eq!(alone.iter().filter(|waits| **waits).count(), 1, "{wait}, each by itself");
    }
}

#[test]
fn the_first_that_is_done_ends_the_run_of_all_disks() {
    let text = std::fs::read_to_string(FOUR_DISKS).expect("it is there");
    let text = text
        .replace("duration_s = 2\n", "until = \"first\"\n")
        .replace("\"fixed-8ms\"", "\"hdd-7200-2007\"")
        .replace("count = 1 }", "count = 1, ios = 100 }")
        .replace("order = \"sequential\"", "order = \"sequential\", ios = 10000")
        .replace("count = 2, direct", "count = 2, ios = 100, direct");
    let place = std::env::temp_dir().join(format!("fairdisk-first-{}", std::process::id()));
    std::fs::create_dir_all(&place).expect("a folder can be made");
    let path = place.join("four-disks.toml");
    std::fs::write(&path, text).expect("a file can be written");
    let result = |sets: &[&str]| {
        let plan = plan(&path.to_string_lossy(), &options(sets));
        run_once(&plan, &plan.arms[0], &plan.rows[0], 0, &AtomicBool::new(false)).expect("it fits")
    };
    let (apart, together) = (result(&["device.jbod=3"]), result(&["device.jbod=3", TOGETHER]));
    std::fs::remove_dir_all(&place).expect("it is ours");
    assert!(together.elapsed < apart.elapsed, "{:?}, {:?}", together.elapsed, apart.elapsed);
    assert!(together.groups[0].ios < apart.groups[0].ios, "no disk goes on to its own first end");
}

// ---- causes ------------------------------------------------------------------------------------

#[test]
fn blame_says_on_which_disk_two_schedulers_part() {
    let stop = AtomicBool::new(false);
    let [good, bad] = ["cfq-2.6.25", "cfq-2.6.32"]
        .map(|name| Side { scheduler: name.to_owned(), overrides: Vec::new() });
    let difference = Difference::between(&good, &bad, &[]).unwrap();
    let all = FactorSet::first(difference.factors.len());
    let planner = |options: &Options| Plan::experiment("two-groups", options);
    let parted = |sets: &[&str]| {
        let options = Options { arms: vec!["flat".to_owned()], ..options(sets) };
        let difference = difference.clone();
        let between = Between::new(difference, Metric::Ios, &planner, options, &stop).unwrap();
        divergence(&between, all, 0, &stop).unwrap().expect("they part")
    };
    let (one, three) = (parted(&[]), parted(&["device.jbod=3", "host.cpus=64", TOGETHER]));
    assert_eq!(one.disk, None);
    assert!(three.disk.is_some_and(|disk| disk < 3) && three.at <= one.at, "{three:?}");
}

// ---- what is refused ---------------------------------------------------------------------------

#[test]
fn a_link_that_nobody_shares_and_values_that_cannot_be_are_refused() {
    let refusal = |sets: &[&str]| {
        Plan::experiment(FOUR_DISKS, &options(sets)).expect_err("it is wrong").to_string()
    };
    let link = "device.link_mb_per_s=100";
    let error = refusal(&["device.jbod=2", link]);
    assert!(
        error.starts_with("--set device.link_mb_per_s=100: disks share a transport"),
        "{error}"
    );
    assert!(error.contains("add --set host.disks_together=true, or drop it"), "{error}");
    let error = refusal(&["device.link_mb_per_s=0"]);
    assert!(error.contains("`link_mb_per_s` is 0; allowed: 1 to 1000000"), "{error}");
    let error = refusal(&["host.disks_together=2"]);
    assert!(error.contains("disks_together") && error.contains("true or false"), "{error}");
    let fits = options(&["device.jbod=2", link, TOGETHER]);
    let machines = plan(FOUR_DISKS, &fits).rig.machines().collect::<Vec<_>>();
    assert!(machines.iter().eq([&(0..2)]), "{machines:?}");
}

/// With a kernel, the disks have the memory of one machine, and what happened to it is counted.
#[test]
fn memory_page_by_page_is_of_one_machine_and_counted() {
    let sets = ["device.jbod=3", "host.memory.kernel=2.6.32", "host.memory.mib=64"];
    for run in runs(FOUR_DISKS, &options(&sets)) {
        assert!(run.memory.is_some_and(|memory| memory.vmstat.pgalloc > 0));
    }
    let sets = ["device.jbod=3", "host.memory.mib=64"];
    assert!(runs(FOUR_DISKS, &options(&sets)).iter().all(|run| run.memory.is_none()));
}

#[test]
fn a_memory_that_there_cannot_be_is_refused_with_its_remedy() {
    let refused = |sets: &[&str]| {
        let plan = Plan::experiment(FOUR_DISKS, &options(sets));
        plan.expect_err("it is wrong").to_string()
    };
    let unknown = refused(&["host.memory.kernel=2.6.12"]);
    assert!(
        unknown.contains("`2.6.12` is no kernel whose memory management is known"),
        "{unknown}"
    );
    assert!(unknown.contains("\"2.6.24\" to \"2.6.37\""), "{unknown}");
    let sets = ["host.memory.kernel=2.6.32", "host.memory.mib=64", "host.memory.used_mib=64"];
    let small = refused(&sets);
    let allowed = "`mib` is 64; allowed: 67 to 16777216, as 64 MiB are in use for good";
    assert!(small.contains(allowed), "{small}");
}
