//! Events of a row: what somebody does while it runs.

use super::{assert_refused, plan, table};
use fairdisk_lab::outcome::{Outcome, Shell, Style, to_json, to_table};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::{EventRun, RunResult, Silent, run_once, run_plan};
use std::sync::atomic::AtomicBool;

const TASKS: &str = "{ group = \"a\", name = \"one\" }, { group = \"b\", name = \"two\" }";

/// An experiment of ten seconds whose only row has these events.
fn text(tasks: &str, events: &str) -> String {
    let text = table("duration_s = 10\nseeds = 1", tasks, "");
    let row = format!("tasks = [{tasks}]");
    text.replace(&row, &format!("{row}\nevents = [{events}]"))
}

fn run(plan: &Plan, arm: usize) -> RunResult {
    let (arm, row) = plan.cell(arm, 0);
    run_once(plan, arm, row, 0, &AtomicBool::new(false)).expect("it can be run")
}

fn run_with(tasks: &str, scheduler: &str, events: &str) -> RunResult {
    let text = text(tasks, events).replace("\"noop\"", &format!("\"{scheduler}\""));
    run(&plan(&text), 0)
}

fn refusals(run: &RunResult) -> Vec<Option<&str>> {
    run.events.iter().map(|EventRun { refused, .. }| refused.as_deref()).collect()
}

#[test]
fn the_crash_of_30_may_2008_is_seen_and_is_gone_without_its_defect() {
    let plan = Plan::experiment("righi-2008-05-30-oops", &Options::default()).expect("it is there");
    let with = run(&plan, 0);
    let why = refusals(&with)[2].expect("the third event is refused");
    assert!(why.starts_with("group old still holds a record"), "{why}");
    assert_eq!(refusals(&with)[..2], [None, None]);
    assert_eq!(refusals(&run(&plan, 1)), [None, None, None]);
}

#[test]
fn another_scheduler_takes_over_with_all_that_is_queued() {
    let tasks = "{ group = \"a\", name = \"one\", count = 8 }";
    let run = run_with(
        tasks,
        "cfq-2.6.25",
        "{ at_s = 3, scheduler = \"noop\" }, { at_s = 6, back = true }",
    );
    assert_eq!(refusals(&run), [None, None]);
    assert!(run.submitted == run.completed + run.in_flight && run.completed > 500, "{run:?}");
}

#[test]
fn a_priority_counts_from_when_it_is_changed() {
    let share = |events: &str| {
        let tasks = "{ group = \"a\", count = 8 }, { group = \"b\", count = 8 }";
        let run = run_with(tasks, "two-layer-cfq", events);
        run.groups[0].ios as f64 / (run.groups[0].ios + run.groups[1].ios) as f64
    };
    let early = share("{ at_s = 0, group = \"a\", priority = 0 }");
    let late = share("{ at_s = 5, group = \"a\", priority = 0 }");
    let (never, weight) = (share(""), share("{ at_s = 0, group = \"a\", weight = 200 }"));
    assert!(early > late + 0.03 && late > never + 0.03, "{early}, {late}, {never}");
    assert!((early - weight).abs() < 0.02, "priority 0 is the weight 200: {early}, {weight}");
}

#[test]
fn tasks_are_ended_and_their_group_can_be_removed() {
    let run = run_with(TASKS, "noop", "{ at_s = 4, end = \"two\" }, { at_s = 5, remove = \"b\" }");
    assert_eq!(refusals(&run), [None, None]);
    let [one, two] = &run.tasks[..] else { panic!("two lines") };
    let seconds = [one, two].map(|line| line.elapsed.as_ns() as f64 / 1e9);
    assert!(seconds[0] > 9.9 && (3.9..4.2).contains(&seconds[1]), "{seconds:?}");
}

/// Two groups, of which one has weight 900. Tasks that move there halfway have the share of the
/// other for five seconds and its share for five.
#[test]
fn tasks_that_move_get_what_their_group_gets_and_each_group_has_its_part() {
    let tasks = "{ group = \"a\", count = 4, name = \"one\" }, \
                 { group = \"b\", count = 4, name = \"two\" }";
    let heavy = "{ at_s = 0, group = \"b\", weight = 900 }";
    let moved = format!("{heavy}, {{ at_s = 5, move = \"one\", to = \"b\" }}");
    let [stays, moves] = [heavy, &moved].map(|events| run_with(tasks, "fair", events));
    assert_eq!(refusals(&moves), [None, None]);
    let ios = |run: &RunResult| [run.groups[0].ios, run.groups[1].ios];
    let of_lines = |run: &RunResult| [&run.tasks[0], &run.tasks[1]].map(|line| line.ios);
    assert_eq!(ios(&stays), of_lines(&stays), "a line and its group are the same");
    let ([light, heavy], [one, two]) = (ios(&moves), of_lines(&moves));
    assert_eq!(light + heavy, one + two, "nothing is lost or counted twice");
    // Half of the time a tenth, and then nothing; the tasks get half of the disk from then on.
    let part = |ios: u64| ios as f64 / (one + two) as f64;
    assert!((part(light) - 0.05).abs() < 0.03, "{}", part(light));
    assert!((part(one) - 0.3).abs() < 0.06, "{}", part(one));
}

#[test]
fn a_group_whose_tasks_have_moved_away_can_be_removed() {
    let moved = "{ at_s = 4, move = \"two\", to = \"a\" }, { at_s = 5, remove = \"b\" }";
    let run = run_with(TASKS, "two-layer-cfq", moved);
    assert_eq!(refusals(&run), [None, None]);
    assert!(run.submitted == run.completed + run.in_flight && run.groups[1].ios > 0);
}

#[test]
fn from_when_the_disk_fails_everything_fails() {
    let errors = |events: &str| {
        let run = run_with(TASKS, "noop", events);
        let groups = run.groups.iter();
        groups.fold((0, 0), |sum, group| (sum.0 + group.errors, sum.1 + group.ios))
    };
    assert_eq!(errors("").0, 0);
    let (failed, all) = errors("{ at_s = 5, disk_fails = true }");
    assert!(failed > all / 3 && failed < all * 2 / 3, "{failed} of {all}");
}

#[test]
fn events_are_told_in_the_table_and_in_the_json() {
    let plan = plan(&text(TASKS, "{ at_s = 1.5, end = \"one\" }"));
    let runs = run_plan(&plan, &Silent, &AtomicBool::new(false)).expect("it can be run");
    let outcome = Outcome::new(&plan, Shell::Lab, &runs);
    assert!(to_table(&outcome, Style::default()).contains("  at 1.5 s: tasks one ended\n"));
    let event = &to_json(&outcome)["rows"][0]["events"][0];
    assert_eq!((&event["at_s"], &event["refused"]), (&1.5.into(), &serde_json::Value::Null));
}

#[test]
fn events_that_cannot_be_are_refused() {
    let cases = [
        ("{ at_s = 11, back = true }", "after the end of the run"),
        ("{ at_s = 3, back = true }, { at_s = 2, back = true }", "the event above"),
        ("{ at_s = 1 }", "nothing is done"),
        ("{ at_s = 1, back = true, end = \"one\" }", "give each event one of"),
        ("{ at_s = 1, group = \"a\" }", "`group` goes with `priority` or `weight`"),
        ("{ at_s = 1, scheduler = \"nop\" }", "did you mean `noop`"),
        ("{ at_s = 1, make = \"c\" }", "unknown group `c`"),
        ("{ at_s = 1, make = \"a\" }", "tasks of `a` begin before"),
        ("{ at_s = 1, remove = \"a\" }", "`a` has tasks"),
        ("{ at_s = 1, move = \"one\" }", "`move` goes with `to`"),
        ("{ at_s = 1, move = \"three\", to = \"b\" }", "unknown task `three`"),
        ("{ at_s = 1, move = \"one\", to = \"c\" }", "unknown group `c`"),
        ("{ at_s = 1, end = \"three\" }", "unknown task `three`"),
    ];
    for (events, why) in cases {
        assert_refused(&text(TASKS, events), why);
    }
}
