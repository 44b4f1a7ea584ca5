//! Shares still hold after years: a group of the smallest weight has the disk for so long that 64
//! bits of its virtual time would be used up, and then another group arrives.

use fairdisk_core::{
    Change, Completion, Decision, Driving, Elevator, Flags, GroupId, Instant, IoPrio, Lba, Op,
    Request, RequestId, Sectors, Share, Span, TaskId, Weight,
};
use fairdisk_sched::{Scheduler, SchedulerSpec};

/// Groups 1 and 2, with two tasks each that always have a request queued.
struct Scene {
    elevator: Scheduler,
    now: Instant,
    service: Span,
    requests: u64,
    /// Requests served, by group.
    served: [u64; 3],
}

impl Scene {
    fn new(elevator: Scheduler, service: Span) -> Self {
        let mut scene = Self { elevator, now: Instant::ZERO, service, requests: 0, served: [0; 3] };
        scene.configure(Change::Rotational { rotational: false });
        for (group, weight) in [(1, 1), (2, 3)] {
            let share = Share::Weight(Weight::new(weight).expect("in range"));
            scene.configure(Change::GroupAdded { group: GroupId(group), share });
        }
        scene
    }

    fn configure(&mut self, change: Change) {
        self.elevator.configure(self.now, &change);
    }

    /// Submits the next request of a task, of the largest possible size, in the slot of the task's
    /// number.
    fn submit(&mut self, task: u32) {
        self.requests += 1;
        let request = Request {
            id: RequestId(task),
            task: TaskId(task),
            group: GroupId(1 + task / 2),
            op: Op::Read,
            start: Lba(self.requests * 10_000_000_000 % (1 << 45)),
            sectors: Sectors(u32::MAX),
            sync: true,
            flags: Flags::NONE,
            ioprio: IoPrio::UNSET,
            arrived: self.now,
        };
        self.elevator.admit(self.now, &request);
    }

    fn serve(&mut self, requests: u32) {
        for _ in 0..requests {
            let request = loop {
                match self.elevator.decide(self.now) {
                    Decision::Dispatch(request, _) => break request,
                    Decision::WaitUntil(at, _) => self.now = at,
                    other => panic!("{other:?} with requests queued"),
                }
            };
            self.elevator.activate(self.now, request);
            self.now += self.service;
            let completion = Completion { request, device_time: self.service, ok: true };
            self.elevator.complete(self.now, &completion);
            self.served[1 + request.0 as usize / 2] += 1;
            self.submit(request.0);
        }
    }
}

/// The groups' parts of 400 requests, after the first group had `requests` alone.
fn after(name: &str, requests: u32, service: Span) -> [u64; 3] {
    let spec = SchedulerSpec::named(name).expect("it is listed");
    let mut scene = Scene::new(spec.build(), service);
    (0..2).for_each(|task| scene.submit(task));
    scene.serve(requests);
    (2..4).for_each(|task| scene.submit(task));
    // A group that arrives may catch up on a little.
    scene.serve(40);
    scene.served = [0; 3];
    scene.serve(400);
    scene.served
}

#[test]
fn shares_hold_after_years() {
    let hours = |hours: u64| Span::from_s(3600 * hours);
    for (name, requests, service) in [
        ("fair", 40, hours(240)),
        ("shares", 6_000, hours(2)),
        ("mclock", 300_000, Span::from_s(1)),
        ("bfq", 6_000, hours(1)),
    ] {
        let served = after(name, requests, service);
        assert!((290..=310).contains(&served[2]), "{name}: {served:?}");
    }
}

#[test]
fn two_layer_cfq_serves_everybody_after_years() {
    let served = after("two-layer-cfq", 300, Span::from_s(3600 * 240));
    assert!(served[1] > 0 && served[2] > 0, "{served:?}");
}
