//! fio's I/O logs. Version 3 has the time of each line in microseconds, version 2 has pauses.

use super::csv::range;
use crate::lines::{LineFormat, Out};
use crate::number::number;
use crate::request::{Request, Traits};
use fairdisk_core::{Instant, IoPrio, Lba, Op, Sectors, Span};

/// The format.
#[derive(Debug, Default)]
pub(crate) struct Iolog {
    version: Option<u64>,
    /// The time that has passed, by the pauses of version 2.
    passed: Span,
}

const EXPECTED: &str = "a file, one of add, open, close, wait, read, write, sync, datasync, trim, \
                        and for some an offset and a length";

impl LineFormat for Iolog {
    fn line(&mut self, line: &str, out: &mut Out) -> Result<(), String> {
        let Some(version) = self.version else {
            let version =
                line.strip_prefix("fio version ").and_then(|it| it.strip_suffix(" iolog"));
            let version = version.and_then(number).filter(|version| matches!(version, 2 | 3));
            self.version = Some(version.ok_or("`fio version 2 iolog` or `fio version 3 iolog`")?);
            return Ok(());
        };
        self.action(version, line, out).ok_or_else(|| {
            if version == 3 { format!("a time in us, {EXPECTED}") } else { EXPECTED.to_owned() }
        })
    }
}

impl Iolog {
    fn action(&mut self, version: u64, line: &str, out: &mut Out) -> Option<()> {
        let mut words = line.split_ascii_whitespace();
        let queued = match version {
            3 => Instant::from_ns(number(words.next()?)?.checked_mul(1000)?),
            _ => Instant::ZERO + self.passed,
        };
        let (file, action) = (words.next()?, words.next()?);
        let op = match action {
            "add" | "open" | "close" => return Some(()),
            "wait" if version == 2 => {
                self.passed += Span::from_ns(number(words.next()?)?.checked_mul(1000)?);
                return Some(());
            }
            "read" => Op::Read,
            "write" => Op::Write,
            "trim" => Op::Discard,
            "sync" | "datasync" => Op::Flush,
            _ => return None,
        };
        let (start, sectors) = match op {
            Op::Flush => (Lba(0), Sectors(0)),
            _ => range(number(words.next()?)?, number(words.next()?)?)?,
        };
        out.requests.push_back(Request {
            origin: out.origins.number(file, "", "", IoPrio::UNSET),
            op,
            traits: Traits::NONE.with(Traits::SYNC, matches!(op, Op::Read | Op::Flush)),
            start,
            sectors,
            queued,
            issued: None,
            done: None,
        });
        Some(())
    }
}
