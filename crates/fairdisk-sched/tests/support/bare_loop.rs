//! The closed loop without an engine: the elevator alone gets requests, is asked for decisions, and
//! is told of completions. The device takes one request at a time, for a fixed time.

use crate::closed_loop::{Crowd, SERVICE};
use fairdisk_core::{
    Admission, Change, Completion, Decision, Elevator, Flags, GroupId, Instant, IoPrio, Op, Prng,
    Request, RequestId, Sectors, Share, TaskId,
};

pub(crate) struct BareLoop<E> {
    elevator: E,
    crowd: Crowd,
    now: Instant,
    prng: Prng,
    /// Requests displaced by another one at the same position; they go to the disk at once.
    displaced: Vec<RequestId>,
}

impl<E: Elevator> BareLoop<E> {
    /// A loop in which every task has one request queued, whose slot has the number of the task.
    pub(crate) fn new(elevator: E, crowd: Crowd) -> Self {
        let (now, prng) = (Instant::ZERO, Prng::new(42));
        let mut this = Self { elevator, crowd, now, prng, displaced: Vec::new() };
        for group in 0..=crowd.groups {
            let change = Change::GroupAdded { group: GroupId(group), share: Share::DEFAULT };
            this.elevator.configure(Instant::ZERO, &change);
        }
        (0..crowd.tasks()).for_each(|task| this.admit(TaskId(task)));
        this
    }

    fn admit(&mut self, task: TaskId) {
        let (op, start) = self.crowd.next_io(&mut self.prng);
        let request = Request {
            id: RequestId(task.0),
            task,
            group: self.crowd.group_of(task),
            op,
            start,
            sectors: Sectors(8),
            sync: op == Op::Read,
            flags: Flags::NONE,
            ioprio: IoPrio::UNSET,
            arrived: self.now,
        };
        if let Admission::Displaces(other) = self.elevator.admit(self.now, &request) {
            self.displaced.push(other);
        }
    }

    /// Serves `requests` more requests.
    pub(crate) fn run(&mut self, requests: u64) {
        for _ in 0..requests {
            let request = self.next();
            self.elevator.activate(self.now, request);
            self.now += SERVICE;
            let completion = Completion { request, device_time: SERVICE, ok: true };
            self.elevator.complete(self.now, &completion);
            self.admit(TaskId(request.0));
        }
    }

    fn next(&mut self) -> RequestId {
        if let Some(displaced) = self.displaced.pop() {
            return displaced;
        }
        loop {
            match self.elevator.decide(self.now) {
                Decision::Dispatch(request, _) => return request,
                Decision::WaitUntil(at, _) => self.now = at,
                other => panic!("{other:?} with a request of every task queued"),
            }
        }
    }
}
