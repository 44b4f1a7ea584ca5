//! `--set KEY=VALUE`: changes one value of a catalogue file for one run.
//!
//! The first part of the key names the file: `scheduler.cfq.slice_idle_ms`, `host.hz`,
//! `device.write_cache.depth`, `volume.cached` (every volume that has such a key), `tasks.count`
//! (every line of tasks), `tasks.NAME.count` (those of a group or of that name), or
//! `experiment.duration_s`.

use super::error::{CatalogError, Fault, Where, in_words, unknown};
use super::library::{Document, Kind, find};
use super::source::Source;
use fairdisk_sched::fair::RULES;
use std::collections::BTreeSet;
use toml::{Table, Value};

/// The files that a key may name.
const SCOPES: &[&str] = &["scheduler", "host", "device", "volume", "tasks", "experiment"];

/// The keys of a file that say which it is.
const ABOUT: [&str; 3] = ["id", "title", "inherits"];

/// Keys of schedulers, hosts and devices that `--set` may change, as far as files of the catalogue
/// have them.
#[must_use]
pub fn known_keys() -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for (kind, scope) in
        [(Kind::Revision, "scheduler"), (Kind::Host, "host"), (Kind::Device, "device")]
    {
        for document in kind.ids().filter_map(|id| find(kind, id).ok()) {
            let table: Table = Source::of(&document).parse().unwrap_or_default();
            leaves(scope, &table, &mut keys);
        }
    }
    let rules = RULES.iter().map(|rule| format!("scheduler.rules.{}", rule.name));
    keys.extend(rules);
    keys
}

/// The keys of single values below a key.
fn leaves(below: &str, table: &Table, keys: &mut BTreeSet<String>) {
    for (key, value) in table.iter().filter(|(key, _)| !ABOUT.contains(&key.as_str())) {
        let path = format!("{below}.{key}");
        match value {
            Value::Table(inner) => leaves(&path, inner, keys),
            Value::Array(_) => {}
            _ => drop(keys.insert(path)),
        }
    }
}

/// What callers write as `NAME` or, with changes, as `NAME[KEY=VALUE;KEY=VALUE]`: the name, and
/// each change.
pub fn of_name(text: &str) -> (&str, impl Iterator<Item = &str>) {
    let parts = text.strip_suffix(']').and_then(|text| text.split_once('['));
    let (name, changes) = parts.unwrap_or((text, ""));
    (name, changes.split(';').map(str::trim).filter(|one| !one.is_empty()))
}

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    scope: String,
    keys: Vec<String>,
    value: Value,
    /// Where it was written, and how.
    place: Where,
}

impl Override {
    /// Parses `scope.key=value`, given with `--set`.
    ///
    /// # Errors
    /// Returns what is missing, or that the scope does not exist.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::given("--set", text)
    }

    /// Parses `scope.key=value`, given with `option`.
    ///
    /// # Errors
    /// Returns what is missing, or that the scope does not exist.
    pub fn given(option: &str, text: &str) -> Result<Self, String> {
        Self::read(text, Some(option), text)
    }

    /// Parses `text`, `scope.key=value`; messages show it as the file has it `written`.
    pub(crate) fn listed(text: &str, written: &str) -> Result<Self, String> {
        Self::read(text, None, written)
    }

    fn read(text: &str, option: Option<&str>, written: &str) -> Result<Self, String> {
        let place = Where::Change { option: option.map(Into::into), change: written.into() };
        let bad = |message: String| format!("{}{message}", place.prefix());
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
        // What a file inherits is filled in before its values are changed.
        if keys == ["inherits"] {
            return Err(bad(format!("another {scope} is chosen by its name, not by a value")));
        }
        let value = value.trim();
        if scope == "host" && keys == ["memory"] && !value.starts_with('{') {
            let mib = in_mib(value).map_or("256".to_owned(), |mib| mib.to_string());
            return Err(bad(format!("memory has keys of its own; expected host.memory.mib={mib}")));
        }
        if is_beyond_a_file(value) {
            let (least, most) = (i64::MIN, i64::MAX);
            return Err(bad(format!("{value} is no number a file can hold; {least} to {most}")));
        }
        let value = read_value(value);
        Ok(Self { scope, keys, value, place })
    }

    /// Checks that no two changes affect the same value, since it would be unclear which one
    /// counts.
    ///
    /// # Errors
    /// Returns the index of the first change that conflicts with an earlier one, and a message that
    /// shows both.
    pub fn demand_once(changes: &[Self]) -> Result<(), (usize, String)> {
        for (at, change) in changes.iter().enumerate() {
            if let Some(other) = changes[..at].iter().find(|other| other.overlaps(change)) {
                let (late, early) = (change.place.words(), other.place.words());
                let message = format!("{late}: changes what {early} changes; drop one of them");
                return Err((at, message));
            }
        }
        Ok(())
    }

    /// Whether one change affects a part of what the other one affects.
    fn overlaps(&self, other: &Self) -> bool {
        if self.scope != other.scope {
            return false;
        }
        if self.scope == "tasks" {
            let [(name, key), (other_name, other_key)] = [self, other].map(Self::of_tasks);
            let same_tasks = name.is_empty() || other_name.is_empty() || name == other_name;
            return same_tasks && key == other_key;
        }
        self.keys.iter().zip(&other.keys).all(|(one, two)| one == two)
    }

    /// Whether this change leaves nothing of what `other` sets.
    pub(crate) fn replaces(&self, other: &Self) -> bool {
        self.overlaps(other) && self.keys.len() <= other.keys.len()
    }

    /// The number that the key gets, if it is one.
    pub(crate) fn number(&self) -> Option<f64> {
        self.value.as_float().or_else(|| self.value.as_integer().map(|whole| whole as f64))
    }

    /// The file that is changed.
    pub fn scope(&self) -> &str {
        &self.scope
    }

    /// The key that is changed, with the scope first.
    pub fn key(&self) -> String {
        format!("{}.{}", self.scope, self.keys.join("."))
    }

    /// The new value.
    pub(crate) const fn value(&self) -> &Value {
        &self.value
    }

    /// The change as the place of a fault.
    pub(crate) const fn place(&self) -> &Where {
        &self.place
    }

    pub(crate) fn error(&self, fault: impl Into<Fault>) -> CatalogError {
        CatalogError { place: self.place.clone(), fault: fault.into() }
    }

    /// An error about a value that the file does not accept. Keys that are missing in a table made
    /// by the change can be given as well.
    fn refusal(&self, mut fault: Fault) -> CatalogError {
        if let (Fault::MissingKey { made, .. }, [path @ .., _]) = (&mut fault, &*self.keys)
            && !path.is_empty()
        {
            *made = Some(format!("{}.{}", self.scope, path.join(".")));
        }
        self.error(fault)
    }

    /// The group or the name of the tasks that are changed, empty for all tasks, and the key.
    fn of_tasks(&self) -> (String, &str) {
        let (key, name) = self.keys.split_last().map_or(("", &[][..]), |(key, at)| (key, at));
        (name.join("."), key)
    }

    /// Applies the change to a file; with scope `volume` or `tasks`, to each part of it that is
    /// meant.
    fn apply(&self, file: &mut Table) -> Result<(), String> {
        match self.scope.as_str() {
            "volume" => self.apply_to_volumes(file),
            "tasks" => self.apply_to_tasks(file),
            _ => Self::apply_to(file, &self.keys, &self.value),
        }
    }

    fn apply_to_tasks(&self, file: &mut Table) -> Result<(), String> {
        let (name, key) = self.of_tasks();
        let rows = file.get_mut("row").and_then(Value::as_array_mut);
        let lines = rows.into_iter().flatten().filter_map(|row| row.get_mut("tasks"));
        let lines = lines.filter_map(Value::as_array_mut).flatten();
        let (mut known, mut found) = (Vec::new(), false);
        for line in lines.filter_map(Value::as_table_mut) {
            let names = ["group", "name"].into_iter().filter_map(|key| line.get(key)?.as_str());
            let names: Vec<String> = names.map(str::to_owned).collect();
            if name.is_empty() || names.contains(&name) {
                line.insert(key.to_owned(), self.value.clone());
                found = true;
            }
            known.extend(names);
        }
        if found {
            return Ok(());
        }
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        Err(unknown("group or named task", &name, &known))
    }

    fn apply_to_volumes(&self, file: &mut Table) -> Result<(), String> {
        let volumes = file.get_mut("volume").and_then(Value::as_array_mut);
        let mut volumes: Vec<&mut Table> =
            volumes.into_iter().flatten().filter_map(Value::as_table_mut).collect();
        // If no volume has such a key, the parser of the result reports it.
        let some_have_it = volumes.iter().any(|volume| self.is_about(volume));
        volumes.retain(|volume| !some_have_it || self.is_about(volume));
        let to = |volume| Self::apply_to(volume, &self.keys, &self.value);
        volumes.into_iter().try_for_each(to)
    }

    /// Whether a volume of this kind can have the key.
    fn is_about(&self, volume: &Table) -> bool {
        let kind = volume.get("kind").and_then(Value::as_str).unwrap_or_default();
        match self.keys.first().map_or("", String::as_str) {
            "size_gib" => kind == "raw",
            "files" | "file_mib" | "shuffled" | "cached" => kind != "raw",
            "journal" => kind == "ext3",
            _ => true,
        }
    }

    fn apply_to(table: &mut Table, keys: &[String], value: &Value) -> Result<(), String> {
        let (last, path) = keys.split_last().ok_or("no key")?;
        let mut at = table;
        for key in path {
            // A table or key that the file leaves out may still be allowed. The parser of the
            // result knows, and refuses unknown ones.
            at = match at.entry(key).or_insert_with(|| Table::new().into()) {
                Value::Table(inner) => inner,
                _ => return Err(format!("`{key}` has no keys of its own")),
            };
        }
        at.insert(last.clone(), value.clone());
        Ok(())
    }
}

/// An amount of memory as people write it, such as 256M or 4GiB, in MiB.
fn in_mib(text: &str) -> Option<u64> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    match unit.trim().to_ascii_lowercase().as_str() {
        "" | "m" | "mb" | "mib" => Some(number),
        "g" | "gb" | "gib" => number.checked_mul(1024),
        "k" | "kb" | "kib" => Some(number / 1024).filter(|mib| *mib > 0),
        _ => None,
    }
}

/// Whether the text is a whole number of more than 64 bits.
fn is_beyond_a_file(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_whole = digits.starts_with(|first: char| first.is_ascii_digit())
        && digits.chars().all(|one| one.is_ascii_digit() || one == '_');
    is_whole && text.replace('_', "").parse::<i64>().is_err()
}

/// Parses a TOML value; a bare word is a string.
fn read_value(text: &str) -> Value {
    let parsed = format!("value = {text}").parse::<Table>().ok();
    parsed.and_then(|mut table| table.remove("value")).unwrap_or_else(|| Value::from(text))
}

/// Checks that no change has one of these scopes, which a run does not have.
///
/// # Errors
/// Returns the first such change, with `remedy`.
pub fn demand_none(
    scopes: &[&str],
    overrides: &[Override],
    remedy: &str,
) -> Result<(), CatalogError> {
    match overrides.iter().find(|change| scopes.contains(&change.scope.as_str())) {
        None => Ok(()),
        Some(change) => Err(change.error(remedy)),
    }
}

/// Parses a file with the changes of these scopes applied.
///
/// # Errors
/// Returns the errors of `parse`. A fault of a change names the change, because the file has no
/// line for it.
pub fn read<T>(
    document: &Document,
    scopes: &[&str],
    overrides: &[Override],
    parse: impl Fn(&Document) -> Result<T, CatalogError>,
) -> Result<T, CatalogError> {
    let mine: Vec<&Override> =
        overrides.iter().filter(|change| scopes.contains(&change.scope.as_str())).collect();
    let attempt = |changes: &[&Override]| parse(&changed(document.clone(), changes)?);
    let whole = attempt(&mine);
    if whole.is_ok() {
        return whole;
    }
    attempt(&[]).map_err(|error| {
        with_range(error, |number, probe| parse(&replaced(document, number, probe)?).err())
    })?;
    let refused = |(at, change): (usize, &&Override)| {
        let error = attempt(&mine[..=at]).err()?;
        let error = with_range(error, |_, probe| {
            let probe = Override { value: probe.into(), ..(*change).clone() };
            attempt(&[&mine[..at], &[&probe]].concat()).err()
        });
        Some(change.refusal(error.fault))
    };
    let mut refusals: Vec<CatalogError> = mine.iter().enumerate().filter_map(refused).collect();
    // What one change lacks may be given by another.
    let lacks = |error: &CatalogError| matches!(error.fault, Fault::MissingKey { .. });
    let wrong = refusals.iter().position(|error| !lacks(error));
    match refusals.is_empty() {
        true => whole,
        false => Err(refusals.swap_remove(wrong.unwrap_or(0))),
    }
}

/// An error about a value that is no whole number of its type, with what the key allows instead of
/// what the type holds. Only a number that the type holds is checked, so the smallest and a large
/// one are parsed in its place by `attempt`, which gets the key and the value too and returns the
/// error.
fn with_range(
    mut error: CatalogError,
    attempt: impl Fn((&str, &str), i64) -> Option<CatalogError>,
) -> CatalogError {
    let Fault::NotWhole { key, value, .. } = &error.fault else { return error };
    let allowed = [0, u32::MAX.into()].into_iter().find_map(|probe: i64| {
        match attempt((key, value), probe)?.fault {
            Fault::NotAllowed { key: of, value: tried, allowed }
                if last(&of) == last(key) && tried == probe.to_string() =>
            {
                Some(allowed)
            }
            _ => None,
        }
    });
    if let Some(allowed) = allowed {
        error.fault = Fault::NotAllowed { key: key.clone(), value: value.clone(), allowed };
    }
    error
}

/// The file with another number wherever the key has this value; `None` if it has it nowhere. An id
/// that is not the file's is put right, or it would be found first, and the range would not.
fn replaced(document: &Document, number: (&str, &str), probe: i64) -> Option<Document> {
    let mut table: Table = document.text.parse().ok()?;
    let is_there = replace(&mut table, number, probe) > 0;
    if let Some(id) = table.get_mut("id") {
        *id = document.id.clone().into();
    }
    let text = is_there.then(|| toml::to_string(&table))?.ok()?;
    Some(document.clone().derived(text))
}

/// Replaces the value of the key wherever the table has it; returns how often.
fn replace(table: &mut Table, number: (&str, &str), probe: i64) -> usize {
    let (key, value) = number;
    let replaced = table.iter_mut().map(|(name, at)| match at {
        at if name == last(key) && in_words(at) == value => {
            *at = probe.into();
            1
        }
        Value::Table(inner) => replace(inner, number, probe),
        Value::Array(list) => {
            let tables = list.iter_mut().filter_map(Value::as_table_mut);
            tables.map(|inner| replace(inner, number, probe)).sum()
        }
        _ => 0,
    });
    replaced.sum()
}

/// The key without the tables around it.
fn last(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(_, last)| last)
}

/// The file with these changes.
pub(super) fn changed(document: Document, changes: &[&Override]) -> Result<Document, CatalogError> {
    if changes.is_empty() {
        return Ok(document);
    }
    let source = Source::new(&document.path, &document.text);
    let mut table: Table = document.text.parse().map_err(|error| source.error_of(&error))?;
    for change in changes {
        change.apply(&mut table).map_err(|message| change.error(message))?;
    }
    let text =
        toml::to_string(&table).map_err(|error| source.error_at_key("id", error.to_string()))?;
    Ok(document.derived(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::allowed::demand_within;
    use crate::catalog::error::reword;

    fn document() -> Document {
        Document {
            id: "x".into(),
            path: "x.toml".into(),
            text: "hz = 250\n[a]\nb = 1\n".into(),
            written: None,
        }
    }

    fn set(text: &str) -> Override {
        Override::parse(text).expect("well formed")
    }

    fn changed(changes: &[Override]) -> Result<Document, CatalogError> {
        read(&document(), &["host"], changes, |document| Ok(document.clone()))
    }

    #[test]
    fn changes_values_in_tables() {
        let changes = [set("host.hz=1000"), set("host.a.b=yes"), set("device.hz=1")];
        let changed = changed(&changes).expect("known keys");
        assert_eq!(changed.text.parse::<Table>().expect("toml")["hz"], Value::from(1000));
        assert!(changed.text.contains("b = \"yes\""), "{}", changed.text);
    }

    #[test]
    fn what_a_file_inherits_is_no_value_of_it() {
        let error = Override::parse("scheduler.inherits=noop").expect_err("it would do nothing");
        assert!(error.ends_with("another scheduler is chosen by its name, not by a value"));
    }

    #[test]
    fn the_change_that_is_wrong_is_named() {
        let small = |document: &Document| {
            let hz = document.text.parse::<Table>().expect("toml")["hz"].as_integer();
            let error = || Source::of(document).error_at_key("hz", "`hz` is large");
            (hz < Some(2000)).then_some(()).ok_or_else(error)
        };
        let changes = [set("host.a.b=2"), set("host.hz=3000"), set("host.a.b=3")];
        let error = read(&document(), &["host"], &changes, small).expect_err("large");
        assert_eq!(error.to_string(), "--set host.hz=3000: `hz` is large");
        let large = Document { text: "hz = 5000\n".into(), ..document() };
        let error = read(&large, &["host"], &changes[..1], small).expect_err("large as it is");
        assert_eq!(error.to_string(), "x.toml:1: `hz` is large");
    }

    #[test]
    fn a_number_beyond_its_type_is_told_what_its_key_allows() {
        let hz = |document: &Document| {
            let source = Source::of(document);
            let table: Table = document.text.parse().expect("toml");
            let hz = table["hz"].as_integer().and_then(|hz| u32::try_from(hz).ok());
            let beyond = "invalid value: integer `-4`, expected u32";
            let hz = hz.ok_or_else(|| source.error_at_key("hz", reword(beyond, Some("hz"))))?;
            demand_within(1..=9, "hz", hz).map_err(|wrong| source.wrong(wrong))
        };
        let small = |hz: i64| Document { text: format!("hz = {hz}\n").into(), ..document() };
        let error = read(&small(5), &["host"], &[set("host.hz=-4")], hz).expect_err("negative");
        assert_eq!(error.to_string(), "--set host.hz=-4: `hz` is -4; allowed: 1 to 9");
        let error = read(&small(-4), &["host"], &[], hz).expect_err("negative");
        assert_eq!(error.to_string(), "x.toml:1: `hz` is -4; allowed: 1 to 9");
        // In a file that inherits, lines are those of what was written.
        let written = Some("# one\n\nhz = -4\ninherits = \"y\"\n".into());
        let error = read(&Document { written, ..small(-4) }, &["host"], &[], hz);
        let error = error.expect_err("negative").to_string();
        assert_eq!(error, "x.toml:3: `hz` is -4; allowed: 1 to 9");
    }

    #[test]
    fn what_is_no_number_at_all_is_told_what_its_key_allows() {
        #[derive(serde::Deserialize)]
        struct File {
            hz: u32,
        }
        let hz = |document: &Document| {
            let source = Source::of(document);
            let hz = source.parse::<File>()?.hz;
            demand_within(1..=9, "hz", hz).map_err(|wrong| source.wrong(wrong))
        };
        let words = ["the text \"x\"", "the text \"a \\\"b\\\"\"", "true", "a list", "a table"];
        for (value, words) in ["\"x\"", "'a \"b\"'", "true", "[1]", "{ b = 1 }"].iter().zip(words) {
            let text = format!("hz = {value}\n").into();
            let error = read(&Document { text, ..document() }, &["host"], &[], hz);
            let error = error.expect_err("no number").to_string();
            assert_eq!(error, format!("x.toml:1: `hz` is {words}; allowed: 1 to 9"));
        }
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        let error = |text: &str| Override::parse(text).expect_err("malformed");
        assert!(error("hz").contains("expected KEY=VALUE"));
        assert!(error("hots.hz=1").contains("did you mean `host`"));
        assert!(error("host=1").contains("which key"));
        let error = changed(&[set("host.hz.b=1")]).expect_err("no table");
        assert_eq!(error.to_string(), "--set host.hz.b=1: `hz` has no keys of its own");
    }

    #[test]
    fn tasks_are_changed_all_or_by_group_or_name() {
        let text = "[[row]]\ntasks = [{ group = \"a\", count = 1 }, { group = \"b\" }]\n\
                    [[row]]\ntasks = [{ group = \"a\", name = \"x.y\" }]\n";
        let file = Document { text: text.into(), ..document() };
        let counts = |change: &str| {
            let changed = read(&file, &["tasks"], &[set(change)], |it| Ok(it.clone()))?;
            let table: Table = changed.text.parse().expect("toml");
            let rows = table["row"].as_array().expect("rows").iter();
            let lines = rows.flat_map(|row| row["tasks"].as_array().expect("tasks"));
            let count = |line: &Value| line.get("count").and_then(Value::as_integer);
            Ok::<_, CatalogError>(lines.map(count).collect::<Vec<_>>())
        };
        let found = |change| counts(change).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found("tasks.count=7"), [Some(7); 3]);
        assert_eq!(found("tasks.a.count=7"), [Some(7), None, Some(7)]);
        assert_eq!(found("tasks.x.y.count=7"), [Some(1), None, Some(7)]);
        let error = counts("tasks.c.count=7").expect_err("there is none").to_string();
        assert!(error.starts_with("--set tasks.c.count=7: unknown group or named task"), "{error}");
        let twice = |one: &str, two: &str| Override::demand_once(&[set(one), set(two)]).is_err();
        assert!(twice("tasks.count=1", "tasks.a.count=2"));
        assert!(
            !twice("tasks.a.count=1", "tasks.b.count=2")
                && !twice("tasks.a.ios=1", "tasks.count=2")
        );
    }

    #[test]
    fn what_is_changed_is_changed_once() {
        let once = |texts: &[&str]| {
            let changes: Vec<Override> = texts.iter().map(|text| set(text)).collect();
            Override::demand_once(&changes)
        };
        assert_eq!(once(&["host.a.b=1", "host.a.c=1", "device.a.b=1", "host.hz=1"]), Ok(()));
        let twice = "--set host.hz=2: changes what --set host.hz=1 changes; drop one of them";
        assert_eq!(once(&["host.hz=1", "host.a.b=1", "host.hz=2"]), Err((2, twice.to_owned())));
        assert!(once(&["host.a={ b = 1 }", "host.a.b=1"]).is_err(), "a part of it");
    }
}
