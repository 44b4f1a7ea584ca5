//! What a program says about the replay of a trace.

use fairdisk_core::{QosKey, Span, Weight};
use fairdisk_lab::plan::{Replay, ReplayPace};
use fairdisk_lab::spec::SpecError;
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// The object `Replay` of the package, its types checked there.
#[derive(FromPyObject)]
pub(crate) struct Given {
    pace: Option<String>,
    window_s: Option<(f64, f64)>,
    rename: BTreeMap<String, String>,
    drop: Vec<String>,
    scale: BTreeMap<String, u32>,
    weight: BTreeMap<String, u32>,
    limit: BTreeMap<String, BTreeMap<String, Option<String>>>,
}

impl Given {
    /// As plans take it.
    pub(crate) fn replay(&self) -> Result<Replay, SpecError> {
        let pace = |name: &String| {
            let known = ReplayPace::ALL.iter().find(|(one, _)| one == name);
            known.map(|(_, pace)| *pace).ok_or_else(|| {
                let names = ReplayPace::ALL.map(|(one, _)| one).join(", ");
                SpecError::new(format!("`pace`: {name}; expected one of {names}"))
            })
        };
        let weight = |(group, weight): (&String, &u32)| match Weight::new(*weight) {
            Some(weight) => Ok((group.clone(), weight)),
            None => {
                Err(SpecError::new(format!("`weight`: {weight} of {group}; expected 1 to 10000")))
            }
        };
        let limits = self.limit.iter().flat_map(|(group, limits)| {
            limits.iter().map(move |(key, value)| limit(group, key, value.as_deref()))
        });
        let span = |seconds: f64| Span::from_ns((seconds * 1e9) as u64);
        Ok(Replay {
            pace: self.pace.as_ref().map(pace).transpose()?,
            window: self.window_s.map(|(from, to)| (span(from), span(to))),
            renamed: self.rename.clone().into_iter().collect(),
            dropped: self.drop.clone(),
            scaled: self.scale.clone().into_iter().collect(),
            weights: self.weight.iter().map(weight).collect::<Result<_, _>>()?,
            limits: limits.collect::<Result<_, _>>()?,
        })
    }
}

fn limit(
    group: &str,
    name: &str,
    value: Option<&str>,
) -> Result<(String, QosKey, Option<u64>), SpecError> {
    let key = QosKey::named(name).ok_or_else(|| {
        let known = QosKey::ALL.map(QosKey::name).join(", ");
        SpecError::new(format!("`limit`: no setting `{name}`; expected one of {known}"))
    })?;
    let number = value.map(|value| {
        let words = key.notation().words;
        let wrong = || SpecError::new(format!("`{name}`: {value}; expected {words}, or None"));
        key.parse(value).ok_or_else(wrong)
    });
    Ok((group.to_owned(), key, number.transpose()?))
}
