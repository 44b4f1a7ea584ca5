//! Sequential buffered reading: the window that is read ahead of the reader
//! (spec: memory, section 4).
//!
//! Positions are in pages of 4 KiB. A window carries a mark at its first page that was not asked
//! for; when the reader comes to the mark, the next window is submitted before it goes on.

/// The read-ahead state of an open file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadAhead {
    max: u64,
    start: u64,
    size: u64,
    async_size: u64,
}

/// Pages to submit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) start: u64,
    pub(crate) pages: u64,
}

impl ReadAhead {
    pub(crate) const fn new(max_pages: u64) -> Self {
        let max = if max_pages == 0 { 1 } else { max_pages };
        Self { max, start: 0, size: 0, async_size: 0 }
    }

    /// The page that carries the mark; coming there asks for the next window.
    pub(crate) const fn mark(&self) -> u64 {
        self.start + self.size - self.async_size
    }

    /// The first page not submitted.
    pub(crate) const fn end(&self) -> u64 {
        self.start + self.size
    }

    /// The reader at `page`, which is not cached or carries the mark, still wants `request` pages.
    pub(crate) fn next(&mut self, page: u64, request: u64, file_pages: u64) -> Window {
        let expected = self.size > 0 && (page == self.mark() || page == self.end());
        if expected {
            self.start = self.end();
            self.size = self.grow(self.size);
            self.async_size = self.size;
        } else {
            self.start = page;
            self.size = self.initial(request);
            self.async_size = if self.size > request { self.size - request } else { self.size };
            if self.size == self.async_size {
                // The read would come upon its own mark at once.
                self.async_size = self.grow(self.size);
                self.size += self.async_size;
            }
        }
        let pages = self.size.min(file_pages.saturating_sub(self.start));
        Window { start: self.start, pages }
    }

    fn initial(&self, request: u64) -> u64 {
        let size = request.next_power_of_two();
        if size <= self.max / 32 {
            4 * size
        } else if size <= self.max / 4 {
            2 * size
        } else {
            self.max
        }
    }

    fn grow(&self, size: u64) -> u64 {
        let factor = if size < self.max / 16 { 4 } else { 2 };
        (size * factor).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_sequential_read_settles_at_windows_of_the_maximum() {
        let mut state = ReadAhead::new(32);
        assert_eq!(state.next(0, 256, 10_000), Window { start: 0, pages: 64 });
        assert_eq!(state.mark(), 32);
        assert_eq!(state.next(32, 224, 10_000), Window { start: 64, pages: 32 });
        assert_eq!(state.mark(), 64);
        assert_eq!(state.next(64, 192, 10_000), Window { start: 96, pages: 32 });
    }

    #[test]
    fn a_small_reader_ramps_up() {
        let mut state = ReadAhead::new(32);
        assert_eq!(state.next(0, 1, 10_000), Window { start: 0, pages: 4 });
        assert_eq!(state.mark(), 1);
        assert_eq!(state.next(1, 1, 10_000), Window { start: 4, pages: 8 });
        assert_eq!(state.next(4, 1, 10_000), Window { start: 12, pages: 16 });
    }

    #[test]
    fn nothing_is_read_past_the_end() {
        let mut state = ReadAhead::new(32);
        assert_eq!(state.next(0, 10, 10), Window { start: 0, pages: 10 });
    }
}
