//! Parts of what jobs do together (`flow`).

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::Serialize;

use super::check::{NEUTRAL, say};
use super::draft::{Draft, Slot, value};
use super::job::Job;
use super::note::Notes;
use super::render::Lines;
use super::setting::Placed;

/// The keys of flows.
#[derive(Debug, Clone, Default)]
pub(super) struct FlowKeys {
    pub(super) weight: Slot<u32>,
    pub(super) id: Slot<u32>,
    pub(super) sleep_us: Slot<u32>,
}

/// A part of what the jobs of a flow do together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Flow {
    /// The number of the flow (`flow_id`).
    pub id: u32,
    /// The weight of each clone (`flow`).
    pub weight: NonZeroU32,
    /// How long a clone waits that is ahead of its part (`flow_sleep`), in microseconds.
    pub sleep_us: u32,
}

impl FlowKeys {
    pub(super) fn flow(&self) -> Option<Flow> {
        let weight = value(&self.weight).and_then(NonZeroU32::new)?;
        let (id, sleep_us) = (value(&self.id).unwrap_or(0), value(&self.sleep_us).unwrap_or(0));
        Some(Flow { id, weight, sleep_us })
    }
}

pub(super) fn remarks(draft: &Draft, notes: &mut Notes) {
    let keys = &draft.flow;
    let is_off = keys.flow().is_none();
    say(notes, &keys.weight, is_off, NEUTRAL);
    for slot in [&keys.id, &keys.sleep_us] {
        say(notes, slot, is_off, "no effect: it takes flow, which is not in force");
    }
}

/// The flows of a file, each with its number of clones and a line that puts a job into it.
#[derive(Default)]
pub(super) struct Flows(BTreeMap<u32, (u64, Placed<u32>)>);

impl Flows {
    pub(super) fn add(&mut self, job: &Job, draft: &Draft) {
        if let (Some(flow), Some(weight)) = (job.flow, &draft.flow.weight) {
            let (clones, _) = self.0.entry(flow.id).or_insert_with(|| (0, weight.clone()));
            *clones += u64::from(job.clones.get());
        }
    }

    pub(super) fn remarks(&self, notes: &mut Notes) {
        for (clones, Placed { key, place, .. }) in self.0.values() {
            if *clones == 1 {
                notes.add(place, key, "no effect: the job is alone in its flow");
            }
        }
    }
}

impl Flow {
    pub(super) fn lines(&self, lines: &mut Lines) {
        lines.set("flow", self.weight, "its part of the requests of the flow");
        lines.set("flow_id", self.id, "");
        lines.set("flow_sleep", self.sleep_us, "us, when it is ahead");
    }
}
