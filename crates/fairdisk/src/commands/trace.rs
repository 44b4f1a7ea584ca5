//! `fairdisk trace`: what a recorded load did, and its translation into other formats.

mod page;

use crate::failure::Failure;
use crate::number_arg::within;
use crate::output::SCHEMA;
use crate::own_file::OwnFile;
use crate::results::{command, document};
use crate::{interrupt, output};
use clap::ValueHint;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use fairdisk_lab::results::{Partial, value};
use fairdisk_mount::identity::{Hierarchy, HierarchyError};
use fairdisk_page::Made;
use fairdisk_trace::perfetto::Perfetto;
use fairdisk_trace::timeline::Timeline;
use fairdisk_trace::{
    By, Format, Options, Reader, Report, Source, Summary, TraceError, Writer, open,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Show what a recorded load did, or translate it into another format
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Formats that are read: fdt (of `fairdisk record`), blktrace (one file of a CPU, or the\n\
    name before `.blktrace`), blkparse, tracepoints (trace-cmd report, perf script), iolog\n\
    of fio, msr, systor, tencent, alibaba, disksim, csv; each also as .gz.\n\
    Written are fdt, csv, iolog, blkparse and blktrace.\n\n\
    Examples:\n  \
    fairdisk trace load.fdt\n  \
    fairdisk trace sda.blktrace.0 --by task\n  \
    fairdisk trace load.fdt --report load.html --perfetto load.pftrace\n  \
    fairdisk trace usr_0.csv.gz --to usr.fdt\n  \
    fairdisk trace load.fdt --to load.blktrace.0"
)]
pub(crate) struct Args {
    /// The trace
    #[arg(value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// Tell requests apart by this
    #[arg(long, value_name = "WHAT", default_value = "group", value_parser = by())]
    by: By,
    /// The format of FILE, if its beginning does not tell
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    format: Option<Format>,
    /// Pass over up to N broken lines or events, and count them
    #[arg(
        long, value_name = "N", default_value_t = 0, value_parser = within::<u64>(0..=u64::MAX),
        allow_negative_numbers = true
    )]
    skip_bad: u64,
    /// Call cgroups by their paths, of which a blktrace file has only numbers: those of this
    /// hierarchy, `v2` or a controller as `blkio` [default: blkio, else v2]
    #[arg(
        long, value_name = "HIERARCHY", num_args = 0..=1, require_equals = true,
        default_missing_value = "", value_hint = ValueHint::Other
    )]
    cgroups: Option<String>,
    /// Write the requests to this file in place of figures
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    to: Option<PathBuf>,
    /// The format of that file, if the end of its name is not that of a format
    #[arg(long, value_name = "FORMAT", requires = "to", value_parser = format())]
    to_format: Option<Format>,
    /// Write a page with charts: who did how much, when, where and how fast
    #[arg(long, value_name = "FILE.html", conflicts_with = "to", value_hint = ValueHint::FilePath)]
    report: Option<PathBuf>,
    /// Write tracks of groups and tasks for the Perfetto UI
    #[arg(
        long, value_name = "FILE.pftrace", conflicts_with = "to", value_hint = ValueHint::FilePath
    )]
    perfetto: Option<PathBuf>,
    /// Print JSON
    #[arg(long, conflicts_with = "to")]
    json: bool,
}

/// The parts that fit on a few screens.
const PARTS_MOST: usize = 50;

/// After so many requests Ctrl-C is looked for.
const LOOK_EACH: u64 = 1 << 16;

fn by() -> impl TypedValueParser<Value = By> {
    PossibleValuesParser::new(["group", "task", "device"]).map(|name| match &*name {
        "task" => By::Task,
        "device" => By::Device,
        _ => By::Group,
    })
}

fn format() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(|(name, _)| name))
        .map(|name| name.parse().expect("it is one of the possible values"))
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let stop = interrupt::stop_flag()?;
    let cgroups = args.cgroups.as_deref().map_or_else(|| Ok(BTreeMap::new()), cgroups)?;
    let options = Options { format: args.format, skip_bad: args.skip_bad, cgroups };
    let mut reader = open(&args.file, &options).map_err(failure)?;
    if args.cgroups.is_some() && reader.format != Format::Blktrace {
        return Err(Failure::BadInput(format!(
            "--cgroups: {} is a file of format {}; blktrace alone has cgroups as numbers",
            args.file.display(),
            reader.format
        )));
    }
    match &args.to {
        Some(to) => translate(&mut reader, to, args.to_format, &stop),
        None => tell(&mut reader, args, &stop),
    }
}

/// The cgroups of a hierarchy, by inode.
fn cgroups(name: &str) -> Result<BTreeMap<u32, String>, Failure> {
    let found = match name {
        "" => Hierarchy::of_kernel(),
        name => Hierarchy::find(Some(name)).and_then(|it| it.ok_or(HierarchyError::NoneMounted)),
    };
    let hierarchy = found.map_err(|error| Failure::BadInput(format!("--cgroups: {error}")))?;
    // Traces have the lower half of the number.
    let named = |path: String| Some((hierarchy.inode(&path)? as u32, path));
    Ok(hierarchy.cgroups().into_iter().filter_map(named).collect())
}

/// A trace that is not as it should be is bad input, like any other file.
fn failure(error: TraceError) -> Failure {
    Failure::BadInput(error.to_string())
}

fn tell(reader: &mut Reader, args: &Args, stop: &AtomicBool) -> Result<(), Failure> {
    if let Some(path) = &args.report {
        OwnFile::PAGE.demand_place(path)?;
    }
    let mut summary = Summary::new(args.by);
    let mut timeline = args.report.as_ref().map(|_| Timeline::default());
    let mut perfetto = args.perfetto.as_deref().map(tracks).transpose()?;
    let is_whole = each(reader, stop, |request, reader| {
        summary.add(request, reader.origins());
        if let Some(timeline) = &mut timeline {
            timeline.add(summary.part_of(request.origin), request);
        }
        perfetto.as_mut().map_or(Ok(()), |it| it.add(request, reader.origins()))
    })?;
    if let Some(perfetto) = perfetto {
        perfetto.finish().map_err(|error| Failure::Run(error.to_string()))?;
    }
    if summary.all.ios.sum() == 0 {
        return Err(Failure::BadInput(format!("{}: it has no requests", args.file.display())));
    }
    let head = (reader.format.to_string(), reader.about());
    let report = Report::new(&summary, head, (reader.lost(), reader.skipped()));
    let results = TraceResults { schema: SCHEMA, report: &report };
    let json = value(&document(Partial { results, is_partial: !is_whole }));
    if let Some((path, timeline)) = args.report.as_ref().zip(timeline) {
        let file = args.file.display().to_string();
        let partial = (!is_whole).then_some("the rest was not read");
        let made = Made { command: &command(), partial };
        let page = page::page(&file, &report, &timeline, json.clone());
        OwnFile::PAGE.write(path, &page.to_html(&made))?;
    }
    if args.json {
        output::print_json(&json)?;
    } else {
        let text = report.to_text(PARTS_MOST);
        output::print_by(|out| {
            text.lines().try_for_each(|line| {
                io::Write::write_all(out, format!("{}\n", output::plain(line)).as_bytes())
            })
        })?;
    }
    if is_whole { Ok(()) } else { Err(Failure::Interrupted("the rest was not read".into())) }
}

/// A file for Perfetto.
pub(super) fn tracks(path: &Path) -> Result<Perfetto<BufWriter<File>>, Failure> {
    OwnFile::TRACKS.demand_place(path)?;
    let file = File::create(path);
    let file = file.map_err(|error| Failure::Run(format!("{}: {error}", path.display())))?;
    Ok(Perfetto::new(BufWriter::new(file)))
}

/// What `trace --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct TraceResults<'a> {
    /// The version of these results.
    schema: u32,
    #[serde(flatten)]
    report: &'a Report,
}

/// Does something with each request. Returns whether it came to the end.
fn each(
    reader: &mut Reader,
    stop: &AtomicBool,
    mut with: impl FnMut(&fairdisk_trace::Request, &Reader) -> io::Result<()>,
) -> Result<bool, Failure> {
    let mut count = 0;
    while let Some(request) = reader.next().map_err(failure)? {
        with(&request, reader).map_err(|error| Failure::Run(error.to_string()))?;
        count += 1;
        if count % LOOK_EACH == 0 && stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn translate(
    reader: &mut Reader,
    to: &Path,
    format: Option<Format>,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let format = format.or_else(|| format_of_name(to)).ok_or_else(|| {
        Failure::BadInput(format!("{}: name its format with --to-format", to.display()))
    })?;
    if !format.is_written() {
        return Err(Failure::BadInput(format!(
            "{}: {format} is a format that Fairdisk only reads; it writes fdt, csv, iolog, \
             blkparse and blktrace",
            to.display()
        )));
    }
    let failed = |error: io::Error| Failure::Run(format!("{}: {error}", to.display()));
    let out = BufWriter::new(File::create(to).map_err(failed)?);
    let mut writer = Writer::new(out, format, &reader.about()).map_err(failed)?;
    let is_whole = each(reader, stop, |request, reader| writer.add(request, reader.origins()))?;
    writer.settings(&reader.about().settings).map_err(failed)?;
    writer.finish().map_err(failed)?;
    match (is_whole, reader.lost() + reader.skipped()) {
        (false, _) => Err(Failure::Interrupted("the rest was not written".into())),
        (true, 0) => Ok(()),
        (true, missing) => {
            output::diagnose(&format!("note: {missing} requests are missing, lost or broken"));
            Ok(())
        }
    }
}

/// The format that the name of a file ends in: `x.fdt`, `x.blktrace.0`.
fn format_of_name(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(".0").unwrap_or(name);
    name.rsplit('.').next()?.parse().ok()
}
