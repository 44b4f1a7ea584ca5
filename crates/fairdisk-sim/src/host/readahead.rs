//! Read-ahead of sequential buffered reads (spec: memory, section 4).
//!
//! When the reader reaches the mark of a window, the next window is submitted before the reader
//! continues. A read that is not sequential gets what it asked for and nothing more.

use super::mapping::Advice;
use super::windows::{Nearby, Next, Reached, Window, Windows};

/// The read-ahead state of an open file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadAhead {
    windows: Windows,
    /// Whether the file is advised to be read at random, so that nothing is read ahead.
    random: bool,
    /// The last pages of the present read and of the previous one.
    last: Option<u64>,
    last_before: Option<u64>,
}

impl ReadAhead {
    /// The state of a file that is read ahead by up to `pages` pages, with the given advice.
    pub(crate) fn new(advice: Advice, pages: u64) -> Self {
        let windows = Windows::new(if advice == Advice::Sequential { 2 * pages } else { pages });
        let random = advice == Advice::Random;
        Self { windows, random, last: None, last_before: None }
    }

    /// The page that carries the mark; reaching it triggers the next window.
    pub(crate) fn mark(&self) -> Option<u64> {
        let mark = self.windows.mark();
        (!self.random && self.windows.is_mark(mark)).then_some(mark)
    }

    /// Starts a read of the pages before `end`.
    pub(crate) fn begin(&mut self, end: u64) {
        self.last_before = self.last;
        self.last = Some(end.saturating_sub(1));
    }

    /// Whether the previous read ended in this page.
    pub(crate) fn goes_on_in(&self, page: u64) -> bool {
        self.last_before == Some(page)
    }

    /// The windows of the file.
    pub(crate) const fn windows(&self) -> &Windows {
        &self.windows
    }

    /// The window to submit for a reader that has reached a mark, or a page that `is_absent`, and
    /// still wants `request` pages.
    pub(crate) fn next(
        &mut self,
        page: u64,
        request: u64,
        is_absent: bool,
        file_pages: u64,
        nearby: Nearby,
    ) -> Window {
        let as_asked = Window { start: page, pages: request.min(file_pages.saturating_sub(page)) };
        if self.random {
            return if is_absent { as_asked } else { Window::default() };
        }
        let follows = self.last_before.is_some_and(|last| page.wrapping_sub(last) <= 1);
        match self.windows.advance(&Reached { page, request, is_absent, follows, nearby }) {
            Next::Window => self.windows.window(file_pages),
            Next::AsAsked => as_asked,
            Next::Nothing => Window::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: u64 = 10_000;

    /// Reads pages sequentially, all missing until a window contains them. Returns the windows
    /// submitted, and at which page each was.
    fn read(
        state: &mut ReadAhead,
        pages: std::ops::Range<u64>,
        until: &mut u64,
    ) -> Vec<(u64, Window)> {
        let mut windows = Vec::new();
        state.begin(pages.end);
        for page in pages.clone() {
            let is_absent = page >= *until;
            if is_absent || state.mark() == Some(page) {
                let window = state.next(page, pages.end - page, is_absent, FILE, Nearby::UNKNOWN);
                *until = window.start + window.pages;
                windows.push((page, window));
            }
        }
        windows
    }

    const fn window(start: u64, pages: u64) -> Window {
        Window { start, pages }
    }

    #[test]
    fn a_large_sequential_read_settles_at_windows_of_the_maximum() {
        let mut state = ReadAhead::new(Advice::Normal, 32);
        let windows = read(&mut state, 0..100, &mut 0);
        assert_eq!(
            windows,
            [(0, window(0, 64)), (32, window(64, 32)), (64, window(96, 32)), (96, window(128, 32))]
        );
    }

    #[test]
    fn a_small_reader_ramps_up() {
        let mut state = ReadAhead::new(Advice::Normal, 32);
        let mut until = 0;
        let windows: Vec<_> =
            (0..5).flat_map(|page| read(&mut state, page..page + 1, &mut until)).collect();
        assert_eq!(windows, [(0, window(0, 4)), (1, window(4, 8)), (4, window(12, 16))]);
    }

    #[test]
    fn nothing_is_read_past_the_end() {
        let mut state = ReadAhead::new(Advice::Normal, 32);
        state.begin(10);
        assert_eq!(state.next(0, 10, true, 10, Nearby::UNKNOWN), window(0, 10));
    }

    #[test]
    fn a_random_read_gets_what_it_asks_for() {
        let mut state = ReadAhead::new(Advice::Normal, 32);
        for page in [500, 100, 900, 100] {
            let windows = read(&mut state, page..page + 4, &mut 0);
            assert_eq!(windows, [(page, window(page, 4))]);
        }
        // The read that follows it starts to read ahead.
        assert_eq!(read(&mut state, 104..108, &mut 0), [(104, window(104, 8))]);
    }

    #[test]
    fn what_is_said_to_be_read_at_random_is_not_read_ahead() {
        let mut state = ReadAhead::new(Advice::Random, 32);
        for page in [0, 4, 8, 500] {
            assert_eq!(read(&mut state, page..page + 4, &mut 0), [(page, window(page, 4))]);
        }
    }

    #[test]
    fn what_is_said_to_be_read_from_front_to_back_is_read_ahead_twice_as_far() {
        let mut state = ReadAhead::new(Advice::Sequential, 32);
        assert_eq!(read(&mut state, 0..2, &mut 0)[0], (0, window(0, 8)));
        let mut state = ReadAhead::new(Advice::Sequential, 32);
        state.begin(256);
        assert_eq!(state.next(0, 256, true, FILE, Nearby::UNKNOWN), window(0, 128));
    }

    #[test]
    fn who_finds_a_window_in_memory_asks_for_nothing() {
        let mut state = ReadAhead::new(Advice::Normal, 32);
        assert_eq!(read(&mut state, 0..8, &mut 8), [], "another read it");
        assert!(!state.goes_on_in(9));
        state.begin(12);
        assert!(state.goes_on_in(7));
    }
}
