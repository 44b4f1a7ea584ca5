//! Page frames: where each is, what is in it, and lists of them.
//!
//! A frame is in at most one list at a time, so all lists share one pair of links in each frame,
//! and moving a frame allocates nothing.

use super::index::Chained;

/// No frame.
pub(super) const NONE: u32 = u32::MAX;

/// A page of the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId {
    file: u32,
    page: u32,
}

/// Flag in the number of a file: the page holds metadata of a volume ("Buffers").
const METADATA: u32 = 1 << 31;

impl PageId {
    /// A page of a file.
    #[must_use]
    pub const fn of_file(file: u32, page: u64) -> Self {
        debug_assert!(file < METADATA && page <= u32::MAX as u64);
        Self { file, page: page as u32 }
    }

    /// A block of 4 KiB of a volume that holds metadata, such as an indirect block.
    #[must_use]
    pub const fn of_metadata(volume: u32, block: u64) -> Self {
        debug_assert!(volume < METADATA && block <= u32::MAX as u64);
        Self { file: volume | METADATA, page: block as u32 }
    }

    /// Whether the page holds metadata.
    #[must_use]
    pub const fn is_metadata(self) -> bool {
        self.file & METADATA != 0
    }

    /// The number of the file, or of the volume whose metadata it is.
    #[must_use]
    pub const fn file(self) -> u32 {
        self.file & !METADATA
    }

    /// The number of the page in its file, or of the block in its volume.
    #[must_use]
    pub const fn page(self) -> u64 {
        self.page as u64
    }

    pub(super) const fn key(self) -> (u32, u32) {
        (self.file, self.page)
    }
}

/// What the kernel expects of a page, by which it groups pages so that memory keeps large blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum PageType {
    /// It stays where it is.
    Unmovable,
    /// It stays where it is, and the kernel can do without it.
    Reclaimable,
    /// Pages of files and programs.
    #[default]
    Movable,
}

/// Where a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Place {
    /// The first of a free block.
    Block,
    /// Another one of a free block.
    InBlock,
    /// On the list of a CPU.
    OnCpu,
    /// Taken, and not used yet.
    InHand,
    /// With the kernel or a program, for good.
    Fixed,
    /// In the page cache, and on no list yet.
    Buffered,
    Inactive,
    Active,
    /// In the page cache, and in the hands of whoever reclaims.
    Isolated,
}

/// What is known of the page in a frame.
pub(super) mod flag {
    /// It is on its way from the disk.
    pub(in super::super) const COMING: u16 = 1;
    /// It was used by a call since it was last looked at.
    pub(in super::super) const REFERENCED: u16 = 1 << 1;
    /// It was used through a mapping since it was last looked at.
    pub(in super::super) const MAPPED: u16 = 1 << 2;
    pub(in super::super) const DIRTY: u16 = 1 << 3;
    /// It is on its way to the disk.
    pub(in super::super) const WRITING: u16 = 1 << 4;
    /// It is to be evicted as soon as it has been written.
    pub(in super::super) const RECLAIM: u16 = 1 << 5;
    /// It has been used.
    pub(in super::super) const USED: u16 = 1 << 6;
    /// Reading it reads ahead.
    pub(in super::super) const MARK: u16 = 1 << 7;
    /// It was taken from the active list.
    pub(in super::super) const FROM_ACTIVE: u16 = 1 << 8;
    /// It left the page cache while it was in the hands of whoever reclaims.
    pub(in super::super) const DROPPED: u16 = 1 << 9;
}

/// A page frame: 24 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) previous: u32,
    pub(super) next: u32,
    /// The page in it, if it is in the page cache.
    pub(super) id: PageId,
    /// The next frame whose page has the same place in the index.
    pub(super) next_in_index: u32,
    pub(super) flags: u16,
    /// The order of a free block, in its first frame; else the type of page.
    pub(super) order_or_type: u8,
    pub(super) place: Place,
}

impl Frame {
    const NEW: Self = Self {
        previous: NONE,
        next: NONE,
        id: PageId { file: 0, page: 0 },
        next_in_index: NONE,
        flags: 0,
        order_or_type: 0,
        place: Place::InBlock,
    };

    pub(super) const fn has(&self, flags: u16) -> bool {
        self.flags & flags != 0
    }

    /// Clears flags. Returns whether one of them was set.
    pub(super) const fn clear(&mut self, flags: u16) -> bool {
        let was_set = self.has(flags);
        self.flags &= !flags;
        was_set
    }
}

/// A list of frames, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct List {
    first: u32,
    last: u32,
    len: u32,
}

impl List {
    pub(super) const EMPTY: Self = Self { first: NONE, last: NONE, len: 0 };

    pub(super) const fn len(&self) -> u32 {
        self.len
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Default for List {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// An end of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Head,
    Tail,
}

/// The page frames of a machine, by number.
#[derive(Debug)]
pub(super) struct Frames(Vec<Frame>);

impl std::ops::Index<u32> for Frames {
    type Output = Frame;
    fn index(&self, at: u32) -> &Frame {
        &self.0[at as usize]
    }
}

impl std::ops::IndexMut<u32> for Frames {
    fn index_mut(&mut self, at: u32) -> &mut Frame {
        &mut self.0[at as usize]
    }
}

impl Chained for Frames {
    fn id(&self, at: u32) -> PageId {
        self[at].id
    }

    fn next(&self, at: u32) -> u32 {
        self[at].next_in_index
    }

    fn set_next(&mut self, at: u32, next: u32) {
        self[at].next_in_index = next;
    }
}

impl Frames {
    pub(super) fn new(frames: u32) -> Self {
        Self(vec![Frame::NEW; frames as usize])
    }

    pub(super) const fn len(&self) -> u32 {
        self.0.len() as u32
    }

    pub(super) fn push(&mut self, list: &mut List, end: End, at: u32) {
        let (previous, next) = match end {
            End::Head => (NONE, list.first),
            End::Tail => (list.last, NONE),
        };
        let frame = &mut self[at];
        (frame.previous, frame.next) = (previous, next);
        self.join(list, previous, at);
        self.join(list, at, next);
        list.len += 1;
    }

    /// Removes the frame from `list`, which must contain it.
    pub(super) fn remove(&mut self, list: &mut List, at: u32) {
        let Frame { previous, next, .. } = self[at];
        self.join(list, previous, next);
        list.len -= 1;
    }

    pub(super) fn pop(&mut self, list: &mut List, end: End) -> Option<u32> {
        let at = match end {
            End::Head => list.first,
            End::Tail => list.last,
        };
        (at != NONE).then(|| self.remove(list, at)).map(|()| at)
    }

    /// Moves all frames of `others` to an end of `list`, in their order.
    pub(super) fn splice(&mut self, list: &mut List, end: End, others: List) {
        if others.is_empty() {
            return;
        }
        let (before, after) = match end {
            End::Head => (NONE, list.first),
            End::Tail => (list.last, NONE),
        };
        self.join(list, before, others.first);
        self.join(list, others.last, after);
        list.len += others.len;
    }

    /// Makes `next` follow `previous`.
    fn join(&mut self, list: &mut List, previous: u32, next: u32) {
        *(if previous == NONE { &mut list.first } else { &mut self[previous].next }) = next;
        *(if next == NONE { &mut list.last } else { &mut self[next].previous }) = previous;
    }

    /// The frames of a list, from an end.
    pub(super) fn iter(&self, list: List, end: End) -> impl Iterator<Item = u32> + '_ {
        let some = |at: u32| Some(at).filter(|at| *at != NONE);
        let (first, forward) = match end {
            End::Head => (list.first, true),
            End::Tail => (list.last, false),
        };
        let next = move |at: &u32| some(if forward { self[*at].next } else { self[*at].previous });
        std::iter::successors(some(first), next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Prng;
    use std::collections::VecDeque;

    #[test]
    fn a_frame_takes_24_bytes() {
        assert_eq!(size_of::<Frame>(), 24);
    }

    #[test]
    fn metadata_of_a_volume_is_no_page_of_a_file() {
        let (file, block) = (PageId::of_file(3, 7), PageId::of_metadata(3, 7));
        assert_ne!(file, block);
        assert!(block.is_metadata() && !file.is_metadata());
        assert_eq!((file.file(), file.page()), (block.file(), block.page()));
    }

    /// Two lists that share the frames, against deques.
    #[test]
    fn lists_agree_with_deques() {
        let (mut prng, mut frames) = (Prng::new(3), Frames::new(32));
        let mut lists = [List::EMPTY; 2];
        let mut deques = [VecDeque::new(), VecDeque::new()];
        for _ in 0..20_000 {
            let (which, at) = (prng.below(2) as usize, prng.below(32) as u32);
            let end = if prng.chance(1, 2) { End::Head } else { End::Tail };
            let (list, deque) = (&mut lists[which], &mut deques[which]);
            if let Some(index) = deque.iter().position(|it| *it == at) {
                frames.remove(list, at);
                deque.remove(index);
            } else if prng.chance(1, 16) {
                let [list, others] = if which == 0 {
                    lists.each_mut()
                } else {
                    let [others, list] = lists.each_mut();
                    [list, others]
                };
                frames.splice(list, end, std::mem::take(others));
                let mut others = std::mem::take(&mut deques[1 - which]);
                let deque = &mut deques[which];
                if end == End::Head {
                    std::mem::swap(deque, &mut others);
                }
                deque.extend(others);
            } else if prng.chance(1, 3) {
                let popped = if end == End::Head { deque.pop_front() } else { deque.pop_back() };
                assert_eq!(frames.pop(list, end), popped);
            } else if !deques[1 - which].contains(&at) {
                frames.push(list, end, at);
                let deque = &mut deques[which];
                if end == End::Head { deque.push_front(at) } else { deque.push_back(at) }
            }
            let (list, deque) = (lists[which], &deques[which]);
            assert_eq!(list.len() as usize, deque.len());
            assert!(frames.iter(list, End::Head).eq(deque.iter().copied()));
            assert!(frames.iter(list, End::Tail).eq(deque.iter().rev().copied()));
        }
    }
}
