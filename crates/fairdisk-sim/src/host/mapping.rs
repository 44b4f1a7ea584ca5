//! Mapped files: which pages a page fault reads (spec: memory, section 4.4).

use super::windows::{Nearby, Next, Reached, Window, Windows};

/// A program's advice on how it will use a file or a mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Advice {
    /// No advice: a fault reads around its page, and ahead where faults are sequential; a read
    /// reads ahead where reads are sequential.
    #[default]
    Normal,
    /// Random access: a fault reads only its page, a read only what it asks for.
    Random,
    /// Sequential access: a fault reads ahead, and a read reads ahead further.
    Sequential,
}

/// Misses after which a fault reads only its page, because reading around does not pay off.
const MISSES_MANY: u32 = 100;

/// A task's mapping of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapping {
    advice: Advice,
    windows: Windows,
    /// Faults that read around their page, minus faults that found their page in memory.
    misses: u32,
    /// The page of the previous fault; initially the one before page 0, as in an open file.
    last: u64,
}

impl Mapping {
    /// A new mapping with the given advice, of a file with advice of its own that is read ahead by
    /// up to `pages` pages.
    pub(crate) const fn new(advice: Advice, file_advice: Advice, pages: u64) -> Self {
        let (advice, max_pages) = match file_advice {
            Advice::Normal => (advice, pages),
            Advice::Sequential => (advice, 2 * pages),
            // Without read-ahead, a fault reads only its page.
            Advice::Random => (Advice::Random, 1),
        };
        Self { advice, windows: Windows::new(max_pages), misses: 0, last: u64::MAX }
    }

    /// Whether a fault on `page`, which is in memory, triggers the next window.
    pub(crate) fn is_mark(&self, page: u64) -> bool {
        self.advice != Advice::Random && self.windows.is_mark(page)
    }

    /// The windows of the mapping.
    pub(crate) const fn windows(&self) -> &Windows {
        &self.windows
    }

    /// Handles a fault on a page that is in memory or on its way and carries no mark.
    pub(crate) fn hit(&mut self, page: u64) {
        self.last = page;
        if self.advice != Advice::Random {
            self.misses = self.misses.saturating_sub(1);
        }
    }

    /// Handles a fault on a page that carries a mark; returns what to read ahead.
    pub(crate) fn hit_mark(&mut self, page: u64, file_pages: u64, nearby: Nearby) -> Window {
        self.hit(page);
        if self.advice == Advice::Random {
            return Window::default();
        }
        let request = self.windows.max();
        let at = Reached { page, request, is_absent: false, follows: false, nearby };
        match self.windows.advance(&at) {
            Next::Window => self.windows.window(file_pages),
            Next::AsAsked | Next::Nothing => Window::default(),
        }
    }

    /// Handles a fault on a page that is not in memory; returns what to read. Pages in the window
    /// that are already in memory need not be read.
    pub(crate) fn miss(&mut self, page: u64, file_pages: u64, nearby: Nearby) -> Window {
        let is_next = page == self.last.wrapping_add(1);
        let follows = page.wrapping_sub(self.last) <= 1;
        self.last = page;
        let alone = Window { start: page, pages: 1 };
        match self.advice {
            Advice::Random => alone,
            Advice::Normal if !is_next => {
                self.misses = self.misses.saturating_add(1);
                if self.misses > MISSES_MANY {
                    return alone;
                }
                self.windows.centre(page);
                self.windows.window(file_pages)
            }
            Advice::Normal | Advice::Sequential => {
                let request = self.windows.max();
                let at = Reached { page, request, is_absent: true, follows, nearby };
                if self.windows.advance(&at) == Next::Window {
                    return self.windows.window(file_pages);
                }
                Window { start: page, pages: request.min(file_pages.saturating_sub(page)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: u64 = 262_144;

    const fn mapping(advice: Advice) -> Mapping {
        Mapping::new(advice, Advice::Normal, 32)
    }

    const fn window(start: u64, pages: u64) -> Window {
        Window { start, pages }
    }

    fn hit(mapping: &mut Mapping, page: u64) -> Window {
        if mapping.is_mark(page) {
            return mapping.hit_mark(page, FILE, Nearby::UNKNOWN);
        }
        mapping.hit(page);
        Window::default()
    }

    #[test]
    fn random_advice_reads_single_pages() {
        let mut mapping = mapping(Advice::Random);
        for page in 640..656 {
            assert_eq!(mapping.miss(page, FILE, Nearby::UNKNOWN), window(page, 1));
        }
    }

    #[test]
    fn without_advice_a_fault_reads_around_its_page() {
        let mut mapping = mapping(Advice::Normal);
        assert_eq!(mapping.miss(640, FILE, Nearby::UNKNOWN), window(624, 32));
        assert!((641..656).all(|page| !mapping.is_mark(page)));
        // Near the ends of the file there is less to read.
        assert_eq!(mapping.miss(3, FILE, Nearby::UNKNOWN), window(0, 32));
        assert_eq!(mapping.miss(FILE - 2, FILE, Nearby::UNKNOWN), window(FILE - 18, 18));
    }

    #[test]
    fn a_miss_behind_the_fault_before_is_taken_for_sequential() {
        let mut mapping = mapping(Advice::Normal);
        let _ = hit(&mut mapping, 640);
        assert_eq!(mapping.miss(641, FILE, Nearby::UNKNOWN), window(641, 64));
        assert!(mapping.is_mark(641 + 32));
        for page in 642..673 {
            assert_eq!(hit(&mut mapping, page), Window::default());
        }
        assert_eq!(hit(&mut mapping, 673), window(705, 32));
        assert!(mapping.is_mark(705), "all of it is ahead");
    }

    #[test]
    fn a_miss_behind_a_window_around_a_page_reads_ahead_of_the_next_one() {
        let mut mapping = mapping(Advice::Normal);
        assert_eq!(mapping.miss(640, FILE, Nearby::UNKNOWN), window(624, 32));
        assert!((641..656).all(|page| hit(&mut mapping, page) == Window::default()));
        assert_eq!(mapping.miss(656, FILE, Nearby::UNKNOWN), window(656, 64));
        assert!((657..688).all(|page| hit(&mut mapping, page) == Window::default()));
        assert_eq!(hit(&mut mapping, 688), window(720, 32), "the mark");
    }

    #[test]
    fn the_start_of_a_file_is_taken_for_sequential() {
        assert_eq!(mapping(Advice::Normal).miss(0, FILE, Nearby::UNKNOWN), window(0, 64));
    }

    #[test]
    fn sequential_advice_reads_ahead_from_anywhere() {
        let mut mapping = mapping(Advice::Sequential);
        assert_eq!(mapping.miss(640, FILE, Nearby::UNKNOWN), window(640, 32));
        let _ = hit(&mut mapping, 671);
        assert_eq!(mapping.miss(672, FILE, Nearby::UNKNOWN), window(672, 64));
    }

    #[test]
    fn after_a_hundred_misses_more_than_hits_reading_around_ends() {
        let mut mapping = mapping(Advice::Normal);
        let far = |number: u64| 1000 + number * 100;
        for number in 0..100 {
            assert_eq!(mapping.miss(far(number), FILE, Nearby::UNKNOWN).pages, 32, "{number}");
        }
        assert_eq!(mapping.miss(far(100), FILE, Nearby::UNKNOWN), window(far(100), 1));
        // Two hits compensate for the one miss too many and for the next one.
        let _ = (hit(&mut mapping, far(3)), hit(&mut mapping, far(4)));
        assert_eq!(mapping.miss(far(200), FILE, Nearby::UNKNOWN).pages, 32);
        assert_eq!(mapping.miss(far(201), FILE, Nearby::UNKNOWN).pages, 1);
    }

    #[test]
    fn nothing_is_read_past_the_end() {
        let mut mapping = mapping(Advice::Sequential);
        assert_eq!(mapping.miss(95, 100, Nearby::UNKNOWN), window(95, 5));
    }

    #[test]
    fn advice_about_the_file_changes_how_far_is_read_ahead() {
        let miss = |advice, file_advice| {
            Mapping::new(advice, file_advice, 32).miss(640, FILE, Nearby::UNKNOWN)
        };
        assert_eq!(miss(Advice::Sequential, Advice::Sequential), window(640, 64));
        assert_eq!(miss(Advice::Sequential, Advice::Random), window(640, 1));
        assert_eq!(miss(Advice::Random, Advice::Sequential), window(640, 1));
        assert_eq!(miss(Advice::Normal, Advice::Sequential), window(608, 64));
    }
}
