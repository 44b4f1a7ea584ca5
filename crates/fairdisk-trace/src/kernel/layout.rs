//! Where the fields of an event are, as tracefs describes it.

use super::Raw;
use crate::pairing::Step;

/// The most letters that describe an operation.
pub(super) const LETTERS_MOST: usize = 16;
/// The length of a task's name, with a zero at its end.
pub(super) const NAME_BYTES: usize = 16;

/// A field: its first byte and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    offset: usize,
    bytes: usize,
}

/// The fields of one kind of event.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    id: u16,
    pid: Field,
    sector: Field,
    sectors: Field,
    letters: Field,
    /// Events of the device alone have no task.
    name: Option<Field>,
}

impl Layout {
    /// Reads the description of an event.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"))?.trim().parse().ok()?;
        let field = |name: &str| {
            text.lines().find_map(|line| {
                let mut parts = line.trim().split(';').map(str::trim);
                let declared = parts.next()?.strip_prefix("field:")?;
                let declared = declared.rsplit(' ').next()?.split('[').next()?;
                let offset = parts.next()?.strip_prefix("offset:")?.parse().ok()?;
                let bytes = parts.next()?.strip_prefix("size:")?.parse().ok()?;
                (declared == name).then_some(Field { offset, bytes })
            })
        };
        Some(Self {
            id,
            pid: field("common_pid")?,
            sector: field("sector")?,
            sectors: field("nr_sector")?,
            letters: field("rwbs")?,
            name: field("comm"),
        })
    }

    /// Whether the event is of this kind.
    pub(super) fn is_of(&self, event: &[u8]) -> bool {
        event.get(..2).is_some_and(|id| id == self.id.to_ne_bytes())
    }

    /// Reads an event; `None` if it is too short.
    pub(super) fn read(&self, step: Step, event: &[u8]) -> Option<Raw> {
        let of = |field: Field| event.get(field.offset..field.offset + field.bytes);
        let number = |field: Field| {
            let mut bytes = [0; 8];
            let read = of(field).filter(|read| read.len() <= bytes.len())?;
            bytes[..read.len()].copy_from_slice(read);
            Some(u64::from_le_bytes(bytes))
        };
        let mut raw = Raw {
            step,
            sector: number(self.sector)?,
            sectors: number(self.sectors)? as u32,
            letters: [0; LETTERS_MOST],
            pid: number(self.pid)? as u32,
            name: [0; NAME_BYTES],
        };
        copy(of(self.letters)?, &mut raw.letters);
        if let Some(name) = self.name {
            copy(of(name)?, &mut raw.name);
        }
        Some(raw)
    }
}

/// Copies as much as there is room for.
fn copy(from: &[u8], to: &mut [u8]) {
    let length = from.len().min(to.len());
    to[..length].copy_from_slice(&from[..length]);
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: block_rq_issue
ID: 2104
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;
\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;
\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;
\tfield:char comm[16];\toffset:44;\tsize:16;\tsigned:0;
\tfield:__data_loc char[] cmd;\toffset:60;\tsize:4;\tsigned:0;
";

    #[test]
    fn an_event_is_read_where_its_description_says() {
        let layout = Layout::parse(FORMAT).expect("it is sound");
        let mut event = vec![0; 64];
        event[..2].copy_from_slice(&2104_u16.to_ne_bytes());
        event[4..8].copy_from_slice(&4711_u32.to_le_bytes());
        event[16..24].copy_from_slice(&123_456_789_012_u64.to_le_bytes());
        event[24..28].copy_from_slice(&8_u32.to_le_bytes());
        event[34..36].copy_from_slice(b"WS");
        event[44..47].copy_from_slice(b"fio");
        assert!(layout.is_of(&event));
        let raw = layout.read(Step::Issued, &event).expect("it is whole");
        assert_eq!((raw.sector, raw.sectors, raw.pid), (123_456_789_012, 8, 4711));
        assert_eq!((&raw.letters[..3], &raw.name[..4]), (&b"WS\0"[..], &b"fio\0"[..]));
        assert!(layout.read(Step::Issued, &event[..40]).is_none());
        assert!(Layout::parse("ID: 1\n").is_none());
    }
}
