//! `fairdisk record`: records what programs do on a mount, or on a device under the kernel.

mod iosched;

use super::ctl::{At, the_client};
use crate::failure::Failure;
use crate::{interrupt, output};
use clap::ValueHint;
use fairdisk_core::{Instant, SECTOR_BYTES, Span};
use fairdisk_lab::time_text;
use fairdisk_mount::control::ControlError;
use fairdisk_mount::identity::Hierarchy;
use fairdisk_plane::kernel_time;
use fairdisk_trace::fdt::Recorder;
use fairdisk_trace::kernel::{DeviceNumber, Kernel, KernelError, Kind};
use fairdisk_trace::{About, Options, Origins, Settings, Source as _, TraceError, enclosing};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Record what programs do on a disk: who asked for what, when it was served and done
///
/// Without DEVICE, what goes to the disk of a mount is recorded, with the threads and groups that
/// ask for it. With DEVICE, what goes to that device under the kernel. Programs never wait for the
/// recording: if it cannot be written fast enough, requests are missing, and counted.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    fairdisk record --for 60s -o load.fdt\n  \
    fairdisk record --at /srv/data --for 10m -o load.fdt\n  \
    fairdisk record /dev/nvme0n1 --for 60s -o load.fdt\n  \
    fairdisk trace load.fdt")]
pub(crate) struct Args {
    /// A block device, as /dev/sda, or a file or directory on one
    #[arg(value_hint = ValueHint::FilePath, conflicts_with = "at")]
    device: Option<PathBuf>,
    #[command(flatten)]
    at: At,
    /// For how long: 500ms, 30s, 2m [default: until Ctrl-C]
    #[arg(
        long = "for", value_name = "TIME", value_parser = time_text::parse,
        allow_negative_numbers = true, allow_hyphen_values = true, value_hint = ValueHint::Other
    )]
    time: Option<Span>,
    /// The file to write, best named .fdt
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: PathBuf,
}

/// Without a time: longer than anybody records.
const FOR_EVER_MS: u64 = 366 * 24 * 3600 * 1000;

/// How often events are fetched and Ctrl-C is looked for.
const LOOK_EACH: Duration = Duration::from_millis(20);

/// A mount that was asked to end its recording sends something at least so often, or hangs up.
const SILENCE_MOST: Span = Span::from_s(5);

/// Reads, and says since when the read lasts that is under way.
struct Heard<R> {
    from: R,
    since: Arc<Mutex<Option<Instant>>>,
}

impl<R: Read> Read for Heard<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let note = |at| *self.since.lock().unwrap_or_else(PoisonError::into_inner) = at;
        note(Some(kernel_time()));
        let read = self.from.read(bytes);
        note(None);
        read
    }
}

/// A recording that ends so much before its time was cut short.
const EARLY: Span = Span::from_ms(500);

/// How often all that was recorded is written, so that it can be read meanwhile.
const WRITE_EACH: Span = Span::from_s(1);

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    match &args.device {
        Some(device) => of_device(args, device)?,
        None => of_mount(args)?,
    }
    say(&args.output)
}

/// What an error of the file with the recording is told as.
fn failed(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |error| Failure::Run(format!("{}: {error}", path.display()))
}

// ---- a mount -------------------------------------------------------------------------------

fn of_mount(args: &Args) -> Result<(), Failure> {
    let ms = args.time.map_or(FOR_EVER_MS, |time| time.as_ns().div_ceil(1_000_000));
    let refused = |error: ControlError| Failure::Run(error.to_string());
    let (recording, socket) = the_client(&args.at)?.record(ms).map_err(refused)?;
    let began = kernel_time();
    let failed = failed(&args.output);
    let mut file = File::create(&args.output).map_err(&failed)?;
    let stop = interrupt::stop_flag()?;
    let is_over = Arc::new(AtomicBool::new(false));
    let (over, stopped) = (Arc::clone(&is_over), Arc::clone(&stop));
    let end = args.time.map(|time| began + time);
    let since = Arc::new(Mutex::new(None::<Instant>));
    let reads = Arc::clone(&since);
    let listener = std::thread::spawn(move || {
        let until = |is_end: &dyn Fn() -> bool| {
            while !over.load(Ordering::Relaxed) && !is_end() {
                fairdisk_plane::pause(LOOK_EACH);
            }
        };
        until(&|| stopped.load(Ordering::Relaxed) || end.is_some_and(|end| kernel_time() > end));
        // The mount then sends what is left, and hangs up.
        let _ = socket.shutdown(Shutdown::Write);
        let asked = kernel_time();
        until(&|| {
            // Time in which the file is written is not the mount's.
            let since = *reads.lock().unwrap_or_else(PoisonError::into_inner);
            since.is_some_and(|since| kernel_time() > since.max(asked) + SILENCE_MOST)
        });
        let hung_up = over.load(Ordering::Relaxed);
        let _ = socket.shutdown(Shutdown::Both);
        hung_up
    });
    let copied =
        io::copy(&mut Heard { from: recording, since }, &mut file).and_then(|_| file.flush());
    is_over.store(true, Ordering::Relaxed);
    let hung_up = listener.join().unwrap_or(true);
    copied.map(drop).map_err(failed)?;
    if !hung_up {
        return Err(Failure::Run(format!(
            "the process of the mount does not answer: is it stopped? What it had sent is in {}",
            args.output.display()
        )));
    }
    let (took, was_stopped) = (kernel_time() - began, stop.load(Ordering::Relaxed));
    let is_short = args.time.is_none_or(|time| took + EARLY < time);
    if is_short && !was_stopped {
        let seconds = took.as_ns() as f64 / 1e9;
        let file = args.output.display();
        return Err(Failure::Run(format!(
            "the mount ended the recording after {seconds:.1} s: it was unmounted, or {file} could \
             not be written for too long; what came until then is there"
        )));
    }
    Ok(())
}

// ---- a device under the kernel -------------------------------------------------------------

/// A whole disk.
struct Disk {
    number: DeviceNumber,
    /// Its name in `/sys/block`.
    name: String,
}

fn of_device(args: &Args, device: &Path) -> Result<(), Failure> {
    let disk = disk_of(device)?;
    let stop = interrupt::stop_flag()?;
    let failed = failed(&args.output);
    let refused = |error: KernelError| Failure::Run(error.to_string());
    let began = kernel_time();
    let mut kernel = Kernel::begin(disk.number, disk.kind(), began).map_err(refused)?;
    let out = BufWriter::new(File::create(&args.output).map_err(&failed)?);
    let mut recorder = Recorder::new(out, &disk.about()).map_err(&failed)?;
    let mut settings = KernelSettings::of(&disk.scheduler());
    let (mut requests, mut lost, mut written) = (Vec::new(), 0, began);
    loop {
        let now = kernel_time();
        let is_over = args.time.is_some_and(|time| now >= began + time);
        let has_ended = is_over || stop.load(Ordering::Relaxed);
        match has_ended {
            true => kernel.finish(|request| requests.push(request)).map_err(refused)?,
            false => kernel.fetch(now, |request| requests.push(request)).map_err(refused)?,
        }
        for request in requests.drain(..) {
            recorder.add(&request, kernel.origins()).map_err(&failed)?;
        }
        let new = settings.of_new(kernel.origins());
        if !new.is_empty() {
            recorder.settings(&new).map_err(&failed)?;
        }
        let missing = kernel.lost().map_err(refused)?;
        if missing > lost {
            recorder.lost(missing - lost).map_err(&failed)?;
            lost = missing;
        }
        if has_ended {
            return recorder.finish().map(drop).map_err(failed);
        }
        if now >= written + WRITE_EACH {
            recorder.flush().map_err(&failed)?;
            written = now;
        }
        fairdisk_plane::pause(LOOK_EACH);
    }
}

/// The settings of the groups that are recorded, as far as schedulers of the kernel have them: each
/// is read when the group is first seen.
struct KernelSettings {
    hierarchy: Option<Hierarchy>,
    is_bfq: bool,
    /// The origins that have been looked at.
    seen: usize,
    known: BTreeSet<String>,
}

impl KernelSettings {
    fn of(scheduler: &str) -> Self {
        let hierarchy = Hierarchy::of_kernel().ok();
        Self { hierarchy, is_bfq: scheduler == "bfq", seen: 0, known: BTreeSet::new() }
    }

    /// Those of groups that are new among the origins, and of the groups around them.
    fn of_new(&mut self, origins: &Origins) -> BTreeMap<String, Settings> {
        let Self { hierarchy, is_bfq, seen, known } = self;
        let new = &origins.all()[*seen..];
        *seen += new.len();
        let paths = new.iter().flat_map(|origin| enclosing(&origin.group));
        let new = paths.filter(|path| known.insert((*path).to_owned()));
        let weight = |path| hierarchy.as_ref()?.weight_under_kernel(path, *is_bfq);
        let settings = |path| Some(Settings::of_weight(weight(path)?));
        new.filter_map(|path| Some((path.to_owned(), settings(path)?))).collect()
    }
}

/// The whole disk of a device, a partition, or a file.
fn disk_of(path: &Path) -> Result<Disk, Failure> {
    let bad = |words: &str| Failure::BadInput(format!("{}: {words}", path.display()));
    let found = path.metadata().map_err(|error| bad(&error.to_string()))?;
    let is_device = found.file_type().is_block_device();
    let number = if is_device { found.rdev() } else { found.dev() };
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let place = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}"));
    let mut place = place.map_err(|_| bad("it is on no block device; name one"))?;
    // The kernel's events are those of the whole disk.
    if place.join("partition").exists() {
        place.pop();
    }
    let text = fs::read_to_string(place.join("dev")).unwrap_or_default();
    let numbers = text.trim().split_once(':').and_then(|(major, minor)| {
        Some(DeviceNumber { major: major.parse().ok()?, minor: minor.parse().ok()? })
    });
    let name = place.file_name().map(|name| name.to_string_lossy().into_owned());
    let (number, name) = numbers.zip(name).ok_or_else(|| bad("its disk is not known"))?;
    Ok(Disk { number, name })
}

impl Disk {
    /// A device with request queues has a directory for them.
    fn kind(&self) -> Kind {
        let has_queues = Path::new("/sys/block").join(&self.name).join("mq").exists();
        if has_queues { Kind::Requests } else { Kind::Stacked }
    }

    fn about(&self) -> About {
        let sectors = self.says("size").parse::<u64>().ok();
        let now = fairdisk_plane::wall_time();
        About {
            tunables: iosched::tunables(&self.scheduler(), |name| {
                self.says(&format!("queue/iosched/{name}"))
            }),
            device_bytes: sectors.map(|sectors| SECTOR_BYTES * sectors),
            ..About::recording(&format!("/dev/{}", self.name), &self.scheduler(), now)
        }
    }

    /// The kernel's scheduler that serves it.
    fn scheduler(&self) -> String {
        fairdisk_kernel::in_use(&self.says("queue/scheduler")).unwrap_or_default()
    }

    /// One of its files in sysfs.
    fn says(&self, file: &str) -> String {
        let text = fs::read_to_string(format!("/sys/block/{}/{file}", self.name));
        text.unwrap_or_default().trim().to_owned()
    }
}

/// Says what was recorded. What went into a pipe is gone.
fn say(path: &Path) -> Result<(), Failure> {
    if !path.metadata().is_ok_and(|found| found.is_file()) {
        return Ok(());
    }
    let bad = |error: TraceError| Failure::Run(error.to_string());
    let mut reader = fairdisk_trace::open(path, &Options::default()).map_err(bad)?;
    let mut requests = 0_u64;
    while reader.next().map_err(bad)?.is_some() {
        requests += 1;
    }
    let lost = match reader.lost() {
        0 => "none lost".to_owned(),
        lost => format!("{lost} lost"),
    };
    let path = path.display();
    output::diagnose(&format!(
        "{requests} requests recorded, {lost}; `fairdisk trace {path}` shows them"
    ));
    Ok(())
}
