//! Deserialization of lists of exactly two values. A plain array would silently accept a longer
//! list.

use serde::{Deserialize, Deserializer};

/// Two values.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "Vec<T>", bound = "T: Deserialize<'de>")]
pub(super) struct Pair<T>(pub(super) [T; 2]);

impl<T> TryFrom<Vec<T>> for Pair<T> {
    type Error = String;

    fn try_from(values: Vec<T>) -> Result<Self, String> {
        let found = values.len();
        let pair = values.try_into().map_err(|_| format!("expected 2 values, found {found}"))?;
        Ok(Self(pair))
    }
}

/// Deserializes an array field.
pub(super) fn pair<'de, D, T>(deserializer: D) -> Result<[T; 2], D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Pair::deserialize(deserializer).map(|pair| pair.0)
}

/// Deserializes an optional array field.
pub(super) fn optional<'de, D, T>(deserializer: D) -> Result<Option<[T; 2]>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    pair(deserializer).map(Some)
}
