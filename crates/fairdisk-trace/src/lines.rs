//! Formats with a line for each request or event.

use crate::about::About;
use crate::error::{Place, TraceError};
use crate::origins::{Origins, seen};
use crate::request::Request;
use crate::source::Source;
use std::collections::VecDeque;
use std::io::{BufRead, Read as _};
use std::path::PathBuf;

/// The longest line that is read: longer than any record of a known format.
const LINE_MOST: u64 = 64 << 10;

/// What a format makes of lines.
#[derive(Debug, Default)]
pub(crate) struct Out {
    pub(crate) requests: VecDeque<Request>,
    pub(crate) origins: Origins,
    pub(crate) about: About,
    pub(crate) lost: u64,
}

/// A format with a line for each request or event.
pub(crate) trait LineFormat {
    /// Reads a line without its end. The error says what is expected.
    fn line(&mut self, line: &str, out: &mut Out) -> Result<(), String>;

    /// Notes that there are no more lines.
    fn end(&mut self, _out: &mut Out) {}
}

/// A file of lines.
pub(crate) struct Lines<F> {
    format: F,
    file: PathBuf,
    reader: Box<dyn BufRead>,
    number: u64,
    line: Vec<u8>,
    is_at_end: bool,
    out: Out,
}

impl<F: LineFormat> Lines<F> {
    pub(crate) fn new(format: F, file: PathBuf, reader: Box<dyn BufRead>) -> Self {
        let (number, line, is_at_end, out) = (0, Vec::new(), false, Out::default());
        Self { format, file, reader, number, line, is_at_end, out }
    }

    /// Reads a line. Returns whether there was one.
    fn read_line(&mut self) -> Result<bool, TraceError> {
        self.line.clear();
        self.number += 1;
        let failed = |error| TraceError::Io(self.file.clone(), error);
        (&mut self.reader).take(LINE_MOST).read_until(b'\n', &mut self.line).map_err(failed)?;
        let whole = self.line.last() == Some(&b'\n') || (self.line.len() as u64) < LINE_MOST;
        if !whole {
            // The rest of it is passed over, piece by piece.
            let mut rest = Vec::new();
            while rest.last() != Some(&b'\n') {
                rest.clear();
                let failed = |error| TraceError::Io(self.file.clone(), error);
                let read = (&mut self.reader).take(LINE_MOST).read_until(b'\n', &mut rest);
                if read.map_err(failed)? == 0 {
                    break;
                }
            }
            return Err(self.bad("the line is longer than 64 KiB".into()));
        }
        while let Some(b'\n' | b'\r') = self.line.last() {
            self.line.pop();
            if self.line.is_empty() {
                return Ok(true);
            }
        }
        Ok(!self.line.is_empty())
    }

    fn bad(&self, why: String) -> TraceError {
        TraceError::bad(&self.file, Place::Line(self.number), why)
    }
}

impl<F: LineFormat> Source for Lines<F> {
    fn next(&mut self) -> Result<Option<Request>, TraceError> {
        loop {
            if let Some(request) = self.out.requests.pop_front() {
                return Ok(Some(request));
            }
            if self.is_at_end {
                return Ok(None);
            }
            if !self.read_line()? {
                self.is_at_end = true;
                self.format.end(&mut self.out);
                continue;
            }
            let Ok(line) = core::str::from_utf8(&self.line) else {
                return Err(self.bad("the line is not UTF-8".into()));
            };
            if line.trim().is_empty() {
                continue;
            }
            if let Err(expected) = self.format.line(line, &mut self.out) {
                let shown = seen(line.chars().take(80).collect());
                return Err(self.bad(format!("expected {expected}, found `{shown}`")));
            }
        }
    }

    fn origins(&self) -> &Origins {
        &self.out.origins
    }

    fn about(&self) -> About {
        self.out.about.clone()
    }

    fn lost(&self) -> u64 {
        self.out.lost
    }
}
