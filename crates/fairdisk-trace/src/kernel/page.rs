//! A page of a ring buffer, as `events/header_page` and `events/header_event` of tracefs describe
//! it: a time, the number of bytes in use, and events. An event begins with 32 bits, of which the
//! lowest 5 are its kind or length and the others the time since the one before.

use fairdisk_core::{Instant, Span};

/// The bytes before the events of a page.
const HEAD_BYTES: usize = 16;
/// Of the number of bytes in use, the bits that are the number; higher ones tell of lost events.
const USED_MASK: u64 = (1 << 27) - 1;
/// The number of bits of a time since the event before.
const TIME_BITS: u32 = 27;

/// Kinds of what is no event, and the greatest length in units of 4 bytes.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;

/// Calls `with` for each event of a page, with its time and its bytes.
pub(super) fn events(page: &[u8], mut with: impl FnMut(Instant, &[u8])) {
    let word = |at: usize| {
        let bytes = page.get(at..at + 8)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    };
    let half = |at: usize| {
        let bytes = page.get(at..at + 4)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    };
    let (Some(began), Some(used)) = (word(0), word(8)) else { return };
    let end = page.len().min(HEAD_BYTES + (used & USED_MASK) as usize);
    let (mut time, mut at) = (began, HEAD_BYTES);
    while at + 4 <= end {
        let Some(head) = half(at) else { return };
        let (kind, delta) = (head & 31, u64::from(head >> 5));
        at += 4;
        let long = || half(at).map(u64::from);
        match kind {
            PADDING => {
                // Without a time the rest of the page is not used.
                let Some(length) = long().filter(|_| delta > 0) else { return };
                time += delta;
                at += length as usize;
            }
            TIME_EXTEND => {
                let Some(high) = long() else { return };
                time += (high << TIME_BITS) + delta;
                at += 4;
            }
            TIME_STAMP => {
                let Some(high) = long() else { return };
                // The bits above are those of the page's time.
                let known = (1 << (TIME_BITS + 32)) - 1;
                time = (time & !known) | (high << TIME_BITS) | delta;
                at += 4;
            }
            kind => {
                time += delta;
                let (from, length) = match kind {
                    // The length follows, and counts itself.
                    0 => {
                        let Some(length) = long().and_then(|it| it.checked_sub(4)) else { return };
                        (at + 4, length as usize)
                    }
                    words => (at, 4 * words as usize),
                };
                let Some(event) = page.get(from..from + length).filter(|_| from + length <= end)
                else {
                    return;
                };
                with(Instant::ZERO + Span::from_ns(time), event);
                at = from + length.next_multiple_of(4);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(words: &[u32]) -> Vec<u8> {
        let mut page = 1_000_u64.to_ne_bytes().to_vec();
        page.extend((4 * words.len() as u64).to_ne_bytes());
        page.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        page.resize(4096, 0xff);
        page
    }

    fn read(page: &[u8]) -> Vec<(u64, usize)> {
        let mut all = Vec::new();
        events(page, |at, event| all.push((at.as_ns(), event.len())));
        all
    }

    #[test]
    fn events_are_found_with_their_times() {
        let head = |kind: u32, delta: u32| kind | delta << 5;
        let words = [
            head(2, 5),
            1,
            2, // Two words, 5 ns later.
            head(TIME_EXTEND, 3),
            1, // 2^27 + 3 ns later.
            head(0, 1),
            12,
            7,
            7, // A length of 12 that counts itself.
            head(PADDING, 1),
            8,
            0, // Padding of 8 bytes.
            head(1, 2),
            9,
        ];
        let later = 1_005 + (1 << 27) + 3 + 1;
        assert_eq!(read(&page(&words)), [(1_005, 8), (later, 8), (later + 3, 4)]);
        let stamped = page(&[head(TIME_STAMP, 9), 1, head(1, 1), 0]);
        assert_eq!(read(&stamped), [((1 << 27) + 10, 4)]);
        let ended = page(&[head(1, 1), 0, head(PADDING, 0), 0, head(1, 1), 0]);
        assert_eq!(read(&ended), [(1_001, 4)]);
    }

    #[test]
    fn a_page_that_is_cut_off_ends() {
        let whole = page(&[1 | 1 << 5, 0, 28 | 1 << 5]);
        (0..whole.len()).for_each(|length| drop(read(&whole[..length])));
        assert_eq!(read(&whole), [(1_001, 4)]);
    }
}
