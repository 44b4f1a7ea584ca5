//! What speaks against a measurement: looks that differ, others who were busy, figures that make no
//! sense.

use crate::real::Spread;
use fairdisk_core::Times;
use fairdisk_lab::calibrate::SPREAD_MOST;
use fairdisk_plane::pause;
use fairdisk_sim::device::MeasuredParams;
use std::fs;
use std::time::Duration;

/// For how long others are watched before anything is measured.
const WATCHED: Duration = Duration::from_millis(300);
/// The I/Os of others in that time beyond which the disk counts as busy.
const IOS_MOST: u64 = 30;
/// The part of the CPUs' time, in percent, beyond which they do.
const CPU_MOST: u64 = 50;
/// How much slower, in percent, sequential requests may be than others.
const SLOWER_MOST: u64 = 10;

/// What others did before the measurement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Activity {
    /// The I/Os of the disk that were finished.
    ios: u64,
    /// The part of the CPUs' time that was used, in percent.
    cpu_percent: u64,
}

impl Activity {
    /// Watches for a moment what others do on the disk and the CPUs.
    pub(super) fn of_others(disk: &str) -> Self {
        let look = || (ios(disk), cpu());
        let (ios, (idle, all)) = look();
        pause(WATCHED);
        let (ios_after, (idle_after, all_after)) = look();
        let passed = all_after.saturating_sub(all);
        let used = passed.saturating_sub(idle_after.saturating_sub(idle));
        let cpu_percent = (used * 100).checked_div(passed).unwrap_or(0);
        Self { ios: ios_after.saturating_sub(ios), cpu_percent }
    }
}

/// The I/Os that a disk has finished, by /proc/diskstats; zero if it is not there.
fn ios(disk: &str) -> u64 {
    let text = fs::read_to_string("/proc/diskstats").unwrap_or_default();
    let fields = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let of_disk = fields.into_iter().find(|fields| fields.get(2) == Some(&disk));
    let number = |at: usize| of_disk.as_ref()?.get(at)?.parse::<u64>().ok();
    number(3).unwrap_or(0) + number(7).unwrap_or(0)
}

/// The idle time of all CPUs and the whole, by /proc/stat.
fn cpu() -> (u64, u64) {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields = text.lines().next().unwrap_or_default().split_whitespace().skip(1);
    // Guests' time is part of the users'.
    let times: Vec<u64> = fields.take(8).filter_map(|field| field.parse().ok()).collect();
    let idle = times.iter().skip(3).take(2).sum();
    (idle, times.iter().sum())
}

/// The looks that were furthest apart, in words.
pub(super) fn furthest(spreads: &[Spread]) -> Option<String> {
    let Spread { load, percent } = spreads.iter().max_by_key(|spread| spread.percent)?;
    Some(format!("Looks at a load were up to {percent} % apart ({load})"))
}

/// What speaks against the figures of a device.
pub(super) fn doubts(
    before: &Activity,
    spreads: &[Spread],
    device: &MeasuredParams,
) -> Vec<String> {
    let mut doubts = Vec::new();
    if before.ios > IOS_MOST {
        let ms = WATCHED.as_millis();
        doubts.push(format!("others used the disk: {} I/Os in {ms} ms before", before.ios));
    }
    if before.cpu_percent > CPU_MOST {
        doubts.push(format!("others used {} % of the CPUs before", before.cpu_percent));
    }
    for Spread { load, percent } in spreads.iter().filter(|it| it.percent > SPREAD_MOST) {
        doubts.push(format!("looks at {load} were {percent} % apart, four of them; measure again"));
    }
    for (what, times) in [("reads", &device.read), ("writes", &device.write)] {
        doubts.extend(slower(what, times));
    }
    doubts
}

/// That sequential requests are slower than others, which no disk is known to do.
fn slower(what: &str, times: &Times) -> Option<String> {
    let pairs = [
        ("4 KiB", times.sequential, times.random),
        ("256 KiB", times.large_sequential, times.large_random),
    ];
    let slow = pairs.into_iter().find(|(_, sequential, random)| {
        sequential.as_ns() * 100 > random.as_ns() * (100 + SLOWER_MOST)
    });
    let (size, sequential, random) = slow?;
    let (sequential, random) = (sequential.as_ns() / 1000, random.as_ns() / 1000);
    Some(format!(
        "sequential {what} of {size} are slower than random ones, {sequential} and {random} us; \
         measure again while nothing else uses the disk"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Span;
    use fairdisk_sim::device::Pauses;

    fn device(sequential_us: u64) -> MeasuredParams {
        let us = Span::from_us;
        let times = Times {
            sequential: us(10),
            random: us(10),
            large_sequential: us(sequential_us),
            large_random: us(471),
        };
        MeasuredParams {
            capacity_sectors: 1 << 20,
            depth: 32,
            rotational: false,
            read: times,
            write: Times { large_sequential: us(471), ..times },
            qd1: us(100),
            qd2: us(50),
            pauses: Pauses::NONE,
            flush: us(50),
        }
    }

    /// 277.5 MB/s in sequence and 556.3 anywhere, as one noisy second had it.
    #[test]
    fn a_noisy_second_is_doubted() {
        let quiet = Activity::default();
        let spreads = |percent| [Spread { load: "reads".to_owned(), percent }];
        assert_eq!(doubts(&quiet, &spreads(3), &device(471)), [""; 0]);
        let found = doubts(&quiet, &spreads(3), &device(945));
        assert!(found[0].starts_with("sequential reads of 256 KiB are slower"), "{found:?}");
        let found = doubts(&quiet, &spreads(25), &device(471));
        assert!(found[0].contains("25 % apart"), "{found:?}");
        let busy = Activity { ios: 500, cpu_percent: 90 };
        let found = doubts(&busy, &spreads(3), &device(471));
        assert!(found[0].contains("500 I/Os") && found[1].contains("90 %"), "{found:?}");
        assert!(furthest(&spreads(7)).is_some_and(|words| words.contains("7 % apart (reads)")));
    }
}
