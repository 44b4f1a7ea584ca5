//! Start-time fair queueing of nested groups with ceilings, as defined in docs/fair.md, written
//! out: nothing is kept sorted, and everything is examined each time.

use fairdisk_core::{Instant, Qos, Span, Weight};
use fairdisk_sched::fair::FairParams;

/// Units per nanosecond in which a start is stored.
const PARTS: u64 = 1 << 10;

fn worth(service: Span, weight: u64) -> u64 {
    service.as_ns() * PARTS / weight
}

/// How long one I/O takes at the ceiling.
fn time_of_one(qos: &Qos) -> Option<Span> {
    Some(Span::from_ns(1_000_000_000_u64.div_ceil(qos.ceiling.iops?.get())))
}

/// How soon a group at its ceiling is looked at again.
const LOOK_AGAIN_AFTER: Span = Span::from_us(100);

/// A member of a line: a group, or the own tasks of a group with nested groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Member {
    Group(usize),
    Tasks(usize),
}

/// A line: the top-level groups, or the members inside a group.
type Line = Option<usize>;

#[derive(Clone, Debug)]
struct Place {
    weight: u64,
    start: u64,
    /// When the member came to its place, as a count; of equal starts the earlier goes first.
    came: Option<u64>,
    left: Instant,
}

impl Place {
    const NEW: Self =
        Self { weight: Weight::DEFAULT.get() as u64, start: 0, came: None, left: Instant::ZERO };
}

#[derive(Clone, Debug)]
struct Group {
    parent: Line,
    wants: bool,
    /// Whether the group is on its way to another line.
    moves: bool,
    /// Until when the group is at its ceiling, and since when, as a count.
    barred: Option<(Instant, u64)>,
    qos: Qos,
    /// When the service the group has had will be paid for at its ceiling.
    used_until: Instant,
    /// When what was done for it will be.
    done_until: Instant,
    itself: Place,
    tasks: Place,
    /// The lowest start for a member that arrives inside the group.
    reached: u64,
}

/// The model.
#[derive(Clone, Debug)]
pub(crate) struct Naive {
    groups: Vec<Group>,
    reached: u64,
    now: Instant,
    count: u64,
    credit: Span,
    lag: Span,
}

impl Naive {
    pub(crate) fn new(groups: usize, params: &FairParams) -> Self {
        let group = Group {
            parent: None,
            wants: false,
            moves: false,
            barred: None,
            qos: Qos::NONE,
            used_until: Instant::ZERO,
            done_until: Instant::ZERO,
            itself: Place::NEW,
            tasks: Place::NEW,
            reached: 0,
        };
        let lag = params.round + params.round;
        let (reached, now, count) = (0, Instant::ZERO, 0);
        Self { groups: vec![group; groups], reached, now, count, credit: params.credit, lag }
    }

    // ---- what is told --------------------------------------------------------------------

    /// Advances the clock to `now`.
    pub(crate) fn pass(&mut self, now: Instant) {
        self.now = now;
    }

    /// Sets the weight. How far the group is ahead of others, or behind, is kept as an amount of
    /// service.
    pub(crate) fn set_weight(&mut self, group: usize, weight: u64) {
        let Place { weight: old, start, .. } = self.groups[group].itself;
        if weight == old {
            return;
        }
        let reached = *self.reached(self.groups[group].parent);
        let gap = start.abs_diff(reached) * old / weight;
        self.groups[group].itself.weight = weight;
        let start = if start > reached { reached + gap } else { reached.saturating_sub(gap) };
        self.put(Member::Group(group), start);
    }

    /// Places a member at `start`, after members with an equal start.
    fn put(&mut self, member: Member, start: u64) {
        self.count += 1;
        let count = self.count;
        let place = self.place(member);
        (place.start, place.came) = (start, place.came.map(|_| count));
    }

    pub(crate) fn set_wants(&mut self, group: usize, wants: bool) {
        self.groups[group].wants = wants;
        self.settle();
    }

    pub(crate) fn set_parent(&mut self, group: usize, parent: Line) {
        if self.groups[group].parent == parent {
            return;
        }
        self.groups[group].moves = true;
        self.settle();
        self.groups[group].parent = parent;
        self.groups[group].moves = false;
        self.groups[group].itself.start = *self.reached(parent);
        self.settle();
    }

    pub(crate) fn set_qos(&mut self, group: usize, qos: Qos) {
        let now = self.now;
        let entry = &mut self.groups[group];
        // Service that is not yet paid for counts towards the new ceiling.
        for until in [&mut entry.used_until, &mut entry.done_until] {
            let left = u128::from((*until - now).as_ns());
            *until = match (entry.qos.ceiling.iops, qos.ceiling.iops) {
                (Some(old), Some(new)) => {
                    let left = left * u128::from(old.get());
                    now + Span::from_ns(left.div_ceil(u128::from(new.get())) as u64)
                }
                _ => now,
            };
        }
        (entry.qos, entry.barred) = (qos, None);
        self.settle();
    }

    /// Removes the group, whose number may be reused.
    pub(crate) fn remove(&mut self, group: usize) {
        self.set_weight(group, Place::NEW.weight);
        self.set_qos(group, Qos::NONE);
        self.set_parent(group, None);
        for member in [Member::Group(group), Member::Tasks(group)] {
            let reached = *self.reached(self.line_of(member));
            self.put(member, reached);
        }
    }

    // ---- who is next ---------------------------------------------------------------------

    /// Lets groups continue whose time at the ceiling is over.
    pub(crate) fn release(&mut self) {
        let due = |group: &Group| group.barred.filter(|(until, _)| *until <= self.now);
        let first = (0..self.groups.len()).filter(|at| due(&self.groups[*at]).is_some());
        let Some(first) = first.min_by_key(|at| self.groups[*at].barred) else { return };
        self.groups[first].barred = None;
        self.settle();
        self.release();
    }

    /// The group whose own tasks are next. Groups that would exceed their ceiling with one more I/O
    /// are set aside.
    pub(crate) fn next(&mut self) -> Option<usize> {
        loop {
            let first = self.first()?;
            let over = |group: &usize| self.allowed_at(*group) > self.now;
            let Some(over) = self.path(first).into_iter().find(over) else { return Some(first) };
            self.count += 1;
            self.groups[over].barred = Some((self.allowed_at(over), self.count));
            self.settle();
        }
    }

    fn allowed_at(&self, group: usize) -> Instant {
        let Group { qos, used_until, done_until, .. } = &self.groups[group];
        let Some(time) = time_of_one(qos) else { return Instant::ZERO };
        let early = |at: Instant, by: Span| Instant::from_ns(at.as_ns().saturating_sub(by.as_ns()));
        // A burst holds two requests, of which the second need not be paid for yet.
        let done = early(self.now.max(*done_until) + time, qos.burst.max(time + time));
        let done = if done > self.now { done.max(self.now + LOOK_AGAIN_AFTER) } else { done };
        early(*used_until, qos.burst - time).max(done)
    }

    fn first(&self) -> Option<usize> {
        let mut line = None;
        loop {
            let standing = self.members(line).into_iter().filter(|one| self.stands(*one));
            let key = |one: &Member| (self.place_of(*one).start, self.place_of(*one).came);
            match standing.min_by_key(key)? {
                Member::Group(group) if self.holds_groups(group) => line = Some(group),
                Member::Group(group) | Member::Tasks(group) => return Some(group),
            }
        }
    }

    /// Accounts for an I/O of the group's own tasks being dispatched.
    pub(crate) fn serve(&mut self, group: usize) {
        for member in self.members_around(group) {
            let line = self.line_of(member);
            let standing = self.members(line).into_iter().filter(|one| self.stands(*one));
            let least = standing.map(|one| self.place_of(one).start).min();
            let reached = self.reached(line);
            *reached = least.unwrap_or(0).max(*reached);
        }
        for group in self.path(group) {
            let now = self.now;
            let Group { qos, used_until, .. } = &mut self.groups[group];
            if let Some(time) = time_of_one(qos) {
                *used_until = now.max(*used_until) + time;
            }
        }
    }

    /// Accounts for an I/O of the group's own tasks being done at `now`.
    pub(crate) fn done(&mut self, now: Instant, group: usize) {
        for group in self.path(group) {
            let Group { qos, done_until, .. } = &mut self.groups[group];
            if let Some(time) = time_of_one(qos) {
                *done_until = now.max(*done_until) + time;
            }
        }
    }

    /// Charges the service time of an I/O.
    pub(crate) fn charge(&mut self, group: usize, service: Span) {
        for member in self.members_around(group) {
            let Place { start, weight, .. } = *self.place_of(member);
            self.put(member, start + worth(service, weight));
        }
    }

    // ---- lines ---------------------------------------------------------------------------

    fn path(&self, group: usize) -> Vec<usize> {
        std::iter::successors(Some(group), |at| self.groups[*at].parent).collect()
    }

    fn holds_groups(&self, group: usize) -> bool {
        self.groups.iter().any(|one| one.parent == Some(group))
    }

    fn line_of(&self, member: Member) -> Line {
        match member {
            Member::Group(group) => self.groups[group].parent,
            Member::Tasks(group) => Some(group),
        }
    }

    fn members(&self, line: Line) -> Vec<Member> {
        let groups = (0..self.groups.len()).filter(|at| self.groups[*at].parent == line);
        line.map(Member::Tasks).into_iter().chain(groups.map(Member::Group)).collect()
    }

    /// The member for the group's own tasks, and those for the groups around them.
    fn members_around(&self, group: usize) -> Vec<Member> {
        let tasks = self.holds_groups(group).then_some(Member::Tasks(group));
        tasks.into_iter().chain(self.path(group).into_iter().map(Member::Group)).collect()
    }

    fn place_of(&self, member: Member) -> &Place {
        match member {
            Member::Group(group) => &self.groups[group].itself,
            Member::Tasks(group) => &self.groups[group].tasks,
        }
    }

    fn place(&mut self, member: Member) -> &mut Place {
        match member {
            Member::Group(group) => &mut self.groups[group].itself,
            Member::Tasks(group) => &mut self.groups[group].tasks,
        }
    }

    fn reached(&mut self, line: Line) -> &mut u64 {
        match line {
            Some(group) => &mut self.groups[group].reached,
            None => &mut self.reached,
        }
    }

    fn stands(&self, member: Member) -> bool {
        self.place_of(member).came.is_some()
    }

    fn should_stand(&self, member: Member) -> bool {
        match member {
            Member::Tasks(at) => self.holds_groups(at) && self.groups[at].wants,
            Member::Group(at) => {
                let group = &self.groups[at];
                let inside = || self.members(Some(at)).iter().any(|one| self.stands(*one));
                let wants = if self.holds_groups(at) { inside() } else { group.wants };
                wants && !group.moves && group.barred.is_none()
            }
        }
    }

    /// Adds members to their lines, and removes members from them, as needed.
    fn settle(&mut self) {
        let all = || (0..self.groups.len()).map(Member::Tasks);
        let all = all().chain((0..self.groups.len()).map(Member::Group));
        let wrong = all.into_iter().find(|one| self.stands(*one) != self.should_stand(*one));
        let Some(wrong) = wrong else { return };
        if self.stands(wrong) {
            let now = self.now;
            let place = self.place(wrong);
            (place.came, place.left) = (None, now);
        } else {
            self.join(wrong);
        }
        self.settle();
    }

    /// Adds a member to its line. One that was away only briefly may catch up on its part of what
    /// all had, others on a little.
    fn join(&mut self, member: Member) {
        let line = self.line_of(member);
        let Place { weight, start, left, .. } = *self.place_of(member);
        let others = self.members(line).into_iter().filter(|one| self.stands(*one));
        let all = weight + others.map(|one| self.place_of(one).weight).sum::<u64>();
        let (credit, lag) = (worth(self.credit, weight), worth(self.lag, all));
        let catches_up = if self.now.since(left) <= self.credit { credit.max(lag) } else { credit };
        let least = self.reached(line).saturating_sub(catches_up);
        self.count += 1;
        let count = self.count;
        let place = self.place(member);
        (place.start, place.came) = (start.max(least), Some(count));
    }
}
