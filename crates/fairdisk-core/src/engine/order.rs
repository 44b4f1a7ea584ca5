//! Ordering of conflicting bios: overlapping writes keep their order, and a flush waits for the
//! writes of its group before it. Those of other groups were not done when the flush came, so
//! nobody relies on it for them, and a group would otherwise wait for all that others have queued.
//!
//! Bios in flight are filed under the pieces of the device they touch, so that a new bio is
//! compared only with its neighbours. Each list is sorted newest first: of many overlapping bios
//! only the latest needs to be examined.

use super::bios::{BioIndex, Bios};
use crate::dense;
use crate::list::{List, Lists};
use crate::request::{Bio, Op};
use alloc::vec::Vec;

const NIL: u32 = u32::MAX;
/// A piece is 1 MiB (2048 sectors), so a bio of up to 1 MiB touches at most two pieces.
const PIECE_SHIFT: u32 = 11;
/// The list of the bios that touch more than two pieces.
const WIDE: u32 = 0;
/// The number of the first list that belongs to pieces.
const PIECES: u32 = 1;
const PIECE_LISTS_MIN: u32 = 1024;
/// Nodes per bio slot: a bio is in at most two lists of pieces.
const NODES: u32 = 2;

#[derive(Clone, Copy, Debug)]
struct Node {
    previous: u32,
    next: u32,
    /// The list that contains the node; `NIL` for none.
    list: u32,
    /// Hash of the piece and the direction; see [`hash`].
    hash: u32,
}

const UNLINKED: Node = Node { previous: NIL, next: NIL, list: NIL, hash: 0 };

/// A bio and the first and last piece of the device that it touches.
#[derive(Clone, Copy, Debug)]
struct Touches {
    index: BioIndex,
    first: u64,
    last: u64,
    write: bool,
}

#[derive(Debug)]
pub(super) struct OrderGuard {
    heads: Vec<u32>,
    /// `NODES` for each bio slot.
    nodes: Vec<Node>,
    /// The bios of each group in flight that change the medium, newest last.
    writes: Vec<List>,
    links: Lists<()>,
    /// The number of all of these.
    writing: u32,
    /// The latest bio. It is filed under its pieces only when another bio arrives or a blocker is
    /// searched for, because often it has left by then.
    newest: Option<Touches>,
}

impl OrderGuard {
    pub(super) fn new() -> Self {
        Self {
            heads: alloc::vec![NIL; (PIECES + PIECE_LISTS_MIN) as usize],
            nodes: Vec::new(),
            writes: Vec::new(),
            links: Lists::new(),
            writing: 0,
            newest: None,
        }
    }

    #[inline(always)]
    pub(super) fn add(&mut self, index: BioIndex, bio: &Bio) {
        if (index.0 * NODES) as usize >= self.nodes.len() {
            self.make_room(index);
        }
        let Some((first, last)) = pieces(bio) else { return };
        let write = bio.op.is_write();
        if write {
            let writes = dense::entry(&mut self.writes, bio.group.0, List::new);
            self.links.insert(writes, index.0, ());
            self.writing += 1;
        }
        self.file_newest();
        self.newest = Some(Touches { index, first, last, write });
    }

    #[inline]
    fn file_newest(&mut self) {
        if let Some(newest) = self.newest.take() {
            self.file_bio(newest);
        }
    }

    #[inline(never)]
    fn file_bio(&mut self, bio: Touches) {
        let Touches { index, first, last, write } = bio;
        let node = index.0 * NODES;
        if last - first > 1 {
            self.link(node, WIDE, 0);
            return;
        }
        self.file(node, hash(first, write));
        if last > first {
            self.file(node + 1, hash(last, write));
        }
    }

    #[inline]
    fn file(&mut self, node: u32, hash: u32) {
        self.link(node, self.list_of(hash), hash);
    }

    #[inline(always)]
    pub(super) fn remove(&mut self, index: BioIndex, bio: &Bio) {
        if bio.op.is_write() && bio.op != Op::Flush {
            self.links.remove(&mut self.writes[bio.group.0 as usize], index.0);
            self.writing -= 1;
        }
        if self.newest.is_some_and(|newest| newest.index == index) {
            self.newest = None;
            return;
        }
        let first = index.0 * NODES;
        let lists = match self.nodes[first as usize..] {
            [one, two, ..] => [one.list, two.list],
            _ => return,
        };
        for (node, list) in (first..).zip(&lists) {
            if *list != NIL {
                self.unlink(node);
            }
        }
    }

    /// The latest earlier bio that must finish before the bio at `index` may start.
    #[inline(always)]
    pub(super) fn blocker_of(
        &mut self,
        bios: &Bios,
        index: BioIndex,
        bio: &Bio,
    ) -> Option<BioIndex> {
        // The common case: no write is in flight that a read could conflict with.
        if bio.op == Op::Read && self.writing == 0 {
            return None;
        }
        self.file_newest();
        self.look_for_blocker(bios, index, bio)
    }

    #[inline(never)]
    fn look_for_blocker(&self, bios: &Bios, index: BioIndex, bio: &Bio) -> Option<BioIndex> {
        let Some((first, last)) = pieces(bio) else {
            let before = |write: &u32| self.links.previous(*write);
            let last = self.writes.get(bio.group.0 as usize).and_then(List::last);
            let mut writes = core::iter::successors(last, before).map(BioIndex);
            return writes.find(|other| bios.is_earlier(*other, index));
        };
        if last - first > 1 {
            return bios.latest_blocker(index, bios.all());
        }
        let node = index.0 * NODES;
        let near = |piece, write| {
            let blocker = self.blocker_near(bios, index, node, hash(piece, write));
            if last == first {
                return blocker;
            }
            let further = self.blocker_near(bios, index, node + 1, hash(piece + 1, write));
            bios.later(blocker, further)
        };
        let mut blocker = near(first, true);
        if bio.op != Op::Read {
            blocker = bios.later(blocker, near(first, false));
        }
        if self.heads[WIDE as usize] == NIL {
            return blocker;
        }
        bios.latest_blocker(index, self.list(WIDE).chain(blocker))
    }

    /// The latest blocker that touches the piece with this hash; `own` is the bio's node for that
    /// piece. Compares hashes first and loads a bio only on a match, because bios are scattered
    /// over memory.
    #[inline]
    fn blocker_near(&self, bios: &Bios, index: BioIndex, own: u32, hash: u32) -> Option<BioIndex> {
        let own = &self.nodes[own as usize];
        // In the bio's own list, the nodes before it are newer and cannot block it.
        let mut at = match own.hash == hash {
            true => own.next,
            false => self.heads[self.list_of(hash) as usize],
        };
        while at != NIL {
            let node = &self.nodes[at as usize];
            if node.hash == hash && bios.is_blocked(index, bio_of(at)) {
                return Some(bio_of(at));
            }
            at = node.next;
        }
        None
    }

    fn list(&self, list: u32) -> impl Iterator<Item = BioIndex> {
        let mut at = self.heads[list as usize];
        core::iter::from_fn(move || {
            let node = self.nodes.get(at as usize)?;
            Some(bio_of(core::mem::replace(&mut at, node.next)))
        })
    }

    const fn list_of(&self, hash: u32) -> u32 {
        let lists = self.heads.len() as u32 - PIECES;
        debug_assert!(lists.is_power_of_two());
        PIECES + (hash & (lists - 1))
    }

    #[inline]
    fn link(&mut self, node: u32, list: u32, hash: u32) {
        let next = self.heads[list as usize];
        self.nodes[node as usize] = Node { previous: NIL, next, list, hash };
        if next != NIL {
            self.nodes[next as usize].previous = node;
        }
        self.heads[list as usize] = node;
    }

    #[inline]
    fn unlink(&mut self, node: u32) {
        let node = &mut self.nodes[node as usize];
        let Node { previous, next, .. } = *node;
        let list = core::mem::replace(&mut node.list, NIL);
        match previous {
            NIL => self.heads[list as usize] = next,
            previous => self.nodes[previous as usize].next = next,
        }
        if next != NIL {
            self.nodes[next as usize].previous = previous;
        }
    }

    #[cold]
    fn make_room(&mut self, index: BioIndex) {
        let nodes = (index.0 as usize + 1) * NODES as usize;
        self.nodes.resize(nodes, UNLINKED);
        if self.heads.len() < nodes {
            self.spread();
        }
    }

    /// Doubles the number of piece lists to keep them short.
    fn spread(&mut self) {
        let lists = 2 * (self.heads.len() - PIECES as usize);
        let old = self.heads.split_off(PIECES as usize);
        self.heads.resize(PIECES as usize + lists, NIL);
        let mut nodes = Vec::new();
        for mut at in old {
            while at != NIL {
                nodes.push(at);
                at = self.nodes[at as usize].next;
            }
            // Refile from oldest to newest, so that the newest becomes first again.
            while let Some(node) = nodes.pop() {
                self.file(node, self.nodes[node as usize].hash);
            }
        }
    }
}

/// The first and last piece of the device that a bio touches; `None` for a flush.
fn pieces(bio: &Bio) -> Option<(u64, u64)> {
    let last = bio.end().0.checked_sub(1)?;
    (bio.op != Op::Flush).then_some((bio.start.0 >> PIECE_SHIFT, last >> PIECE_SHIFT))
}

const fn bio_of(node: u32) -> BioIndex {
    BioIndex(node / NODES)
}

/// Hash of a piece of the device and a direction. Reads and writes get different lists because
/// reads need not be compared with reads.
const fn hash(piece: u64, write: bool) -> u32 {
    ((piece << 1 | write as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::super::bios::COMPARED;
    use super::*;
    use crate::prng::Prng;
    use crate::request::{BioId, GroupId, Lba, Sectors};
    use crate::samples;
    use crate::time::Instant;
    use std::vec::Vec;

    fn some_bio(prng: &mut Prng, id: u64) -> Bio {
        let ops = [Op::Read, Op::Read, Op::Write, Op::Flush, Op::Discard];
        let op = ops[prng.below(5) as usize];
        let longest = if prng.chance(1, 10) { 20_000 } else { 600 };
        let sectors = if op == Op::Flush { 0 } else { prng.between(1, longest) as u32 };
        Bio {
            id: BioId(id),
            group: GroupId(prng.below(3) as u32),
            start: Lba(prng.below(60_000)),
            sectors: Sectors(sectors),
            ..samples::bio(op)
        }
    }

    /// The specification: a comparison with every bio in flight.
    fn brute_force(bio: &Bio, earlier: &[(BioIndex, Bio)]) -> Option<BioIndex> {
        let blocks = |other: &Bio| match bio.op {
            Op::Flush => other.op.is_write() && other.op != Op::Flush && other.group == bio.group,
            _ => bio.conflicts_with(other),
        };
        earlier.iter().rev().find(|(_, other)| blocks(other)).map(|(index, _)| *index)
    }

    #[test]
    fn agrees_with_comparing_everything() {
        let mut prng = Prng::new(11);
        let (mut guard, mut bios) = (OrderGuard::new(), Bios::new());
        let mut flying: Vec<(BioIndex, Bio)> = Vec::new();
        for id in 0..12_000 {
            if prng.below(1000) < flying.len() as u64 {
                let (index, bio) = flying.remove(prng.below(flying.len() as u64) as usize);
                guard.remove(index, &bio);
                bios.remove(index);
                continue;
            }
            let bio = some_bio(&mut prng, id);
            let index = bios.insert(&bio, Instant::ZERO);
            guard.add(index, &bio);
            flying.push((index, bio));
            let at = prng.below(flying.len() as u64) as usize;
            for at in [at, flying.len() - 1] {
                let (index, bio) = flying[at];
                assert_eq!(guard.blocker_of(&bios, index, &bio), brute_force(&bio, &flying[..at]));
            }
        }
        assert!(guard.heads.len() > (PIECES + PIECE_LISTS_MIN) as usize, "it had to grow");
    }

    #[test]
    fn of_many_that_overlap_only_the_latest_is_looked_at() {
        const MANY: u64 = 3000;
        let (mut guard, mut bios) = (OrderGuard::new(), Bios::new());
        let mut compared = 0;
        let mut blocker_of = |guard: &mut OrderGuard, bios: &Bios, index| {
            COMPARED.with(|compared| compared.set(0));
            let blocker = guard.blocker_of(bios, index, bios.bio(index));
            compared += COMPARED.with(std::cell::Cell::get);
            blocker
        };
        let write = |id| Bio { id: BioId(id), sectors: Sectors(8), ..samples::bio(Op::Write) };
        let mut flying = Vec::new();
        for id in 0..MANY {
            let index = bios.insert(&write(id), Instant::ZERO);
            guard.add(index, &write(id));
            assert_eq!(blocker_of(&mut guard, &bios, index), flying.last().copied());
            flying.push(index);
        }
        // Complete the bios one by one; each completion asks for the next one's blocker.
        for id in 0..MANY - 1 {
            let (done, next) = (flying[id as usize], flying[id as usize + 1]);
            guard.remove(done, &write(id));
            bios.remove(done);
            assert_eq!(blocker_of(&mut guard, &bios, next), None);
        }
        assert!(compared <= 2 * MANY as usize, "{compared}");
    }
}
