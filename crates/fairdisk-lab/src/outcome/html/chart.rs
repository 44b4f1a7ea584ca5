//! Pictures of one row: the groups' shares of the I/Os, and the rates of named tasks.

use crate::outcome::{GroupOutcome, Regimes, RowOutcome, TaskOutcome};
use crate::page::{COLOURS, WIDTH, escape, open_svg, shortened, write_legend};
use std::fmt::Write as _;

/// The left edge and the right limit of bars.
const BARS: [f64; 2] = [235.0, 690.0];
const HEAD: f64 = 34.0;
const LINE: f64 = 26.0;
/// The most letters of a name that fit: of arms and tasks, and of groups.
const NAME_MAX: usize = 32;
const GROUP_MAX: usize = 18;

/// The shares of the groups under each arm, end to end, and the published shares.
pub(super) fn shares(arms: &[&RowOutcome]) -> String {
    let Some(first) = arms.first() else { return String::new() };
    let words: Vec<String> = arms.iter().map(|arm| shares_in_words(arm)).collect();
    let height = HEAD + LINE * arms.len() as f64 + 8.0;
    let title = format!("{}: parts of the I/Os", first.row);
    let mut out = open_svg(&title, &words.join("\n"), height);
    let names: Vec<&str> = first.groups.iter().map(|group| group.name.as_str()).collect();
    write_legend(&mut out, &names, BARS[0], WIDTH - BARS[0], 10.0, GROUP_MAX);
    for (at, arm) in arms.iter().enumerate() {
        let top = HEAD + LINE * at as f64;
        write_name(&mut out, &arm.arm, top);
        let mut from = 0.0;
        for (at, group) in arm.groups.iter().enumerate() {
            write_bar(&mut out, at, top, [from, from + group.share.mean]);
            from += group.share.mean;
        }
        let published =
            arm.groups.iter().map(|group| group.published.as_ref().and_then(|it| it.share));
        let published: Vec<f64> = published.map_while(|share| share).collect();
        // Shares of nested groups do not add up end to end.
        let in_all: f64 = published.iter().sum();
        let strokes = if in_all < 1.001 { arm.groups.len().saturating_sub(1) } else { 0 };
        let mut end = 0.0;
        for share in published.iter().take(strokes) {
            end += share;
            write_stroke(&mut out, top, end);
        }
        write_figure(&mut out, top, &total_in_words(arm));
    }
    out.push_str("</svg>\n");
    out
}

/// The rate of each named task, and the published rate.
pub(super) fn rates(arms: &[&RowOutcome]) -> String {
    let tasks: Vec<(&str, usize, &TaskOutcome)> = arms
        .iter()
        .flat_map(|arm| arm.tasks.iter().enumerate().map(|(at, task)| (arm.arm.as_str(), at, task)))
        .collect();
    let rates = |task: &TaskOutcome| rate_of(task).into_iter().chain(task.published_mb_per_s);
    let most = tasks.iter().flat_map(|(_, _, task)| rates(task)).fold(0.0, f64::max);
    if most <= 0.0 {
        return String::new();
    }
    let words = tasks.iter().map(|(arm, _, task)| format!("{arm}, {}", rate_in_words(task)));
    let words: Vec<String> = words.collect();
    let height = HEAD + LINE * tasks.len() as f64 + 8.0;
    let mut out = open_svg("rates of the tasks", &words.join("\n"), height);
    let _ = writeln!(out, "<text class=\"dim\" x=\"{:.1}\" y=\"20\">MB/s</text>", BARS[0]);
    for (line, (arm, at, task)) in tasks.iter().enumerate() {
        let top = HEAD + LINE * line as f64;
        write_name(&mut out, &format!("{arm}, {}", task.name), top);
        write_bar(&mut out, *at, top, [0.0, rate_of(task)[0] / most]);
        if let Some(published) = task.published_mb_per_s {
            write_stroke(&mut out, top, published / most);
        }
        write_figure(&mut out, top, &rates_in_words(task));
    }
    out.push_str("</svg>\n");
    out
}

fn shares_in_words(arm: &RowOutcome) -> String {
    let group = |group: &GroupOutcome| {
        let published = group.published.as_ref().and_then(|published| published.share);
        let published = published
            .map_or_else(String::new, |share| format!(" (published {:.1} %)", share * 100.0));
        format!("{} {:.1} %{published}", group.name, group.compared_share().mean * 100.0)
    };
    let groups: Vec<String> = arm.groups.iter().map(group).collect();
    format!("{}: {}; {}.", arm.arm, groups.join(", "), total_in_words(arm))
}

fn total_in_words(arm: &RowOutcome) -> String {
    let total = format!("{:.0} I/Os", arm.total_ios.mean);
    match arm.published_total {
        Some(published) => format!("{total}, published {published:.0}"),
        None => total,
    }
}

fn rate_in_words(task: &TaskOutcome) -> String {
    let published = task.published_mb_per_s;
    let published = published.map_or_else(String::new, |rate| format!(" (published {rate:.1})"));
    format!("{} {} MB/s{published}.", task.name, rates_in_words(task))
}

/// The mean rate of a task, or of each regime, the usual one first.
fn rate_of(task: &TaskOutcome) -> Vec<f64> {
    match task.mb_per_s.regimes() {
        Some(Regimes(both)) => both.iter().map(|regime| regime.mean).collect(),
        None => vec![task.mb_per_s.mean],
    }
}

fn rates_in_words(task: &TaskOutcome) -> String {
    let rates: Vec<String> = rate_of(task).iter().map(|rate| format!("{rate:.1}")).collect();
    rates.join(" or ")
}

fn write_name(out: &mut String, name: &str, top: f64) {
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
        BARS[0] - 10.0,
        top + LINE / 2.0 + 4.0,
        escape(&shortened(name, NAME_MAX)),
    );
}

/// Writes a bar between two fractions of the full width.
fn write_bar(out: &mut String, at: usize, top: f64, [from, to]: [f64; 2]) {
    let wide = BARS[1] - BARS[0];
    let _ = writeln!(
        out,
        "<rect class=\"g{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
        at % COLOURS,
        BARS[0] + wide * from,
        top + 5.0,
        wide * (to - from),
        LINE - 10.0,
    );
}

fn write_stroke(out: &mut String, top: f64, at: f64) {
    let x = BARS[0] + (BARS[1] - BARS[0]) * at;
    let (from, to) = (top + 1.0, top + LINE - 1.0);
    let _ = writeln!(out, "<path class=\"asked\" d=\"M{x:.1} {from:.1}V{to:.1}\"/>");
}

fn write_figure(out: &mut String, top: f64, text: &str) {
    let (x, y) = (BARS[1] + 8.0, top + LINE / 2.0 + 4.0);
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(text));
}
