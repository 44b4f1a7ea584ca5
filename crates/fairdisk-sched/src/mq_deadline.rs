//! The deadline elevator of multi-queue kernels: [`deadline`](crate::deadline) for each class of
//! I/O priorities, higher classes first.
//!
//! Requests of a class keep the rules of the deadline elevator among themselves. The class of real
//! time goes before best effort, and that before idle, whatever waits there, until a request has
//! waited for `prio_aging_expire`, and longer than any of a higher class: then that request is
//! next. Levels within a class do not count, and a request without a priority is best effort.
//!
//! Sources: Linux, "Deadline IO scheduler tunables" and "Block io priorities"; Bart Van Assche,
//! "Improve I/O priority support" (descriptions of the patches), linux-block, June 2021. Defaults
//! are those that a running Linux 6.18 tells in /sys.

use crate::at_device::AtDevice;
use crate::deadline::{Deadline, DeadlineParams};
use crate::family::Family;
use crate::honours::Honours;
use alloc::vec::Vec;
use fairdisk_core::{
    Admission, Bio, Completion, Decision, Description, Elevator, Handover, Instant, IoClass,
    IoPrio, Merge, Merging, Request, RequestId, Span, Why, dense,
};

/// The tunables, with names and defaults as in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MqDeadlineParams {
    /// The tunables of each class.
    pub deadline: DeadlineParams,
    /// How long a request may wait for higher classes.
    pub prio_aging_expire: Span,
}

impl Default for MqDeadlineParams {
    fn default() -> Self {
        Self { deadline: DeadlineParams::default(), prio_aging_expire: Span::from_s(10) }
    }
}

impl Family for MqDeadlineParams {
    const NAME: &'static str = "mq-deadline";
    type Scheduler = MqDeadline;

    fn honours(&self) -> Honours {
        Honours { priorities: true, ..Honours::NONE }
    }

    fn build(&self) -> MqDeadline {
        MqDeadline::new(*self)
    }
}

/// The number of classes.
const CLASSES: usize = 3;

/// The place of a priority among the classes, the highest first.
const fn class_of(ioprio: IoPrio) -> u8 {
    match ioprio.class {
        IoClass::RealTime => 0,
        IoClass::None | IoClass::BestEffort => 1,
        IoClass::Idle => 2,
    }
}

/// The elevator; see the [module documentation](self).
#[derive(Debug)]
pub struct MqDeadline {
    params: MqDeadlineParams,
    classes: [Deadline; CLASSES],
    /// The class of the request in each slot.
    class_of_slot: Vec<u8>,
    at_device: AtDevice,
}

impl MqDeadline {
    /// An elevator with nothing queued.
    #[must_use]
    pub fn new(params: MqDeadlineParams) -> Self {
        let classes = core::array::from_fn(|_| Deadline::new(params.deadline));
        Self { params, classes, class_of_slot: Vec::new(), at_device: AtDevice::NONE }
    }

    fn class(&mut self, id: RequestId) -> &mut Deadline {
        &mut self.classes[usize::from(self.class_of_slot[id.0 as usize])]
    }

    fn take_next(&mut self, now: Instant) -> Option<(RequestId, Why)> {
        let oldest = |at: usize| Some((self.classes[at].oldest_arrival()?, at));
        let mut waiting = (0..CLASSES).filter_map(oldest);
        let (arrived, first) = waiting.next()?;
        let (arrived, longest) = waiting.fold((arrived, first), Ord::min);
        if longest != first && now.since(arrived) >= self.params.prio_aging_expire {
            return Some((self.classes[longest].take_oldest()?, Why::ClassStarved));
        }
        self.classes[first].take_next(now)
    }
}

impl Elevator for MqDeadline {
    fn admit(&mut self, now: Instant, request: &Request) -> Admission {
        let class = class_of(request.ioprio);
        *dense::entry(&mut self.class_of_slot, request.id.0, || class) = class;
        self.class(request.id).admit(now, request)
    }

    fn decide(&mut self, now: Instant) -> Decision {
        let next = self.take_next(now);
        self.at_device.decide(next)
    }

    fn complete(&mut self, _now: Instant, _completion: &Completion) {
        self.at_device.complete();
    }

    fn withdraw(&mut self, now: Instant, id: RequestId) {
        self.class(id).withdraw(now, id);
    }

    fn drain(&mut self, now: Instant) -> Option<RequestId> {
        self.take_next(now).map(|(id, _)| id)
    }

    fn describe(&self) -> Description {
        Description::new(MqDeadlineParams::NAME, Handover::Single)
    }
}

impl Merging for MqDeadline {
    fn may_merge(&self, request: &Request, bio: &Bio) -> bool {
        let class = class_of(request.ioprio);
        class == class_of(bio.ioprio) && self.classes[usize::from(class)].may_merge(request, bio)
    }

    fn may_absorb(&self, request: &Request, next: &Request) -> bool {
        let (class, other) = (class_of(request.ioprio), class_of(next.ioprio));
        class == other && self.classes[usize::from(class)].may_absorb(request, next)
    }

    fn merged(&mut self, now: Instant, request: &Request, how: Merge) {
        self.class(request.id).merged(now, request, how);
    }
}

fairdisk_core::default_extensions!(MqDeadline: Driving, Hearing, Promising, Reporting, Attaching);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::request;
    use fairdisk_core::Op;

    fn of_class(slot: u32, class: IoClass, arrived: Instant) -> Request {
        let ioprio = IoPrio { class, level: 0 };
        Request { ioprio, ..request(slot, 0, Op::Read, arrived) }
    }

    #[test]
    fn higher_classes_go_first_until_a_lower_one_has_waited_long_enough() {
        let mut elevator = MqDeadline::new(MqDeadlineParams::default());
        let s = |at: u64| Instant::ZERO + Span::from_s(at);
        let classes = [IoClass::Idle, IoClass::BestEffort, IoClass::RealTime, IoClass::None];
        for (slot, class) in (0..).zip(classes) {
            elevator.admit(s(0), &of_class(slot, class, s(0)));
        }
        let mut next = |now: Instant| match elevator.decide(now) {
            Decision::Dispatch(RequestId(slot), why) => {
                elevator.admit(now, &of_class(slot, IoClass::RealTime, now));
                (slot, why == Why::ClassStarved)
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(next(s(0)), (2, false), "real time first");
        assert_eq!(next(s(9)), (2, false), "and again, whatever waits");
        // After ten seconds what has waited longest goes, whatever its class.
        let mut aged = [next(s(10)).0, next(s(10)).0, next(s(10)).0];
        aged.sort_unstable();
        assert_eq!(aged, [0, 1, 3]);
        assert!(!next(s(11)).1, "then real time again");
    }

    /// Reads of its class would pass the write, and so would those of a higher class.
    #[test]
    fn a_request_that_has_waited_long_enough_is_next_itself_if_it_is_the_oldest() {
        let mut elevator = MqDeadline::new(MqDeadlineParams::default());
        let s = |at: u64| Instant::ZERO + Span::from_s(at);
        let write = Request { op: Op::Write, ..of_class(0, IoClass::Idle, s(1)) };
        elevator.admit(s(1), &write);
        for slot in 1..4 {
            elevator.admit(s(2), &of_class(slot, IoClass::Idle, s(2)));
        }
        elevator.admit(s(0), &of_class(4, IoClass::RealTime, s(0)));
        elevator.admit(s(3), &of_class(5, IoClass::RealTime, s(3)));
        let mut next =
            |now| elevator.take_next(now).map(|(id, why)| (id.0, why)).expect("one waits");
        let (slot, why) = next(s(11));
        assert_eq!((slot, why == Why::ClassStarved), (4, false), "real time has waited longer");
        assert_eq!(next(s(11)), (0, Why::ClassStarved));
        let (slot, why) = next(s(11));
        assert_eq!((slot, why == Why::ClassStarved), (5, false), "the reads are not aged yet");
    }
}
