//! A minimal shell: a device with a fixed service time, tasks that wake up, and a timer. It checks
//! what every shell may rely on.

use crate::ledger::Ledger;
use fairdisk_core::{
    Bio, Effect, Effects, Elevator, Engine, EngineConfig, GroupId, Input, Instant, Journal, Op,
    Prng, Request, RequestId, Sleeper, Span, TaskId,
};

/// A request at the device.
#[derive(Debug)]
struct Job {
    done: Instant,
    request: RequestId,
    op: Op,
    ok: bool,
}

/// An engine, its device and its clock.
pub(crate) struct World<E> {
    pub(crate) engine: Engine<E>,
    pub(crate) now: Instant,
    pub(crate) ledger: Ledger,
    /// One in this many completions fails; 0 for none.
    pub(crate) failing: u64,
    /// Before one in this many events the engine is asked again, although nothing has happened; 0
    /// for never.
    pub(crate) asking: u64,
    pub(crate) depth: usize,
    /// The service time of a request.
    pub(crate) service: Span,
    /// How much longer a request takes if reads and writes are at the device together.
    pub(crate) mixed: Span,
    /// That of a write, if the device takes it into a cache.
    pub(crate) taken_in: Option<Span>,
    jobs: Vec<Job>,
    sleepers: Vec<(Instant, Sleeper)>,
    wake_at: Option<Instant>,
    effects: Effects,
    prng: Prng,
    busy: Span,
    /// Device time of removed groups whose numbers are in use again.
    forgotten: Span,
    /// The task and group that were let through, as long as nothing has happened except what they
    /// asked for.
    has_pass: Option<(TaskId, GroupId)>,
    /// How often a task submitted while it was let through.
    let_through: u64,
}

impl<E: Elevator> World<E> {
    pub(crate) fn new(elevator: E, config: EngineConfig, seed: u64) -> Self {
        Self::with_journal(elevator, config, seed, Journal::hashing())
    }

    pub(crate) fn with_journal(
        elevator: E,
        config: EngineConfig,
        seed: u64,
        journal: Journal,
    ) -> Self {
        Self {
            engine: Engine::new(elevator, config, journal),
            now: Instant::ZERO,
            ledger: Ledger::new(config.keeps_order),
            failing: 0,
            asking: 0,
            depth: config.depth as usize,
            service: Span::from_us(700),
            mixed: Span::ZERO,
            taken_in: None,
            jobs: Vec::new(),
            sleepers: Vec::new(),
            wake_at: None,
            effects: Effects::new(),
            prng: Prng::new(seed).fork(1),
            busy: Span::ZERO,
            forgotten: Span::ZERO,
            has_pass: None,
            let_through: 0,
        }
    }

    /// Submits a bio. A task that is let through must be issued at once, one bio after another.
    pub(crate) fn submit(&mut self, bio: Bio) {
        let who = (bio.task, bio.group);
        let somebody_waits = bio.sync && bio.op != Op::Flush;
        if !somebody_waits || self.has_pass != Some(who) || !self.jobs.is_empty() {
            let is_let_through = somebody_waits && self.engine.lets_through(bio.task, bio.group);
            self.has_pass = is_let_through.then_some(who);
        }
        self.ledger.submitted(bio);
        self.handle(Input::Submit(bio));
        if self.has_pass.is_some() {
            assert_eq!(self.jobs.len(), 1, "let through, and kept back: {bio:?}");
            self.let_through += 1;
        }
    }

    /// Runs until `until`, or until everything submitted is done.
    pub(crate) fn run_while_busy(&mut self, until: Instant) {
        while self.ledger.live() > 0 && self.now < until {
            let next = self.next_event().map_or(until, |at| at.min(until));
            self.run_until(next);
        }
    }

    /// Runs until the next event.
    pub(crate) fn run_to_event(&mut self) {
        let next = self.next_event().expect("nothing is stuck");
        self.run_until(next);
    }

    /// How many bios were let through before they were submitted.
    pub(crate) const fn let_through(&self) -> u64 {
        self.let_through
    }

    pub(crate) fn handle(&mut self, input: Input<E>) {
        if let Input::Completed { request, ok } = input {
            self.ledger.completed(request, ok);
        }
        // Anything but arrivals and completions ends the permission.
        if !matches!(input, Input::Submit(_) | Input::Completed { .. } | Input::Tick) {
            self.has_pass = None;
        }
        let charged = matches!(input, Input::Configure(_)).then(|| self.charged());
        let mut effects = std::mem::take(&mut self.effects);
        self.engine.handle(self.now, input, &mut effects);
        self.wake_at = effects.wake_at;
        if let Some(at) = self.wake_at {
            assert!(at > self.now, "asked to be woken at {at}, it is {}", self.now);
        }
        for effect in effects.as_slice() {
            self.carry_out(*effect);
        }
        self.effects = effects;
        if let Some(charged) = charged {
            self.forgotten += charged - self.charged();
        }
        self.ledger.settle();
        self.check_accounts();
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Issue(request) => {
                self.ledger.issued(request);
                self.start(&request);
            }
            Effect::Finish { bio, task, ok } => self.ledger.finished(bio, task, ok),
            Effect::Sleep { .. } => {}
            Effect::Wake { sleeper, .. } => {
                // A woken task does not run at once, so others may come first.
                let runs = self.now + Span::from_us(self.prng.below(300));
                self.sleepers.push((runs, sleeper));
            }
            Effect::Cancelled(bio) => self.ledger.cancelled(bio),
        }
    }

    fn start(&mut self, request: &Request) {
        assert!(self.jobs.len() < self.depth, "the device was given more than its depth");
        // Requests overtake each other at a device that accepts several.
        let extra = if self.depth > 1 { Span::from_us(self.prng.below(900)) } else { Span::ZERO };
        let ok = self.failing == 0 || !self.prng.chance(1, self.failing);
        let op = request.op;
        let taken_in = self.taken_in.filter(|_| op == Op::Write);
        let is_mixed = self.jobs.iter().any(|job| job.op.is_write() != op.is_write());
        let mixed = if is_mixed { self.mixed } else { Span::ZERO };
        let done = self.now + taken_in.unwrap_or(self.service) + mixed + extra;
        self.jobs.push(Job { done, request: request.id, op, ok });
    }

    fn check_accounts(&self) {
        let accounts = self.engine.accounts();
        assert_eq!(accounts.in_flight(), self.ledger.live(), "bios unaccounted for");
        assert_eq!(self.engine.in_flight() as usize, self.jobs.len());
    }

    /// When the next event happens by itself.
    fn next_event(&self) -> Option<Instant> {
        let jobs = self.jobs.iter().map(|job| job.done);
        let sleepers = self.sleepers.iter().map(|(at, _)| *at);
        jobs.chain(sleepers).chain(self.wake_at).min()
    }

    /// Runs until `until`.
    pub(crate) fn run_until(&mut self, until: Instant) {
        loop {
            let next = self.next_event().filter(|at| *at <= until);
            if self.ask_before(next.unwrap_or(until)) {
                continue;
            }
            let Some(at) = next else { break };
            self.pass_to(at);
            self.event();
        }
        self.pass_to(until);
    }

    /// Now and then, asks the engine at some instant before `at`: what it waits for must not have
    /// changed. Returns whether it did.
    fn ask_before(&mut self, at: Instant) -> bool {
        let asks = self.asking > 0 && at > self.now && self.prng.chance(1, self.asking);
        if asks {
            let us = self.prng.below((at - self.now).as_us() + 1);
            self.pass_to(self.now + Span::from_us(us));
            self.handle(Input::Tick);
        }
        asks
    }

    /// Runs until no event is left, and checks that everything is done.
    pub(crate) fn run_dry(&mut self) {
        let mut events_left = 100_000;
        while let Some(at) = self.next_event() {
            self.pass_to(at);
            self.event();
            events_left -= 1;
            assert!(events_left > 0, "goes on for ever: {:?}", self.ledger.leftovers());
        }
        assert_eq!(self.ledger.live(), 0, "stuck: {:?}", self.ledger.leftovers());
        let charged = self.charged() + self.forgotten;
        assert_eq!(charged, self.busy, "device time does not add up to the busy time");
    }

    /// The device time of all groups.
    fn charged(&self) -> Span {
        let groups = self.engine.accounts().iter();
        groups.fold(Span::ZERO, |sum, (_, group)| sum + group.device_time)
    }

    fn pass_to(&mut self, at: Instant) {
        if !self.jobs.is_empty() {
            self.busy += at - self.now;
        }
        self.now = at;
    }

    fn event(&mut self) {
        let now = self.now;
        if let Some(at) = self.jobs.iter().position(|job| job.done <= now) {
            let Job { request, ok, .. } = self.jobs.remove(at);
            self.handle(Input::Completed { request, ok });
        } else if let Some(at) = self.sleepers.iter().position(|(runs, _)| *runs <= now) {
            let (_, sleeper) = self.sleepers.remove(at);
            self.handle(Input::Retry(sleeper));
        } else {
            self.handle(Input::Tick);
        }
    }
}
