//! What a sweep runs, as its file says it.

use crate::design::{Axis, Point, Setting, points};
use fairdisk_core::Span;
use fairdisk_lab::catalog::overrides::{Override, of_name};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::spec::{self, SpecError};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// A sweep as a file or a program defines it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// The load: an experiment's id, or the path of a file.
    pub spec: String,
    /// The text of the load, if `spec` is only its name.
    pub text: Option<String>,
    /// The seeds of each point: how many from 0 on, or which.
    #[serde(default)]
    pub seeds: Seeds,
    /// How long each run lasts, in seconds, if not as the load says.
    pub duration_s: Option<f64>,
    /// Changes of single values in all points, each `KEY=VALUE`.
    #[serde(default)]
    pub set: Vec<String>,
    /// Whether a job file is run without what is not supported of it.
    #[serde(default)]
    pub approximate: bool,
    /// How points are chosen from the values in `over`.
    #[serde(default)]
    pub design: Design,
    /// The number of points of a random design.
    pub samples: Option<u32>,
    /// The seed from which a random design is drawn.
    #[serde(default)]
    pub design_seed: u64,
    /// What changes from point to point, and its values: `scheduler` and `device`, each a name or
    /// `NAME[KEY=VALUE;KEY=VALUE]`, `arm`, `row`, or any key of `--set`.
    #[serde(default)]
    pub over: BTreeMap<String, Axis>,
    /// The points of a list, each with its values.
    #[serde(default, rename = "point")]
    pub points: Vec<BTreeMap<String, toml::Value>>,
}

/// The seeds of each point.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected how many seeds, or a list of them")]
pub enum Seeds {
    /// As many from 0 on.
    Count(u32),
    /// These.
    Each(Vec<u32>),
}

impl Default for Seeds {
    fn default() -> Self {
        Self::Count(1)
    }
}

impl Seeds {
    fn count(&self) -> usize {
        match self {
            Self::Count(count) => *count as usize,
            Self::Each(each) => each.len(),
        }
    }

    pub(crate) fn all(&self) -> Vec<u32> {
        match self {
            Self::Count(count) => (0..*count).collect(),
            Self::Each(each) => each.clone(),
        }
    }
}

/// How points are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Every combination of the values; beside it the listed points.
    #[default]
    Grid,
    /// Each value drawn on its own.
    Random,
    /// Drawn so that each part of a range has its point.
    LatinHypercube,
}

/// What is wrong with the definition of a sweep.
pub type SweepError = SpecError;

/// The most runs of a sweep.
const RUNS_MOST: usize = 10_000_000;

/// The keys that choose whole files, arms or rows; others change a value.
const CHOICES: [&str; 4] = ["scheduler", "device", "arm", "row"];

impl Definition {
    /// Reads the definition `text` of the file `path`.
    ///
    /// # Errors
    /// Returns what is wrong with it, and the line.
    pub fn parse(path: &str, text: &str) -> Result<Self, SweepError> {
        toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = text.get(..at).map_or(1, |before| before.matches('\n').count() + 1);
            let fault = fault(error.message());
            SweepError {
                message: format!("{path}:{line}: {}", fault.message),
                file: Some(path.to_owned()),
                line: Some(line),
                ..fault
            }
        })
    }

    /// Reads the definition as JSON.
    ///
    /// # Errors
    /// Returns what is wrong with it.
    pub fn of_json(text: &str) -> Result<Self, SweepError> {
        serde_json::from_str(text).map_err(|error| fault(&error.to_string()))
    }

    /// The points of the sweep.
    ///
    /// # Errors
    /// Returns what is wrong with a key or its values, before anything is run.
    pub(crate) fn points(&self) -> Result<Vec<Point>, SweepError> {
        let bad = |message: String| SweepError::new(message);
        let points = points(self).map_err(bad)?;
        let points: Vec<Point> =
            points.into_iter().map(|point| point.into_iter().flat_map(apart).collect()).collect();
        for Setting { key, value } in points.iter().flatten() {
            if !CHOICES.contains(&key.as_str()) {
                Override::given("over", &format!("{key}={value}")).map_err(bad)?;
            }
        }
        match self.seeds.count() {
            0 => return Err(bad("`seeds`: there are none; expected 1 or more".to_owned())),
            seeds if seeds.saturating_mul(points.len()) > RUNS_MOST => {
                let message = format!("`seeds`: {seeds} of {} points", points.len());
                return Err(bad(format!("{message}; expected up to {RUNS_MOST} runs")));
            }
            _ => {}
        }
        if self.duration_s.is_some_and(|it| !(1e-6..=3.6e6).contains(&it)) {
            return Err(bad("`duration_s`: expected more than nothing, at most 1000 h".to_owned()));
        }
        Ok(points)
    }

    /// The plan of a point.
    ///
    /// # Errors
    /// The load cannot be planned with these values.
    pub(crate) fn plan(&self, point: &Point) -> Result<Plan, SweepError> {
        let options = self.options(point)?;
        match &self.text {
            Some(text) => spec::load_text(&self.spec, text, &options),
            None => spec::load(&self.spec, &options),
        }
    }

    fn options(&self, point: &Point) -> Result<Options, SweepError> {
        let chosen = |what: &str| {
            point.iter().filter(|it| it.key == what).map(|it| it.value.clone()).collect::<Vec<_>>()
        };
        let own = point.iter().filter(|it| !CHOICES.contains(&it.key.as_str()));
        let own = own.map(|it| ("over", it.to_string()));
        let common = self.set.iter().map(|text| ("set", text.clone()));
        let overrides = common.chain(own).map(|(option, text)| Override::given(option, &text));
        let overrides: Vec<Override> =
            overrides.collect::<Result<_, _>>().map_err(SweepError::new)?;
        Override::demand_once(&overrides).map_err(|(_, message)| SweepError::new(message))?;
        Ok(Options {
            schedulers: chosen("scheduler"),
            device: chosen("device").pop(),
            arms: chosen("arm"),
            rows: chosen("row"),
            duration: self.duration_s.map(|it| Span::from_ns((it * 1e9) as u64)),
            overrides,
            approximates: self.approximate,
            ..Options::default()
        })
    }
}

/// A fault of the text, with the remedy of one that lacks its load.
fn fault(message: &str) -> SweepError {
    let is_empty = message.starts_with("missing field `spec`");
    let remedy = if is_empty { "; expected a load, as spec = \"two-groups\"" } else { "" };
    SweepError::new(format!("{message}{remedy}"))
}

/// A device with changes, `NAME[KEY=VALUE;KEY=VALUE]`, as its name and the change of each value.
fn apart(Setting { key, value }: Setting) -> Vec<Setting> {
    if key != "device" {
        return vec![Setting { key, value }];
    }
    let (name, changes) = of_name(&value);
    let change = |change: &str| {
        let (key, value) = change.split_once('=').unwrap_or((change, ""));
        Setting { key: format!("device.{}", key.trim()), value: value.trim().to_owned() }
    };
    let name = Setting { key, value: name.to_owned() };
    [name].into_iter().chain(changes.map(change)).collect()
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points_of(text: &str) -> Vec<String> {
        let definition = Definition::parse("x.toml", text).expect("it is well-formed");
        let points = definition.points().expect("it is right");
        points.iter().map(|point| crate::design::label(point)).collect()
    }

    #[test]
    fn a_device_with_changes_is_its_name_and_a_change_of_each_value() {
        let text = "spec = \"two-groups\"\n[over]\n\
                    device = [\"nvme\", \"hdd-ncq[rpm=5400; queue.depth=4]\"]";
        let expected = ["device=nvme", "device=hdd-ncq device.rpm=5400 device.queue.depth=4"];
        assert_eq!(points_of(text), expected);
    }

    #[test]
    fn a_definition_without_a_load_is_told_how_one_is_written() {
        for error in [Definition::parse("x.toml", "").err(), Definition::of_json("{}").err()] {
            let error = error.expect("it has no load");
            assert_eq!(error.key.as_deref(), Some("spec"), "{error}");
            let remedy = error.remedy.as_deref().unwrap_or_default();
            assert!(remedy.contains("spec = \"two-groups\""), "{error:?}");
        }
    }
}
