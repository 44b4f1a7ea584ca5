//! What happens in a storm besides requests, and how much longer others may have to wait for it.

use crate::bound::Bound;
use crate::storm::{Group, Stage, Storm, TASKS, number_of, weight_of};
use fairdisk_core::{
    Auditor, Change, Elevator, IoClass, IoPrio, Qos, RequestId, Share, Span, TaskId,
};
use fairdisk_sched::SchedulerSpec;
use fairdisk_sched::fair::FairParams;

const FAIR: &str = "fair";

impl Storm {
    /// Lets something happen now and then.
    pub(crate) fn something(&mut self) {
        if !self.event_in.is_some_and(|one_in| self.prng.chance(1, one_in)) {
            return;
        }
        self.note();
        match self.prng.below(20) {
            0..6 => self.reweigh(),
            6..9 => self.create_or_remove(),
            9..12 => self.cancel(),
            12..14 => self.change_idle(),
            14..16 => self.change_priority(),
            16 => self.exit_task(),
            17 if self.has_targets => self.change_target(),
            17 => self.reweigh(),
            _ => self.switch(),
        }
    }

    fn alive(&self) -> Vec<usize> {
        (0..self.groups.len()).filter(|group| self.groups[*group].tasks.is_some()).collect()
    }

    fn some_group(&mut self) -> usize {
        let alive = self.alive();
        alive[self.prng.below(alive.len() as u64) as usize]
    }

    fn some_task(&mut self) -> usize {
        let group = self.some_group();
        let tasks = self.groups[group].tasks.expect("it is there");
        group * TASKS + self.prng.below(tasks as u64) as usize
    }

    fn reweigh(&mut self) {
        let group = self.some_group();
        let before = self.groups[group].weight;
        let weight = match self.prng.below(3) {
            0 => self.prng.between(1, 1000),
            1 => (before * 2).min(10_000),
            _ => (before / 2).max(1),
        };
        if self.groups[group].catches_up {
            self.note_move(group, weight < before);
        }
        self.groups[group].weight = weight;
        let share = Share::Weight(weight_of(weight));
        self.configure(Change::GroupShare { group: number_of(group), share });
    }

    /// Notes that a group which is behind gets another weight. What it is behind by is as much
    /// service as before, so it is before others then, or others are before it, if they are behind.
    fn note_move(&mut self, group: usize, is_before: bool) {
        if is_before {
            return self.add(group, self.missed(group));
        }
        for other in (0..self.groups.len()).filter(|other| *other != group) {
            if self.groups[other].catches_up {
                let missed = self.missed(other);
                self.groups[group].bound.add(missed);
            }
        }
    }

    fn create_or_remove(&mut self) {
        let (group, alive) = (self.prng.below(self.groups.len() as u64) as usize, self.alive());
        if self.groups[group].tasks.is_none() {
            let tasks = self.prng.between(2, TASKS as u64) as usize;
            self.create(group, tasks);
        } else if alive.len() > 2 {
            self.remove(group);
        }
    }

    /// Removes a group. Of what it has queued, some may be cancelled; the rest is still served, and
    /// the group is neither ahead nor behind any more, so that others wait for another turn of it.
    fn remove(&mut self, group: usize) {
        let cancels = self.prng.chance(1, 2);
        for task in group * TASKS..(group + 1) * TASKS {
            match self.tasks[task].stage {
                Stage::Queued if cancels && self.prng.chance(1, 2) => {
                    self.withdraw(task);
                    self.tasks[task].stage = Stage::None;
                }
                Stage::Pauses(_) => self.tasks[task].stage = Stage::None,
                _ => {}
            }
        }
        self.configure(Change::GroupRemoved { group: number_of(group) });
        let it = &mut self.groups[group];
        (it.weight, it.target, it.idle, it.tasks) = (100, None, None, None);
        let again = self.seen()[group].most();
        self.add(group, again);
    }

    fn withdraw(&mut self, task: usize) {
        let group = task / TASKS;
        self.elevator.withdraw(self.now, RequestId(task as u32));
        self.groups[group].queued -= 1;
        let kept = self.kept_for(group);
        self.groups.iter_mut().for_each(|group| group.bound.add(kept));
    }

    /// How long the disk may be kept free for a task of the group that pauses.
    pub(crate) fn kept_for(&self, group: usize) -> Span {
        let idle = self.groups[group].idle.unwrap_or(Span::ZERO);
        idle.max(FairParams::default().idle_max) + self.service_max
    }

    /// Cancels a request of a task, or those of all tasks of its group, which pause then, for a
    /// moment or for longer.
    fn cancel(&mut self) {
        let (one, all) = (self.some_task(), self.prng.chance(1, 3));
        let longest = [0, 10_000, 100_000][self.prng.below(3) as usize];
        let group = one / TASKS;
        for task in group * TASKS..(group + 1) * TASKS {
            if (all || task == one) && self.tasks[task].stage == Stage::Queued {
                self.withdraw(task);
                let pause = Span::from_us(self.prng.between(0, longest));
                self.tasks[task].stage = Stage::Pauses(self.now + pause);
            }
        }
    }

    /// Notes that a group comes that had nothing to do: it has a turn, and what it may catch up on
    /// after a short absence or a longer one.
    pub(crate) fn note_coming(&mut self, group: usize) {
        let missed = self.missed(group);
        self.groups[group].queued += 1;
        let turn = self.seen()[group].most();
        self.groups[group].queued -= 1;
        self.add(group, turn + missed);
        self.groups[group].catches_up = true;
    }

    /// What a group may catch up on that had nothing to do for a while.
    fn missed(&self, group: usize) -> Span {
        let (params, weight) = (FairParams::default(), self.groups[group].weight);
        let others =
            self.groups.iter().enumerate().filter(|(at, it)| *at != group && !it.is_quiet());
        let all = weight + others.map(|(_, group)| group.weight).sum::<u64>();
        (params.round + params.round).scaled(weight, all).max(params.credit)
    }

    fn change_idle(&mut self) {
        let group = self.some_group();
        let most = Span::from_ms(self.prng.below(40));
        let idle = self.prng.chance(3, 4).then_some(most);
        self.groups[group].idle = idle;
        self.configure(Change::GroupIdle { group: number_of(group), idle });
    }

    fn change_target(&mut self) {
        let group = self.some_group();
        let has_target = self.prng.chance(1, 2);
        self.set_target(group, has_target);
    }

    fn change_priority(&mut self) {
        let task = self.some_task();
        let classes = [IoClass::None, IoClass::RealTime, IoClass::BestEffort, IoClass::Idle];
        let class = classes[self.prng.below(4) as usize];
        let ioprio = IoPrio { class, level: self.prng.below(8) as u8 };
        self.tasks[task].ioprio = ioprio;
        self.configure(Change::TaskPriority { task: self.tasks[task].id, ioprio });
    }

    /// Lets a task exit; another goes on in its place.
    fn exit_task(&mut self) {
        let task = self.some_task();
        self.configure(Change::TaskExited { task: self.tasks[task].id });
        let it = &mut self.tasks[task];
        (it.id, it.ioprio) = (TaskId(self.next_task), IoPrio::UNSET);
        self.next_task += 1;
    }

    /// Lets another scheduler take over as an engine does; if it is `fair`, all waits begin anew.
    fn switch(&mut self) {
        self.check();
        let names = SchedulerSpec::NAMES;
        let other = names[self.prng.below(names.len() as u64) as usize];
        let name = if self.is_fair && self.prng.chance(1, 2) { other } else { FAIR };
        let spec = SchedulerSpec::named(name).expect("it is listed");
        let mut carried = Vec::new();
        while let Some(request) = self.elevator.drain(self.now) {
            carried.push(request);
        }
        let queued = self.groups.iter().map(|group| group.queued).sum::<usize>();
        assert_eq!(carried.len(), queued, "after a switch");
        carried.sort_by_key(|request| (self.tasks[request.0 as usize].arrived, *request));
        (self.elevator, self.is_fair) = (Auditor::new(spec.build()), name == FAIR);
        self.tell_disk();
        self.tell_groups();
        for group in &mut self.groups {
            // What is at the disk is not known to it.
            (group.queued, group.at_disk) = (0, 0);
            group.bound = Bound::default();
        }
        self.tasks.iter_mut().for_each(|task| task.is_known = false);
        carried.into_iter().for_each(|request| self.admit(request.0 as usize));
        // All begin at once.
        self.groups.iter_mut().for_each(|group| group.catches_up = false);
    }

    fn tell_groups(&mut self) {
        for group in self.alive() {
            let Group { weight, target, idle, .. } = self.groups[group];
            let (group, share) = (number_of(group), Share::Weight(weight_of(weight)));
            self.configure(Change::GroupAdded { group, share });
            let qos = Qos { latency_p99: target, ..Qos::NONE };
            let target = target.map(|_| Change::GroupQos { group, qos });
            let idle = idle.map(|_| Change::GroupIdle { group, idle });
            target.into_iter().chain(idle).for_each(|change| self.configure(change));
        }
    }
}
