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

/// Where a reader is that may need a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reached {
    pub(crate) page: u64,
    /// Pages that it wants from there on.
    pub(crate) request: u64,
    /// Whether the page is absent; else it carries a mark.
    pub(crate) is_absent: bool,
    /// Whether it is the page read last, or the one behind it.
    pub(crate) follows: bool,
    pub(crate) nearby: Nearby,
}

/// What memory page by page tells of the pages around a reader. There a mark belongs to its page,
/// and readers of one file meet each other's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearby {
    /// Whether memory is page by page.
    pub(crate) is_known: bool,
    /// The longest window that there is memory for.
    pub(crate) pages_max: u64,
    /// The next absent page, if it is no further away than a window.
    pub(crate) hole: Option<u64>,
    /// Pages in memory just before, up to a window.
    pub(crate) run: u64,
}

impl Nearby {
    /// Memory that is an amount tells nothing.
    pub(crate) const UNKNOWN: Self =
        Self { is_known: false, pages_max: u64::MAX, hole: None, run: 0 };
}

/// What to read for a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The window, which has advanced.
    Window,
    /// What it wants.
    AsAsked,
    /// Nothing: the mark is another reader's, who has read far enough.
    Nothing,
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

    /// Whether a reader that reaches this page goes on with the window. A mark that is no flag of a
    /// page, and whose page has left memory, is none.
    pub(crate) const fn expects(&self, page: u64, has_lost_mark: bool) -> bool {
        self.size > 0 && (page == self.mark() && !has_lost_mark || page == self.end())
    }

    /// Advances the window for a reader, if its place has to do with the window or with what is in
    /// memory (spec: memory, 4.2).
    pub(crate) fn advance(&mut self, at: &Reached) -> Next {
        let Reached { page, request, is_absent, follows, nearby } = *at;
        let max = self.max.min(nearby.pages_max).max(1);
        if self.expects(page, is_absent && !nearby.is_known) {
            self.start = self.end();
            self.size = grow(self.size, max);
            self.async_size = self.size;
        } else if !is_absent {
            let Some(hole) = nearby.hole else { return Next::Nothing };
            self.start = hole;
            self.size = grow(hole - page + request, max);
            self.async_size = self.size;
        } else if page == 0 || request > max || follows {
            self.start = page;
            self.size = initial(request, max);
            self.async_size = if self.size > request { self.size - request } else { self.size };
        } else if nearby.run > 0 {
            let run = if nearby.run == page { 2 * nearby.run } else { nearby.run };
            self.start = page;
            self.size = initial(run + request, max);
            self.async_size = self.size;
        } else {
            return Next::AsAsked;
        }
        if self.start == page && self.size == self.async_size {
            // The read would reach its own mark at once.
            self.async_size = grow(self.size, max);
            self.size += self.async_size;
        }
        Next::Window
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

    /// The mark of a range to submit, if it is the present window.
    pub(crate) fn mark_in(&self, range: Window) -> Option<u64> {
        let is_in = range.start == self.start && self.mark() < range.start + range.pages;
        (self.async_size > 0 && is_in).then(|| self.mark())
    }
}

/// The size of a first window for a request.
fn initial(request: u64, max: u64) -> u64 {
    let size = request.next_power_of_two();
    if size <= max / 32 {
        4 * size
    } else if size <= max / 4 {
        2 * size
    } else {
        max
    }
}

/// The size of the window after one of a size.
fn grow(size: u64, max: u64) -> u64 {
    let factor = if size < max / 16 { 4 } else { 2 };
    (size * factor).min(max)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn window(start: u64, pages: u64) -> Window {
        Window { start, pages }
    }

    /// Rules 1 to 7 of the specification, 4.2, each for a reader with windows of 32 pages whose
    /// window is 64..96 with its mark at 64.
    #[test]
    fn what_a_reader_gets_follows_from_where_it_is() {
        let nearby = Nearby { is_known: true, ..Nearby::UNKNOWN };
        let at = |page, is_absent, nearby| Reached {
            page,
            request: 4,
            is_absent,
            follows: false,
            nearby,
        };
        let (hole, few) = (Nearby { hole: Some(220), ..nearby }, Nearby { pages_max: 8, ..nearby });
        let run = Nearby { run: 2, ..nearby };
        let one = |page| Reached { request: 1, ..at(page, true, run) };
        let rows = [
            ("1: the start of the file", at(0, true, nearby), Some((window(0, 8), 4))),
            ("2: its mark", at(64, false, nearby), Some((window(96, 32), 96))),
            ("2: the page of its mark, gone", at(64, true, nearby), Some((window(96, 32), 96))),
            ("2: the end of its window", at(96, true, nearby), Some((window(96, 64), 128))),
            ("2: with little memory", at(64, false, few), Some((window(96, 8), 96))),
            ("3: the mark of another", at(200, false, hole), Some((window(220, 32), 220))),
            ("3: another has read far", at(200, false, nearby), None),
            (
                "4: more than a window",
                Reached { request: 33, ..at(200, true, nearby) },
                Some((window(200, 64), 232)),
            ),
            (
                "5: on from the page before",
                Reached { follows: true, ..at(200, true, nearby) },
                Some((window(200, 8), 204)),
            ),
            ("6: behind what is in memory", one(200), Some((window(200, 24), 208))),
            ("6: from the start of the file", one(2), Some((window(2, 48), 18))),
        ];
        for (rule, at, expected) in rows {
            let mut windows = Windows { max: 32, start: 64, size: 32, async_size: 32 };
            let next = windows.advance(&at);
            let got = (next == Next::Window).then(|| (windows.window(1 << 20), windows.mark()));
            assert_eq!(got, expected, "{rule}");
        }
        let mut windows = Windows { max: 32, start: 64, size: 32, async_size: 32 };
        assert_eq!(windows.advance(&at(200, true, nearby)), Next::AsAsked, "7: at random");
        assert_eq!(windows.end(), 96, "the window stays");
    }
}
