//! Law 9 among the tasks of a group: how many turns others of the same priority have while a task
//! has a synchronous request queued.

use crate::elevator::{Change, Turns};
use crate::request::{GroupId, IoPrio, Lba, Request, RequestId, TaskId};
use crate::time::Instant;
use crate::why::Why;
use alloc::collections::BTreeMap;

/// A task in a group. The number grows when the task exits or the group is removed: what comes
/// later under the same names is somebody else's.
type Member = (GroupId, TaskId, u32);

/// A class and the level in it.
type Priority = (usize, u8);

/// A task that has synchronous requests queued.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    priority: Priority,
    requests: u32,
    /// Turns of its kind before it began to wait.
    since: u64,
    /// The most of its kind that waited at a time since then.
    most: u64,
}

/// The tasks of a group that have one priority.
#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    turns: u64,
    waiting: u64,
}

/// The last turn of a task.
#[derive(Clone, Copy, Debug)]
struct LastTurn {
    since: Instant,
    /// How many of its requests began where the one before ended.
    continued: u64,
    end: Lba,
}

/// Whose turns passed while who waited.
#[derive(Debug)]
pub(super) struct TurnsAudit {
    /// Whose the queued requests are, and from where to where they go.
    requests: BTreeMap<RequestId, (Member, Lba, Lba)>,
    waiting: BTreeMap<Member, Waiting>,
    kinds: BTreeMap<(GroupId, Priority), Kind>,
    /// The task of each group that was served last, unless something asynchronous was.
    served_last: BTreeMap<GroupId, Member>,
    /// The last turns of tasks.
    last: BTreeMap<Member, LastTurn>,
    /// How often the task has exited, and the group was removed.
    exits: BTreeMap<TaskId, u32>,
    removals: BTreeMap<GroupId, u32>,
}

impl TurnsAudit {
    pub(super) const fn new() -> Self {
        Self {
            requests: BTreeMap::new(),
            waiting: BTreeMap::new(),
            kinds: BTreeMap::new(),
            served_last: BTreeMap::new(),
            last: BTreeMap::new(),
            exits: BTreeMap::new(),
            removals: BTreeMap::new(),
        }
    }

    fn member(&self, group: GroupId, task: TaskId) -> Member {
        let exits = self.exits.get(&task).copied().unwrap_or(0);
        (group, task, exits + self.removals.get(&group).copied().unwrap_or(0))
    }

    pub(super) fn admitted(&mut self, request: &Request) {
        if !request.sync {
            return;
        }
        let member = self.member(request.group, request.task);
        self.requests.insert(request.id, (member, request.start, request.end()));
        let priority = priority_of(request.ioprio);
        let before = self.waiting.get(&member).map_or(0, |waiting| waiting.requests);
        self.set_priority(member, priority);
        match self.waiting.get_mut(&member) {
            Some(waiting) => waiting.requests = before + 1,
            None => self.begin_waiting(member, priority, 1),
        }
    }

    fn begin_waiting(&mut self, member: Member, priority: Priority, requests: u32) {
        let kind = self.kinds.entry((member.0, priority)).or_default();
        kind.waiting += 1;
        let Kind { turns, waiting } = *kind;
        let begun = Waiting { priority, requests, since: turns, most: waiting };
        self.waiting.insert(member, begun);
        let is_kin = |it: &(&Member, &mut Waiting)| it.0.0 == member.0 && it.1.priority == priority;
        for (_, other) in self.waiting.iter_mut().filter(is_kin) {
            other.most = other.most.max(waiting);
        }
    }

    fn end_waiting(&mut self, member: Member) {
        let ended = self.waiting.remove(&member);
        if let Some(kind) = ended.and_then(|it| self.kinds.get_mut(&(member.0, it.priority))) {
            kind.waiting -= 1;
        }
    }

    /// With another priority it waits among others, from now on.
    fn set_priority(&mut self, member: Member, priority: Priority) {
        if let Some(before) = self.waiting.get(&member).filter(|it| it.priority != priority) {
            let requests = before.requests;
            self.end_waiting(member);
            self.begin_waiting(member, priority, requests);
        }
    }

    /// Notes that a request is queued no more, and returns whose it was.
    pub(super) fn left(&mut self, id: RequestId) -> Option<(Member, Lba, Lba)> {
        let left = self.requests.remove(&id)?;
        let member = left.0;
        let waiting = self.waiting.get_mut(&member)?;
        waiting.requests -= 1;
        if waiting.requests == 0 {
            self.end_waiting(member);
        }
        Some(left)
    }

    /// Notes that a request of the group is dispatched, and checks who waits while it is.
    pub(super) fn dispatched(
        &mut self,
        (now, id, group): (Instant, RequestId, GroupId),
        why: Why,
        bound: Option<Turns>,
    ) {
        let priority = self.requests.get(&id).and_then(|it| self.waiting.get(&it.0));
        let Some((priority, left)) = priority.map(|it| it.priority).zip(self.left(id)) else {
            // Nobody waits for what is asynchronous, but it ends a turn.
            self.served_last.remove(&group);
            return;
        };
        let (member, start, end) = left;
        // What another group waits for is part of no turn.
        if why == Why::Awaited {
            self.last.entry(member).and_modify(|last| last.end = end);
        } else if !self.goes_on((now, group, member), (start, end), bound) {
            self.last.insert(member, LastTurn { since: now, continued: 0, end });
            self.kinds.entry((group, priority)).or_default().turns += 1;
        }
        let Kind { turns, waiting } = self.kinds[&(group, priority)];
        if let Some(own) = self.waiting.get_mut(&member) {
            (own.since, own.most) = (turns, waiting);
        }
        let Some(Turns { each, continued: counted, .. }) = bound else { return };
        let is_kin = |it: &(&Member, &Waiting)| it.0.0 == group && it.1.priority == priority;
        for (member, other) in self.waiting.iter().filter(is_kin) {
            let continued = self.last.get(member).map_or(1, |last| last.continued.max(1));
            let continued = continued.min(u64::from(counted));
            let (passed, most) = (turns - other.since, u64::from(each) * other.most * continued);
            assert!(passed <= most, "law 9: {passed} turns of others in {group:?}, not {most}");
        }
    }

    /// Notes that a request of a task is dispatched, and returns whether it is part of the task's
    /// last turn, or of that of the task before, which it takes over.
    fn goes_on(
        &mut self,
        (now, group, member): (Instant, GroupId, Member),
        (start, end): (Lba, Lba),
        bound: Option<Turns>,
    ) -> bool {
        let before = self.served_last.insert(group, member);
        let is_next = before == Some(member);
        let taken_over = before.filter(|_| !is_next).and_then(|before| self.last.get(&before));
        let is_near = |last: &&LastTurn| bound.is_some_and(|it| it.is_near(last.end, start));
        let taken_over = taken_over.filter(is_near).map(|last| last.since);
        if let Some(since) = taken_over {
            let end = self.last.get(&member).map_or(end, |last| last.end);
            self.last.insert(member, LastTurn { since, continued: 0, end });
        }
        let Some(last) = self.last.get_mut(&member) else { return false };
        let continues = last.end == start;
        let goes_on = continues || is_next || taken_over.is_some();
        let is_short = |bound: Turns| now.since(last.since) < bound.length;
        let goes_on = goes_on && bound.is_some_and(is_short);
        last.continued += u64::from(goes_on && continues);
        last.end = end;
        goes_on
    }

    /// Notes that a queued request has grown.
    pub(super) fn grown(&mut self, request: &Request) {
        if let Some((_, start, end)) = self.requests.get_mut(&request.id) {
            (*start, *end) = (request.start, request.end());
        }
    }

    pub(super) fn changed(&mut self, change: &Change) {
        match *change {
            Change::TaskExited { task } => *self.exits.entry(task).or_default() += 1,
            Change::GroupRemoved { group } => *self.removals.entry(group).or_default() += 1,
            Change::TaskPriority { task, ioprio } => {
                let its = |member: &&Member| **member == self.member(member.0, task);
                let all: alloc::vec::Vec<Member> =
                    self.waiting.keys().filter(its).copied().collect();
                all.into_iter().for_each(|it| self.set_priority(it, priority_of(ioprio)));
            }
            _ => {}
        }
    }
}

/// Levels beyond the last count as the last.
fn priority_of(ioprio: IoPrio) -> Priority {
    (ioprio.class.rank(), ioprio.level.min(IoPrio::LEVELS - 1))
}
