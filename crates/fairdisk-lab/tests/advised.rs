//! Advice: what is proposed for wishes, and what is reported about wishes that cannot be granted.

use fairdisk_core::Span;
use fairdisk_lab::advise::{Advice, Kind, Want, Wish, advise, to_json, to_table};
use fairdisk_lab::catalog::experiment::Experiment;
use fairdisk_lab::catalog::library::Document;
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::jobfile::{Context, JobFile};
use fairdisk_lab::outcome::Style;
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::Silent;
use std::sync::atomic::AtomicBool;

const PROMISES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/experiments/promises.toml");
const SCHEDULERS: &[&str] = &["noop", "deadline", "two-layer-cfq", "mclock"];

fn plan(row: Option<&str>) -> Plan {
    let options = Options {
        rows: row.map(str::to_owned).into_iter().collect(),
        schedulers: SCHEDULERS.iter().map(|&name| name.to_owned()).collect(),
        seeds: Some(1),
        ..Options::default()
    };
    Plan::experiment(PROMISES, &options).unwrap_or_else(|error| panic!("{error}"))
}

fn asked(row: Option<&str>, wants: &[&str]) -> Result<Advice, String> {
    let wants: Vec<Want> = wants.iter().map(|want| Want::parse(want).expect(want)).collect();
    advise(&plan(row), &wants, &Silent, &AtomicBool::new(false))
}

#[test]
fn wishes_that_can_come_true_do_and_the_lines_are_an_experiment() {
    let advice = asked(Some("nested"), &["beside: min_iops=20"]).expect("it makes sense");
    assert!(advice.is_granted(), "{}", to_table(&advice, Style::default()));
    let best = advice.proposed().expect("something is proposed");
    // With 3:1 for the others, the group beside them has 31 of 125 I/Os per second, however this is
    // achieved.
    assert_ne!(best.scheduler, "noop");
    let value = to_json(&advice);
    let check = value["proposed"]["check"].as_str().expect("it can be checked");
    let (row, device) = ("--row 'nested'", "--device 'fixed-8ms'");
    let again = format!("fairdisk compare FILE {row} {device} --scheduler '{}'", best.scheduler);
    assert_eq!(check, again);
    assert!(to_table(&advice, Style::default()).contains(check));
    let lines = value["proposed"]["experiment"].as_str().expect("there are lines");
    let whole = format!(
        "id = \"proposed\"\ntitle = \"As proposed\"\ndevice = \"fixed-8ms\"\nhost = \"plain\"\n\
         duration_s = 1\n\n{lines}\n[[volume]]\nname = \"disk\"\nkind = \"raw\"\nsize_gib = 1\n\n\
         [[row]]\nlabel = \"row\"\ntasks = [{{ group = \"beside\", volume = \"disk\" }}]\n"
    );
    let document = Document {
        id: "proposed".to_owned(),
        path: "proposed.toml".to_owned(),
        text: whole.clone().into(),
        written: None,
    };
    Experiment::parse(&document).unwrap_or_else(|error| panic!("{error}\n{whole}"));
}

#[test]
fn a_wish_no_disk_can_grant_is_refused_with_what_can_be_had() {
    let advice = asked(Some("kept"), &["latency: latency_p99_ms=5"]).expect("it makes sense");
    assert!(!advice.is_granted());
    let at = advice.wishes.iter().position(|wish| wish.kind == Kind::Latency).expect("it is there");
    let limit = advice.limits[at].as_deref().expect("there is a reason");
    assert!(limit.starts_with("alone on the disk its p99 is 8."), "{limit}");
    let text = to_table(&advice, Style::default());
    assert!(text.contains("proposed, the nearest to the wishes"), "{text}");
}

#[test]
fn what_none_of_them_can_do_is_said_with_the_nearest() {
    let advice = asked(Some("kept"), &["floor: min_iops=119"]).expect("it makes sense");
    let at = advice.wishes.iter().position(|wish| wish.kind == Kind::Floor).expect("it is there");
    assert_eq!(advice.wishes[at].text, "at least 119 I/Os/s");
    let limit = advice.limits[at].as_deref().expect("there is a reason");
    let [tries, nearest] = [
        format!("none of {} tries does it; nearest: ", advice.tried.len()),
        " I/Os/s, below in ".to_owned(),
    ];
    assert!(limit.starts_with(&tries) && limit.contains(&nearest), "{limit}");
    assert!(!advice.is_granted());
    assert!(advice.tried.iter().any(|one| one.round > 0), "weights were tried");
}

#[test]
fn wishes_for_a_group_of_groups_are_for_those_in_it() {
    let advice = asked(Some("nested"), &["outer: min_iops=80", "outer: share=75"]);
    let advice = advice.expect("it makes sense");
    let of_outer: Vec<usize> =
        (0..advice.wishes.len()).filter(|at| advice.wishes[*at].name == "outer").collect();
    assert_eq!(of_outer.len(), 2, "{:?}", advice.wishes);
    let best = advice.proposed().expect("something is proposed");
    assert!(of_outer.iter().all(|at| best.verdicts[*at].met), "{:?}", best.verdicts);
}

#[test]
fn a_floor_that_a_scheduler_refuses_is_no_end_of_the_search() {
    let options = Options {
        rows: vec!["kept".to_owned()],
        schedulers: vec!["noop".to_owned(), "fair".to_owned()],
        seeds: Some(1),
        ..Options::default()
    };
    let plan = Plan::experiment(PROMISES, &options).unwrap_or_else(|error| panic!("{error}"));
    let wants = [Want::parse("floor: min_iops=500").expect("it is a wish")];
    let advice = advise(&plan, &wants, &Silent, &AtomicBool::new(false)).expect("it is tried");
    assert!(!advice.is_granted());
    assert!(advice.refused.iter().any(|(name, why)| name == "fair" && why.contains("floor")));
    // It is tried with what there is room for: 900 ms of each second, at 8 ms an I/O.
    let less = advice.tried.iter().find(|one| one.scheduler == "fair").expect("it is tried");
    let floor = less.groups.iter().find_map(|group| group.qos.floor.iops).expect("a part is left");
    assert!((100..=112).contains(&floor.get()), "{floor}");
    let wish = advice.wishes.iter().position(|wish| wish.kind == Kind::Floor).expect("it is one");
    assert!(!less.verdicts[wish].met, "500 a second were wished");
    assert!(advice.limits[wish].as_deref().is_some_and(|why| why.starts_with("alone on the disk")));
}

fn asked_of(schedulers: &[&str], row: &str, wants: &[&str]) -> Advice {
    let options = Options {
        rows: vec![row.to_owned()],
        schedulers: schedulers.iter().map(|&name| name.to_owned()).collect(),
        seeds: Some(1),
        ..Options::default()
    };
    let plan = Plan::experiment(PROMISES, &options).unwrap_or_else(|error| panic!("{error}"));
    let wants: Vec<Want> = wants.iter().map(|want| Want::parse(want).expect(want)).collect();
    advise(&plan, &wants, &Silent, &AtomicBool::new(false)).expect("it makes sense")
}

/// The word for the wish of this kind of a group, and why it does not come true.
fn answer<'a>(advice: &'a Advice, group: &str, kind: Kind) -> (bool, &'a str) {
    let is_it = |wish: &Wish| wish.name == group && wish.kind == kind;
    let at = advice.wishes.iter().position(is_it).expect("there is such a wish");
    let best = advice.proposed().expect("something is proposed");
    (best.verdicts[at].met, advice.limits[at].as_deref().unwrap_or_default())
}

#[test]
fn a_share_above_its_own_ceiling_is_a_contradiction() {
    let wants = ["ceiling: share=70, max_iops=20"];
    let advice = asked_of(&["fair", "mclock"], "kept", &wants);
    let (met, why) = answer(&advice, "ceiling", Kind::Share);
    assert!(!met && why.starts_with("contradicts its ceiling, which leaves it 1"), "{why}");
    assert!(answer(&advice, "ceiling", Kind::Ceiling).0);
    // No weight helps, so none is tried.
    assert!(advice.tried.iter().all(|one| one.round == 0), "{:?}", advice.tried);
}

/// One group of four readers could have all of the disk, and 500 I/Os a second are more than that.
#[test]
fn a_floor_in_vain_takes_no_share_from_others() {
    let options = Options {
        schedulers: vec!["fair".to_owned(), "mclock".to_owned()],
        device: Some("fixed-8ms".to_owned()),
        duration: Some(Span::from_s(6)),
        seeds: Some(1),
        ..Options::default()
    };
    let plan = Plan::experiment("two-groups", &options).unwrap_or_else(|error| panic!("{error}"));
    let wants = [Want::parse("database: share=70, min_iops=500").expect("it is a wish")];
    let advice = advise(&plan, &wants, &Silent, &AtomicBool::new(false)).expect("it is tried");
    let table = to_table(&advice, Style::default());
    assert!(answer(&advice, "database", Kind::Share).0, "{table}");
    assert!(answer(&advice, "backup", Kind::Share).0, "{table}");
    let (met, why) = answer(&advice, "database", Kind::Floor);
    assert!(!met && why.starts_with("alone on the disk it does"), "{table}");
    // As wished, the floor takes everything, and no share of 30 % is kept.
    let first = advice.tried.iter().find(|one| one.scheduler == "mclock").expect("it is tried");
    let of_others = advice.wishes.iter().position(|wish| wish.name == "backup");
    let verdict = &first.verdicts[of_others.expect("it is there")];
    let why = verdict.contradicts.as_deref().unwrap_or_default();
    assert!(!verdict.met && why.starts_with("contradicts the floors, which leave it"), "{why}");
}

#[test]
fn floors_for_which_the_disk_is_too_slow_are_a_contradiction() {
    let wants = ["floor: min_iops=80", "ceiling: min_iops=60"];
    let advice = asked_of(&["mclock"], "kept", &wants);
    let all = "contradicts the other floors: together they take 11";
    let of = |group| answer(&advice, group, Kind::Floor);
    assert!(of("floor").1.starts_with(all) || of("ceiling").1.starts_with(all), "{advice:?}");
}

#[test]
fn who_wishes_for_no_share_is_shown_with_what_is_left() {
    let advice = asked_of(&["fair"], "kept", &["latency: latency_p99_ms=9"]);
    let table = to_table(&advice, Style::default());
    assert!(table.contains("no share wished"), "{table}");
    let others = to_json(&advice)["others"].as_array().map(Vec::len);
    assert_eq!(others, Some(3), "{table}");
}

#[test]
fn who_would_do_more_than_its_ceiling_is_told_that_it_waits_for_that() {
    let wants = ["ceiling: max_iops=3, latency_p99_ms=2"];
    let advice = asked_of(&["fair"], "kept", &wants);
    let (met, why) = answer(&advice, "ceiling", Kind::Latency);
    assert!(!met && why.starts_with("its requests wait for its ceiling: alone"), "{why}");
}

/// Ceilings for others are tried for a floor, too: `token-bucket` knows nothing else.
#[test]
fn others_get_ceilings_for_a_floor() {
    let advice = asked_of(&["token-bucket"], "nested", &["beside: min_iops=60"]);
    let table = to_table(&advice, Style::default());
    let wish = advice.wishes.iter().position(|wish| wish.kind == Kind::Floor).expect("it is one");
    let is_met = |round| {
        let one = advice.tried.iter().find(|one| one.round == round);
        one.map(|one| one.verdicts[wish].met)
    };
    assert_eq!([is_met(0), is_met(1)], [Some(false), Some(true)], "{table}");
}

/// `noop` grants a floor, a ceiling and a latency target that are what everybody gets anyway.
#[test]
fn who_sees_to_wishes_is_proposed_before_who_happens_to_grant_them() {
    let advice = asked(Some("kept"), &[]).expect("it makes sense");
    assert!(advice.is_granted());
    let noop: Vec<_> = advice.tried.iter().filter(|one| one.scheduler == "noop").collect();
    assert_eq!([noop.len(), noop[0].met(), noop[0].enforced()], [1, advice.wishes.len(), 0]);
    let best = advice.proposed().expect("it is there");
    assert_eq!(best.scheduler, "mclock");
    let enforced = |kind: Kind| {
        let at = advice.wishes.iter().position(|wish| wish.kind == kind).expect("it is there");
        best.verdicts[at].enforced
    };
    assert!(enforced(Kind::Floor) && enforced(Kind::Ceiling) && !enforced(Kind::Latency));
}

#[test]
fn noop_is_enough_where_nobody_sees_to_wishes() {
    let schedulers = ["noop", "deadline"].map(str::to_owned).to_vec();
    let rows = vec!["kept".to_owned()];
    let options = Options { rows, schedulers, seeds: Some(1), ..Options::default() };
    let plan = Plan::experiment(PROMISES, &options).unwrap_or_else(|error| panic!("{error}"));
    let advice = advise(&plan, &[], &Silent, &AtomicBool::new(false)).expect("it makes sense");
    assert!(advice.is_granted());
    assert_eq!(advice.proposed().expect("it is there").scheduler, "noop");
    let table = to_table(&advice, Style::default());
    assert!(table.contains("kept (under this load; noop does not enforce it)"), "{table}");
}

#[test]
fn wishes_that_make_no_sense_are_refused() {
    for (row, wants, word) in [
        (None, &[][..], "choose one with --row: `not kept`, `kept`"),
        (Some("kept"), &["flor: share=10"][..], "did you mean `floor`?"),
        (Some("kept"), &["floor: share=60", "ceiling: share=50"][..], "add up to 110 %"),
        (Some("nested"), &["one: share=99"][..], "add up to 99 %; leave something for the others"),
    ] {
        let error = asked(row, wants).unwrap_err();
        assert!(error.contains(word), "{error}");
    }
}

/// What `fair` does for a wish about jobs on a disk that takes 8 ms for each I/O.
fn asked_of_jobs(jobs: &str, want: &str) -> Advice {
    let text = format!("[global]\ndevice=fixed-8ms\ndirect=1\nsize=4m\n{jobs}");
    let file = JobFile::parse("jobs.fio", &text, &Context::closed());
    let jobs = file.and_then(|file| file.resolve()).unwrap_or_else(|error| panic!("{error}"));
    let fair = vec!["fair".to_owned()];
    let overrides = vec![Override::parse("device.flush_us=30000").expect("it is one")];
    let options = Options { schedulers: fair, seeds: Some(1), overrides, ..Options::default() };
    let plan = Plan::job_file("jobs.fio", &jobs, &options).expect("there are such a disk and fair");
    let wish = [Want::parse(want).expect("it is one")];
    advise(&plan, &wish, &Silent, &AtomicBool::new(false)).expect("it makes sense")
}

/// A target is about reads and writes. Who thinks of commits is told what those take.
#[test]
fn a_wish_for_short_latencies_does_not_count_fsyncs_and_says_so() {
    let got = |keys: &str| {
        let jobs = format!("rw=randwrite\nnumber_ios=40\n{keys}\n[a]\ngroup=/a\n");
        let advice = asked_of_jobs(&jobs, "/a: latency_p99_ms=10");
        let [verdict] = &advice.proposed().expect("something is proposed").verdicts[..] else {
            panic!("one wish");
        };
        assert!(verdict.met, "{}", verdict.got);
        verdict.got.clone()
    };
    let commits = got("fsync=1");
    assert!(
        commits.starts_with("p99 8.") && commits.contains("(fsync, not counted: 3"),
        "{commits}"
    );
    assert!(!got("").contains("fsync"));
}

/// A wish about commits is judged by them, whether or not a scheduler sees to it.
#[test]
fn a_wish_for_short_commits_is_judged_by_what_an_fsync_takes() {
    let jobs = "rw=randwrite\nnumber_ios=40\nfsync=1\n[a]\ngroup=/a\n";
    for (target_ms, met) in [(40, true), (29, false)] {
        let advice = asked_of_jobs(jobs, &format!("/a: fsync_p99_ms={target_ms}"));
        let best = advice.proposed().expect("something is proposed");
        let verdict = &best.verdicts[0];
        assert_eq!((verdict.met, verdict.enforced), (met, false), "{}", verdict.got);
        assert!(verdict.got.starts_with("fsync p99 3"), "{}", verdict.got);
        assert_eq!(advice.is_granted(), met);
    }
}

/// A wish that no disk can grant is missed by as much whatever is tried, so nobody else loses for
/// its sake.
#[test]
fn where_nothing_helps_nobody_is_held_back() {
    let jobs = "rw=randread\n[a]\ngroup=/a\n[b]\ngroup=/b\nnumjobs=4\n";
    let advice = asked_of_jobs(jobs, "/a: latency_p99_ms=0.001");
    let table = to_table(&advice, Style::default());
    assert!(!advice.is_granted(), "{table}");
    let best = advice.proposed().expect("something is proposed");
    assert_eq!(best.round, 0, "{table}");
}
