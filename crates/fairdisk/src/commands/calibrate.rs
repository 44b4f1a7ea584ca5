//! `fairdisk calibrate`: measures what requests cost a real disk, and writes its device file.

mod doubts;
mod from;
pub(super) mod io_cost;

use super::mount::disk::Io;
use crate::failure::Failure;
use crate::own_file::OwnFile;
use crate::real::{Ended, RealBench, Spread};
use crate::replay_args::ReplayArgs;
use crate::results::command;
use crate::{interrupt, number_arg, output};
use clap::ValueHint;
use doubts::{Activity, doubts, furthest};
use fairdisk_core::{SECTOR_BYTES, Span, parse_number};
use fairdisk_lab::calibrate::{Bench as _, FewReads, Figures, Length, few_reads, loads, measure};
use fairdisk_lab::catalog::device::{demand_id, keys_of, to_toml};
use fairdisk_lab::time_text;
use fairdisk_mount::BlockDevice;
use fairdisk_plane::FileNeeds;
use fairdisk_plane::disk::{DEEP, DEPTH_MAX, FAR_SPAN};
use fairdisk_plane::file::is_read_only_device;
use fairdisk_sim::device::MeasuredParams;
use serde_json::json;
use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Measure what requests cost a real disk, and write its device file
///
/// Mounts take that file with `--costs`, and the lab with `--device`. A directory gets a scratch
/// file, which is gone at the end. Nothing else should use the disk meanwhile.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    fairdisk calibrate /srv --output srv.toml\n  \
    fairdisk mount --costs srv.toml /srv /mnt/srv\n  \
    fairdisk compare two-groups --device srv.toml --scheduler noop,fair")]
pub(crate) struct Args {
    /// A directory on the disk, or a block device; with --from, a device file to refine
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    path: PathBuf,
    /// Write the device file there, rather than to standard output; its name is the disk's
    #[arg(long, short, value_name = "FILE.toml", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// How large the scratch file is. A disk with heads takes longer the further apart requests are
    #[arg(long, value_name = "BYTES", default_value = "4G", value_parser = size)]
    size: u64,
    /// How long each of 12 loads is measured
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = time_text::parse)]
    time: Span,
    /// Requests at the disk at once [default: 32; 1 for a disk that turns]
    #[arg(long, value_name = "N", value_parser = number_arg::within::<u32>(1..=DEPTH_MAX.into()))]
    depth: Option<u32>,
    /// Measure no writes: they are taken to cost what reads do. On a device, write nothing
    #[arg(long)]
    reads_only: bool,
    /// Destroy what is on the block device
    #[arg(long, conflicts_with = "reads_only")]
    overwrite: bool,
    /// What performs the I/O
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    io: Io,
    /// Print lines for the kernel's own control in place of the device file
    #[arg(long = "for", value_name = "WHAT", value_enum, conflicts_with_all = ["output", "json"])]
    purpose: Option<Purpose>,
    /// Change the values of a device file so that a replay of this recording fits better
    #[arg(
        long, value_name = "TRACE", value_hint = ValueHint::FilePath,
        conflicts_with_all = ["size", "time", "depth", "reads_only", "overwrite", "io", "purpose", "json"]
    )]
    from: Option<PathBuf>,
    /// The scheduler of the recording, if it does not say that itself
    #[arg(long, value_name = "NAME", requires = "from", value_hint = ValueHint::Other)]
    scheduler: Option<String>,
    /// Change one value for the replay, as in scheduler.bfq.low_latency=false (may be repeated)
    #[arg(
        long = "set", value_name = "KEY=VALUE", requires = "from", value_hint = ValueHint::Other
    )]
    overrides: Vec<String>,
    #[command(flatten)]
    replay: ReplayArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// No progress, no remarks
    #[arg(long, short)]
    quiet: bool,
}

/// For whom lines are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Purpose {
    /// The files io.cost.model and io.cost.qos of cgroups of version 2
    #[value(name = "io.cost")]
    IoCost,
}

/// The least scratch file: what a few large requests at once need.
const SIZE_MIN: u64 = 16 << 20;

/// The largest scratch file.
const SIZE_MAX: u64 = 1 << 50;

fn size(text: &str) -> Result<u64, String> {
    let bytes = match text.strip_suffix(['T', 't']) {
        Some(number) => number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << 40)),
        None => parse_number(text),
    };
    let bytes = bytes.filter(|bytes| (SIZE_MIN..=SIZE_MAX).contains(bytes));
    bytes.ok_or_else(|| "expected a number of bytes from 16M to 1024T, as 512M or 4G".to_owned())
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    if let Some(path) = &args.output {
        OwnFile::DEVICE.demand_place(path)?;
    }
    if let Some(trace) = &args.from {
        return from::execute(args, trace);
    }
    if let Some(option) = args.replay.replay().given() {
        let text = format!("{option} is about the replay of a recording; name one with --from");
        return Err(Failure::BadInput(text));
    }
    let disk = Disk::of(&args.path)?;
    let path = args.path.display();
    if disk.is_device && !args.reads_only && !args.overwrite {
        return Err(Failure::BadInput(format!(
            "{path}: measuring writes destroys what is on the device; add --reads-only, or \
             --overwrite to destroy it, or name a directory on it"
        )));
    }
    if args.overwrite && !disk.is_device {
        let text = "nothing is overwritten in a directory; leave --overwrite out";
        return Err(Failure::BadInput(format!("{path}: {text}")));
    }
    if args.overwrite && is_read_only_device(&args.path) {
        let text = "a read-only device, which has no writes to measure; use --reads-only in place \
                    of --overwrite";
        return Err(Failure::BadInput(format!("{path}: {text}")));
    }
    let id = args.id(&disk)?;
    let stop = interrupt::stop_flag()?;
    let before = Activity::of_others(&disk.name);
    let Some((device, measured_bytes, spreads)) = measured(args, &disk, &stop)? else {
        return Err(Failure::Interrupted("nothing was measured".to_owned()));
    };
    let doubts = doubts(&before, &spreads, &device);
    if !args.quiet {
        doubts.iter().for_each(|doubt| output::diagnose(&format!("note: {doubt}")));
    }
    if args.purpose == Some(Purpose::IoCost) {
        return Ok(output::print(&io_cost::lines(&disk.number, &device, &doubts))?);
    }
    let text = args.file(&id, &disk, &device, measured_bytes, (&spreads, &doubts));
    match (&args.output, args.json) {
        (Some(path), _) => OwnFile::DEVICE.write(path, &text)?,
        (None, false) => output::print(&text)?,
        (None, true) => {}
    }
    if args.json {
        output::print_json(&json!({ "schema": output::SCHEMA, "device": keys_of(&text) }))?;
    }
    if let Some(path) = args.output.as_ref().filter(|_| !args.quiet) {
        let path = path.display();
        output::diagnose(&format!(
            "{path} is written. Mounts take it with --costs, the lab with --device."
        ));
    }
    Ok(())
}

/// Measures the disk, and says how much of it was used and how far apart looks at it were; `None`
/// if `stop` was set.
fn measured(
    args: &Args,
    disk: &Disk,
    stop: &Arc<AtomicBool>,
) -> Result<Option<(MeasuredParams, u64, Vec<Spread>)>, Failure> {
    let bytes = if disk.is_device { SIZE_MIN } else { args.size };
    let needs = FileNeeds {
        sectors: bytes / SECTOR_BYTES,
        writes: !(args.reads_only && disk.is_device),
        overwrite: args.overwrite,
        allocate: !disk.is_device,
    };
    let (io, depth) = (args.io.preference(), args.depth.unwrap_or(DEEP));
    let Some(mut bench) = RealBench::open(&args.path, &needs, io, depth, args.quiet, stop)? else {
        return Ok(None);
    };
    let found = figures(&mut bench, args, disk);
    bench.finish();
    match found {
        Ok((rotational, figures)) => {
            let bytes = bench.bytes();
            let sectors = disk.sectors.unwrap_or(bytes / SECTOR_BYTES);
            let device = figures.device(sectors, bench.depth(), rotational);
            Ok(Some((device, bytes, bench.spreads().to_vec())))
        }
        Err(Ended::Stopped) => Ok(None),
        Err(Ended::Failed(why)) => Err(Failure::Run(format!("{}: {why}", args.path.display()))),
    }
}

/// Whether the disk turns, and what was measured of it.
fn figures(bench: &mut RealBench, args: &Args, disk: &Disk) -> Result<(bool, Figures), Ended> {
    let length = Length { requests: u64::MAX, time: args.time, looks: 2 };
    bench.expect(loads(bench.depth(), !args.reads_only));
    let few = few_reads(bench, length)?;
    let (turns, has_one_head) = disk.turns(few);
    if has_one_head && args.depth.is_none() {
        bench.set_depth(1);
    }
    Ok((turns, measure(bench, length, few, !args.reads_only)?))
}

impl Args {
    /// The id of the disk's file: how the file is called, or else the disk.
    fn id(&self, disk: &Disk) -> Result<String, Failure> {
        Ok(self.id_of_output()?.unwrap_or_else(|| disk.name.clone()))
    }

    /// How the file is called; `None` if it has no name of its own.
    fn id_of_output(&self) -> Result<Option<String>, Failure> {
        let Some(path) = &self.output else { return Ok(None) };
        let is_toml = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
        let stem = path.file_stem().and_then(|stem| stem.to_str()).filter(|_| is_toml);
        // A stream, such as /dev/stdout, has no name of its own.
        let is_stream = fs::metadata(path).is_ok_and(|found| !found.is_file());
        match stem {
            Some(stem) => match demand_id(stem) {
                Ok(()) => Ok(Some(stem.to_owned())),
                Err(wrong) => Err(OwnFile::DEVICE.bad(path, &wrong)),
            },
            None if is_stream => Ok(None),
            None => Err(OwnFile::DEVICE.bad(path, "expected a name that ends in .toml")),
        }
    }

    fn file(
        &self,
        id: &str,
        disk: &Disk,
        device: &MeasuredParams,
        bytes: u64,
        (spreads, doubts): (&[Spread], &[String]),
    ) -> String {
        let title = format!("{}, as measured", disk.name);
        let what = if disk.is_device { "on the device" } else { "in a scratch file" };
        let mut notes = vec![
            format!("Measured by `{}`", output::plain(&command())),
            format!(
                "{} MiB {what}, direct I/O, {} s per load",
                bytes >> 20,
                self.time.as_ns() as f64 / 1e9,
            ),
        ];
        notes.extend(furthest(spreads));
        notes.extend(doubts.iter().map(|doubt| format!("Doubt: {doubt}")));
        if self.reads_only {
            notes
                .push("Writes and flushes were not measured: writes cost what reads do".to_owned());
        }
        if disk.sectors.is_none() {
            notes.push(
                "The size of the disk is not known: capacity_sectors is what was used".to_owned(),
            );
        }
        if disk.rotational.is_none() {
            notes.push("The kernel does not say whether it turns: judged by its reads".to_owned());
        }
        to_toml(id, &title, &notes, device)
    }
}

/// The disk that is measured.
struct Disk {
    name: String,
    /// The device number, `MAJOR:MINOR`.
    number: String,
    is_device: bool,
    /// Whether the kernel says that it turns; `None` if it does not know.
    rotational: Option<bool>,
    /// The size, if known.
    sectors: Option<u64>,
}

impl Disk {
    fn of(path: &Path) -> Result<Self, Failure> {
        let bad = |text: &str| Failure::BadInput(format!("{}: {text}", path.display()));
        let found = fs::metadata(path).map_err(|error| bad(&error.to_string()))?;
        let is_device = found.file_type().is_block_device();
        if !is_device && !found.is_dir() {
            return Err(bad("is neither a directory nor a block device; name its directory"));
        }
        let disk = BlockDevice::of(path).map_err(|error| bad(&error.to_string()))?;
        // A file system without a block device has a number for a name.
        let name = if disk.sectors.is_none() { "disk".to_owned() } else { disk.name };
        let (number, rotational, sectors) = (disk.number, disk.rotational, disk.sectors);
        Ok(Self { name, number, is_device, rotational, sectors })
    }

    /// Whether the disk turns, and whether it does with a single head. Many virtual disks are
    /// reported as rotational, so a read has to take as long as if it did, too. With one head two
    /// reads at a time are hardly faster than one.
    fn turns(&self, few: FewReads) -> (bool, bool) {
        let is_slow = few.qd1 > FAR_SPAN;
        let one_by_one = few.qd2.scaled(3, 1) > few.qd1.scaled(2, 1);
        match self.rotational {
            Some(true) => (is_slow, is_slow && one_by_one),
            Some(false) => (false, false),
            None => (is_slow && one_by_one, is_slow && one_by_one),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_sim::device::Pauses;

    #[test]
    fn a_disk_turns_if_it_is_said_to_and_is_slow() {
        let few = |qd1, qd2| {
            let pauses = Pauses::NONE;
            FewReads { qd1: Span::from_us(qd1), qd2: Span::from_us(qd2), pauses }
        };
        for (rotational, qd1, qd2, turns, has_one_head) in [
            (Some(true), 8_000, 7_500, true, true),
            // An array of disks that turn.
            (Some(true), 8_000, 4_200, true, false),
            // A virtual disk.
            (Some(true), 30, 16, false, false),
            (Some(false), 8_000, 8_000, false, false),
            (None, 8_000, 7_500, true, true),
            // Far away.
            (None, 8_000, 4_000, false, false),
            (None, 100, 100, false, false),
        ] {
            let (name, number) = (String::new(), String::new());
            let disk = Disk { name, number, is_device: false, rotational, sectors: None };
            let found = disk.turns(few(qd1, qd2));
            assert_eq!(found, (turns, has_one_head), "{rotational:?} {qd1} {qd2}");
        }
    }
}
