//! The figures of runs of the lab, kept in the file of `--resume`.

use crate::failure::Failure;
use crate::kept_runs::KeptRuns;
use fairdisk_lab::sweep::{Forgetful, Keeper, Measured};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The figures of runs, in the file of `--resume` if there is one.
pub(crate) struct KeptFigures(Option<Runs>);

struct Runs {
    kept: KeptRuns,
    known: BTreeMap<(String, u32), Measured>,
}

impl KeptFigures {
    /// Opens or creates the file.
    ///
    /// # Errors
    /// It cannot be read or written, or `--resume` did not make it.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Self(None)) };
        let (known, kept) = KeptRuns::open(path)?;
        let known = known.into_iter().filter_map(|(question, run)| {
            let (seed, measured) = read(&run)?;
            Some(((question, seed), measured))
        });
        Ok(Self(Some(Runs { known: known.collect(), kept })))
    }

    /// What keeps runs there, or forgets them.
    pub(crate) fn keeper(&self) -> &dyn Keeper {
        self.0.as_ref().map_or(&Forgetful, |runs| runs)
    }

    /// Closes the file.
    ///
    /// # Errors
    /// A run could not be saved.
    pub(crate) fn close(self) -> Result<(), Failure> {
        self.0.map_or(Ok(()), |runs| runs.kept.close())
    }
}

/// The seed of a run and what it had.
fn read(run: &Value) -> Option<(u32, Measured)> {
    let seed = u32::try_from(run["seed"].as_u64()?).ok()?;
    let value = |value: &Value| match value {
        Value::Null => Some(None),
        value => Some(Some(value.as_str()?.parse().ok()?)),
    };
    let values = run["values"].as_array()?.iter().map(value);
    Some((seed, values.collect::<Option<Measured>>()?))
}

impl Keeper for Runs {
    fn known(&self, identity: &str, seed: u32) -> Option<Measured> {
        self.known.get(&(self.kept.question(identity), seed)).cloned()
    }

    fn keep(&self, identity: &str, seed: u32, measured: &Measured) {
        // As text, since a JSON reader may not preserve the last bit of a floating-point number.
        let values: Vec<Option<String>> =
            measured.iter().map(|value| value.map(|value| value.to_string())).collect();
        let run = json!({ "seed": seed, "values": values });
        self.kept.keep(&self.kept.question(identity), run);
    }
}
