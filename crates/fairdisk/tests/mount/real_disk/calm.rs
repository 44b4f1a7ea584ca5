//! When a disk has come to rest. What was written last may keep it busy long after `sync` has
//! returned: a disk, or the host of a virtual one, has a cache. As long as that lasts, `fsync` takes
//! many times as long, and whoever is measured next would pay for whoever was measured before.

use fairdisk_plane::{Clock as _, MonotonicClock, pause};
use std::fs::File;
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
}

impl Calm {
    pub(super) fn new(probe: &Path) -> io::Result<Self> {
        let mut calm = Self {
            probe: File::create(probe)?,
            clock: MonotonicClock::start(),
            least_ns: u64::MAX,
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
        for _ in 0..LOOKS {
            let now_ns = self.fsync_ns()?;
            self.least_ns = self.least_ns.min(now_ns);
            if now_ns <= AT_REST * self.least_ns {
                break;
            }
            pause(PAUSE);
        }
        Ok(())
    }
}
