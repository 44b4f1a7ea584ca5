//! When a disk has come to rest. What was written last may keep it busy long after `sync` has
//! returned: a disk, or the host of a virtual one, has a cache. As long as that lasts, `fsync`
//! takes many times as long, and whoever is measured next would pay for whoever was measured
//! before. Meanwhile nothing of ours runs, so that what others take of the CPUs is seen, too.

use fairdisk_plane::{Clock as _, MonotonicClock, pause};
use std::fs::{File, read_to_string};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Duration;

/// How many times `fsync` is tried before its time is believed.
const PROBES: u64 = 16;
/// A disk at rest takes at most so many times as long as the least that was seen.
const AT_REST: u64 = 2;
/// Between two looks, and how many at most: the disk may have become slower for good.
const PAUSE: Duration = Duration::from_millis(100);
const LOOKS: u32 = 12;

/// A file on the disk, by which that is seen.
pub(super) struct Calm {
    probe: File,
    clock: MonotonicClock,
    least_ns: u64,
    others: CpuTime,
}

impl Calm {
    pub(super) fn new(probe: &Path) -> io::Result<Self> {
        let mut calm = Self {
            probe: File::create(probe)?,
            clock: MonotonicClock::start(),
            least_ns: u64::MAX,
            others: CpuTime::default(),
        };
        calm.least_ns = calm.fsync_ns()?;
        Ok(calm)
    }

    /// How long writing a block takes now until it is durable.
    fn fsync_ns(&self) -> io::Result<u64> {
        let mut times = Vec::new();
        for at in 0..PROBES {
            let before = self.clock.now();
            self.probe.write_all_at(&[at as u8; 4096], 0)?;
            self.probe.sync_data()?;
            times.push((self.clock.now() - before).as_ns());
        }
        times.sort_unstable();
        Ok(times[times.len() / 2])
    }

    /// Waits until the disk is at rest, for one or two seconds at most.
    pub(super) fn wait(&mut self) -> io::Result<()> {
        let before = CpuTime::now();
        for _ in 0..LOOKS {
            let now_ns = self.fsync_ns()?;
            self.least_ns = self.least_ns.min(now_ns);
            if now_ns <= AT_REST * self.least_ns {
                break;
            }
            pause(PAUSE);
        }
        self.others.add(&before, &CpuTime::now());
        Ok(())
    }

    /// How much of the CPUs others have taken meanwhile, in percent.
    pub(super) fn others_percent(&self) -> f64 {
        100.0 * self.others.busy as f64 / self.others.all.max(1) as f64
    }
}

/// Ticks of all CPUs.
#[derive(Default)]
struct CpuTime {
    busy: u64,
    all: u64,
}

impl CpuTime {
    fn now() -> Self {
        Self::of(&read_to_string("/proc/stat").unwrap_or_default())
    }

    /// Of the first line of the kernel's account: user, nice, system, idle, waiting for I/O, …
    fn of(stat: &str) -> Self {
        let line = stat.lines().next().unwrap_or_default();
        let ticks: Vec<u64> =
            line.split_whitespace().skip(1).take(8).filter_map(|word| word.parse().ok()).collect();
        let all = ticks.iter().sum();
        Self { busy: all - ticks.iter().skip(3).take(2).sum::<u64>(), all }
    }

    fn add(&mut self, before: &Self, after: &Self) {
        self.busy += after.busy - before.busy;
        self.all += after.all - before.all;
    }
}

#[test]
fn idle_cpus_are_told_from_busy_ones() {
    let before = CpuTime::of("cpu  10 0 10 70 10 0 0 0 5 5\ncpu0 1");
    let after = CpuTime::of("cpu  30 10 20 120 20 0 0 0 9 9\ncpu0 1");
    let mut others = CpuTime::default();
    others.add(&before, &after);
    assert_eq!((others.busy, others.all), (40, 100));
}
