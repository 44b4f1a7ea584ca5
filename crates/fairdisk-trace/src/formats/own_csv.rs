//! Columns for other programs, with a header. Times are in nanoseconds from the start of the trace;
//! one that is not known is empty.

use crate::lines::{LineFormat, Out};
use crate::number::number;
use crate::origins::Origin;
use crate::request::{Request, Traits};
use fairdisk_core::{Instant, IoPrio, Op};
use std::borrow::Cow;

/// The header.
pub(crate) const HEADER: &str =
    "queued_ns,issued_ns,done_ns,device,group,task,op,traits,start_sector,sectors";

/// The operations by name.
const OPS: [(&str, Op); 5] = [
    ("read", Op::Read),
    ("write", Op::Write),
    ("flush", Op::Flush),
    ("discard", Op::Discard),
    ("zeroes", Op::WriteZeroes),
];

/// The traits by name.
const TRAITS: [(&str, Traits); 6] = [
    ("sync", Traits::SYNC),
    ("durable", Traits::DURABLE),
    ("meta", Traits::META),
    ("ahead", Traits::AHEAD),
    ("buffered", Traits::BUFFERED),
    ("direct", Traits::DIRECT),
];

/// The format.
#[derive(Debug, Default)]
pub(crate) struct OwnCsv;

/// A line for a request.
pub(crate) fn written(request: &Request, origin: &Origin) -> String {
    let op = OPS.iter().find(|(_, op)| *op == request.op).map_or("", |(name, _)| *name);
    let traits = TRAITS.iter().filter(|(_, one)| request.traits.contains(*one));
    let traits: Vec<&str> = traits.map(|(name, _)| *name).collect();
    let time = |at: Option<Instant>| at.map_or(String::new(), |at| at.as_ns().to_string());
    let Origin { device, group, task, .. } = origin;
    let [device, group, task] = [device, group, task].map(|name| quoted(name));
    format!(
        "{},{},{},{device},{group},{task},{op},{},{},{}\n",
        request.queued.as_ns(),
        time(request.issued),
        time(request.done),
        traits.join(" "),
        request.start.0,
        request.sectors.0
    )
}

/// A name as a cell: in quotes if it holds what separates cells.
fn quoted(name: &str) -> String {
    let is_plain = !name.contains([',', '"', '\n', '\r']);
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// The cells of a line; `None` if there are more or fewer than the header has.
fn cells(line: &str) -> Option<[Cow<'_, str>; 10]> {
    let mut cells = [const { Cow::Borrowed("") }; 10];
    let (mut rest, mut at) = (line, 0);
    loop {
        let cell = cells.get_mut(at)?;
        let end = match rest.strip_prefix('"') {
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                *cell = Cow::Borrowed(&rest[..end]);
                end
            }
            Some(inner) => {
                let end = 1 + end_of_quoted(inner)?;
                *cell = Cow::Owned(rest[1..end].replace("\"\"", "\""));
                end + 1
            }
        };
        at += 1;
        match rest[end..].strip_prefix(',') {
            Some(more) => rest = more,
            None => return (end == rest.len() && at == cells.len()).then_some(cells),
        }
    }
}

/// Where the quotes end that were opened before `text`.
fn end_of_quoted(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text[from..].find('"')?;
        if !text[at + 1..].starts_with('"') {
            return Some(at);
        }
        from = at + 2;
    }
}

impl OwnCsv {
    fn request(line: &str, out: &mut Out) -> Option<()> {
        let cells = cells(line)?;
        let [queued, issued, done, device, group, task, op, traits, start, sectors] = &cells;
        let time = |cell: &str| {
            if cell.is_empty() { Some(None) } else { Some(Some(Instant::from_ns(number(cell)?))) }
        };
        let op = OPS.iter().find(|(name, _)| name == op)?.1;
        let mut all = Traits::NONE;
        for name in traits.split_ascii_whitespace() {
            all |= TRAITS.iter().find(|(one, _)| *one == name)?.1;
        }
        let (start, length) = crate::number::sectors(number(start)?, number(sectors)?)?;
        out.requests.push_back(Request {
            origin: out.origins.number(device, group, task, IoPrio::UNSET),
            op,
            traits: all,
            start,
            sectors: length,
            queued: Instant::from_ns(number(queued)?),
            issued: time(issued)?,
            done: time(done)?,
        });
        Some(())
    }
}

impl LineFormat for OwnCsv {
    fn line(&mut self, line: &str, out: &mut Out) -> Result<(), String> {
        if line == HEADER {
            return Ok(());
        }
        Self::request(line, out).ok_or_else(|| HEADER.to_owned())
    }
}
