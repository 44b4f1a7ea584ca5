//! DiskSim's ascii traces: `arrival device block count flags`, the arrival in milliseconds.

use crate::lines::{LineFormat, Out};
use crate::number::{decimal_ns, number, sectors};
use crate::request::{Request, Traits};
use fairdisk_core::{Instant, IoPrio, Lba, Op, Sectors};

/// The format.
#[derive(Debug, Default)]
pub(crate) struct Disksim;

/// The columns of a line.
fn parse(line: &str) -> Option<(u64, &str, (Lba, Sectors), u64)> {
    let mut words = line.split_ascii_whitespace();
    let mut next = || words.next();
    let at_ns = decimal_ns(next()?, 1_000_000)?;
    let (device, block, count) = (next()?, number(next()?)?, number(next()?)?);
    let flags = next()?;
    let flags = u64::from_str_radix(flags.trim_start_matches("0x"), 16).ok()?;
    number(device)?;
    words.next().is_none().then_some((at_ns, device, sectors(block, count)?, flags))
}

pub(crate) fn is_line(line: &str) -> bool {
    parse(line).is_some()
}

impl LineFormat for Disksim {
    fn line(&mut self, line: &str, out: &mut Out) -> Result<(), String> {
        let parsed = parse(line).ok_or("arrival device block count flags")?;
        let (at_ns, device, (start, sectors), flags) = parsed;
        let op = if flags & 1 == 1 { Op::Read } else { Op::Write };
        out.requests.push_back(Request {
            origin: out.origins.number(device, "", "", IoPrio::UNSET),
            op,
            traits: Traits::NONE.with(Traits::SYNC, op == Op::Read),
            start,
            sectors,
            queued: Instant::from_ns(at_ns),
            issued: None,
            done: None,
        });
        Ok(())
    }
}
