//! From values of keys to points: every combination, or samples of ranges.

use crate::definition::{Definition, Design};
use fairdisk_core::Prng;
use fairdisk_lab::sweep::values_of;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use toml::Value;

/// The most points of a sweep; more are a mistake in a step.
const POINTS_MOST: usize = 1_000_000;

/// A key and its value in a point. Formats as `KEY=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key.
    pub key: String,
    /// The value, as `--set` takes it.
    pub value: String,
}

/// What is changed in a point, in the order of keys.
pub type Point = Vec<Setting>;

/// A point as people write it: its settings, apart by spaces.
pub(crate) fn label(point: &[Setting]) -> String {
    point.iter().map(Setting::to_string).collect::<Vec<_>>().join(" ")
}

/// The values of a key.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a list of values, a text `FROM..TO+STEP`, or a table with `from` and `to`"
)]
pub enum Axis {
    /// These.
    List(Vec<Value>),
    /// Those of `FROM..TO+STEP` or `VALUE,VALUE`.
    Text(String),
    /// A range to draw from.
    Range(Range),
}

/// A range of numbers.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The least.
    pub from: f64,
    /// The most.
    pub to: f64,
    /// Whether only whole numbers are meant.
    #[serde(default)]
    pub whole: bool,
    /// Whether equal ratios are equally likely, and not equal differences.
    #[serde(default)]
    pub log: bool,
}

impl Range {
    /// The number at `part` of the way, 0 to 1.
    fn at(self, part: f64) -> String {
        let number = match self.log {
            true => self.from * (self.to / self.from).powf(part),
            false => self.from + (self.to - self.from) * part,
        };
        if self.whole { format!("{:.0}", number.round()) } else { format!("{number}") }
    }

    fn demand_whole(self, key: &str) -> Result<(), String> {
        let Self { from, to, log, .. } = self;
        if !(from.is_finite() && to.is_finite() && from <= to) {
            return Err(format!("`{key}`: {from} to {to}; expected the smaller number first"));
        }
        if log && from <= 0.0 {
            return Err(format!("`{key}`: ratios need `from` above 0; raise it or drop `log`"));
        }
        Ok(())
    }
}

/// A value as `--set` takes it.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Axis {
    /// The values, of which there is a list.
    fn values(&self, key: &str) -> Result<Vec<String>, String> {
        let values = match self {
            Self::List(values) => values.iter().map(text).collect(),
            Self::Text(text) => values_of(text).map_err(|error| format!("`{key}`: {error}"))?,
            Self::Range(_) => {
                return Err(format!(
                    "`{key}`: a grid needs a list or FROM..TO+STEP; expected that, or a design \
                     that is random or latin-hypercube"
                ));
            }
        };
        match values.is_empty() {
            true => Err(format!("`{key}`: there is no value; expected one or more")),
            false => Ok(values),
        }
    }

    /// The value at `part` of the way, 0 to 1, of a list or a range.
    fn at(&self, key: &str, part: f64) -> Result<String, String> {
        match self {
            Self::Range(range) => range.demand_whole(key).map(|()| range.at(part)),
            _ => {
                let mut values = self.values(key)?;
                let at = ((part * values.len() as f64) as usize).min(values.len() - 1);
                Ok(values.swap_remove(at))
            }
        }
    }
}

/// All points of a definition.
pub(crate) fn points(definition: &Definition) -> Result<Vec<Point>, String> {
    let points = match (definition.design, definition.samples) {
        (Design::Grid, Some(_)) => {
            return Err("`samples`: a grid has all; expected a design that is random or \
                        latin-hypercube"
                .to_owned());
        }
        (Design::Grid, None) => listed(definition, grid(&definition.over)?),
        (_, None | Some(0)) => {
            return Err("`samples` is missing; expected how many points to draw".to_owned());
        }
        _ if definition.over.is_empty() => {
            return Err("`over` is empty; expected values or ranges to draw from".to_owned());
        }
        _ if !definition.points.is_empty() => {
            return Err(
                "`point`: only a grid has listed points; drop them, or the design".to_owned()
            );
        }
        (_, Some(samples)) if samples as usize > POINTS_MOST => {
            return Err(format!("`samples`: {samples}; expected up to {POINTS_MOST}"));
        }
        (design, Some(samples)) => drawn(definition, design, samples as usize)?,
    };
    match points.len() {
        0 => Err("there is no point; expected values in `over` or a `point`".to_owned()),
        many if many > POINTS_MOST => {
            Err(format!("{many} points; expected up to {POINTS_MOST}, with larger steps"))
        }
        _ => Ok(points),
    }
}

/// Every combination of the values. The last key changes fastest.
fn grid(over: &BTreeMap<String, Axis>) -> Result<Vec<Point>, String> {
    let mut points: Vec<Point> = vec![Vec::new()];
    for (key, axis) in over {
        let values = axis.values(key)?;
        if points.len() * values.len() > POINTS_MOST {
            return Err(format!("more than {POINTS_MOST} points; expected larger steps"));
        }
        let with = |point: &Point, value: &String| {
            let setting = Setting { key: key.clone(), value: value.clone() };
            point.iter().cloned().chain([setting]).collect()
        };
        points =
            points.iter().flat_map(|point| values.iter().map(|value| with(point, value))).collect();
    }
    Ok(points)
}

/// The points of a grid and those that are listed. A list without a grid stands alone.
fn listed(definition: &Definition, grid: Vec<Point>) -> Vec<Point> {
    let setting =
        |(key, value): (&String, &Value)| Setting { key: key.clone(), value: text(value) };
    let listed = definition.points.iter().map(|point| point.iter().map(setting).collect());
    let alone = definition.over.is_empty() && !definition.points.is_empty();
    let grid = if alone { Vec::new() } else { grid };
    grid.into_iter().chain(listed).collect()
}

fn drawn(definition: &Definition, design: Design, samples: usize) -> Result<Vec<Point>, String> {
    let mut columns = Vec::new();
    for (key, axis) in &definition.over {
        // A stream of its own for each key, so that another key does not change its values.
        let digest: [u8; 32] = Sha256::digest(key).into();
        let stream = digest.first_chunk().map_or(0, |first| u64::from_le_bytes(*first));
        let mut random = Prng::new(definition.design_seed).fork(stream);
        let mut strata: Vec<usize> = (0..samples).collect();
        random.shuffle(&mut strata);
        let part = |stratum: usize, random: &mut Prng| {
            let within = unit(random);
            match design {
                Design::LatinHypercube => (stratum as f64 + within) / samples as f64,
                Design::Grid | Design::Random => within,
            }
        };
        let values = strata.into_iter().map(|stratum| axis.at(key, part(stratum, &mut random)));
        let values = values.collect::<Result<Vec<String>, String>>()?;
        columns.push((key, values));
    }
    let point = |at: usize| {
        let setting = |(key, values): &(&String, Vec<String>)| Setting {
            key: (*key).clone(),
            value: values[at].clone(),
        };
        columns.iter().map(setting).collect()
    };
    Ok((0..samples).map(point).collect())
}

/// A number from 0 up to 1.
fn unit(random: &mut Prng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<String>, String> {
        let text = format!("spec = \"two-groups\"\n{text}");
        let points = points(&Definition::parse("x.toml", &text).expect("it is well-formed"))?;
        Ok(points.iter().map(|point| label(point)).collect())
    }

    #[test]
    fn a_grid_has_every_combination() {
        let points = of("[over]\nscheduler = [\"fair\", \"bfq\"]\n\"host.hz\" = \"100..300+100\"");
        let expected = [
            "host.hz=100 scheduler=fair",
            "host.hz=100 scheduler=bfq",
            "host.hz=200 scheduler=fair",
            "host.hz=200 scheduler=bfq",
            "host.hz=300 scheduler=fair",
            "host.hz=300 scheduler=bfq",
        ];
        assert_eq!(points.expect("it is right"), expected);
    }

    #[test]
    fn a_list_stands_alone() {
        let points = of("[[point]]\nscheduler = \"fair\"\n[[point]]\n\"host.hz\" = 250");
        assert_eq!(points.expect("it is right"), ["scheduler=fair", "host.hz=250"]);
    }

    #[test]
    fn a_latin_hypercube_has_one_point_in_each_part_of_a_range() {
        let text = "design = \"latin-hypercube\"\nsamples = 10\n\
                    [over]\n\"host.hz\" = { from = 0, to = 100 }";
        let numbers = of(text).expect("it is right");
        let parts = numbers.iter().filter_map(|it| it.split_once('=')?.1.parse::<f64>().ok());
        let mut parts: Vec<u32> = parts.map(|number| (number / 10.0) as u32).collect();
        assert_ne!(parts, (0..10).collect::<Vec<_>>(), "the order is drawn, too");
        parts.sort_unstable();
        assert_eq!(parts, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn another_key_does_not_change_what_is_drawn_for_a_key() {
        let text = "design = \"random\"\nsamples = 5\n\
                    [over]\n\"host.hz\" = { from = 0, to = 100 }\n";
        let alone = of(text).expect("it is right");
        let more = of(&format!("{text}\"device.x\" = [1, 2]")).expect("it is right");
        let own: Vec<&str> = more.iter().filter_map(|point| point.split(' ').nth(1)).collect();
        assert_eq!(own, alone);
    }

    #[test]
    fn what_is_wrong_is_told_with_a_remedy() {
        for (text, why) in [
            ("", "there is no point"),
            ("samples = 3", "a grid has all"),
            ("design = \"random\"", "`samples` is missing"),
            ("design = \"random\"\nsamples = 3", "`over` is empty"),
            (
                "design = \"random\"\nsamples = 3\n[over]\n\"host.hz\" = [100]\n\
                 [[point]]\n\"host.hz\" = 250",
                "`point`: only a grid has listed points",
            ),
            (
                "design = \"random\"\nsamples = 4000000000\n[over]\n\"host.hz\" = [100]",
                "`samples`: 4000000000; expected up to 1000000",
            ),
            ("[over]\n\"host.hz\" = []", "`host.hz`: there is no value"),
            ("[over]\n\"host.hz\" = \"9..1+1\"", "`host.hz`: 9..1+1 ends before it begins"),
            ("[over]\n\"host.hz\" = { from = 1, to = 2 }", "a grid needs a list"),
        ] {
            match of(text) {
                Err(error) => assert!(error.contains(why), "{text}: {error}"),
                // Without anything a sweep is the load as it is.
                Ok(points) => assert_eq!((text, points), ("", vec![String::new()])),
            }
        }
    }
}
