//! All that reads files of others. Whatever is in a file, its reader gives what is there or an
//! error: it neither panics nor takes for ever.

use fairdisk_lab::plan::Options;
use fairdisk_lab::spec;
use fairdisk_sweep::Definition;
use fairdisk_trace::fdt::{HEAD_BYTES, checksum};
use fairdisk_trace::{Format, Source as _, Summary, Writer, open};
use std::fs;

/// What reads a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parser {
    /// Traces of a format.
    Trace(Format),
    /// Job files of fio.
    JobFile,
    /// Command lines of fio.
    FioCommand,
    /// Command lines of iozone.
    Iozone,
    /// Files of experiments.
    Experiment,
    /// Files of sweeps.
    Sweep,
}

impl Parser {
    /// All of them, by name.
    pub fn all() -> impl Iterator<Item = (&'static str, Self)> {
        let traces = Format::ALL.into_iter().map(|(name, format)| (name, Self::Trace(format)));
        traces.chain([
            ("jobfile", Self::JobFile),
            ("fio-command", Self::FioCommand),
            ("iozone", Self::Iozone),
            ("experiment", Self::Experiment),
            ("sweep", Self::Sweep),
        ])
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|(known, _)| *known == name).map(|(_, parser)| parser)
    }

    /// Reads a file with these bytes.
    ///
    /// # Panics
    /// The reader does not survive them.
    pub fn read(self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        match self {
            Self::Trace(Format::Fdt) => {
                read_trace(Format::Fdt, bytes);
                // Hardly any change of a block keeps its checksum.
                read_trace(Format::Fdt, &with_checksums(bytes));
            }
            Self::Trace(format) => read_trace(format, bytes),
            Self::JobFile => drop(spec::of_text("any.fio", &text, true)),
            Self::FioCommand => drop(spec::of_text("any.fio", &format!("fio {text}"), true)),
            Self::Iozone => drop(spec::of_text("any.iozone", &text, true)),
            Self::Experiment => drop(spec::load_text("any.toml", &text, &Options::default())),
            Self::Sweep => drop(Definition::parse("any.toml", &text)),
        }
    }
}

/// A recording with the checksums that its blocks should have.
fn with_checksums(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let mut at = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1);
    while let Some(head) = bytes.get(at..at + HEAD_BYTES) {
        let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let start = at + HEAD_BYTES;
        let Some(contents) = bytes.get(start..start.saturating_add(length)) else { break };
        let sum = checksum(head[0], contents).to_le_bytes();
        bytes[at + 5..start].copy_from_slice(&sum);
        at = start + length;
    }
    bytes
}

/// How many broken lines or events are passed over.
const SKIP_BAD: u64 = 1000;

/// Reads a trace, sums it up, and writes it in each format.
fn read_trace(format: Format, bytes: &[u8]) {
    let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let path = dir.path().join("any");
    fs::write(&path, bytes).unwrap_or_else(|error| panic!("{error}"));
    let options = fairdisk_trace::Options {
        format: Some(format),
        skip_bad: SKIP_BAD,
        ..fairdisk_trace::Options::default()
    };
    let Ok(mut reader) = open(&path, &options) else { return };
    let mut summary = Summary::new(Default::default());
    let outs = [Format::Fdt, Format::Csv, Format::Iolog, Format::Blkparse, Format::Blktrace];
    let about = reader.about();
    let mut outs: Vec<_> =
        outs.iter().filter_map(|it| Writer::new(Vec::new(), *it, &about).ok()).collect();
    while let Ok(Some(request)) = reader.next() {
        summary.add(&request, reader.origins());
        for out in &mut outs {
            out.add(&request, reader.origins()).unwrap_or_else(|error| panic!("{error}"));
        }
    }
    outs.into_iter().for_each(|out| drop(out.finish()));
}
