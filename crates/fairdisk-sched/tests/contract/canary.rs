//! Elevators that each break one law on purpose; the auditor must name the law.

use crate::world::World;
use fairdisk_core::{
    Admission, Auditor, Bio, BioId, Completion, Decision, Description, Elevator, EngineConfig,
    Flags, GroupId, Handover, Input, Instant, IoPrio, Lba, Op, Request, RequestId, Sectors, Span,
    TaskId, Turns, Why,
};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The fault of a canary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    /// No fault; the auditor must stay silent.
    Nothing,
    /// Dispatches a request that was never admitted.
    Invents,
    /// Dispatches every request twice.
    Repeats,
    /// Changes its answer although nothing happened.
    Wavers,
    /// Waits until the present instant.
    WaitsForThePast,
    /// Waits for a completion with nothing in flight.
    WaitsForNothing,
    /// Answers idle with requests queued.
    IdlesEarly,
    /// Waits with nothing queued.
    WaitsEmpty,
    /// Never dispatches the oldest request, in spite of its bound on waiting.
    Starves,
    /// Dispatches the second request first, in spite of its bound on overtaking.
    Overtakes,
    /// Dispatches the newest request first, in spite of its bound on the turns of other tasks.
    Favours,
}

struct Canary {
    wrong: Wrong,
    queue: VecDeque<RequestId>,
    in_flight: u32,
    asked: u32,
}

impl Canary {
    const fn new(wrong: Wrong) -> Self {
        Self { wrong, queue: VecDeque::new(), in_flight: 0, asked: 0 }
    }

    fn misbehave(&self, now: Instant) -> Option<Decision> {
        // Gives a different answer each time it is asked.
        let soon = now + Span::from_ms(50) + Span::from_us(u64::from(self.asked));
        let soon = Decision::WaitUntil(soon, Why::IdleWait);
        let queued = !self.queue.is_empty();
        match self.wrong {
            Wrong::Invents => Some(Decision::Dispatch(RequestId(77), Why::ArrivedFirst)),
            Wrong::Wavers if queued => Some(soon),
            Wrong::WaitsForThePast if queued => Some(Decision::WaitUntil(now, Why::IdleWait)),
            Wrong::WaitsForNothing if queued => Some(Decision::WaitCompletion(Why::SyncInFlight)),
            Wrong::IdlesEarly if queued => Some(Decision::Idle),
            Wrong::WaitsEmpty if !queued && self.in_flight == 0 => Some(soon),
            _ => None,
        }
    }
}

impl Elevator for Canary {
    fn admit(&mut self, _now: Instant, request: &Request) -> Admission {
        self.queue.push_back(request.id);
        Admission::Queued
    }

    fn decide(&mut self, now: Instant) -> Decision {
        self.asked += 1;
        if let Some(decision) = self.misbehave(now) {
            return decision;
        }
        let id = match self.wrong {
            Wrong::Repeats => self.queue.front().copied(),
            Wrong::Starves | Wrong::Favours => self.queue.pop_back(),
            Wrong::Overtakes if self.queue.len() > 1 => self.queue.remove(1),
            _ => self.queue.pop_front(),
        };
        match id {
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
        let named = Description::new("canary", Handover::Single);
        let turns_max =
            Some(Turns { each: 1, length: Span::from_ms(1), continued: 1, near: Sectors(0) });
        let wait_max = Some(Span::from_ms(20));
        match self.wrong {
            Wrong::Nothing => Description { wait_max, turns_max, ..named },
            Wrong::Favours => Description { turns_max, ..named },
            Wrong::Overtakes => Description { wait_max, overtaken_max: Some(0), ..named },
            _ => Description { wait_max, ..named },
        }
    }
}

fairdisk_core::default_extensions!(Canary);

fn read(number: u64) -> Bio {
    Bio {
        id: BioId(number),
        task: TaskId(number as u32),
        group: GroupId::ROOT,
        op: Op::Read,
        start: Lba(number * 1000),
        sectors: Sectors(8),
        sync: true,
        flags: Flags::NONE,
        ioprio: IoPrio::UNSET,
    }
}

/// Runs a closed loop of three reads at a time, with one superfluous call.
fn fly(wrong: Wrong) {
    let canary = Auditor::new(Canary::new(wrong));
    let mut world = World::new(canary, EngineConfig::default(), 1);
    for number in 0..90 {
        world.submit(read(number));
        world.handle(Input::Tick);
        if number >= 3 {
            world.run_until(world.now + Span::from_us(700));
        }
    }
    world.run_dry();
}

/// The auditor's message, or that there was none.
fn verdict(flight: impl FnOnce()) -> String {
    match catch_unwind(AssertUnwindSafe(flight)) {
        Ok(()) => "alive".to_owned(),
        Err(said) => said.downcast_ref::<String>().cloned().unwrap_or_default(),
    }
}

#[test]
fn a_sane_canary_lives() {
    assert_eq!(verdict(|| fly(Wrong::Nothing)), "alive");
}

#[test]
fn every_insane_canary_dies_of_its_law() {
    let table = [
        (Wrong::Invents, "law 2"),
        (Wrong::Repeats, "law 2"),
        (Wrong::Wavers, "law 3"),
        (Wrong::WaitsForThePast, "law 4"),
        (Wrong::WaitsForNothing, "law 4"),
        (Wrong::IdlesEarly, "law 5"),
        (Wrong::WaitsEmpty, "law 5"),
        (Wrong::Starves, "law 9"),
        (Wrong::Overtakes, "law 9"),
        (Wrong::Favours, "law 9"),
    ];
    for (wrong, law) in table {
        let said = verdict(|| fly(wrong));
        assert!(said.starts_with(law), "{wrong:?}: expected {law}, heard {said:?}");
    }
}

#[test]
fn time_that_runs_backwards_breaks_law_1() {
    let said = verdict(|| {
        let mut audited = Auditor::new(Canary::new(Wrong::Nothing));
        audited.decide(Instant::from_ns(2));
        audited.decide(Instant::from_ns(1));
    });
    assert!(said.starts_with("law 1"), "{said:?}");
}

#[test]
fn what_was_not_dispatched_cannot_finish() {
    let said = verdict(|| {
        let completion = Completion { request: RequestId(3), device_time: Span::ZERO, ok: true };
        Auditor::new(Canary::new(Wrong::Nothing)).complete(Instant::ZERO, &completion);
    });
    assert!(said.starts_with("law 2"), "{said:?}");
}
