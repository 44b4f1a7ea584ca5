//! Published figures without a column of their own: bandwidth, disk time and latency of groups, of
//! named tasks and over everything.

use super::{assert_refused, outcome, outcome_of, read, table};
use fairdisk_core::Span;
use fairdisk_lab::outcome::{FigureOutcome, Outcome, Score, Style, to_html, to_json, to_table};
use fairdisk_lab::page::Made;
use fairdisk_lab::plan::Options;

const NAMED: &str = "{ group = \"a\", name = \"one\", count = 2 }, \
     { group = \"b\", name = \"other\", order = \"sequential\", block_kib = 64 }";

/// The row of `table` with these figures published.
fn published(figures: &str) -> String {
    let more = format!("[[published]]\narm = \"flat\"\nrow = \"row\"\n{figures}");
    table("duration_s = 2\nseeds = 2", NAMED, &more)
}

fn figures(outcome: &Outcome) -> &[FigureOutcome] {
    &outcome.rows[0].figures
}

fn ours(figure: &FigureOutcome) -> f64 {
    figure.ours.as_ref().unwrap_or_else(|| panic!("{figure:?} is known")).mean
}

/// Whether two ways to compute a figure agree.
fn agree(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
}

#[test]
fn the_bandwidth_of_a_group_is_what_it_moved_in_the_time() {
    let one = outcome(&published("groups.mib_per_s = [1, 50]\nall.kib_per_s = 51000"));
    let [all, a, b] = figures(&one) else { panic!("{one:?}") };
    let row = &one.rows[0];
    assert_eq!([all, a, b].map(|figure| figure.whom.name()), ["all", "a", "b"]);
    for (figure, group) in [a, b].into_iter().zip(&row.groups) {
        assert!(agree(ours(figure), group.bytes / 1_048_576.0 / 2.0), "{figure:?} {group:?}");
    }
    assert!(agree(ours(all), (ours(a) + ours(b)) * 1024.0), "{all:?}");
    assert!(ours(b) > 10.0 * ours(a), "a stream beside random reads: {a:?} {b:?}");
    let error = b.error().expect("it is known");
    assert!(agree(error, (ours(b) / 50.0 - 1.0) * 100.0), "{error}");
}

#[test]
fn the_disk_time_of_groups_is_compared_in_points() {
    let one = outcome(&published("groups.time_percent = [80, 20]\ngroups.bytes_percent = [5, 95]"));
    let [bytes_a, bytes_b, time_a, time_b] = figures(&one) else { panic!("{one:?}") };
    assert!(
        agree(ours(time_a) + ours(time_b), 100.0) && agree(ours(bytes_a) + ours(bytes_b), 100.0)
    );
    let share = one.rows[0].groups[0].disk.time_share * 100.0;
    assert!((ours(time_a) - share).abs() < 0.5, "{time_a:?}, {share} over both runs");
    assert!(agree(time_a.error().expect("known"), ours(time_a) - 80.0));
    let score = Score::of(&one).expect("figures are published");
    assert_eq!(score.figures.iter().map(|figure| figure.cells).collect::<Vec<_>>(), [2, 2]);
    let largest = score.figures[1].error_max;
    assert!(agree(largest, (ours(time_a) - 80.0).abs().max((ours(time_b) - 20.0).abs())));
}

#[test]
fn who_is_waited_for_has_the_disk_by_blkio_time() {
    // The task pauses for less than the disk is kept for it. With equal groups it gets half of the
    // turns, although the disk is hardly busy for it.
    let tasks = "{ group = \"a\", order = \"sequential\", block_kib = 64, think_ms = 5 }, \
                 { group = \"b\", order = \"sequential\", block_kib = 64 }";
    let more = "[[published]]\narm = \"flat\"\nrow = \"row\"\ngroups.time_percent = [50, 50]\n\
                groups.time_ms = [2000, 2000]";
    for (whole, seconds) in [("duration_s = 4", 4.0), ("duration_s = 6\nramp_s = 2", 4.0)] {
        let text = table(&format!("{whole}\nseeds = 2"), tasks, more);
        let one = outcome(&text.replace("\"noop\"", "\"cfq-2.6.33\""));
        let [time_a, time_b, part_a, _] = figures(&one) else { panic!("{one:?}") };
        assert!((45.0..=55.0).contains(&ours(part_a)), "{part_a:?}");
        let both = (ours(time_a) + ours(time_b)) / 1000.0;
        assert!((0.9 * seconds..=1.05 * seconds).contains(&both), "{time_a:?} {time_b:?}");
        assert!(one.rows[0].groups[0].disk.time_share < 0.3, "{:?}", one.rows[0].groups[0]);
    }
}

#[test]
fn latencies_are_those_of_the_group_or_of_the_task() {
    let text = "groups.latency_max_ms = [40, 40]\ntasks.latency_max_ms = [40, 40]\n\
                tasks.latency_mean_ms = [9, 9]\nall.latency_p99_ms = 30\nall.latency_p50_ms = 9";
    let one = outcome(&published(text));
    let [p50, p99, max_a, max_b, mean_one, _, max_one, max_other] = figures(&one) else {
        panic!("{one:?}")
    };
    // Each group has one task, and the longest of the means of two runs is not longer than both.
    assert_eq!((&max_a.ours, &max_b.ours), (&max_one.ours, &max_other.ours));
    let longest = one.rows[0].groups[0].latency.max().as_ns() as f64 / 1e6;
    assert!(ours(max_a) <= longest && ours(max_a) > ours(mean_one), "{max_a:?}, {longest}");
    assert!(ours(p50) < ours(p99), "{p50:?} {p99:?}");
}

#[test]
fn what_the_source_does_not_print_is_left_out() {
    let one = outcome(&published("groups.iops = [nan, 600]"));
    let [b] = figures(&one) else { panic!("{one:?}") };
    assert_eq!((b.whom.name(), b.published), ("b", 600.0));
}

#[test]
fn a_row_that_lasts_until_its_tasks_are_done_takes_so_long() {
    let copies = "{ group = \"a\", bytes_mib = 8, order = \"sequential\", block_kib = 1024 }";
    let text = |whole: &str| {
        let more = "[[published]]\narm = \"flat\"\nrow = \"row\"\nall.seconds = 2";
        table(&format!("{whole}\nseeds = 1"), copies, more)
    };
    let one = outcome(&text("until = \"done\""));
    let [seconds] = figures(&one) else { panic!("{one:?}") };
    assert!(agree(ours(seconds), one.rows[0].duration_s), "{seconds:?}");
    assert_refused(&text("duration_s = 5"), "a run takes the seconds that `duration_s` says");
}

#[test]
fn what_was_cut_short_took_no_seconds() {
    let copy = "{ group = \"a\", bytes_mib = 60, order = \"sequential\", block_kib = 64 }";
    let more = "[[published]]\narm = \"flat\"\nrow = \"row\"\nall.seconds = 2";
    let text = table("until = \"done\"\nseeds = 1", copy, more);
    let options = Options { duration: Some(Span::from_ms(100)), ..Options::default() };
    let short = outcome_of(&read(&text, &options).expect("an experiment"));
    assert!(figures(&short)[0].ours.is_none() && Score::of(&short).is_none(), "{short:?}");
    assert!(figures(&outcome(&text))[0].ours.is_some());
}

#[test]
fn rates_of_some_tasks_may_be_missing() {
    let one = outcome(&published("mb_per_s = [nan, 50]"));
    let rates = one.rows[0].tasks.iter().map(|task| task.published_mb_per_s);
    assert_eq!(rates.collect::<Vec<_>>(), [None, Some(50.0)]);
}

#[test]
fn amounts_compare_with_runs_of_the_same_length_alone() {
    let text = published("all.mib = 100\ngroups.time_ms = [900, 900]\nall.mib_per_s = 50");
    let options = Options { duration: Some(Span::from_s(4)), ..Options::default() };
    let longer = outcome_of(&read(&text, &options).expect("an experiment"));
    let [rate] = figures(&longer) else { panic!("{longer:?}") };
    assert_eq!(rate.quantity.key(), "mib_per_s");
    let left_out = "counts and amounts of row `row` are left out: runs are of another length.";
    assert_eq!(longer.caveats, [format!("published {left_out}")]);
    let same = outcome(&text);
    assert_eq!((figures(&same).len(), same.caveats.len()), (4, 0));
    let rates = read(&published("all.mib_per_s = 50"), &options).expect("an experiment");
    assert!(outcome_of(&rates).caveats.is_empty(), "nothing is left out");
}

#[test]
fn a_change_may_be_one_of_a_group() {
    let second = "[[arm]]\nname = \"again\"\nscheduler = \"cfq-2.6.25\"\n[[published_change]]\n\
                  row = \"row\"\nfrom = \"flat\"\nto = \"again\"\npercent = -20\n";
    let text = |more: &str| table("duration_s = 2\nseeds = 1", NAMED, &format!("{second}{more}"));
    let all = outcome(&text(""));
    let group = outcome(&text("group = \"a\"\nfigure = \"latency_mean_ms\""));
    let change =
        |outcome: &Outcome| outcome.changes[0].percent.as_ref().expect("both have it").mean;
    let mean = |row: usize| {
        let latency = &group.rows[row].groups[0].latency;
        latency.sum().as_ns() as f64 / latency.count() as f64
    };
    assert!(agree(change(&group), (mean(1) / mean(0) - 1.0) * 100.0), "{}", change(&group));
    assert!(!agree(change(&group), change(&all)));
    let words = to_table(&group, Style::default());
    assert!(words.contains("row: flat to again, a: mean latency ms"), "{words}");
    let task = outcome(&text("task = \"other\"\nfigure = \"iops\""));
    let change = &to_json(&task)["changes"][0];
    assert_eq!((&change["kind"], &change["of"]), (&"task".into(), &"other".into()));
    for (more, why) in [
        ("group = \"c\"", "unknown group `c`"),
        ("task = \"a\"", "unknown task `a`"),
        ("group = \"a\"\ntask = \"one\"", "`group` and `task` exclude each other"),
        ("figure = \"time_percent\"", "`time_percent` is not known of all together"),
    ] {
        assert_refused(&text(more), why);
    }
}

#[test]
fn a_change_may_be_the_mean_or_the_largest_of_rows() {
    let rows = "[[row]]\nlabel = \"many\"\ntasks = [{ group = \"a\", count = 30 }]\n[[row]]\n\
                label = \"few\"\ntasks = [{ group = \"b\", count = 5 }]\n[[arm]]\n\
                name = \"again\"\nscheduler = \"cfq-2.6.25\"\n[[published_change]]\n\
                from = \"flat\"\nto = \"again\"\n";
    let text = |more: &str| table("duration_s = 2\nseeds = 3", NAMED, &format!("{rows}{more}"));
    let one = |row: &str| {
        let outcome = outcome(&text(&format!("row = \"{row}\"\npercent = 1")));
        outcome.changes[0].percent.clone().expect("both arms have it")
    };
    let (many, few) = (one("many"), one("few"));
    let all = |more: &str| outcome(&text(&format!("rows = [\"few\", \"many\"]\n{more}")));
    let mean = all("over = \"mean\"\npercent = -33");
    let each = |outcome: &Outcome| outcome.changes[0].percent.clone().expect("both have it").each;
    let expected = |of: fn(f64, f64) -> f64| -> Vec<f64> {
        many.each.iter().zip(&few.each).map(|(one, two)| of(*one, *two)).collect()
    };
    let is_as = |ours: &[f64], expected: Vec<f64>| {
        ours.len() == 3 && ours.iter().zip(expected).all(|(one, two)| agree(*one, two))
    };
    assert!(is_as(&each(&mean), expected(f64::midpoint)), "{mean:?}");
    assert!(to_table(&mean, Style::default()).contains("  mean of few, many: flat to again  "));
    let largest = all("over = \"largest\"\npercent = 20");
    let further = |one: f64, two: f64| if one.abs() > two.abs() { one } else { two };
    assert!(is_as(&each(&largest), expected(further)), "{largest:?}");
    let is_many = many.mean.abs() > few.mean.abs();
    let (peak, other) = if is_many { ("many", "few") } else { ("few", "many") };
    let words = format!("  largest of few, many (in {peak}): flat to again  ");
    assert!(to_table(&largest, Style::default()).contains(&words), "{words}");
    for (at, distance) in [(peak, 0.0), (other, (many.mean - few.mean).abs())] {
        let outcome = all(&format!("over = \"largest\"\nat = \"{at}\""));
        assert!(agree(outcome.changes[0].distance().expect("known"), distance), "{outcome:?}");
        let change = &to_json(&outcome)["changes"][0];
        assert_eq!(change["published"]["largest_in"], at);
        assert_eq!((&change["largest_in"], &change["over"]), (&peak.into(), &"largest".into()));
    }
    for (more, why) in [
        ("percent = 1", "missing key `row` (or `rows`)"),
        ("row = \"few\"\nrows = [\"few\", \"many\"]", "`row` and `rows` exclude each other"),
        ("rows = [\"few\"]\nover = \"mean\"\npercent = 1", "one row is given as `row`"),
        ("rows = [\"few\", \"many\"]\npercent = 1", "missing key `over`"),
        ("rows = [\"few\", \"man\"]\nover = \"mean\"\npercent = 1", "did you mean `many`"),
        ("rows = [\"few\", \"few\"]\nover = \"mean\"\npercent = 1", "`few` is there twice"),
        ("row = \"few\"\nover = \"mean\"\npercent = 1", "`over` belongs to `rows`"),
        ("rows = [\"few\", \"many\"]\nover = \"mean\"\nat = \"few\"", "`at` belongs to"),
        ("rows = [\"few\", \"many\"]\nover = \"largest\"\nat = \"row\"", "unknown row of `rows`"),
        (
            "rows = [\"few\", \"many\"]\nover = \"largest\"\nat = \"few\"\npercent = 1",
            "in which row it is the largest",
        ),
    ] {
        assert_refused(&text(more), why);
    }
}

#[test]
fn a_change_that_no_run_knows_is_shown_as_unknown() {
    let tasks = "{ group = \"a\", name = \"one\", ios = 100000 }, \
                 { group = \"b\", name = \"never\", after = \"one\" }";
    let more = "[[arm]]\nname = \"again\"\nscheduler = \"cfq-2.6.25\"\n[[published_change]]\n\
                row = \"row\"\nfrom = \"flat\"\nto = \"again\"\npercent = -20\n\
                task = \"never\"\nfigure = \"latency_mean_ms\"";
    let outcome = outcome(&table("duration_s = 2\nseeds = 2", tasks, more));
    let words = to_table(&outcome, Style::default());
    let line = words.lines().find(|line| line.contains("never: mean latency")).expect("its line");
    let columns: Vec<&str> = line.split_whitespace().rev().take(3).collect();
    assert_eq!(columns, ["-", "-20", "-"], "{words}");
    assert!(!words.contains("score: changes"), "{words}");
    assert!(to_json(&outcome)["changes"][0]["percent"].is_null());
    assert!(to_html(&outcome, &Made::by("run")).contains(">-20</td>"));
}

#[test]
fn results_have_the_figures_in_every_form() {
    let one = outcome(&published("groups.mib_per_s = [1, 50]\ngroups.time_percent = [80, 20]"));
    let table = to_table(&one, Style::default());
    assert!(table.contains("  b: MiB/s ") && table.contains("score: disk time % "), "{table}");
    let json = to_json(&one);
    let figure = &json["rows"][0]["figures"][0];
    assert_eq!((&figure["of"], &figure["figure"]), (&"a".into(), &"mib_per_s".into()));
    assert!(figure["error_percent"].is_number() && figure["ours_sd"].is_number(), "{figure}");
    let score = &json["score"]["figures"];
    assert!(score[0]["error_percent_mean"].is_number(), "{score}");
    assert!(score[1]["error_points_max"].is_number(), "{score}");
    let html = to_html(&one, &Made::by("run"));
    assert!(html.contains("<td>disk time %</td>"), "{html}");
}

#[test]
fn a_weight_is_told_of_its_own_range() {
    let second = "[[row]]\nlabel = \"own\"\ngroups = [{ name = \"x\", weight = -5 }]\n\
                  tasks = [{ group = \"x\" }]";
    let table =
        |weight: &str| table("duration_s = 2\nseeds = 1", NAMED, &second.replace("-5", weight));
    for weight in ["-5", "0", "99999999999"] {
        assert_refused(&table(weight), &format!("`weight` is {weight}; allowed: 1 to 10000"));
    }
}

#[test]
fn figures_that_cannot_be_compared_are_refused() {
    for (figures, why) in [
        ("groups.mib_per_sec = [1, 2]", "unknown figure `mib_per_sec`; did you mean `mib_per_s`?"),
        ("groups.read_percent = [1, 2]", "`read_percent` is given by itself, beside `row`"),
        ("groups.iops = [1]", "`groups.iops` has 1 figure; row `row` has 2 groups"),
        ("tasks.iops = [1, 2, 3]", "`tasks.iops` has 3 figures; row `row` has 2 named tasks"),
        ("groups.seconds_min = [1, 2]", "`seconds_min` is not known of groups"),
        ("tasks.time_ms = [1, 2]", "`time_ms` is not known of named tasks"),
        ("groups.ios = [1, 2]", "is given as `ios`, beside `row`"),
        ("all.ios = 3", "is given as `total`, beside `row`"),
        ("tasks.mib_per_s = [1, 2]", "is given as `mib_per_s`, beside `row`"),
        ("groups.time_percent = [80, 120]", "0 to 100"),
        ("groups.iops = [0, 1]", "more than 0"),
        ("groups.iops = [nan, nan]", "allowed: at least one number"),
        ("all.iops = nan", "allowed: a number"),
        ("groups.time_percent = [66.7, 66.7]", "up to 102, for they are parts"),
        ("all.mb_per_s = 1\nall.kib_per_s = 1", "exclude each other; drop one of them"),
        ("all.iops = 1e308", "`iops` is 1e308;"),
    ] {
        let refused = assert_refused(&published(figures), why);
        let line = 26 + figures.lines().count();
        assert!(refused.contains(&format!("mine.toml:{line}: ")), "{figures}: {refused}");
    }
}
