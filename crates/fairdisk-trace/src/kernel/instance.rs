//! A tracefs instance: its own ring buffers, with the events of one device.

use super::DeviceNumber;
use super::layout::Layout;
use rustix::fs::{Mode, OFlags};
use rustix::mount::{MountFlags, mount};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

/// Where tracefs is mounted, by kernels with a directory for it.
const TRACEFS: &str = "/sys/kernel/tracing";

/// The size of each ring buffer: about a second of 30,000 requests on one CPU.
const RING_KIB: u32 = 8192;

/// The longest page of a ring buffer that kernels have.
const PAGE_BYTES_MOST: usize = 64 << 10;

/// Why the kernel cannot be asked.
#[derive(Debug)]
pub enum KernelError {
    /// Only root may.
    NotRoot,
    /// It has no tracefs, or no block tracepoints.
    Missing(PathBuf),
    /// Something of tracefs cannot be read or written.
    Io(PathBuf, io::Error),
    /// An event is described in a way that is not understood.
    Strange(PathBuf),
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRoot => f.write_str("only root may record a device under the kernel"),
            Self::Missing(path) => write!(
                f,
                "{} is missing: this kernel has no block tracepoints, or does not show them here; \
                 a mount can be recorded with --at",
                path.display()
            ),
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Strange(path) => {
                write!(f, "{}: the event has not the fields that it should have", path.display())
            }
        }
    }
}

impl std::error::Error for KernelError {}

/// An instance, removed when dropped.
#[derive(Debug)]
pub(super) struct Instance {
    place: PathBuf,
    rings: Vec<(PathBuf, File)>,
    page: Vec<u8>,
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> KernelError {
    |error| match error.kind() {
        ErrorKind::PermissionDenied => KernelError::NotRoot,
        ErrorKind::NotFound => KernelError::Missing(path.to_owned()),
        _ => KernelError::Io(path.to_owned(), error),
    }
}

/// Removes instances of processes that were killed. Tracing would go on in them.
fn sweep(instances: &Path) {
    for entry in fs::read_dir(instances).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix("fairdisk-"));
        let Some(process) = process.and_then(|process| process.parse::<u32>().ok()) else {
            continue;
        };
        let is_own = process == std::process::id();
        if is_own || !Path::new(&format!("/proc/{process}")).exists() {
            let _ = fs::write(entry.path().join("tracing_on"), "0");
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn write(path: PathBuf, text: &str) -> Result<(), KernelError> {
    fs::write(&path, text).map_err(failed(&path))
}

impl Instance {
    /// An instance with these events of the device, which do not come before it is started.
    pub(super) fn new<'a>(
        device: DeviceNumber,
        events: impl Iterator<Item = &'a str>,
    ) -> Result<Self, KernelError> {
        let root = Path::new(TRACEFS);
        let instances = root.join("instances");
        if !instances.exists() {
            let mounted = mount("tracefs", root, "tracefs", MountFlags::empty(), None);
            mounted.map_err(|error| failed(root)(error.into()))?;
        }
        sweep(&instances);
        let place = instances.join(format!("fairdisk-{}", std::process::id()));
        fs::create_dir(&place).map_err(failed(&place))?;
        let mut new = Self { place, rings: Vec::new(), page: vec![0; PAGE_BYTES_MOST] };
        write(new.place.join("tracing_on"), "0")?;
        write(new.place.join("trace_clock"), "mono")?;
        write(new.place.join("buffer_size_kb"), &RING_KIB.to_string())?;
        for event in events {
            let at = new.place.join("events/block").join(event);
            let number = device.major << 20 | device.minor;
            write(at.join("filter"), &format!("dev == {number}"))?;
            write(at.join("enable"), "1")?;
        }
        new.open_rings()?;
        Ok(new)
    }

    fn open_rings(&mut self) -> Result<(), KernelError> {
        let cpus = self.place.join("per_cpu");
        for entry in fs::read_dir(&cpus).map_err(failed(&cpus))? {
            let path = entry.map_err(failed(&cpus))?.path().join("trace_pipe_raw");
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let ring = rustix::fs::open(&path, flags, Mode::empty());
            let ring = ring.map_err(|error| failed(&path)(error.into()))?;
            self.rings.push((path, File::from(ring)));
        }
        Ok(())
    }

    /// Where the fields of an event are.
    pub(super) fn layout(&self, event: &str) -> Result<Layout, KernelError> {
        let path = self.place.join("events/block").join(event).join("format");
        let text = fs::read_to_string(&path).map_err(failed(&path))?;
        Layout::parse(&text).ok_or(KernelError::Strange(path))
    }

    pub(super) fn start(&self) -> Result<(), KernelError> {
        write(self.place.join("tracing_on"), "1")
    }

    pub(super) fn stop(&self) -> Result<(), KernelError> {
        write(self.place.join("tracing_on"), "0")
    }

    /// Reads all pages that have something, one after another.
    pub(super) fn read(&mut self, mut with: impl FnMut(&[u8])) -> Result<(), KernelError> {
        for (path, ring) in &mut self.rings {
            loop {
                match ring.read(&mut self.page) {
                    Ok(0) => break,
                    Ok(length) => with(&self.page[..length]),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(KernelError::Io(path.clone(), error)),
                }
            }
        }
        Ok(())
    }

    /// The events that had no room so far.
    pub(super) fn lost(&self) -> Result<u64, KernelError> {
        let mut lost = 0;
        for (path, _) in &self.rings {
            let path = path.with_file_name("stats");
            let text = fs::read_to_string(&path).map_err(failed(&path))?;
            let of = |name: &str| {
                let line = text.lines().find_map(|line| line.strip_prefix(name));
                line.and_then(|number| number.trim().parse::<u64>().ok()).unwrap_or(0)
            };
            lost += of("overrun:") + of("dropped events:");
        }
        Ok(lost)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.rings.clear();
        // Without it nothing would be recorded any more, but its memory would be kept.
        let _ = self.stop();
        let _ = fs::remove_dir(&self.place);
    }
}
