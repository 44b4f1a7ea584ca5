//! What a group asked for when its requests were recorded.

use fairdisk_core::{Notation, Qos, QosKey, Weight};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The weight, floors, ceilings and targets of a group, by the keys that people write and in the
/// units of these keys. What is not known is not there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, f64>);

const WEIGHT: &str = "weight";

impl Settings {
    /// Those of a group with this weight and these limits.
    #[must_use]
    pub fn new(weight: u32, qos: Qos) -> Self {
        let limits = qos
            .settings()
            .map(|(key, value)| (key.name().to_owned(), value as f64 / key.notation().unit as f64));
        let weight = (WEIGHT.to_owned(), f64::from(weight));
        Self(core::iter::once(weight).chain(limits).collect())
    }

    /// Those of a group of which the weight alone is known.
    #[must_use]
    pub fn of_weight(weight: u32) -> Self {
        Self::new(weight, Qos::NONE)
    }

    /// What all of these have, key by key.
    pub fn common<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut all = all.into_iter();
        let mut common = all.next().cloned().unwrap_or_default();
        for one in all {
            common.0.retain(|key, value| one.0.get(key) == Some(value));
        }
        common
    }

    /// The weight.
    #[must_use]
    pub fn weight(&self) -> Option<Weight> {
        self.0.get(WEIGHT).and_then(|weight| Weight::new(*weight as u32))
    }

    /// Floors, ceilings and targets. Keys of a later version are passed over, as are values that no
    /// group can have.
    #[must_use]
    pub fn qos(&self) -> Qos {
        let mut qos = Qos::NONE;
        for (name, value) in &self.0 {
            let Some(key) = QosKey::named(name) else { continue };
            let Notation { unit, range: [least, most], .. } = key.notation();
            let value = (value * unit as f64).round() as u64;
            if (least..=most).contains(&value) {
                key.set(&mut qos, Some(value));
            }
        }
        qos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_read_as_it_was_written() {
        let mut qos = Qos::NONE;
        for (value, key) in (1..).zip(QosKey::ALL) {
            key.set(&mut qos, Some(value * key.notation().unit));
        }
        let settings = Settings::new(800, qos);
        let text = serde_json::to_string(&settings).unwrap();
        let read: Settings = serde_json::from_str(&text).unwrap();
        assert_eq!((read.weight(), read.qos()), (Weight::new(800), qos), "{text}");
        let later: Settings = serde_json::from_str(r#"{"colour": 3, "max_iops": 500}"#).unwrap();
        let limits: Vec<_> = later.qos().settings().collect();
        assert_eq!((later.weight(), limits), (None, vec![(QosKey::MaxIops, 500)]));
        let wrong = r#"{"weight": -5, "max_iops": -1, "latency_p99_ms": 0, "burst_ms": 1e300}"#;
        let wrong: Settings = serde_json::from_str(wrong).unwrap();
        assert_eq!((wrong.weight(), wrong.qos()), (None, Qos::NONE));
    }

    #[test]
    fn what_groups_have_in_common_is_told_key_by_key() {
        let of = |text: &str| serde_json::from_str::<Settings>(text).unwrap();
        let one = of(r#"{"weight": 300, "max_iops": 500}"#);
        let other = of(r#"{"weight": 300, "max_iops": 600, "min_iops": 5}"#);
        assert_eq!(Settings::common([&one, &other]), Settings::of_weight(300));
        assert_eq!(Settings::common([&one]), one);
    }
}
