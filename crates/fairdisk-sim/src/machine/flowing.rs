//! Tasks that keep to parts of what they do together: whoever is ahead of its part waits.

use super::Machine;
use crate::workload::Flow;
use fairdisk_core::{Elevator, Instant, Span};
use std::collections::BTreeMap;

/// What the tasks of each flow have done.
#[derive(Debug, Default)]
pub(super) struct Flows {
    flows: BTreeMap<u32, Totals>,
    /// I/Os of each task that is in a flow.
    ios: BTreeMap<u32, u64>,
}

#[derive(Debug, Default)]
struct Totals {
    ios: u64,
    weights: u64,
}

/// How long a task waits that is ahead and does not say how long: fio asks again at once.
const AGAIN: Span = Span::from_us(10);

impl Flows {
    /// A task begins.
    fn enter(&mut self, task: u32, flow: Flow) {
        self.flows.entry(flow.id).or_default().weights += u64::from(flow.weight);
        self.ios.insert(task, 0);
    }

    /// A task has ended: what it did counts no more.
    fn leave(&mut self, task: u32, flow: Flow) {
        let (Some(ios), Some(totals)) = (self.ios.remove(&task), self.flows.get_mut(&flow.id))
        else {
            return;
        };
        totals.ios -= ios;
        totals.weights -= u64::from(flow.weight);
    }

    /// Counts an I/O.
    fn count(&mut self, task: u32, flow: Flow) {
        let own = self.ios.get_mut(&task);
        if let (Some(ios), Some(totals)) = (own, self.flows.get_mut(&flow.id)) {
            *ios += 1;
            totals.ios += 1;
        }
    }

    /// Whether the task is ahead of its part.
    fn is_ahead(&self, task: u32, flow: Flow) -> bool {
        let own = self.ios.get(&task);
        let (Some(ios), Some(totals)) = (own, self.flows.get(&flow.id)) else { return false };
        let part = |ios: u64, of: u64| u128::from(ios) * u128::from(of);
        part(*ios, totals.weights) > part(totals.ios, flow.weight.into())
    }
}

impl<E: Elevator> Machine<E> {
    /// A task begins that may have a part of a flow.
    pub(super) fn enter_flow(&mut self, index: u32) {
        if let Some(flow) = self.config.tasks[index as usize].flow {
            self.flows.enter(index, flow);
        }
    }

    /// A task has ended.
    pub(super) fn leave_flow(&mut self, index: u32) {
        if let Some(flow) = self.config.tasks[index as usize].flow {
            self.flows.leave(index, flow);
        }
    }

    /// A task starts an I/O.
    #[inline]
    pub(super) fn count_in_flow(&mut self, index: u32) {
        if let Some(flow) = self.config.tasks[index as usize].flow {
            self.flows.count(index, flow);
        }
    }

    /// When a task asks again that is ahead of its part of a flow; `None` if it is not, or has
    /// come to its end.
    #[inline]
    pub(super) fn held_by_flow(&self, now: Instant, index: u32) -> Option<Instant> {
        let flow = self.config.tasks[index as usize].flow?;
        let stream = &self.tasks[self.tasks[index as usize].stream_of as usize].stream;
        if !self.flows.is_ahead(index, flow) || stream.is_over(now) {
            return None;
        }
        Some((now + flow.pause.max(AGAIN)).min(stream.end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_keep_to_their_parts_and_go_on_alone() {
        let flow = |weight| Flow { id: 1, weight, pause: Span::ZERO };
        let weights = [3, 2, 1];
        let mut flows = Flows::default();
        for (task, weight) in (0..).zip(weights) {
            flows.enter(task, flow(weight));
        }
        let mut ios = [0_u32; 3];
        for turn in 0..6000 {
            let task = turn % 3;
            if !flows.is_ahead(task as u32, flow(weights[task])) {
                flows.count(task as u32, flow(weights[task]));
                ios[task] += 1;
            }
        }
        assert!(ios[0].abs_diff(3 * ios[2]) <= 3 && ios[1].abs_diff(2 * ios[2]) <= 2, "{ios:?}");
        assert!(ios[2] > 600, "{ios:?}");
        flows.leave(1, flow(2));
        flows.leave(2, flow(1));
        assert!((0..100).all(|_| !flows.is_ahead(0, flow(3))));
    }
}
