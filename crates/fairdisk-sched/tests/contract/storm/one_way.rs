//! Storms of groups that either read or write, on a disk without a head that they keep busy: there
//! reads and writes take turns.

use super::{Sea, Storm, TASKS};
use fairdisk_core::{Change, Cost, CostModel, GroupId, Journal, Op, Record, Share, Span, Why};

/// How many queued requests of a group keep a disk busy.
const BUSY: u32 = 10;

impl Storm {
    /// Runs the storm on a disk without a head, with groups that mostly read and groups that mostly
    /// write. Returns how often somebody had to wait for the turn of the others.
    pub(crate) fn run_one_way(self) -> u64 {
        let mut sea = Sea::new(self, self.spec.build(), Journal::keeping());
        sea.is_one_way = true;
        sea.world.service = Span::from_us(100);
        for group in [1, 2].map(GroupId) {
            sea.groups.push(group);
            sea.configure(Change::GroupAdded { group, share: Share::DEFAULT });
        }
        for who in 0..TASKS {
            sea.set_group(who, GroupId(1 + who as u32 % 2));
        }
        sea.change_flash();
        let world = sea.cross();
        let is_turn = |record: &Record| match *record {
            Record::Waits(_, why) | Record::WaitsCompletion(why) => why == Why::OtherDirection,
            _ => false,
        };
        let records = world.engine.journal().entries().iter().map(|entry| &entry.record);
        records.filter(|record| is_turn(record)).count() as u64
    }
}

impl Sea {
    /// Makes the disk one without a head that a few requests keep busy.
    pub(super) fn change_flash(&mut self) {
        self.configure(Change::Rotational { rotational: false });
        let time = Span::from_us(self.prng.between(20, 60));
        let cost = Cost { sequential: time, random: time, ..Cost::default() };
        let depth = self.storm.config.depth;
        let saturation = time + time;
        let costs = CostModel { depth, saturation, alone: time, read: cost, write: cost };
        self.configure(Change::Costs(costs));
    }

    /// Lets time pass until one of the first two groups has less than what keeps the disk busy.
    pub(super) fn pause_while_busy(&mut self) {
        while self.shorter_queue().1 >= BUSY {
            self.world.run_to_event();
        }
    }

    /// Of the first two groups, that with fewer requests queued, and how many it has.
    fn shorter_queue(&self) -> (GroupId, u32) {
        let loads = self.world.engine.loads();
        let queued = |group| loads.get(&group).map_or(0, |load| load.queued);
        let [one, other] = [1, 2].map(|group| (GroupId(group), queued(GroupId(group))));
        if other.1 < one.1 { other } else { one }
    }

    /// A task of the group that has fewer requests queued, if it has any.
    pub(super) fn who_is_short(&mut self) -> usize {
        let (group, _) = self.shorter_queue();
        let who = self.some_task();
        let later = (who..self.tasks.len()).find(|who| self.tasks[*who].group == group);
        later.unwrap_or(who)
    }

    /// What the group mostly does, and now and then the other.
    pub(super) fn usual_op(&mut self, group: GroupId) -> Op {
        let writes = group.0 % 2 == 1;
        match writes != self.prng.chance(1, 40) {
            true => Op::Write,
            false => Op::Read,
        }
    }
}
