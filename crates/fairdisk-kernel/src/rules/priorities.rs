//! Rules about I/O priorities: which scheduler has any.

use crate::cause::Cause;
use crate::findings::{Finding, Place};
use crate::ioprio::Class;
use crate::snapshot::{Prioritised, Snapshot, Stack};

/// The kernel since which mq-deadline goes by classes.
const DEADLINE_HAS_CLASSES: (u32, u32) = (5, 14);
/// The most threads named one by one.
const NAMED: usize = 8;

pub(super) fn check(snapshot: &Snapshot, stack: &Stack, findings: &mut Vec<Finding>) {
    let threads: Vec<&Prioritised> = snapshot.prioritised.iter().collect();
    // The levels of best effort are all that mq-deadline does not have.
    let is_level = |it: &&Prioritised| it.priority.class == Class::BestEffort;
    let scheduler = |name: &Option<String>| name.clone().unwrap_or_else(|| "none".to_owned());
    let has_any = |scheduler: &str| {
        let classes = scheduler == "mq-deadline" && snapshot.kernel >= DEADLINE_HAS_CLASSES;
        scheduler == "bfq" || classes
    };
    let heeded = stack.layers.iter().any(|layer| has_any(&scheduler(&layer.scheduler)));
    for disk in stack.disks() {
        let scheduler = scheduler(&disk.scheduler);
        let name = disk.name.clone();
        if !heeded && !threads.is_empty() {
            let cause = Cause::IoniceUnheeded { disk: name, scheduler, threads: threads.len() };
            findings.push(Finding::new(cause, places(&threads)));
        } else if scheduler == "mq-deadline" {
            let levels: Vec<&Prioritised> = threads.iter().copied().filter(is_level).collect();
            let cause = Cause::LevelUnheeded { disk: name, threads: levels.len() };
            if !levels.is_empty() {
                findings.push(Finding::new(cause, places(&levels)));
            }
        }
    }
}

fn places(threads: &[&Prioritised]) -> Vec<Place> {
    let place = |thread: &&Prioritised| {
        let file = format!("thread {} ({}) of process {}", thread.tid, thread.name, thread.pid);
        Place::new(file, thread.priority.to_string())
    };
    threads.iter().take(NAMED).map(place).collect()
}
