//! `--set KEY=VALUE`: one value of a catalogue file changed for one run.
//!
//! The first part of the key says which file: `scheduler.cfq.slice_idle_ms`, `host.hz`,
//! `device.write_cache.depth`, `volume.cached` (every volume of the experiment), or
//! `experiment.duration_s`.

use super::error::{CatalogError, unknown};
use super::library::Document;
use toml::{Table, Value};

/// The files a key may name.
const SCOPES: &[&str] = &["scheduler", "host", "device", "volume", "experiment"];

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    scope: String,
    keys: Vec<String>,
    value: Value,
    written: String,
}

impl Override {
    /// Reads `scope.key=value`.
    ///
    /// # Errors
    /// What is missing, or a scope that does not exist.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = |message: String| format!("--set {text}: {message}");
        let (key, value) = text
            .split_once('=')
            .ok_or_else(|| bad("expected KEY=VALUE, as in host.hz=1000".to_owned()))?;
        let mut keys = key.trim().split('.').map(str::to_owned);
        let scope = keys.next().unwrap_or_default();
        let keys: Vec<String> = keys.collect();
        if !SCOPES.contains(&scope.as_str()) {
            return Err(bad(unknown("scope", &scope, SCOPES)));
        }
        if keys.is_empty() || keys.iter().any(String::is_empty) {
            return Err(bad(format!("which key of the {scope}? expected {scope}.KEY=VALUE")));
        }
        let value = read_value(value.trim());
        Ok(Self { scope, keys, value, written: text.to_owned() })
    }

    fn apply(&self, table: &mut Table) -> Result<(), String> {
        let (last, path) = self.keys.split_last().ok_or("no key")?;
        let mut at = table;
        for key in path {
            let known: Vec<String> = at.keys().cloned().collect();
            at = match at.get_mut(key) {
                Some(Value::Table(inner)) => inner,
                Some(_) => return Err(format!("`{key}` has no keys of its own")),
                None => return Err(unknown("table", key, &as_strs(&known))),
            };
        }
        // A key the file leaves out may still be one it could have; the reader of the result
        // knows, and refuses what it does not.
        at.insert(last.clone(), self.value.clone());
        Ok(())
    }
}

fn as_strs(strings: &[String]) -> Vec<&str> {
    strings.iter().map(String::as_str).collect()
}

/// A TOML value, or a bare word as a string.
fn read_value(text: &str) -> Value {
    let parsed = format!("value = {text}").parse::<Table>().ok();
    parsed.and_then(|mut table| table.remove("value")).unwrap_or_else(|| Value::from(text))
}

/// Demands that no change is meant for one of these scopes, which a run does not have.
///
/// # Errors
/// The first change that is, and `remedy`.
pub fn demand_none(
    scopes: &[&str],
    overrides: &[Override],
    remedy: &str,
) -> Result<(), CatalogError> {
    match overrides.iter().find(|change| scopes.contains(&change.scope.as_str())) {
        None => Ok(()),
        Some(change) => Err(CatalogError::option(&format!("--set {}", change.written), remedy)),
    }
}

/// Applies the changes meant for `scope` to a file's text. Untouched, the text keeps its lines for
/// messages.
///
/// # Errors
/// A key the file does not have.
pub fn apply(
    document: Document,
    scope: &str,
    overrides: &[Override],
) -> Result<Document, CatalogError> {
    let mine: Vec<&Override> = overrides.iter().filter(|change| change.scope == scope).collect();
    if mine.is_empty() {
        return Ok(document);
    }
    let error = |message: String| CatalogError { path: document.path.clone(), line: 0, message };
    let mut table: Table = document.text.parse().map_err(|failure: toml::de::Error| {
        super::source::Source::new(&document.path, &document.text).error_of(&failure)
    })?;
    for change in mine {
        change
            .apply(&mut table)
            .map_err(|message| error(format!("--set {}: {message}", change.written)))?;
    }
    let text = toml::to_string(&table).map_err(|failure| error(failure.to_string()))?;
    let path = format!("{} with --set", document.path);
    Ok(Document { path, ..document.derived(text) })
}

/// Applies changes of scope `volume` to every `[[volume]]` of an experiment.
///
/// # Errors
/// A key the volumes do not have.
pub fn apply_to_volumes(
    document: Document,
    overrides: &[Override],
) -> Result<Document, CatalogError> {
    let mine: Vec<&Override> = overrides.iter().filter(|change| change.scope == "volume").collect();
    if mine.is_empty() {
        return Ok(document);
    }
    let source = super::source::Source::new(&document.path, &document.text);
    let mut table: Table = document.text.parse().map_err(|error| source.error_of(&error))?;
    let volumes = table.get_mut("volume").and_then(Value::as_array_mut);
    for volume in volumes.into_iter().flatten().filter_map(Value::as_table_mut) {
        for change in &mine {
            change.apply(volume).map_err(|message| {
                source.error_at_key("volume", format!("--set {}: {message}", change.written))
            })?;
        }
    }
    let text = toml::to_string(&table)
        .map_err(|error| source.error_at_key("volume", error.to_string()))?;
    let path = format!("{} with --set", document.path);
    Ok(Document { path, ..document.derived(text) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        Document {
            id: "x".into(),
            path: "x.toml".into(),
            text: "hz = 250\n[a]\nb = 1\n".into(),
            written: None,
        }
    }

    #[test]
    fn changes_values_in_tables() {
        let set = |text| Override::parse(text).expect("well formed");
        let changes = [set("host.hz=1000"), set("host.a.b=yes"), set("device.hz=1")];
        let changed = apply(document(), "host", &changes).expect("known keys");
        assert_eq!(changed.text.parse::<Table>().expect("toml")["hz"], Value::from(1000));
        assert!(changed.text.contains("b = \"yes\""), "{}", changed.text);
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        let error = |text: &str| Override::parse(text).expect_err("malformed");
        assert!(error("hz").contains("expected KEY=VALUE"));
        assert!(error("hots.hz=1").contains("did you mean `host`"));
        assert!(error("host=1").contains("which key"));
        let unknown = [Override::parse("host.aa.b=1").expect("well formed")];
        let error = apply(document(), "host", &unknown).expect_err("unknown table");
        assert!(error.message.contains("did you mean `a`"), "{error}");
    }
}
