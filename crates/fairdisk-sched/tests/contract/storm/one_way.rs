//! Storms of two groups, of which one mostly reads and one mostly writes, on a disk without a head
//! that both keep busy and that is slower if both are there: reads and writes take turns.

use super::{Sea, Storm, TASKS};
use fairdisk_core::{Change, Cost, CostModel, GroupId, Journal, Op, Record, Share, Span, Why};

/// The two groups, the one that writes first. Others come and go beside them.
pub(super) const PAIR: [GroupId; 2] = [GroupId(1), GroupId(2)];
/// How many requests each of the two has queued at least: enough for none to run dry, which would
/// count as a pause.
const QUEUED: u32 = 10;

impl Storm {
    /// Runs the storm. Returns how often a decision was to wait because of turns.
    pub(crate) fn run_one_way(self) -> u64 {
        let mut sea = Sea::new(self, self.spec.build(), Journal::keeping());
        sea.is_one_way = true;
        sea.world.service = Span::from_us(100);
        sea.world.mixed = Span::from_us(900);
        for group in PAIR {
            sea.groups.push(group);
            sea.configure(Change::GroupAdded { group, share: Share::DEFAULT });
        }
        for who in 0..TASKS {
            sea.set_group(who, PAIR[who % 2]);
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

    /// Lets time pass until one of the two groups has too little queued.
    pub(super) fn pause_while_busy(&mut self) {
        while self.shorter_queue().1 >= QUEUED {
            self.world.run_to_event();
        }
    }

    /// Of the two groups, that with fewer requests queued, and how many it has.
    fn shorter_queue(&self) -> (GroupId, u32) {
        let loads = self.world.engine.loads();
        let queued = |group| loads.get(&group).map_or(0, |load| load.queued);
        let [one, other] = PAIR.map(|group| (group, queued(group)));
        if other.1 < one.1 { other } else { one }
    }

    /// A task of the group that has fewer requests queued, if it has any.
    pub(super) fn who_is_short(&mut self) -> usize {
        let (group, _) = self.shorter_queue();
        let who = self.some_task();
        let mut from_there = (who..self.tasks.len()).chain(0..who);
        from_there.find(|who| self.tasks[*who].group == group).unwrap_or(who)
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
