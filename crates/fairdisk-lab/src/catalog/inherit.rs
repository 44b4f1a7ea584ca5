//! Files that say only what differs from another one.

use super::error::CatalogError;
use super::library::{Document, Kind, find};
use super::source::Source;
use toml::{Table, Value};

/// How deep files may inherit before it must be a circle.
const DEPTH_MAX: u32 = 16;

/// A file's text with everything it inherits filled in.
///
/// # Errors
/// A parent that does not exist, or a circle.
pub(super) fn flatten(kind: Kind, document: Document) -> Result<Document, CatalogError> {
    let source = Source::new(&document.path, &document.text);
    let mut table: Table = source.parse()?;
    for _ in 0..DEPTH_MAX {
        let Some(parent) = table.remove("inherits") else {
            let text = toml::to_string(&table)
                .map_err(|error| source.error_at_key("id", error.to_string()))?;
            return Ok(document.clone().derived(text));
        };
        let Value::String(parent) = parent else {
            let message = format!("`inherits`: expected the id of a {}", kind.noun());
            return Err(source.error_at_key("inherits", message));
        };
        let parent =
            find(kind, &parent).map_err(|error| source.error_at_key("inherits", error.message))?;
        let mut base: Table = Source::new(&parent.path, &parent.text).parse()?;
        overlay(&mut base, table);
        table = base;
    }
    Err(source.error_at_key("inherits", "`inherits` leads in a circle"))
}

/// Puts the values of `over` on top of those of `base`.
fn overlay(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(value)) => inner.extend(value),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}
