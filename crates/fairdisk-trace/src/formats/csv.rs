//! Public traces with a line of columns for each request.

use super::Format;
use crate::lines::{LineFormat, Out};
use crate::number::{decimal_ns, number, sectors};
use crate::request::{Request, Traits};
use fairdisk_core::{Instant, IoPrio, Lba, Op, SECTOR_BYTES, Sectors, Span};

const SECOND: u64 = 1_000_000_000;

/// The columns of one of the formats. Times begin with the first line; a request before that, in a
/// trace that is not sorted, begins there as well.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns {
    format: Format,
    /// The time of the first line, in ns of the trace's own clock.
    first_ns: Option<u64>,
}

/// A line of columns.
struct Row<'a> {
    device: &'a str,
    group: &'a str,
    op: &'a str,
    at_ns: Option<u64>,
    offset: Option<u64>,
    bytes: Option<u64>,
    took_ns: Option<u64>,
}

impl Columns {
    pub(crate) const fn new(format: Format) -> Self {
        Self { format, first_ns: None }
    }

    /// The format with such a header or, without one, such a line.
    pub(crate) fn of_header_or_line(line: &str) -> Option<Format> {
        let columns: Vec<&str> = line.trim().split(',').collect();
        let is_number = |at: usize| number(columns[at]).is_some();
        match columns[..] {
            ["Timestamp", "Response", "IOType", "LUN", "Offset", "Size"] => Some(Format::Systor),
            [_, _, "R" | "W", ..] if columns.len() == 6 => Some(Format::Systor),
            ["Timestamp", "Hostname", ..] | [_, _, _, "Read" | "Write", ..]
                if columns.len() == 7 =>
            {
                Some(Format::Msr)
            }
            ["device_id", "opcode", ..] | [_, "R" | "W", ..] if columns.len() == 5 => {
                Some(Format::Alibaba)
            }
            ["Timestamp", "Offset", ..] => Some(Format::Tencent),
            [_, _, _, "0" | "1", _] if (0..3).all(is_number) => Some(Format::Tencent),
            _ => None,
        }
    }

    fn row<'a>(&self, columns: &[&'a str]) -> Option<Row<'a>> {
        let row = match (self.format, columns) {
            (Format::Msr, [at, host, disk, op, offset, size, took]) => Row {
                device: disk,
                group: host,
                op,
                // FILETIME: units of 100 ns since 1601. In ns that is more than 64 bits hold, but
                // for the part since 1970.
                at_ns: number(at).and_then(since_1970_from_filetime),
                offset: number(offset),
                bytes: number(size),
                took_ns: Some(number(took)?.checked_mul(100)?),
            },
            (Format::Systor, [at, took, op, lun, offset, size]) => Row {
                device: lun,
                group: lun,
                op,
                at_ns: decimal_ns(at, SECOND),
                offset: number(offset),
                bytes: number(size),
                took_ns: if took.is_empty() { None } else { Some(decimal_ns(took, SECOND)?) },
            },
            (Format::Tencent, [at, offset, size, op, volume]) => Row {
                device: volume,
                group: volume,
                op,
                at_ns: decimal_ns(at, SECOND),
                offset: number(offset)?.checked_mul(SECTOR_BYTES),
                bytes: number(size)?.checked_mul(SECTOR_BYTES),
                took_ns: None,
            },
            (Format::Alibaba, [volume, op, offset, size, at]) => Row {
                device: volume,
                group: volume,
                op,
                at_ns: number(at)?.checked_mul(1000),
                offset: number(offset),
                bytes: number(size),
                took_ns: None,
            },
            _ => return None,
        };
        Some(row)
    }

    const fn expected(&self) -> &'static str {
        match self.format {
            Format::Msr => {
                "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime with Read or Write"
            }
            Format::Systor => "Timestamp,Response,IOType,LUN,Offset,Size with R or W",
            Format::Tencent => "Timestamp,Offset,Size,IOType,VolumeID with 0 or 1",
            _ => "device_id,opcode,offset,length,timestamp with R or W",
        }
    }
}

/// A FILETIME as ns since 1970.
const fn since_1970_from_filetime(filetime: u64) -> Option<u64> {
    match filetime.checked_sub(11_644_473_600 * 10_000_000) {
        Some(since) => since.checked_mul(100),
        None => None,
    }
}

impl LineFormat for Columns {
    fn line(&mut self, line: &str, out: &mut Out) -> Result<(), String> {
        let columns = line.trim().split(',');
        let is_header = self.first_ns.is_none()
            && columns.clone().any(|it| matches!(it, "Timestamp" | "device_id"));
        if is_header {
            return Ok(());
        }
        let mut cells = [""; 8];
        let mut count = 0;
        for column in columns {
            let Some(cell) = cells.get_mut(count) else { break };
            (*cell, count) = (column.trim(), count + 1);
        }
        self.request(&cells[..count], out).ok_or_else(|| self.expected().to_owned())
    }
}

impl Columns {
    fn request(&mut self, cells: &[&str], out: &mut Out) -> Option<()> {
        let row = self.row(cells)?;
        let op = match row.op {
            "Read" | "R" | "read" | "0" => Op::Read,
            "Write" | "W" | "write" | "1" => Op::Write,
            _ => return None,
        };
        let at_ns = row.at_ns?;
        let first_ns = *self.first_ns.get_or_insert(at_ns);
        out.about.start_unix_ns.get_or_insert(at_ns);
        let queued = Instant::from_ns(at_ns.saturating_sub(first_ns));
        let (start, sectors) = range(row.offset?, row.bytes?)?;
        out.requests.push_back(Request {
            origin: out.origins.number(row.device, row.group, "", IoPrio::UNSET),
            op,
            traits: Traits::NONE.with(Traits::SYNC, op == Op::Read),
            start,
            sectors,
            queued,
            issued: None,
            done: row.took_ns.map(|took| queued + Span::from_ns(took)),
        });
        Some(())
    }
}

/// The sectors in which this many bytes from `offset` lie.
pub(crate) fn range(offset: u64, bytes: u64) -> Option<(Lba, Sectors)> {
    let start = offset / SECTOR_BYTES;
    let end = offset.checked_add(bytes)?.div_ceil(SECTOR_BYTES);
    sectors(start, end - start)
}
