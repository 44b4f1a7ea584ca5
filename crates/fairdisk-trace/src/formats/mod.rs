//! The formats of traces.

pub(crate) mod blkparse;
pub(crate) mod blktrace;
pub(crate) mod csv;
pub(crate) mod disksim;
pub(crate) mod iolog;
pub(crate) mod own_csv;
pub(crate) mod tracepoints;

use std::fmt;
use std::str::FromStr;

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Fairdisk's own ([`crate::fdt`]).
    Fdt,
    /// The binary files of blktrace, one per CPU.
    Blktrace,
    /// The text of blkparse in its default format.
    Blkparse,
    /// The text of the block tracepoints, as `trace-cmd report`, `perf script` or the kernel's
    /// `trace` show them.
    Tracepoints,
    /// fio's I/O log, version 2 or 3.
    Iolog,
    /// MSR Cambridge: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`.
    Msr,
    /// SYSTOR '17: `Timestamp,Response,IOType,LUN,Offset,Size`.
    Systor,
    /// Tencent block storage: `Timestamp,Offset,Size,IOType,VolumeID`.
    Tencent,
    /// Alibaba block storage: `device_id,opcode,offset,length,timestamp`.
    Alibaba,
    /// DiskSim's ascii: `arrival device block count flags`.
    Disksim,
    /// Fairdisk's own columns ([`Self::Csv`] is made to be read by other programs).
    Csv,
}

impl Format {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Self); 11] = [
        ("fdt", Self::Fdt),
        ("blktrace", Self::Blktrace),
        ("blkparse", Self::Blkparse),
        ("tracepoints", Self::Tracepoints),
        ("iolog", Self::Iolog),
        ("msr", Self::Msr),
        ("systor", Self::Systor),
        ("tencent", Self::Tencent),
        ("alibaba", Self::Alibaba),
        ("disksim", Self::Disksim),
        ("csv", Self::Csv),
    ];

    /// The names, for messages.
    #[must_use]
    pub fn names() -> String {
        Self::ALL.map(|(name, _)| name).join(", ")
    }

    /// Whether it can be written, and is not only read.
    #[must_use]
    pub const fn is_written(self) -> bool {
        matches!(self, Self::Fdt | Self::Csv | Self::Iolog | Self::Blkparse | Self::Blktrace)
    }

    /// The format of a file that begins with these bytes, if they tell.
    #[must_use]
    pub fn of(start: &[u8]) -> Option<Self> {
        if start.starts_with(crate::fdt::MAGIC) {
            return Some(Self::Fdt);
        }
        if blktrace::is_magic(start) {
            return Some(Self::Blktrace);
        }
        let text = String::from_utf8_lossy(start);
        let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !is_comment(line));
        let first = lines.next()?;
        let any = |is: fn(&str) -> bool| text.lines().take(200).any(is);
        if first.starts_with("fio version ") {
            return Some(Self::Iolog);
        }
        if let Some(format) = csv::Columns::of_header_or_line(first) {
            return Some(format);
        }
        if first.starts_with(own_csv::HEADER) {
            return Some(Self::Csv);
        }
        if any(blkparse::is_line) {
            return Some(Self::Blkparse);
        }
        if any(tracepoints::is_line) {
            return Some(Self::Tracepoints);
        }
        disksim::is_line(first).then_some(Self::Disksim)
    }
}

/// Whether the line is a comment of a tool, such as those at the start of the kernel's `trace`.
fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(_, format)| format == self).map(|(name, _)| *name);
        f.write_str(name.unwrap_or_default())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(name, _)| *name == text).map(|(_, format)| *format);
        found.ok_or_else(|| format!("there is no format `{text}`; use one of {}", Self::names()))
    }
}
