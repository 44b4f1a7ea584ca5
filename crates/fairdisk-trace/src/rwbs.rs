//! The letters by which blkparse and the block tracepoints describe an operation: `F` for a flush
//! before it, `R`, `W`, `D` or `N`, then `F` for FUA, `A` for read-ahead, `S` and `M`.

use crate::request::Traits;
use fairdisk_core::Op;

/// What the letters say; `None` if they are none of these, or about no operation that moves data or
/// flushes.
pub(crate) fn parse(letters: &str, sectors: u32) -> Option<(Op, Traits)> {
    let mut rest = letters.as_bytes();
    let flushes = rest.first() == Some(&b'F');
    if flushes {
        rest = &rest[1..];
    }
    let op = match rest.first() {
        Some(b'R') => Op::Read,
        // The I/O around a flush, which is told of once more when the flush is done.
        Some(b'W') if sectors == 0 && !flushes => return None,
        Some(b'W') => Op::Write,
        Some(b'D') => Op::Discard,
        // A flush alone, which may be waited for.
        Some(b'N' | b'F' | b'S' | b'M') | None if flushes => Op::Flush,
        _ => return None,
    };
    let mut traits = Traits::NONE.with(Traits::SYNC, matches!(op, Op::Read | Op::Flush));
    for letter in rest.get(1..).unwrap_or_default() {
        traits |= match letter {
            b'F' => Traits::DURABLE,
            b'A' => Traits::AHEAD,
            b'S' => Traits::SYNC,
            b'M' => Traits::META,
            // A secure discard, and letters of later kernels.
            b'E' | b'I' | b'Z' | b'U' => Traits::NONE,
            _ => return None,
        };
    }
    let is_flush = flushes && sectors == 0;
    Some(if is_flush { (Op::Flush, traits | Traits::SYNC) } else { (op, traits) })
}

/// The letters for an operation.
pub(crate) fn written(op: Op, traits: Traits) -> String {
    let mut letters = String::from(match op {
        Op::Read => "R",
        Op::Write | Op::WriteZeroes => "W",
        Op::Discard => "D",
        Op::Flush => "FN",
    });
    let is_sync = traits.contains(Traits::SYNC) && op != Op::Read;
    for (letter, there) in [
        ('F', traits.contains(Traits::DURABLE)),
        ('A', traits.contains(Traits::AHEAD)),
        ('S', is_sync),
        ('M', traits.contains(Traits::META)),
    ] {
        if there {
            letters.push(letter);
        }
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::{parse, written};
    use crate::request::Traits;
    use fairdisk_core::Op;

    #[test]
    fn letters_are_read_and_written() {
        let sync = Traits::SYNC;
        for (letters, sectors, said) in [
            ("R", 8, Some((Op::Read, sync))),
            ("RA", 8, Some((Op::Read, sync | Traits::AHEAD))),
            ("W", 8, Some((Op::Write, Traits::NONE))),
            ("WS", 8, Some((Op::Write, sync))),
            ("WFSM", 8, Some((Op::Write, sync | Traits::DURABLE | Traits::META))),
            ("FWFS", 8, Some((Op::Write, sync | Traits::DURABLE))),
            ("FWS", 0, Some((Op::Flush, sync))),
            ("FF", 0, Some((Op::Flush, sync))),
            ("FN", 0, Some((Op::Flush, sync))),
            ("FS", 0, Some((Op::Flush, sync))),
            ("D", 8, Some((Op::Discard, Traits::NONE))),
            ("N", 0, None),
            ("WS", 0, None),
            ("X", 8, None),
            ("", 8, None),
        ] {
            assert_eq!(parse(letters, sectors), said, "{letters}");
            if let Some((op, traits)) = said {
                assert_eq!(parse(&written(op, traits), sectors), said, "{letters} again");
            }
        }
    }
}
