//! The answers of `fairdisk explain` as text.

use super::Story;
use super::journey::{Journey, Step};
use super::stall;
use super::wait::{Part, Wait};
use crate::columns::padded;
use crate::plan::ROOT_GROUP;
use fairdisk_core::{GroupId, Span, TaskId, Why};
use std::fmt::Write as _;

impl Story {
    /// The name of the run, and the disk if there are several.
    fn title(&self) -> String {
        let disk = self.disk.map(|disk| format!(", disk {disk}")).unwrap_or_default();
        format!("{}{disk}", self.name)
    }

    fn group(&self, group: GroupId) -> String {
        let at = (group.0 as usize).checked_sub(1);
        let label = at.and_then(|at| self.groups.get(at));
        label.map_or_else(|| "the root group".to_owned(), |label| label.name.clone())
    }

    /// The name of a group in JSON, where the root group is called as in other results.
    pub(super) fn group_name(&self, group: GroupId) -> &str {
        let at = (group.0 as usize).checked_sub(1);
        let label = at.and_then(|at| self.groups.get(at));
        label.map_or(ROOT_GROUP, |label| &label.name)
    }

    /// The name of a task. The tasks of the load have the first numbers; later ones belong to the
    /// system, such as a file system's journal.
    fn task(&self, task: TaskId) -> String {
        if (task.0 as usize) < self.tasks {
            format!("task {}", task.0)
        } else {
            "the system".to_owned()
        }
    }
}

// ---- lists -------------------------------------------------------------------------------------

/// The slowest requests as a table.
pub(super) fn slowest(story: &Story, requests: u64, list: &[Journey]) -> String {
    let mut text = format!("{}: {requests} requests, the slowest:\n", story.title());
    // Where no task waits for memory, nothing is said of it.
    let with_memory = list.iter().any(|journey| !journey.stall.is_none());
    let memory = |words: String| if with_memory { format!("  {words:>10}") } else { String::new() };
    let _ = writeln!(
        text,
        "{:>9}  {:>10}{}  {:>10}  {:>10}  {:16}  {:10}  what",
        "request",
        "at ms",
        memory("memory ms".to_owned()),
        "wait ms",
        "total ms",
        "group",
        "task"
    );
    for journey in list {
        let _ = writeln!(
            text,
            "{:>9}  {:>10.1}{}  {:>10.1}  {:>10.1}  {}  {:10}  {}",
            journey.number,
            journey.submitted.as_ns() as f64 / 1e6,
            memory(format!("{:.1}", ms(Some(journey.stall.total())))),
            ms(journey.wait()),
            ms(journey.total()),
            padded(&story.group(journey.group), 16),
            story.task(journey.task),
            what(journey),
        );
    }
    text
}

pub(super) fn ms(span: Option<Span>) -> f64 {
    span.unwrap_or_default().as_ns() as f64 / 1e6
}

fn what(journey: &Journey) -> String {
    let kib = journey.sectors.bytes() as f64 / 1024.0;
    format!("{} of {kib} KiB at sector {}", journey.op.name(), journey.start.0)
}

// ---- a life ------------------------------------------------------------------------------------

/// The life of one request as text.
pub(super) fn life(story: &Story, journey: &Journey, wait: &Wait) -> String {
    let mut text = format!(
        "request {} of {}: {}, by {} of {}\n\n{:>12}  {:>10}\n",
        journey.number,
        story.title(),
        what(journey),
        story.task(journey.task),
        story.group(journey.group),
        "at ms",
        "after ms",
    );
    let mut line = |at: fairdisk_core::Instant, words: &str| {
        let [at, submitted] = [at, journey.submitted].map(|time| time.as_ns() as f64 / 1e6);
        let _ = writeln!(text, "{at:>12.3}  {:>10.3}  {words}", at - submitted);
    };
    for (at, step) in journey.stall.steps() {
        line(*at, &stall::words(*step));
    }
    line(journey.submitted, "submitted");
    for (at, step) in &journey.steps {
        line(*at, &words(*step));
    }
    text.push('\n');
    write_stall(&mut text, journey);
    write_wait(&mut text, story, journey, wait);
    text
}

pub(super) fn words(step: Step) -> String {
    match step {
        Step::Held => "held back: an earlier request has to finish first",
        Step::Slept => "no free request slot: its task sleeps",
        Step::Woken => "told that a slot is free",
        Step::TooManySegments => {
            "adjoined a queued request that has too many segments with it for the adapter"
        }
        Step::Merged => "joined a queued request next to it",
        Step::Queued => "queued",
        Step::Dispatched(why) => return format!("chosen: {}", why.text()),
        Step::Issued => "sent to the disk",
        Step::Completed(true) => "done",
        Step::Completed(false) => "failed",
        Step::Finished(true) => "its task is told",
        Step::Finished(false) => "its task is told that it failed",
        Step::Cancelled => "withdrawn",
    }
    .to_owned()
}

/// Writes what the request's task did and waited for, for lack of memory.
fn write_stall(text: &mut String, journey: &Journey) {
    if journey.stall.is_none() {
        return;
    }
    let total = ms(Some(journey.stall.total()));
    let _ = writeln!(text, "Before, its task was short of memory for {total:.1} ms. It:");
    for (what, part) in journey.stall.parts() {
        write_part(text, 2, &what, part);
    }
}

fn write_wait(text: &mut String, story: &Story, journey: &Journey, wait: &Wait) {
    let waited = match journey.wait() {
        Some(waited) => format!("It waited {:.1} ms for the disk.", ms(Some(waited))),
        None => "It still waited when the run ended.".to_owned(),
    };
    let _ = writeln!(text, "{waited} Meanwhile the disk:");
    for group in wait.groups() {
        let own = if group == journey.group { " (its own group)" } else { "" };
        let head = format!("served {}{own}", story.group(group));
        write_part(text, 2, &head, wait.of_group(group));
        for ((_, why), part) in wait.served.iter().filter(|((of, _), _)| *of == group) {
            write_part(text, 4, &reason(*why), *part);
        }
    }
    for (why, part) in &wait.idle {
        let words = why.map_or("no request was there".to_owned(), |why| why.text().to_owned());
        write_part(text, 2, &format!("stood still: {words}"), *part);
    }
    if wait.served.is_empty() && wait.idle.is_empty() {
        text.push_str("  had nothing else to do\n");
    }
    for (why, part) in &wait.spared {
        write_part(text, 2, &format!("took no more, though it might: {}", why.text()), *part);
    }
    if !wait.held_back.is_empty() {
        text.push_str("Its group was held back meanwhile, whoever else was served:\n");
        for (why, part) in &wait.held_back {
            write_part(text, 2, held_back(*why), *part);
        }
    }
}

/// Why a group was held back, in words.
const fn held_back(why: Why) -> &'static str {
    match why {
        Why::AtCeiling => "it, or a group around it, was at its ceiling",
        Why::BudgetUsed => "it had used its budget up",
        Why::LatencyMissed => "another group missed its latency target",
        Why::IdleWait => "the disk was kept free for the task of another group",
        Why::OwnRequestInFlight => "the disk was kept for the task of another group",
        other => other.text(),
    }
}

/// The width in columns of the words before the figures.
const WORDS: usize = 64;

fn write_part(text: &mut String, indent: usize, words: &str, part: Part) {
    let width = WORDS - indent;
    let Part { count, time } = part;
    let times = if count == 1 { "time" } else { "times" };
    let _ = writeln!(
        text,
        "{:indent$}{} {:>10.1} ms  {count:>5} {times}",
        "",
        padded(words, width),
        ms(Some(time))
    );
}

pub(super) fn reason(why: Option<Why>) -> String {
    why.map_or("no reason is recorded", |why| why.text()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_group_has_words_for_people_and_its_name_for_programs() {
        let story = Story { name: String::new(), disk: None, groups: Vec::new(), tasks: 0 };
        let root = GroupId(0);
        assert_eq!((story.group(root).as_str(), story.group_name(root)), ("the root group", "/"));
    }
}
