//! Sequential buffered reading: the window that is read ahead of the reader
//! (spec: memory, section 4).
//!
//! When the reader comes to the mark of a window, the next one is submitted before it goes on. A
//! read that continues nothing gets what it asked for and no more.
//!
//! Of the page cache this knows the stretch the reader is in: from where its last read began to
//! where the windows end. What lies elsewhere is read from the disk, also when it was read before,
//! as in a file larger than memory; fio drops a file from the cache before each pass over it.

use super::mapping::Advice;
use super::windows::{Window, Windows};

/// The read-ahead state of an open file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadAhead {
    windows: Windows,
    /// It is said to be read at random: nothing is read ahead.
    random: bool,
    /// The pages in memory or on the way to it, from the present read on.
    from: u64,
    until: u64,
    /// The last pages of the present read and of the one before.
    last: Option<u64>,
    last_before: Option<u64>,
}

impl ReadAhead {
    /// That of a file which is read ahead by up to `pages` pages, and about which `advice` was
    /// said.
    pub(crate) fn new(advice: Advice, pages: u64) -> Self {
        let windows = Windows::new(if advice == Advice::Sequential { 2 * pages } else { pages });
        let random = advice == Advice::Random;
        Self { windows, random, from: 0, until: 0, last: None, last_before: None }
    }

    /// The page that carries the mark; coming there asks for the next window.
    pub(crate) fn mark(&self) -> Option<u64> {
        (!self.random).then(|| self.windows.mark())
    }

    /// The reader begins to read the pages from `page` to before `end`.
    pub(crate) fn begin(&mut self, page: u64, end: u64) {
        if page < self.from || page > self.until {
            self.until = page;
        }
        self.from = page;
        self.last_before = self.last;
        self.last = Some(end.saturating_sub(1));
    }

    /// Whether the reader, come to `page`, asks for a window.
    pub(crate) fn is_due(&self, page: u64) -> bool {
        self.mark() == Some(page) || page >= self.until
    }

    /// What to submit for the reader at `page`, where a window is due; it still wants `request`
    /// pages.
    pub(crate) fn next(&mut self, page: u64, request: u64, file_pages: u64) -> Window {
        let at_mark = self.mark() == Some(page) && page < self.until;
        let behind_last = self.last_before.is_some_and(|last| page.wrapping_sub(last) <= 1);
        if self.random || !self.windows.advance(page, request, at_mark, behind_last) {
            self.until = page + request;
            return Window { start: page, pages: request.min(file_pages.saturating_sub(page)) };
        }
        self.until = self.windows.end();
        self.windows.window(file_pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: u64 = 10_000;

    #[test]
    fn a_large_sequential_read_settles_at_windows_of_the_maximum() {
        let mut state = ReadAhead::new(Advice::Normal, 32);
        state.begin(0, 256);
        assert_eq!(state.next(0, 256, FILE), Window { start: 0, pages: 64 });
        assert_eq!(state.mark(), Some(32));
        assert_eq!(state.next(32, 224, FILE), Window { start: 64, pages: 32 });
        assert_eq!(state.mark(), Some(64));
        assert_eq!(state.next(64, 192, FILE), Window { start: 96, pages: 32 });
    }

    #[test]
    fn a_small_reader_ramps_up() {
        let mut state = ReadAhead::new(Advice::Normal, 32);
        let windows = [(0, 0, 4), (1, 4, 8), (4, 12, 16)];
        for page in 0..5 {
            state.begin(page, page + 1);
            let window = windows.iter().find(|(at, ..)| *at == page);
            assert_eq!(state.is_due(page), window.is_some(), "{page}");
            if let Some(&(_, start, pages)) = window {
                assert_eq!(state.next(page, 1, FILE), Window { start, pages });
            }
        }
    }

    #[test]
    fn nothing_is_read_past_the_end() {
        let mut state = ReadAhead::new(Advice::Normal, 32);
        state.begin(0, 10);
        assert_eq!(state.next(0, 10, 10), Window { start: 0, pages: 10 });
    }

    #[test]
    fn a_random_read_gets_what_it_asks_for() {
        let mut state = ReadAhead::new(Advice::Normal, 32);
        for page in [500, 100, 900, 100] {
            state.begin(page, page + 4);
            assert!(state.is_due(page));
            assert_eq!(state.next(page, 4, FILE), Window { start: page, pages: 4 });
            assert!((page..page + 4).all(|page| !state.is_due(page)));
        }
        // The one that follows starts to read ahead.
        state.begin(104, 108);
        assert_eq!(state.next(104, 4, FILE), Window { start: 104, pages: 8 });
    }

    #[test]
    fn what_is_said_to_be_read_at_random_is_not_read_ahead() {
        let mut state = ReadAhead::new(Advice::Random, 32);
        for page in [0, 4, 8, 500] {
            state.begin(page, page + 4);
            assert!(state.is_due(page), "{page}");
            assert_eq!(state.next(page, 4, FILE), Window { start: page, pages: 4 });
            assert!((page + 1..page + 4).all(|page| !state.is_due(page)), "{page}");
        }
    }

    #[test]
    fn what_is_said_to_be_read_from_front_to_back_is_read_ahead_twice_as_far() {
        let mut state = ReadAhead::new(Advice::Sequential, 32);
        state.begin(0, 256);
        assert_eq!(state.next(0, 256, FILE), Window { start: 0, pages: 128 });
    }

    #[test]
    fn going_back_reads_again() {
        let mut state = ReadAhead::new(Advice::Normal, 32);
        state.begin(0, 8);
        let _ = state.next(0, 8, FILE);
        state.begin(0, 8);
        assert!(!state.is_due(0), "the same place again is in memory");
        state.begin(8, 16);
        state.begin(0, 8);
        assert!(state.is_due(0), "a place before the last one is not");
    }
}
