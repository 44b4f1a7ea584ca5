//! Inheritance: files that say only how they differ from another file.

use super::error::CatalogError;
use super::library::{Document, Kind, beside, find};
use super::source::Source;
use toml::{Table, Value};

/// The longest chain of inheritance; a longer one is a mistake.
const FILES_MAX: usize = 100;

/// The text of a file with everything it inherits filled in.
///
/// # Errors
/// Returns an error if a parent does not exist, or if the chain is a circle or longer than 100
/// files.
pub(super) fn flatten(kind: Kind, document: Document) -> Result<Document, CatalogError> {
    let source = Source::new(&document.path, &document.text);
    let refuse = |message: String| source.error_at_key("inherits", message);
    let mut table: Table = source.parse()?;
    // The files so far; the last one names the next.
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

/// Overlays the values of `over` on those of `base`.
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
