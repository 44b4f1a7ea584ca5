//! Opens traces of any format.

use crate::about::About;
use crate::error::TraceError;
use crate::fdt::Fdt;
use crate::formats::Format;
use crate::formats::blkparse::Blkparse;
use crate::formats::blktrace::Blktrace;
use crate::formats::csv::Columns;
use crate::formats::disksim::Disksim;
use crate::formats::iolog::Iolog;
use crate::formats::own_csv::OwnCsv;
use crate::formats::tracepoints::Tracepoints;
use crate::lines::{LineFormat, Lines};
use crate::origins::Origins;
use crate::request::Request;
use crate::sorted::Sorted;
use crate::source::Source;
use flate2::read::MultiGzDecoder;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// How a trace is read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The format; found out from the file's beginning if not given.
    pub format: Option<Format>,
    /// How many broken lines or events are passed over before one is an error.
    pub skip_bad: u64,
    /// The paths of cgroups by the lower half of their inode numbers, which some traces have alone.
    pub cgroups: BTreeMap<u32, String>,
}

/// A trace that is read in the order in which its requests were asked for.
pub struct Reader {
    source: Sorted<Box<dyn Source>>,
    /// The format.
    pub format: Format,
    /// How many more broken lines or events are passed over, and how many were.
    left: u64,
    skipped: u64,
}

/// A file and what is read of it.
type Opened = (PathBuf, Box<dyn BufRead>);

/// As much of a file is looked at to find out its format.
const LOOK_BYTES: usize = 64 << 10;

/// Opens a trace. A file whose name ends in `.gz` is decompressed. Of blktrace, the file of one CPU
/// stands for those of all, and so does their common name.
///
/// # Errors
/// Returns an error if the file cannot be read or its format is not known.
pub fn open(path: &Path, options: &Options) -> Result<Reader, TraceError> {
    let mut readers = readers(files_of(path))?;
    let format = match options.format {
        Some(format) => format,
        None => format_of(&mut readers)?,
    };
    if format != Format::Blktrace {
        readers.truncate(1);
    }
    let source = Sorted::new(source(format, readers, options)?);
    Ok(Reader { source, format, left: options.skip_bad, skipped: 0 })
}

/// Readers of files, unpacked where these are packed.
fn readers(files: Vec<PathBuf>) -> Result<Vec<Opened>, TraceError> {
    let mut readers = Vec::new();
    for file in files {
        let opened = File::open(&file).map_err(|error| TraceError::Io(file.clone(), error))?;
        let is_packed = file.extension().is_some_and(|end| end == "gz");
        let reader: Box<dyn BufRead> = if is_packed {
            Box::new(BufReader::with_capacity(LOOK_BYTES, MultiGzDecoder::new(opened)))
        } else {
            Box::new(BufReader::with_capacity(LOOK_BYTES, opened))
        };
        readers.push((file, reader));
    }
    Ok(readers)
}

/// Whether the file begins as one of the formats does. A device or a pipe does not.
#[must_use]
pub fn is_trace(path: &Path) -> bool {
    let of_file = |file: &PathBuf| {
        let is_file = file.metadata().is_ok_and(|found| found.is_file());
        let mut reader = readers(vec![file.clone()]).ok().filter(|_| is_file)?;
        reader.iter_mut().find_map(|(_, reader)| Format::of(reader.fill_buf().ok()?))
    };
    files_of(path).iter().find_map(of_file).is_some()
}

/// The files that a path stands for.
fn files_of(path: &Path) -> Vec<PathBuf> {
    let text = path.to_string_lossy();
    let (base, number) = text.rsplit_once(".blktrace").unwrap_or((&text, ""));
    let is_of_cpu = number.strip_prefix('.').is_some_and(|it| it.parse::<u32>().is_ok());
    let of_cpu = |cpu: u32| PathBuf::from(format!("{base}.blktrace.{cpu}"));
    if !is_of_cpu && path.exists() {
        return vec![path.into()];
    }
    let is_beside = path.parent().map(|parent| match parent.as_os_str().is_empty() {
        true => Path::new("."),
        false => parent,
    });
    let entries = is_beside.and_then(|parent| std::fs::read_dir(parent).ok());
    let base_name = Path::new(base).file_name().unwrap_or_default().to_string_lossy();
    let mut cpus: Vec<u32> = entries
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name();
            let rest = name.to_str()?.strip_prefix(&*base_name)?.strip_prefix(".blktrace.")?;
            rest.parse().ok()
        })
        .collect();
    cpus.sort_unstable();
    let there: Vec<PathBuf> = cpus.into_iter().map(of_cpu).collect();
    if there.is_empty() { vec![path.into()] } else { there }
}

/// The format of the first file that says.
fn format_of(readers: &mut [Opened]) -> Result<Format, TraceError> {
    for (file, reader) in &mut *readers {
        let start = reader.fill_buf().map_err(|error| TraceError::Io(file.clone(), error))?;
        if let Some(format) = Format::of(start) {
            return Ok(format);
        }
    }
    Err(TraceError::Unknown(readers[0].0.clone()))
}

fn source(
    format: Format,
    mut readers: Vec<Opened>,
    options: &Options,
) -> Result<Box<dyn Source>, TraceError> {
    if format == Format::Blktrace {
        return Ok(Box::new(Blktrace::new(readers, options.cgroups.clone())));
    }
    let (file, reader) = readers.remove(0);
    fn lines<F: LineFormat + 'static>(
        format: F,
        file: PathBuf,
        reader: Box<dyn BufRead>,
    ) -> Box<dyn Source> {
        Box::new(Lines::new(format, file, reader))
    }
    Ok(match format {
        Format::Fdt => Box::new(Fdt::new(file, reader)?),
        Format::Blkparse => lines(Blkparse::default(), file, reader),
        Format::Tracepoints => lines(Tracepoints::default(), file, reader),
        Format::Iolog => lines(Iolog::default(), file, reader),
        Format::Disksim => lines(Disksim, file, reader),
        Format::Csv => lines(OwnCsv, file, reader),
        Format::Msr | Format::Systor | Format::Tencent | Format::Alibaba => {
            lines(Columns::new(format), file, reader)
        }
        Format::Blktrace => Box::new(Blktrace::new(Vec::new(), BTreeMap::new())),
    })
}

impl Reader {
    /// The broken lines or events that were passed over so far.
    #[must_use]
    pub const fn skipped(&self) -> u64 {
        self.skipped
    }
}

impl Source for Reader {
    fn next(&mut self) -> Result<Option<Request>, TraceError> {
        loop {
            match self.source.next() {
                Err(TraceError::Bad { .. }) if self.left > 0 => {
                    (self.left, self.skipped) = (self.left - 1, self.skipped + 1);
                }
                read => return read,
            }
        }
    }

    fn origins(&self) -> &Origins {
        self.source.origins()
    }

    fn about(&self) -> About {
        self.source.about()
    }

    fn lost(&self) -> u64 {
        self.source.lost()
    }
}
