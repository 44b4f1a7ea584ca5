//! The lists on which pages of files grow old (spec: memory, 3.1).
//!
//! A page enters the inactive list at its head, through a buffer of the CPU that added it. A second
//! use while it is on that list moves it to the active list; so pages that are used once never get
//! there. Whoever reclaims takes pages from the tails.

use super::frames::{End, Frames, List, Place, flag};

/// Pages that a CPU gathers before it puts them on the list.
pub(super) const BUFFER_PAGES: usize = 14;

/// Pages that a CPU has added and not put on the list yet.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    pages: [u32; BUFFER_PAGES],
    len: usize,
}

#[derive(Debug)]
pub(super) struct Lru {
    pub(super) inactive: List,
    pub(super) active: List,
    buffers: Vec<Buffer>,
    /// Pages in the hands of whoever reclaims.
    pub(super) isolated: u64,
}

impl Lru {
    pub(super) fn new(cpus: u32) -> Self {
        let empty = Buffer { pages: [0; BUFFER_PAGES], len: 0 };
        Self {
            inactive: List::EMPTY,
            active: List::EMPTY,
            buffers: vec![empty; cpus as usize],
            isolated: 0,
        }
    }

    /// Pages in the buffers of all CPUs.
    pub(super) fn buffered(&self) -> u64 {
        self.buffers.iter().map(|buffer| buffer.len as u64).sum()
    }

    /// Adds a page of a file.
    pub(super) fn add(&mut self, frames: &mut Frames, cpu: u32, at: u32) {
        frames[at].place = Place::Buffered;
        let buffer = &mut self.buffers[cpu as usize];
        buffer.pages[buffer.len] = at;
        buffer.len += 1;
        if buffer.len == BUFFER_PAGES {
            self.flush(frames, cpu);
        }
    }

    /// Puts the pages in a CPU's buffer on the list.
    pub(super) fn flush(&mut self, frames: &mut Frames, cpu: u32) {
        let Buffer { pages, len } = self.buffers[cpu as usize];
        self.buffers[cpu as usize].len = 0;
        for at in pages.iter().take(len) {
            self.put(frames, *at, Place::Inactive);
        }
    }

    /// Puts a page that is on no list at the head of one.
    pub(super) fn put(&mut self, frames: &mut Frames, at: u32, place: Place) {
        frames[at].place = place;
        frames.push(self.list(place), End::Head, at);
    }

    /// Records a use by a call. Returns whether it moved the page to the active list.
    pub(super) fn used(&mut self, frames: &mut Frames, at: u32) -> bool {
        let frame = &mut frames[at];
        let was_used = frame.has(flag::REFERENCED);
        frame.flags |= flag::USED | flag::REFERENCED;
        if !was_used || frame.place != Place::Inactive {
            return false;
        }
        frame.clear(flag::REFERENCED);
        frames.remove(&mut self.inactive, at);
        self.put(frames, at, Place::Active);
        true
    }

    /// Moves a page that is on the inactive list to its tail. Returns whether it was there.
    pub(super) fn rotate(&mut self, frames: &mut Frames, at: u32) -> bool {
        let is_there = frames[at].place == Place::Inactive;
        if is_there {
            frames.remove(&mut self.inactive, at);
            frames.push(&mut self.inactive, End::Tail, at);
        }
        is_there
    }

    /// Takes a page off its list or out of its buffer. Returns whether it was there: a page in the
    /// hands of whoever reclaims stays with them.
    pub(super) fn remove(&mut self, frames: &mut Frames, at: u32) -> bool {
        match frames[at].place {
            place @ (Place::Inactive | Place::Active) => frames.remove(self.list(place), at),
            Place::Buffered => self.remove_buffered(at),
            _ => return false,
        }
        true
    }

    fn remove_buffered(&mut self, at: u32) {
        for Buffer { pages, len } in &mut self.buffers {
            if let Some(index) = pages[..*len].iter().position(|it| *it == at) {
                pages.copy_within(index + 1..*len, index);
                *len -= 1;
                return;
            }
        }
        unreachable!("frame {at} is in no buffer");
    }

    /// Takes up to `pages_max` pages from the tail of a list; the oldest is first.
    pub(super) fn isolate(&mut self, frames: &mut Frames, place: Place, pages_max: u32) -> List {
        let from = if place == Place::Active { flag::FROM_ACTIVE } else { 0 };
        let mut batch = List::EMPTY;
        while batch.len() < pages_max
            && let Some(at) = frames.pop(self.list(place), End::Tail)
        {
            let frame = &mut frames[at];
            frame.place = Place::Isolated;
            frame.flags |= from;
            frames.push(&mut batch, End::Tail, at);
        }
        self.isolated += u64::from(batch.len());
        batch
    }

    /// Takes the oldest page of a batch back from whoever reclaims.
    pub(super) fn next_isolated(&mut self, frames: &mut Frames, batch: &mut List) -> Option<u32> {
        let at = frames.pop(batch, End::Head)?;
        self.isolated -= 1;
        Some(at)
    }

    const fn list(&mut self, place: Place) -> &mut List {
        match place {
            Place::Active => &mut self.active,
            _ => &mut self.inactive,
        }
    }
}
