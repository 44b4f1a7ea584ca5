//! The behaviour of clones on average, for jobs with randomness.

use crate::done::{self, Done};
use crate::fio;

/// Clones of each job, under fio and in the lab.
const CLONES: usize = 16;
/// Jobs per run of fio, few enough for their files to fit into a small memory.
const JOBS: usize = 20;

/// Means that differ by more than this many standard errors do not differ by chance.
const SIGMAS: f64 = 4.5;

/// The jobs, each given as settings separated by blanks, that differ by more than chance.
pub(crate) fn differences(name: &str, jobs: &[String]) -> Vec<String> {
    let scratch = fio::Scratch::in_memory(name);
    let mut found = Vec::new();
    for jobs in jobs.chunks(JOBS) {
        let text = done::sections(jobs.iter().flat_map(|job| [job; CLONES]));
        let (fio, us) = (done::by_fio(&scratch, &text), done::by_us(&text));
        let clones = fio.chunks(CLONES).zip(us.chunks(CLONES));
        for (job, (fio, us)) in jobs.iter().zip(clones) {
            let off = Average::of(fio).differences(&Average::of(us));
            if !off.is_empty() {
                found.push(format!("{job}\n    {}", off.join("\n    ")));
            }
        }
    }
    found
}

/// The mean of every measure, and its standard error.
struct Average(Vec<(&'static str, f64, f64)>);

impl Average {
    fn of(clones: &[Done]) -> Self {
        let measures: Vec<_> = clones.iter().map(Done::measures).collect();
        let count = clones.len() as f64;
        let measure = |at: usize| {
            let (name, _) = measures[0][at];
            let values = || measures.iter().map(|measures| measures[at].1);
            let mean = values().sum::<f64>() / count;
            let square = values().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
            // The standard error of the mean.
            (name, mean, (square / count).sqrt())
        };
        Self((0..measures[0].len()).map(measure).collect())
    }

    /// The measures that differ by more than chance.
    fn differences(&self, other: &Self) -> Vec<String> {
        let pairs = self.0.iter().zip(&other.0);
        let off = pairs.filter(|((_, mean, error), (_, other, other_error))| {
            (mean - other).abs() > SIGMAS * error.hypot(*other_error)
        });
        off.map(|((name, mean, error), (_, other, other_error))| {
            format!("{name}: fio {mean:.2} ± {error:.2}, lab {other:.2} ± {other_error:.2}")
        })
        .collect()
    }
}
