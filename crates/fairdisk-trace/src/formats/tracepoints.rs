//! The text of the block tracepoints, as the kernel's `trace`, `trace-cmd report` and `perf script`
//! show it: `task-pid [cpu] flags time: event: major,minor letters … sector + sectors [task]`.

use crate::lines::{LineFormat, Out};
use crate::number::{decimal_ns, number, sectors};
use crate::origins::OriginId;
use crate::pairing::{Event, Pairing, Step};
use crate::rwbs;
use fairdisk_core::{Instant, IoPrio};

/// The format.
#[derive(Debug, Default)]
pub(crate) struct Tracepoints {
    pairing: Pairing,
    /// The time of the first event.
    first_ns: Option<u64>,
    /// The devices, by number.
    devices: Vec<String>,
}

/// The events that are a step of a request.
const STEPS: [(&str, Step); 4] = [
    ("block_bio_queue:", Step::Queued),
    ("block_rq_issue:", Step::Issued),
    ("block_rq_requeue:", Step::Requeued),
    ("block_rq_complete:", Step::Done),
];

const EXPECTED: &str =
    "task-pid [cpu] time: block_rq_issue: major,minor letters bytes () sector + sectors [task]";

/// Where the event's name begins and ends, if the line has a block event.
fn event_of(line: &str) -> Option<(usize, usize)> {
    let at = line.find("block_")?;
    let end = at + line[at..].find(": ")? + 1;
    // `perf script` puts the name of the system before.
    let before = line[..at].strip_suffix("block:").unwrap_or(&line[..at]);
    before.trim_end().ends_with(':').then_some((at, end))
}

pub(crate) fn is_line(line: &str) -> bool {
    event_of(line).is_some()
}

/// The task and its process number, of what stands before the event: `task-pid [cpu]`, or
/// `task pid [cpu]` as `perf script` has it.
fn task_of(head: &str) -> Option<String> {
    let (task, _) = head.split_once(" [")?;
    let task = task.trim();
    let (name, pid) = task.rsplit_once(['-', ' '])?;
    // `perf script` may show the thread as `pid/tid`.
    let pid = pid.rsplit('/').next()?;
    number(pid)?;
    Some(format!("{}-{pid}", name.trim()))
}

impl Tracepoints {
    fn event(&mut self, line: &str, out: &mut Out) -> Option<Option<Event>> {
        let Some((at, end)) = event_of(line) else { return self.other(line) };
        let name = &line[at..end];
        let Some((_, step)) = STEPS.iter().find(|(one, _)| *one == name) else {
            return Some(None);
        };
        let head = line[..at].strip_suffix("block:").unwrap_or(&line[..at]).trim_end();
        let seconds = head.strip_suffix(':')?.rsplit([' ', '\t']).next()?;
        let at_ns = decimal_ns(seconds, 1_000_000_000)?;
        let (device, rest) = line[end..].trim_start().split_once(' ')?;
        let (letters, rest) = rest.trim_start().split_once(' ')?;
        let (place, after) = rest.split_once(" + ")?;
        let length = number(after.split(' ').next()?)?;
        // The position of a flush is nowhere.
        let sector = if length == 0 { 0 } else { number(place.rsplit(' ').next()?)? };
        let (start, sectors) = sectors(sector, length)?;
        let Some((op, traits)) = rwbs::parse(letters, sectors.0) else { return Some(None) };
        let first_ns = *self.first_ns.get_or_insert(at_ns);
        let origin = if *step == Step::Done {
            OriginId::default()
        } else {
            out.origins.number(device, "", &task_of(head)?, IoPrio::UNSET)
        };
        Some(Some(Event {
            at: Instant::from_ns(at_ns.saturating_sub(first_ns)),
            step: *step,
            device: self.device(device),
            origin,
            op,
            traits,
            start,
            sectors,
        }))
    }

    /// A line that is no block event: a comment, a count of what was lost, or another event.
    fn other(&mut self, line: &str) -> Option<Option<Event>> {
        let is_known = super::is_comment(line)
            || line.starts_with("cpus=")
            || line.starts_with("CPU")
            || line.contains("LOST ")
            || line.contains(": ");
        is_known.then_some(None)
    }

    fn device(&mut self, name: &str) -> u32 {
        let known = self.devices.iter().position(|one| one == name);
        known.unwrap_or_else(|| {
            self.devices.push(name.to_owned());
            self.devices.len() - 1
        }) as u32
    }
}

/// The number in `CPU:1 [LOST 234 EVENTS]` and the like.
fn lost_in(line: &str) -> u64 {
    let after = line.split_once("LOST ").map(|(_, after)| after);
    after.and_then(|after| number(after.split(' ').next()?)).unwrap_or(0)
}

impl LineFormat for Tracepoints {
    fn line(&mut self, line: &str, out: &mut Out) -> Result<(), String> {
        out.lost = out.lost.saturating_add(lost_in(line));
        if let Some(event) = self.event(line, out).ok_or(EXPECTED)? {
            self.pairing.take(&event, |request| out.requests.push_back(request));
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Out) {
        self.pairing.finish(|request| out.requests.push_back(request));
    }
}
