//! The runs of an investigation in the file of `--resume`.

use crate::failure::Failure;
use crate::kept_runs::KeptRuns;
use fairdisk_lab::blame::{FactorSet, Sample};
use serde_json::{Value, json};
use std::path::Path;

/// The open `--resume` file of one investigation, whose question is the load, both sides and the
/// metric.
pub(super) struct State {
    kept: KeptRuns,
    question: String,
}

/// An earlier run: its mixture, its seed and its result.
type Known = (FactorSet, u32, Sample);

impl State {
    /// Opens or creates the file. Returns the runs in it that belong to the same question.
    ///
    /// # Errors
    /// The file cannot be read or written, or `--resume` did not make it.
    pub(super) fn open(path: &Path, identity: &str) -> Result<(Vec<Known>, Self), Failure> {
        let (known, kept) = KeptRuns::open(path)?;
        let question = kept.question(identity);
        let mine = known.iter().filter(|(asked, _)| *asked == question);
        let mine = mine.filter_map(|(_, run)| read(run)).collect();
        Ok((mine, Self { kept, question }))
    }

    /// Appends a run.
    pub(super) fn keep(&self, set: FactorSet, seed: u32, sample: Sample) {
        let run = json!({
            "mixture": set.to_string(),
            "seed": seed,
            // As text, since a JSON reader may not preserve the last bit of a floating-point
            // number.
            "value": sample.value.to_string(),
            "trace": sample.trace.map(|trace| format!("{trace:016x}")),
        });
        self.kept.keep(&self.question, run);
    }

    /// Closes the file.
    ///
    /// # Errors
    /// A run could not be saved.
    pub(super) fn close(self) -> Result<(), Failure> {
        self.kept.close()
    }
}

fn read(run: &Value) -> Option<Known> {
    let set = FactorSet::parse(run["mixture"].as_str()?)?;
    let seed = u32::try_from(run["seed"].as_u64()?).ok()?;
    let trace = match &run["trace"] {
        Value::Null => None,
        trace => Some(u64::from_str_radix(trace.as_str()?, 16).ok()?),
    };
    let sample = Sample { value: run["value"].as_str()?.parse().ok()?, trace };
    Some((set, seed, sample))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_kept_for_their_question_alone_and_exactly() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        let set = FactorSet::first(3);
        let sample = Sample { value: 0.1 + 0.2, trace: Some(u64::MAX) };
        let (known, state) = State::open(&path, "this").expect("it is made");
        assert!(known.is_empty());
        state.keep(set, 2, sample);
        state.close().expect("it is written");
        let (known, _) = State::open(&path, "this").expect("it opens");
        assert_eq!(known, [(set, 2, sample)]);
        let (known, _) = State::open(&path, "that").expect("it opens");
        assert!(known.is_empty());
    }
}
