//! The simplest elevator: first come, first served.

use fairdisk_core::{
    Admission, Completion, Decision, Description, Elevator, Handover, Instant, Request, RequestId,
    Why,
};
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(crate) struct Fifo {
    queue: VecDeque<RequestId>,
    in_flight: u32,
}

impl Elevator for Fifo {
    fn admit(&mut self, _now: Instant, request: &Request) -> Admission {
        self.queue.push_back(request.id);
        Admission::Queued
    }

    fn decide(&mut self, _now: Instant) -> Decision {
        match self.queue.pop_front() {
            Some(id) => {
                self.in_flight += 1;
                Decision::Dispatch(id, Why::ArrivedFirst)
            }
            None if self.in_flight > 0 => Decision::WaitCompletion(Why::NothingQueued),
            None => Decision::Idle,
        }
    }

    fn complete(&mut self, _now: Instant, _completion: &Completion) {
        self.in_flight -= 1;
    }

    fn withdraw(&mut self, _now: Instant, id: RequestId) {
        self.queue.retain(|queued| *queued != id);
    }

    fn drain(&mut self, _now: Instant) -> Option<RequestId> {
        self.queue.pop_front()
    }

    fn describe(&self) -> Description {
        Description { overtaken_max: Some(0), ..Description::new("fifo", Handover::Single) }
    }
}

fairdisk_core::default_extensions!(Fifo);
