//! Sentences and numbers that the table and the page share.

use super::Report;
use crate::blame::{Bisection, Ends, Findings, Halt, Method, Pair, Undo};
use crate::digits;

/// A number with four significant digits. What rounds to nothing has no minus.
pub(super) fn number(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 1000.0 || size == 0.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.digits$}");
    match text.strip_prefix('-') {
        Some(size) if size.chars().all(|letter| "0.".contains(letter)) => size.to_owned(),
        _ => text,
    }
}

/// A number with four significant digits and a sign.
pub(super) fn signed(value: f64) -> String {
    let text = number(value);
    if text.starts_with('-') { text } else { format!("+{text}") }
}

/// A fraction in percent.
pub(super) fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

/// The whole as a part of what the good end has, in brackets and behind a space; nothing if that is
/// nothing.
pub(super) fn of_good(ends: &Ends) -> String {
    let part = 100.0 * ends.whole() / ends.good_mean();
    match part.abs() {
        _ if ends.good_mean() == 0.0 => String::new(),
        // One decimal would show it as nothing, and with another sign.
        size if size > 0.0 && size < 0.05 => " (less than 0.1 %)".to_owned(),
        _ => format!(" ({} %)", digits::signed(part)),
    }
}

/// The first `most` pairs with a significant interaction, and how many there are beside them, in
/// words.
pub(super) fn pairs(found: &Findings, most: usize) -> (Vec<&Pair>, Option<String>) {
    let mut real: Vec<&Pair> = found.pairs.iter().filter(|pair| !pair.is_noise).collect();
    let more = real.len().saturating_sub(most);
    real.truncate(most);
    let words = (more > 0).then(|| format!("and {more} more, which --json lists"));
    (real, words)
}

/// `1 run`, `2 runs`.
pub(super) fn count(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// What the figures are: how many runs each is the mean of.
pub(super) fn runs(found: &Findings) -> String {
    match &found.ends {
        Some(_) => format!("mean of {} ± sd", count(found.seeds as usize, "run")),
        None => "no figures: not both ends were run".to_owned(),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => (*one).to_owned(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

/// Which changes act only together, in sentences.
pub(super) fn together(report: &Report) -> Vec<String> {
    let sentence = |pair: &Pair| {
        let [one, other] = pair.factors.map(|factor| report.name(factor));
        let (both, sd) = (signed(pair.interaction.mean), number(pair.interaction.sd));
        format!(
            "{one} and {other} act only together: neither does anything alone, both {both} ± {sd}"
        )
    };
    report.findings.together().map(sentence).collect()
}

/// What was examined, and how.
pub(super) fn effort(report: &Report) -> String {
    let found = &report.findings;
    let how = match found.method {
        // The mixture of no suspects is none.
        Some(Method::Exact { mixtures }) if mixtures > 1 => {
            format!("exact, from {}", count(mixtures, "mixture"))
        }
        Some(Method::Sampled { pairs_of_orders }) => {
            format!("from {} and their reverses", count(pairs_of_orders, "random order"))
        }
        Some(Method::Exact { .. }) | None => "not taken apart".to_owned(),
    };
    format!("{how}; {}, {} of each mixture that differs", count(found.runs, "run"), found.seeds)
}

/// How many changes are to blame, as far as known.
pub(super) fn verdict(report: &Report) -> String {
    let found = &report.findings;
    let (culprits, all) = (found.culprits().len(), report.changes.len());
    let changes = count(all, "change");
    let is_known = found.rest.is_none_or(|rest| rest.is_noise);
    let differ = found.ends.as_ref().is_none_or(|ends| ends.differ);
    match culprits {
        0 if !found.is_searched => {
            format!("nothing can be said of {changes}: the search ended before it knew")
        }
        1.. if !differ => format!("{culprits} of {changes} do something, and together nothing"),
        // If the ends differ, some change is to blame, however noisy the mixtures are.
        0 if !is_known || differ => format!("of {changes} none is known to be to blame"),
        0 => format!("none of {changes} is to blame: all is within the noise"),
        1 => format!("1 of {changes} is to blame"),
        _ => format!("{culprits} of {changes} are to blame"),
    }
}

/// A note on the ends, if they do not differ.
pub(super) fn ends_note(ends: &Ends) -> Option<&'static str> {
    (!ends.differ).then_some("the ends do not differ by more than the noise")
}

/// What a bisection would have answered, in sentences.
pub(super) fn bisection(report: &Report, bisection: &Bisection) -> Vec<String> {
    let seeds = bisection.answers.len();
    let mut lines = Vec::new();
    for (answer, recovers) in &bisection.recovers {
        let times = bisection.answers.iter().filter(|other| *other == answer).count();
        lines.push(format!(
            "{times} of {} {} {}; undone alone it gives back {}",
            count(seeds, "bisection"),
            if times == 1 { "names" } else { "name" },
            report.name(*answer),
            percent(*recovers),
        ));
    }
    if bisection.recovers.len() > 1 {
        lines.push("it is unstable: the answer depends on the run".to_owned());
    }
    if let Some(off) = bisection.nearest_sd {
        let risk = match off {
            off if off < 1.0 => "as good as a coin",
            off if off < 3.0 => "often called otherwise",
            _ => "safe from noise",
        };
        lines.push(format!(
            "the run nearest to the middle is {off:.1} sd of a run away from it: {risk}"
        ));
    }
    let culprits = report.findings.culprits().len();
    if culprits > 1 {
        lines.push(format!("{culprits} changes are to blame, and a bisection names one"));
    }
    lines
}

/// The changes to undo, in a sentence.
pub(super) fn undo(report: &Report, undo: &Undo) -> String {
    let names = list(&report.names(undo.factors));
    let seeds = count(report.findings.seeds as usize, "run");
    let (value, back) = (number(undo.value.mean), percent(undo.recovers));
    let smaller = match (undo.is_enough, undo.is_smallest) {
        (false, _) => "no set of suspects gives back 95 %",
        (true, true) if undo.factors.len() > 1 => "no smaller set gives back 95 %",
        (true, true) => "no other single change gives back more",
        (true, false) => "not all smaller sets were run",
    };
    format!("{names}: back to {value} ({back} of the loss, {seeds}); {smaller}")
}

/// What is missing because the investigation stopped early; `None` if nothing is.
pub(super) fn halt(report: &Report) -> Option<String> {
    let found = &report.findings;
    match &found.halt {
        Some(Halt::Interrupted) => Some("interrupted: this is what was known".to_owned()),
        Some(Halt::Budget) => Some("the budget is used up: more with a larger --runs".to_owned()),
        Some(Halt::Failed(message)) => Some(message.clone()),
        None if !found.is_searched => {
            Some("the search did not come to its end: more with a larger --runs".to_owned())
        }
        None => None,
    }
}

/// Where the ends diverge: a heading, and a sentence for each end.
pub(super) fn divergence(report: &Report) -> Option<(String, [String; 2])> {
    let found = report.divergence.as_ref()?;
    let disk = found.disk.map(|disk| format!(" on disk {disk}")).unwrap_or_default();
    let at = format!(
        "at {:.3} ms of seed {}{disk}, after {} chosen alike",
        found.at.as_ns() as f64 / 1e6,
        found.seed,
        count(found.decisions as usize, "request"),
    );
    Some((at, [found.good.words(), found.bad.words()]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Spread;

    #[test]
    fn numbers_have_four_digits_that_say_something() {
        let numbers = [12345.6, 123.45, 12.345, 1.2345, -0.5].map(number);
        assert_eq!(numbers, ["12346", "123.5", "12.35", "1.234", "-0.500"]);
        assert_eq!(signed(1500.0), "+1500");
        assert_eq!([-0.0, -0.0001, 0.0, -0.001].map(signed), ["+0", "+0.000", "+0", "-0.001"]);
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn a_small_part_of_the_good_end_is_not_shown_as_a_rise_of_nothing() {
        let of = |good, bad| of_good(&Ends { good: vec![good], bad: vec![bad], differ: true });
        let cases = [(100.0, 33.0), (200.0, 199.923), (5.0, 5.0), (0.0, 5.0), (100.0, 99.9)];
        let words = [" (-67.0 %)", " (less than 0.1 %)", " (+0.0 %)", "", " (-0.1 %)"];
        assert_eq!(cases.map(|(good, bad)| of(good, bad)), words);
    }

    #[test]
    fn pairs_that_are_left_out_are_counted() {
        let pair = |is_noise| Pair { factors: [0, 1], interaction: Spread::of(&[1.0]), is_noise };
        let of = |real: usize| Findings {
            pairs: (0..8).map(|at| pair(at >= real)).collect(),
            ..Findings::default()
        };
        let shown = |real| {
            let found = of(real);
            let (pairs, more) = pairs(&found, 5);
            (pairs.len(), more)
        };
        assert_eq!([shown(2), shown(5)], [(2, None), (5, None)]);
        assert_eq!(shown(7), (5, Some("and 2 more, which --json lists".to_owned())));
    }
}
