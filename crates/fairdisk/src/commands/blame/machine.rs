//! What speaks against figures of real runs: the state of the machine, and values far from others.

use fairdisk_lab::blame::Findings;
use std::fs;
use std::num::NonZero;
use std::thread;

/// The state of the machine at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct State {
    /// What sets the speed of the first CPU; empty where that is not told.
    governor: String,
    /// How many tasks wanted a CPU in the last minute, on average.
    load: f64,
    cpus: usize,
}

impl State {
    /// The state now, as far as the kernel tells it.
    pub(super) fn now() -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let load = text("/proc/loadavg");
        Self {
            governor: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            load: load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0),
            cpus: thread::available_parallelism().map_or(1, NonZero::get),
        }
    }

    /// What of it makes runs differ, in sentences.
    fn doubts(&self) -> impl Iterator<Item = String> {
        let Self { governor, load, cpus } = self;
        let is_steady = governor.is_empty() || governor == "performance";
        let speed = (!is_steady).then(|| {
            format!("The governor of the CPUs is `{governor}`, with which their speed changes.")
        });
        let is_busy = *load > BUSY * *cpus as f64;
        let busy = is_busy.then(|| {
            format!("The load was {load:.1} on {cpus} CPUs before the runs: others were busy.")
        });
        speed.into_iter().chain(busy)
    }
}

/// The part of the CPUs that others may use.
const BUSY: f64 = 0.5;
/// How many times the usual distance from the median makes an outlier. The usual distance is the
/// median one; of values that are spread normally, it is 0.674 of the standard deviation.
const FAR: f64 = 10.0 / 0.674;
/// The least values of a mixture among which there can be an outlier.
const VALUES_LEAST: usize = 4;

/// What speaks against the findings, in sentences.
pub(super) fn doubts(before: &State, findings: &Findings, lower_is_better: bool) -> Vec<String> {
    let (outliers, values) = findings
        .mixtures
        .iter()
        .fold((0, 0), |(far, all), (_, values)| (far + outliers(values), all + values.len()));
    let outliers = (outliers > 0).then(|| {
        format!(
            "{outliers} of {values} values are far from others of their mixture: something else \
             was at work. A quieter machine, --warmup or more --seeds helps."
        )
    });
    let ends = findings.ends.as_ref().filter(|ends| ends.differ && lower_is_better);
    let swapped = ends.filter(|ends| ends.whole() < 0.0).map(|_| {
        "Lower is better, and the bad end is lower: are good and bad values swapped?".to_owned()
    });
    before.doubts().chain(outliers).chain(swapped).collect()
}

/// How many values are far from the median.
fn outliers(values: &[f64]) -> usize {
    if values.len() < VALUES_LEAST {
        return 0;
    }
    let middle = median(values.to_vec());
    let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    let usual = median(distances.clone());
    distances.iter().filter(|distance| usual > 0.0 && **distance > FAR * usual).count()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let [low, high] = [(values.len() - 1) / 2, values.len() / 2].map(|at| values[at]);
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_far_from_all_others_is_an_outlier() {
        assert_eq!(outliers(&[10.0, 10.1, 9.9, 10.2, 9.8, 30.0]), 1);
        assert_eq!(outliers(&[10.0, 10.1, 9.9, 10.2, 9.8, 11.0]), 0);
        assert_eq!(outliers(&[1.0, 2.0, 300.0]), 0, "too few to say");
        assert_eq!(outliers(&[5.0; 9]), 0, "the command always prints the same");
    }

    #[test]
    fn a_machine_that_is_busy_or_changes_its_speed_is_told() {
        let state = |governor: &str, load| State { governor: governor.to_owned(), load, cpus: 2 };
        let doubts = |state: State| state.doubts().count();
        assert_eq!(doubts(state("performance", 0.3)), 0);
        assert_eq!(doubts(state("", 0.9)), 0);
        assert_eq!(doubts(state("powersave", 4.0)), 2);
    }
}
