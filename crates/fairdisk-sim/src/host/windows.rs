//! Read-ahead windows: how they start, grow and follow one another (spec: memory, section 4.2).
//!
//! Positions are in pages of 4 KiB. A window carries a mark at its first page that was not asked
//! for; a reader that reaches the mark submits the next window before it continues.

/// A range of pages to submit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) start: u64,
    pub(crate) pages: u64,
}

/// The present window of an open file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    max: u64,
    start: u64,
    size: u64,
    async_size: u64,
}

impl Windows {
    pub(crate) const fn new(max_pages: u64) -> Self {
        let max = if max_pages == 0 { 1 } else { max_pages };
        Self { max, start: 0, size: 0, async_size: 0 }
    }

    /// The size of a window in steady state.
    pub(crate) const fn max(&self) -> u64 {
        self.max
    }

    /// The page that carries the mark.
    pub(crate) const fn mark(&self) -> u64 {
        self.start + self.size - self.async_size
    }

    /// Whether `page` carries the mark; a window read around a page has none.
    pub(crate) const fn is_mark(&self, page: u64) -> bool {
        self.async_size > 0 && page == self.mark()
    }

    /// The first page after the window.
    pub(crate) const fn end(&self) -> u64 {
        self.start + self.size
    }

    /// Advances the window for a reader at `page` that wants `request` pages. Returns whether it
    /// did. A reader that neither continues a window nor follows the page read last
    /// (`behind_last`), and wants no more than a window, reads what it wants and leaves the window
    /// alone.
    pub(crate) fn advance(
        &mut self,
        page: u64,
        request: u64,
        at_mark: bool,
        behind_last: bool,
    ) -> bool {
        if self.size > 0 && (at_mark || page == self.end()) {
            self.start = self.end();
            self.size = self.grow(self.size);
            self.async_size = self.size;
        } else if page == 0 || request > self.max || behind_last {
            self.start = page;
            self.size = self.initial(request);
            self.async_size = if self.size > request { self.size - request } else { self.size };
        } else {
            return false;
        }
        if self.start == page && self.size == self.async_size {
            // The read would reach its own mark at once.
            self.async_size = self.grow(self.size);
            self.size += self.async_size;
        }
        true
    }

    /// Centres the window on `page`, without a mark.
    pub(crate) const fn centre(&mut self, page: u64) {
        self.start = page.saturating_sub(self.max / 2);
        self.size = self.max;
        self.async_size = 0;
    }

    /// The range to submit for the present window, cut off at the end of the file.
    pub(crate) fn window(&self, file_pages: u64) -> Window {
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
