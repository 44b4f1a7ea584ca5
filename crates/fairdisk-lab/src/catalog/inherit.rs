//! Files that say only what differs from another one.

use super::error::CatalogError;
use super::library::{Document, Kind, beside, find};
use super::source::Source;
use toml::{Table, Value};

/// Through more files than that nobody finds their way.
const FILES_MAX: usize = 100;

/// A file's text with everything it inherits filled in.
///
/// # Errors
/// A parent that does not exist, a circle, or more files than 100.
pub(super) fn flatten(kind: Kind, document: Document) -> Result<Document, CatalogError> {
    let source = Source::new(&document.path, &document.text);
    let refuse = |message: String| source.error_at_key("inherits", message);
    let mut table: Table = source.parse()?;
    // The files so far; the last one says what comes next.
    let mut paths = vec![document.path.clone()];
    while let Some(parent) = table.remove("inherits") {
        let Value::String(name) = parent else {
            let message = format!("`inherits`: expected the id of a {}", kind.noun());
            return Err(refuse(message));
        };
        let name = beside(paths.last().map_or("", String::as_str), &name);
        let parent = find(kind, &name).map_err(|error| refuse(error.naming(&name)))?;
        if paths.contains(&parent.path) {
            return Err(refuse(format!("`inherits` leads in a circle, back to `{name}`")));
        }
        if paths.len() > FILES_MAX {
            let message = format!("`inherits` leads through more than {FILES_MAX} files");
            return Err(refuse(message));
        }
        let mut base: Table = Source::new(&parent.path, &parent.text).parse()?;
        paths.push(parent.path);
        overlay(&mut base, table);
        table = base;
    }
    let text =
        toml::to_string(&table).map_err(|error| source.error_at_key("id", error.to_string()))?;
    Ok(document.clone().derived(text))
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
