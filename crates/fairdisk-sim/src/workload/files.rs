//! Which of a task's files has the next I/O.

use super::walk::Walk;
use fairdisk_core::Prng;
use std::num::NonZeroU32;

/// How a task goes from file to file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Serving {
    /// The most files that are open at once; all if not given. The next one is opened when one has
    /// nothing left.
    pub open: Option<NonZeroU32>,
    /// The order in which open files have their turns.
    pub turns: FileTurns,
}

/// The order in which the open files of a task have their turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileTurns {
    /// One after the other, each for so many I/Os.
    Round(NonZeroU32),
    /// Drawn, each for so many I/Os.
    Drawn(NonZeroU32),
}

impl Default for FileTurns {
    fn default() -> Self {
        Self::Round(NonZeroU32::MIN)
    }
}

/// The turns of a task's files.
#[derive(Debug)]
pub(super) struct Turns {
    serving: Serving,
    /// The file that had the last turn, and how many more I/Os it has.
    last: usize,
    left: u32,
    /// How many files, from the first on, are or were open.
    opened: usize,
}

impl Turns {
    pub(super) fn new(serving: Serving, files: usize) -> Self {
        let mut turns = Self { serving, last: files.saturating_sub(1), left: 0, opened: files };
        turns.open_first(files);
        turns
    }

    fn open_first(&mut self, files: usize) {
        let most = self.serving.open.map_or(files, |open| open.get() as usize);
        self.opened = files.min(most);
    }

    /// Opens the next file, as one has ended.
    pub(super) const fn ended(&mut self, files: usize) {
        if self.opened < files {
            self.opened += 1;
        }
    }

    /// Begins another pass over all files.
    pub(super) fn restart(&mut self, files: usize) {
        self.left = 0;
        self.open_first(files);
    }

    /// The file whose turn it is; `None` if all have ended.
    pub(super) fn next(&mut self, walks: &[Walk], prng: &mut Prng) -> Option<usize> {
        if self.left > 0 && !walks[self.last].ended {
            self.left -= 1;
            return Some(self.last);
        }
        let (at, ios) = match self.serving.turns {
            FileTurns::Round(ios) => (self.following(walks)?, ios),
            FileTurns::Drawn(ios) => (self.drawn(walks, prng)?, ios),
        };
        (self.last, self.left) = (at, ios.get() - 1);
        Some(at)
    }

    /// Whether it is the turn of a file that cannot be opened, because so many are open.
    pub(super) fn is_held_up(&self, walks: &[Walk]) -> bool {
        if self.opened == walks.len() || self.left > 0 && !walks[self.last].ended {
            return false;
        }
        let mut turns = (1..=walks.len()).map(|turn| (self.last + turn) % walks.len());
        let next = turns.find(|at| !walks[*at].ended);
        matches!(self.serving.turns, FileTurns::Round(_)) && next >= Some(self.opened)
    }

    /// Passes over the turn of a file that cannot be opened.
    pub(super) fn pass_over(&mut self, walks: &[Walk]) {
        let ended =
            (1..walks.len()).take_while(|turn| walks[(self.last + turn) % walks.len()].ended);
        (self.last, self.left) = ((self.last + 1 + ended.count()) % walks.len(), 0);
    }

    fn following(&self, walks: &[Walk]) -> Option<usize> {
        let mut at = self.last;
        for _ in 0..self.opened {
            at = if at + 1 >= self.opened { 0 } else { at + 1 };
            if !walks[at].ended {
                return Some(at);
            }
        }
        None
    }

    fn drawn(&self, walks: &[Walk], prng: &mut Prng) -> Option<usize> {
        let left = || (0..self.opened).filter(|at| !walks[*at].ended);
        let count = left().count() as u64;
        if count == 0 { None } else { left().nth(prng.below(count) as usize) }
    }
}
