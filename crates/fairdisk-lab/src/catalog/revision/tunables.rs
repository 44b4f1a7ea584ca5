//! The tunables of a scheduler: the values of its file that are of the scheduler itself, and not of
//! the host around it, so that they can be changed wherever it runs.

use super::{Revision, flatten, is_own};
use crate::catalog::error::{CatalogError, Fault, unknown};
use crate::catalog::library::{Kind, find};
use crate::catalog::overrides::{Override, changed, read};
use crate::catalog::source::Source;
use crate::nearest::nearest;
use fairdisk_sched::SchedulerSpec;
use fairdisk_sched::fair::RULES;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// The value that takes a change back.
const DEFAULT: &str = "default";

/// Defects of the request slots and of the page cache, which are of the host around the scheduler.
const OF_THE_HOST: [&str; 2] = ["d2_shared_request_slots", "d5_async_of_submitter"];

/// A tunable with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tunable {
    /// The key, `table.key` as in the scheduler's file.
    pub key: String,
    /// The value in force.
    pub value: String,
    /// The value in the scheduler's file.
    pub default: String,
    /// The values that may be set, in words.
    pub allowed: String,
}

/// A scheduler and its tunables, in the order of their keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuned {
    /// The scheduler with the values in force.
    pub spec: SchedulerSpec,
    /// All of its tunables.
    pub tunables: Vec<Tunable>,
}

/// The scheduler `id` of the catalogue with `settings`, each `KEY=VALUE`, of which a later one
/// replaces an earlier one for the same key. `KEY` may leave out the table if only one has such a
/// key; the value `default` is that of the file.
///
/// # Errors
/// Returns an error if there is no such scheduler, or about the first setting whose key is unknown
/// or whose value is not allowed.
pub fn tuned(id: &str, settings: &[String]) -> Result<Tuned, CatalogError> {
    let document = flatten(find(Kind::Revision, id)?)?;
    let known = known(Source::of(&document).parse()?);
    let mut changes: BTreeMap<String, Override> = BTreeMap::new();
    for setting in settings {
        let (key, value) =
            resolved(setting, &known).map_err(|fault| CatalogError::option(setting, fault))?;
        if value == DEFAULT {
            changes.remove(&key);
        } else {
            changes.insert(key.clone(), change(&key, value, setting)?);
        }
    }
    let in_force: Vec<Override> = changes.values().cloned().collect();
    let spec = read(&document, &["scheduler"], &in_force, Revision::parse)?.spec;
    let refusal = |key: &str, value: &str| {
        let probe = change(key, value, key).ok()?;
        let probed = changed(document.clone(), &[&probe]).and_then(|it| Revision::parse(&it));
        Some(probed.err()?.fault)
    };
    let tunables = known.into_iter().map(|(key, default)| Tunable {
        value: shown(changes.get(&key).map_or(&default, Override::value)),
        allowed: allowed(&default, |value| refusal(&key, value)),
        default: shown(&default),
        key,
    });
    Ok(Tuned { spec, tunables: tunables.collect() })
}

/// The change of one value of the scheduler's file.
fn change(key: &str, value: &str, written: &str) -> Result<Override, CatalogError> {
    let text = format!("scheduler.{key}={value}");
    Override::listed(&text, written).map_err(CatalogError::unstated)
}

/// All tunables of a scheduler with their values in its file, which may leave out rules that are on
/// and switches that are off.
fn known(file: Table) -> BTreeMap<String, Value> {
    let family = file.get("family").and_then(Value::as_str).unwrap_or_default().to_owned();
    let of_scheduler = |table: &str| table == "defects" || is_own(&family, table);
    let mut all = BTreeMap::new();
    for (table, on, names) in [
        ("rules", true, RULES.iter().map(|rule| rule.name).collect::<Vec<_>>()),
        ("switches", false, SchedulerSpec::switches_of(Some(&family)).map(|it| it.name).collect()),
    ] {
        if of_scheduler(table) {
            all.extend(names.iter().map(|name| (format!("{table}.{name}"), Value::from(on))));
        }
    }
    for (table, values) in file.iter().filter(|(table, _)| of_scheduler(table)) {
        for (key, value) in values.as_table().into_iter().flatten() {
            let path = format!("{table}.{key}");
            let is_switch = table == "switches" && !all.contains_key(&path);
            if !is_switch && !OF_THE_HOST.contains(&key.as_str()) {
                all.insert(path, value.clone());
            }
        }
    }
    all
}

/// The full key and the value of a setting.
fn resolved<'a>(
    setting: &'a str,
    known: &BTreeMap<String, Value>,
) -> Result<(String, &'a str), Fault> {
    let (key, value) =
        setting.split_once('=').ok_or("expected KEY=VALUE, as in cfq.slice_idle_ms=0")?;
    let (key, value) = (key.trim(), value.trim());
    let mut found = known.keys().filter(|path| *path == key || name(path) == key);
    match (found.next(), found.next()) {
        (Some(path), None) => Ok((path.clone(), value)),
        (Some(one), Some(other)) => Err(format!("is it `{one}` or `{other}`?").into()),
        (None, _) => {
            let names: Vec<&str> = known.keys().map(String::as_str).collect();
            let near = nearest(key, names.iter().copied())
                .or_else(|| nearest(key, names.iter().map(|path| name(path))));
            let text = unknown("tunable", key, &names);
            Err(Fault::UnknownKey(match near {
                Some(near) => format!("unknown tunable `{key}`; did you mean `{near}`?"),
                None => text,
            }))
        }
    }
}

/// The key without its table.
fn name(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(_, name)| name)
}

/// What may be set in place of `default`, in words, by what the parser of the file says of values
/// that no key allows.
fn allowed(default: &Value, refusal: impl Fn(&str) -> Option<Fault>) -> String {
    let tried = match default {
        Value::Boolean(_) => return "true or false".to_owned(),
        Value::Integer(_) => {
            let most = refusal(&u32::MAX.to_string());
            most.filter(|fault| matches!(fault, Fault::NotAllowed { .. })).or_else(|| refusal("-1"))
        }
        _ => refusal("\"\""),
    };
    match tried {
        Some(Fault::NotAllowed { allowed, .. }) => allowed,
        Some(Fault::NotWhole { expected, .. }) => {
            expected.trim_start_matches("a whole number from ").to_owned()
        }
        Some(other) => {
            let text = other.to_string();
            let names = text.rsplit_once("(known: ").map(|(_, names)| names.trim_end_matches(')'));
            names.unwrap_or_default().to_owned()
        }
        None => String::new(),
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(id: &str, settings: &[&str]) -> Result<Tuned, String> {
        let settings: Vec<String> = settings.iter().map(|it| (*it).to_owned()).collect();
        tuned(id, &settings).map_err(|error| error.to_string())
    }

    fn tunable(id: &str, key: &str, settings: &[&str]) -> Tunable {
        let all = set(id, settings).unwrap().tunables;
        all.into_iter().find(|it| it.key == key).unwrap_or_else(|| panic!("{key}"))
    }

    /// Each value does what it says: another one is another scheduler.
    #[test]
    fn every_tunable_of_every_scheduler_changes_it() {
        for id in Kind::Revision.ids() {
            let Tuned { spec, tunables } = set(id, &[]).unwrap();
            for Tunable { key, value, default, allowed } in tunables {
                assert_eq!(value, default, "{id}: {key}");
                let range = allowed.split_once(" to ");
                let other = match (&*value, range) {
                    ("true", _) => "false",
                    ("false", _) => "true",
                    (least, Some((from, to))) if least == from => to,
                    (_, Some((from, _))) => from,
                    (now, None) => {
                        let others = allowed.split(", ").find(|it| *it != now);
                        others.unwrap_or_else(|| panic!("{id}: {key}: {allowed}"))
                    }
                };
                match set(id, &[&format!("{key}={other}")]) {
                    Ok(changed) => assert_ne!(changed.spec, spec, "{id}: {key}={other}"),
                    // Some values do not go with others.
                    Err(why) => assert!(why.contains("drop") || why.contains("allowed"), "{why}"),
                }
            }
        }
    }

    #[test]
    fn the_nine_of_cfq_the_group_slice_and_the_rules_have_their_ranges() {
        let nine = [
            ("quantum", "1 to 1000000"),
            ("fifo_expire_sync_ms", "1 to 1000000"),
            ("fifo_expire_async_ms", "1 to 1000000"),
            ("back_seek_max_kib", "0 to 4294967295"),
            ("back_seek_penalty", "1 to 1000000"),
            ("slice_sync_ms", "1 to 1000000"),
            ("slice_async_ms", "1 to 1000000"),
            ("slice_async_rq", "1 to 1000000"),
            ("slice_idle_ms", "0 to 1000000"),
        ];
        for (key, allowed) in nine {
            assert_eq!(tunable("mount-cfq", &format!("cfq.{key}"), &[]).allowed, allowed, "{key}");
        }
        let slice = tunable("group-cfq", "group_layer.slice_ms", &["group_layer.slice_ms=10"]);
        assert_eq!((&*slice.value, &*slice.default), ("10", "500"));
        let map = tunable("group-cfq", "group_layer.weight_map", &[]);
        assert!(map.allowed.split(", ").any(|known| known == map.value), "{}", map.allowed);
        let rules = set("fair", &[]).unwrap().tunables;
        let rules = rules.iter().filter(|it| it.key.starts_with("rules."));
        assert_eq!(rules.count(), RULES.len());
    }

    #[test]
    fn a_key_may_leave_out_its_table_and_the_last_of_several_counts() {
        let quantum = |settings: &[&str]| tunable("mount-cfq", "cfq.quantum", settings).value;
        assert_eq!(quantum(&["quantum=8"]), "8");
        assert_eq!(quantum(&["cfq.quantum=8", "quantum=9"]), "9");
        assert_eq!(quantum(&["quantum=8", "quantum=default"]), "4");
    }

    #[test]
    fn what_cannot_be_set_is_refused_with_the_reason() {
        let why = |id: &str, setting: &str| set(id, &[setting]).unwrap_err();
        let says = |id, setting, text: &str| {
            let why = why(id, setting);
            assert!(why.starts_with(setting) && why.contains(text), "{why}");
        };
        says("mount-cfq", "cfq.quantum=0", "`quantum` is 0; allowed: 1 to 1000000");
        says("mount-cfq", "quantum=-1", "`quantum` is -1; allowed: 1 to 1000000");
        says("mount-cfq", "quantum=many", "allowed: 1 to 1000000");
        says("mount-cfq", "quantom=8", "unknown tunable `quantom`; did you mean `quantum`?");
        says("mount-cfq", "slots.by=sync", "unknown tunable `slots.by`");
        says("mount-cfq", "quantum", "expected KEY=VALUE");
        says("fair", "rules.paces=false", "did you mean `rules.pace`?");
        says("fair", "rules.pace=off", "true or false");
        says("noop", "quantum=8", "unknown tunable `quantum` (known: none)");
    }
}
