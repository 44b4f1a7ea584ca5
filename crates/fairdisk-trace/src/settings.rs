//! What a group asked for when its requests were recorded.

use fairdisk_core::{Qos, QosKey};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The weight, floors, ceilings and targets of a group, by the keys that people write and in the
/// units of these keys. What is not known is not there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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

    /// The weight.
    #[must_use]
    pub fn weight(&self) -> Option<u32> {
        self.0.get(WEIGHT).map(|weight| *weight as u32)
    }

    /// Floors, ceilings and targets. Keys of a later version are passed over.
    #[must_use]
    pub fn qos(&self) -> Qos {
        let mut qos = Qos::NONE;
        for (name, value) in &self.0 {
            if let Some(key) = QosKey::named(name) {
                key.set(&mut qos, Some((value * key.notation().unit as f64).round() as u64));
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
        assert_eq!((read.weight(), read.qos()), (Some(800), qos), "{text}");
        let later: Settings = serde_json::from_str(r#"{"colour": 3, "max_iops": 500}"#).unwrap();
        let limits: Vec<_> = later.qos().settings().collect();
        assert_eq!((later.weight(), limits), (None, vec![(QosKey::MaxIops, 500)]));
    }
}
