//! Who pays for buffered writes, and who owns an inode (spec: memory, sections 7.2 to 7.4).
//!
//! An inode belongs to the group that first makes a page of it dirty. Each round in which it is
//! written back is a vote. A group that has won more than half of the last votes, counted by the
//! time that the I/O takes, becomes the owner.

use super::write_back::WriteBackSpec;
use fairdisk_core::{GroupId, Instant, Span};

/// Who is charged for a dirty page that is written back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payer {
    /// Whoever submits the write: the root group for the flusher, or a writer that is held up.
    Submitter,
    /// The group that made the page dirty.
    Dirtier,
    /// The group that wrote to the page last.
    LastWriter,
    /// The group that owns the inode.
    InodeOwner,
}

impl Payer {
    /// All of them, in the order of their discriminants.
    pub const ALL: [Self; 4] = [Self::Submitter, Self::Dirtier, Self::LastWriter, Self::InodeOwner];

    /// Its name in files and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Submitter => "submitter",
            Self::Dirtier => "dirtier",
            Self::LastWriter => "last-writer",
            Self::InodeOwner => "inode-owner",
        }
    }
}

/// The votes of one round: those for the owner, those for the winner of the last round, and the
/// lead of a majority candidate (Boyer and Moore), who wins if anybody has more than half.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round {
    pages: u64,
    for_owner: u64,
    for_last_winner: u64,
    candidate: Option<GroupId>,
    lead: u64,
}

impl Round {
    /// Counts pages that a group made dirty.
    pub(crate) fn count(&mut self, inode: &Inode, group: GroupId, pages: u64) {
        self.pages += pages;
        self.for_owner += if inode.owner == Some(group) { pages } else { 0 };
        self.for_last_winner += if inode.last_winner == Some(group) { pages } else { 0 };
        if self.candidate == Some(group) {
            self.lead += pages;
        } else if self.lead >= pages {
            self.lead -= pages;
        } else {
            (self.candidate, self.lead) = (Some(group), pages - self.lead);
        }
    }

    /// Who has most. With as many votes the owner is first, then the last winner.
    fn winner(&self, owner: GroupId, last_winner: Option<GroupId>) -> GroupId {
        let mut winner = (self.for_owner, owner);
        let last = last_winner.map(|group| (self.for_last_winner, group));
        let candidate = self.candidate.map(|group| (self.lead, group));
        for other in last.into_iter().chain(candidate) {
            winner = if other.0 > winner.0 { other } else { winner };
        }
        winner.1
    }
}

/// Units of I/O time per second.
const UNITS_PER_S: u64 = 1 << 13;
/// Slots of the history.
const SLOTS: u32 = u16::BITS;
/// The I/O time of a slot; the history covers two seconds of I/O.
const SLOT_UNITS: u64 = 2 * UNITS_PER_S / SLOTS as u64;
/// The most slots that one round takes.
const SLOTS_OF_ROUND_MAX: u64 = 5;
/// An inode with more foreign slots than this changes its owner.
const FOREIGN_SLOTS_MAX: u32 = SLOTS / 2;
/// The weight of a round in the average of I/O times, and the part of the average below which a
/// round is ignored.
const AVERAGE_OF: u64 = 8;

/// Who owns an inode, and who should.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inode {
    /// The owner; `None` while nobody has written to it.
    pub(crate) owner: Option<GroupId>,
    last_winner: Option<GroupId>,
    /// The average I/O time of a round, in units.
    average: u64,
    /// A bit for each slot, set if a foreign group won; the lowest is the latest.
    history: u16,
}

impl Inode {
    /// Notes that a group has made a page dirty.
    pub(crate) fn dirtied(&mut self, group: GroupId) {
        self.owner.get_or_insert(group);
    }

    /// Ends a round. Its owner writes so many pages a second. Returns whether the owner changes.
    pub(crate) fn end(&mut self, round: &Round, pages_per_s: u64) -> bool {
        let Some(owner) = self.owner.filter(|_| round.pages > 0) else { return false };
        let time = round.pages * UNITS_PER_S / pages_per_s.max(1);
        self.average = match self.average {
            0 => time,
            average => (average * (AVERAGE_OF - 1) + time) / AVERAGE_OF,
        };
        if time < self.average / AVERAGE_OF {
            return false;
        }
        let winner = round.winner(owner, self.last_winner);
        self.last_winner = Some(winner);
        let slots = time.div_ceil(SLOT_UNITS).clamp(1, SLOTS_OF_ROUND_MAX);
        let won = if winner == owner { 0 } else { (1 << slots) - 1 };
        self.history = self.history << slots | won;
        let changes = self.history.count_ones() > FOREIGN_SLOTS_MAX;
        if changes {
            (self.owner, self.history) = (Some(winner), 0);
        }
        changes
    }
}

/// How fast a group writes to a disk.
#[derive(Clone, Copy, Debug)]
struct Bandwidth {
    since: Instant,
    pages: u64,
    pages_per_s: u64,
}

impl Bandwidth {
    /// Assumed before anything is measured: 100 MiB/s. A choice of ours.
    const UNKNOWN: Self = Self { since: Instant::ZERO, pages: 0, pages_per_s: 25_600 };
    /// How long is measured at least, and after how long the disk has been idle meanwhile.
    const MEASURED: [Span; 2] = [Span::from_ms(200), Span::from_ms(1000)];

    fn written(&mut self, now: Instant, pages: u64) {
        self.pages += pages;
        let [least, idle] = Self::MEASURED;
        let took = now - self.since;
        if took >= least {
            if took < idle {
                let rate = self.pages * 1_000_000_000 / took.as_ns();
                self.pages_per_s = (self.pages_per_s + rate).div_ceil(2);
            }
            (self.since, self.pages) = (now, 0);
        }
    }
}

/// Who pays for what is written back, and what each rule would have charged.
#[derive(Debug)]
pub(crate) struct Ownership {
    inodes: Vec<Inode>,
    /// The present round.
    round: Round,
    /// How fast groups write, disk by disk.
    bandwidths: Vec<Bandwidth>,
    groups: usize,
    /// Pages charged to each group by each rule.
    charged: [Vec<u64>; Payer::ALL.len()],
    /// How often an inode changed its owner.
    pub(crate) changes: u64,
}

impl Ownership {
    /// The accounts of a host, if it says who pays.
    pub(crate) fn new(
        spec: &WriteBackSpec,
        files: usize,
        disks: usize,
        groups: usize,
    ) -> Option<Box<Self>> {
        let ownership = || Self {
            inodes: vec![Inode::default(); files],
            round: Round::default(),
            bandwidths: vec![Bandwidth::UNKNOWN; disks * groups],
            groups,
            charged: Payer::ALL.map(|_| vec![0; groups]),
            changes: 0,
        };
        spec.payer.map(|_| Box::new(ownership()))
    }

    /// The owner of a file's inode.
    pub(crate) fn owner(&self, file: u32) -> GroupId {
        self.inodes[file as usize].owner.unwrap_or(GroupId::ROOT)
    }

    /// Notes that a group has made pages of a file dirty.
    pub(crate) fn dirtied(&mut self, file: u32, group: GroupId) {
        self.inodes[file as usize].dirtied(group);
    }

    /// Counts what a rule charges a group.
    pub(crate) fn charge(&mut self, rule: Payer, group: GroupId, pages: u64) {
        self.charged[rule as usize][group.0 as usize] += pages;
    }

    /// Counts pages of a file that a group made dirty for the present round.
    pub(crate) fn vote(&mut self, file: u32, group: GroupId, pages: u64) {
        self.round.count(&self.inodes[file as usize], group, pages);
    }

    /// Ends the round of a file. Returns the new owner if the inode changes it.
    pub(crate) fn end_round(&mut self, disk: u32, file: u32) -> Option<GroupId> {
        let round = std::mem::take(&mut self.round);
        let place = self.place(disk, self.owner(file));
        let pages_per_s = self.bandwidths[place].pages_per_s;
        let inode = &mut self.inodes[file as usize];
        let owner = if inode.end(&round, pages_per_s) { inode.owner } else { None };
        self.changes += u64::from(owner.is_some());
        owner
    }

    /// Counts pages of a file that have reached the disk.
    pub(crate) fn written(&mut self, now: Instant, disk: u32, file: u32, pages: u64) {
        let place = self.place(disk, self.owner(file));
        self.bandwidths[place].written(now, pages);
    }

    fn place(&self, disk: u32, group: GroupId) -> usize {
        disk as usize * self.groups + group.0 as usize
    }

    /// The pages that each rule would have charged a group, in the order of [`Payer::ALL`].
    pub(crate) fn charged(&self, group: GroupId) -> [u64; Payer::ALL.len()] {
        Payer::ALL.map(|rule| self.charged[rule as usize][group.0 as usize])
    }

    /// Starts to count what is charged again.
    pub(crate) fn restart(&mut self) {
        self.charged.iter_mut().for_each(|groups| groups.fill(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: GroupId = GroupId(1);
    const OTHER: GroupId = GroupId(2);
    const THIRD: GroupId = GroupId(3);
    /// A page takes one unit of I/O time.
    const PAGES_PER_S: u64 = UNITS_PER_S;
    const SLOT: u64 = SLOT_UNITS;

    /// Groups, and how much each wrote.
    type Votes<'a> = &'a [(GroupId, u64)];

    fn owned() -> Inode {
        Inode { owner: Some(OWNER), ..Inode::default() }
    }

    /// Ends a round with these pages of groups.
    fn end(inode: &mut Inode, votes: &[(GroupId, u64)]) -> bool {
        let mut round = Round::default();
        votes.iter().for_each(|(group, pages)| round.count(inode, *group, *pages));
        inode.end(&round, PAGES_PER_S)
    }

    #[test]
    fn the_first_to_write_owns_the_inode() {
        let mut inode = Inode::default();
        inode.dirtied(OWNER);
        inode.dirtied(OTHER);
        assert_eq!(inode.owner, Some(OWNER));
    }

    /// Rounds of these lengths in slots, won by the owner or not; after how many it changes.
    #[test]
    fn more_than_eight_foreign_slots_change_the_owner() {
        let table: [(&str, Votes<'_>, Option<usize>); 8] = [
            ("one slot each", &[(OTHER, 1); 12], Some(9)),
            ("a round counts five slots at most", &[(OTHER, 16); 3], Some(2)),
            ("eight are not enough", &[(OTHER, 4), (OTHER, 4)], None),
            ("the ninth is", &[(OTHER, 4), (OTHER, 4), (OTHER, 1)], Some(3)),
            (
                "turn about, it never has more than eight",
                &[(OTHER, 1), (OWNER, 1)].repeat(20),
                None,
            ),
            ("two of three", &[(OTHER, 1), (OTHER, 1), (OWNER, 1)].repeat(5), Some(13)),
            (
                "what is sixteen slots old is forgotten",
                &[(OTHER, 5), (OWNER, 5), (OWNER, 5), (OWNER, 5), (OTHER, 5)],
                None,
            ),
            ("the owner", &[(OWNER, 5); 10], None),
        ];
        for (case, rounds, changes_after) in table {
            let mut inode = owned();
            let changed =
                rounds.iter().position(|(group, slots)| end(&mut inode, &[(*group, slots * SLOT)]));
            assert_eq!(changed.map(|at| at + 1), changes_after, "{case}");
            assert_eq!(inode.owner == Some(OWNER), changed.is_none(), "{case}");
        }
    }

    #[test]
    fn a_new_owner_begins_with_an_empty_history() {
        let mut inode = owned();
        assert!(!end(&mut inode, &[(OTHER, 5 * SLOT)]) && end(&mut inode, &[(OTHER, 5 * SLOT)]));
        assert_eq!((inode.owner, inode.history), (Some(OTHER), 0));
        assert!(!end(&mut inode, &[(OWNER, 5 * SLOT)]), "and may lose it as slowly");
        assert!(end(&mut inode, &[(OWNER, 5 * SLOT)]));
    }

    #[test]
    fn a_round_begun_counts_as_a_slot_and_one_much_shorter_than_the_average_as_none() {
        let mut inode = owned();
        end(&mut inode, &[(OTHER, SLOT / 2)]);
        assert_eq!(inode.history, 0b1);
        end(&mut inode, &[(OTHER, SLOT + 1)]);
        assert_eq!(inode.history, 0b111);
        let mut inode = Inode { average: 800, ..owned() };
        end(&mut inode, &[(OTHER, 80)]);
        assert_eq!((inode.history, inode.average), (0, 710), "80 < 710 / 8");
        end(&mut inode, &[(OTHER, 90)]);
        assert_eq!((inode.history, inode.average), (1, 632), "90 > 632 / 8");
    }

    /// Who wins a round, by the pages in the order in which they are written back.
    #[test]
    fn the_winner_has_most_among_the_owner_the_last_winner_and_a_majority() {
        let table: [(&str, Votes<'_>, Option<GroupId>, GroupId); 8] = [
            ("all are the owner's", &[(OWNER, 10)], None, OWNER),
            ("a majority, begun last", &[(OWNER, 4), (OTHER, 10)], None, OTHER),
            ("a majority is weakened by others", &[(OTHER, 6), (OWNER, 4)], None, OWNER),
            ("a clear one is not", &[(OTHER, 9), (OWNER, 4)], None, OTHER),
            ("as many as the owner", &[(OWNER, 5), (OTHER, 5)], None, OWNER),
            ("the last winner keeps its votes", &[(OTHER, 6), (OWNER, 4)], Some(OTHER), OTHER),
            (
                "in pieces",
                &[(OTHER, 1), (OWNER, 1), (OTHER, 1), (THIRD, 1), (OTHER, 3)],
                None,
                OTHER,
            ),
            ("three alike, none a majority", &[(THIRD, 3), (OWNER, 3), (OTHER, 3)], None, OWNER),
        ];
        for (case, votes, last_winner, winner) in table {
            let inode = Inode { last_winner, ..owned() };
            let mut round = Round::default();
            votes.iter().for_each(|(group, pages)| round.count(&inode, *group, *pages));
            assert_eq!(round.winner(OWNER, last_winner), winner, "{case}");
        }
    }

    #[test]
    fn the_bandwidth_follows_what_is_measured_and_leaves_out_idle_times() {
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        let mut bandwidth = Bandwidth::UNKNOWN;
        bandwidth.written(at(100), 300);
        assert_eq!(bandwidth.pages_per_s, 25_600, "too short");
        bandwidth.written(at(200), 100);
        assert_eq!(bandwidth.pages_per_s, (25_600 + 2000) / 2);
        bandwidth.written(at(9_000), 1);
        assert_eq!(bandwidth.pages_per_s, 13_800, "idle");
        for at_ms in (9_200..29_000).step_by(200) {
            bandwidth.written(at(at_ms), 100);
        }
        assert!((500..=510).contains(&bandwidth.pages_per_s), "{bandwidth:?}");
    }
}
