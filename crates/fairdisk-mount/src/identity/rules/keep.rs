//! What `ctl set --keep` writes: a rule for one cgroup in a file of its own, whose other contents
//! stay as they are.

use super::Directory;
use crate::identity::Setting;
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value, value};

/// The value that takes back what rules before say.
const NONE: &str = "none";

/// The first lines of a new file.
const HEAD: &str = "# Written by `fairdisk ctl set --keep`; other changes are left as they are.\n";

impl Directory {
    /// Keeps settings of the cgroup `path`: for all disks or for one alone, as far as they may
    /// differ between disks. What is taken back is no longer kept or, if another file has a rule
    /// for it, kept as `none`. Returns the file.
    ///
    /// # Errors
    /// The file cannot be written, or is no file of rules; or the settings are none by themselves,
    /// as a burst without its ceiling.
    pub fn keep(
        &self,
        path: &str,
        settings: &[Setting],
        disk: Option<&str>,
    ) -> io::Result<PathBuf> {
        let (file, further) = (self.kept(), self.further());
        fs::create_dir_all(&further)?;
        let locked = File::open(&further)?;
        flock(&locked, FlockOperation::LockExclusive)?;
        let (head, text) = match fs::read_to_string(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => (HEAD, String::new()),
            found => ("", found?),
        };
        let broken = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
        super::read(&file, &text).map_err(|problems| broken(problems[0].to_string()))?;
        let mut document: DocumentMut =
            text.parse().map_err(|error: toml_edit::TomlError| broken(error.to_string()))?;
        let other = || broken("write rules as [[group]] and [group.disk.NAME]".to_owned());
        let others = self.load().rules.without(&file);
        let ruled = others.anywhere(path).map(Setting::key).collect();
        change(&mut document, (path, &ruled), settings, disk).ok_or_else(other)?;
        let text = format!("{head}{document}");
        // What would not be read again must not be written.
        super::read(&file, &text).map_err(|problems| broken(problems[0].text.clone()))?;
        let new = file.with_extension("toml.new");
        let mut written = File::create(&new)?;
        written.write_all(text.as_bytes())?;
        written.sync_all()?;
        fs::rename(&new, &file)?;
        locked.sync_all()?;
        Ok(file)
    }
}

/// `None` if the file is written in a way that is not changed here. Rules of other files have
/// values for the keys `ruled`.
fn change(
    document: &mut DocumentMut,
    (path, ruled): (&str, &BTreeSet<&str>),
    settings: &[Setting],
    disk: Option<&str>,
) -> Option<()> {
    let pattern = glob::Pattern::escape(path);
    let groups = document.entry("group").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let groups = groups.as_array_of_tables_mut()?;
    let is_it = |it: &Table| it.get("match").and_then(Item::as_str) == Some(&pattern);
    let known = groups.iter().position(is_it);
    let at = known.unwrap_or(groups.len());
    if known.is_none() {
        let mut rule = Table::new();
        rule.insert("match", value(&pattern));
        groups.push(rule);
    }
    let rule = groups.get_mut(at)?;
    for setting in settings {
        let own = disk.filter(|_| !setting.is_of_share());
        match own {
            None => put(rule, *setting, ruled),
            Some(disk) => {
                let disks = rule.entry("disk").or_insert_with(implicit);
                let disks = disks.as_table_mut()?;
                let table = disks.entry(disk).or_insert(Item::Table(Table::new()));
                put(table.as_table_mut()?, *setting, ruled);
            }
        }
    }
    if let Some(disks) = rule.get_mut("disk").and_then(Item::as_table_mut) {
        let is_empty = |item: &Item| item.as_table().is_some_and(Table::is_empty);
        let empty = disks.iter().filter(|(_, item)| is_empty(item));
        let empty: Vec<String> = empty.map(|(name, _)| name.to_owned()).collect();
        empty.iter().for_each(|name| drop(disks.remove(name)));
        if disks.is_empty() {
            rule.remove("disk");
        }
    }
    // The pattern alone.
    if rule.len() == 1 {
        groups.remove(at);
    }
    Some(())
}

/// A table that has only other tables.
fn implicit() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

fn put(table: &mut Table, setting: Setting, ruled: &BTreeSet<&str>) {
    setting.instead_of().iter().for_each(|key| drop(table.remove(key)));
    match setting.parts() {
        (key, None) if ruled.contains(key) => drop(table.insert(key, value(NONE))),
        (key, None) => drop(table.remove(key)),
        (key, Some(text)) => {
            let number = text.parse::<i64>().map(Value::from);
            let part = || text.contains('.').then(|| text.parse::<f64>().ok()).flatten();
            let number = number.ok().or_else(|| part().map(Value::from));
            table.insert(key, value(number.unwrap_or_else(|| Value::from(text))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_read_again_is_not_written() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::at(place.path().join("fairdisk"));
        let keep =
            |settings: &[&str]| directory.keep("/db", &Setting::parse_all(settings).unwrap(), None);
        let refused = keep(&["burst_iops=5000"]).unwrap_err().to_string();
        assert!(refused.contains("max_iops"), "{refused}");
        assert!(!directory.kept().exists());
        let file = keep(&["max_iops=18446744073709551615"]).unwrap();
        assert!(directory.load().problems.is_empty(), "{:?}", directory.load().problems);
        fs::write(&file, "group = [{ match = \"/db\", weight = 2 }]\n").unwrap();
        assert!(keep(&["weight=3"]).unwrap_err().to_string().contains("[[group]]"));
    }

    #[test]
    fn what_is_kept_is_a_rule_and_the_rest_of_the_file_stays() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::at(place.path().join("fairdisk"));
        let keep = |path: &str, settings: &[&str], disk| {
            let settings = Setting::parse_all(settings).unwrap();
            fs::read_to_string(directory.keep(path, &settings, disk).unwrap()).unwrap()
        };
        keep("/a", &["ioprio=2"], None);
        let text = keep("/a", &["weight=300", "max_bps=1M", "fsync_p99_ms=2.5"], Some("sda"));
        let rule = "[[group]]\nmatch = \"/a\"\nweight = 300\n\n[group.disk.sda]\n\
                    max_bps = 1048576\nfsync_p99_ms = 2.5\n";
        assert!(text.starts_with(HEAD) && text.ends_with(rule), "{text}");
        let mine = text.replace("weight = 300", "weight = 300 # as agreed");
        fs::write(directory.kept(), mine).unwrap();
        let text = keep("/b[1]", &["min_iops=5"], None);
        assert!(text.contains("# as agreed") && text.contains("\"/b[[]1[]]\""), "{text}");
        let text = keep("/a", &["max_bps=none", "fsync_p99_ms=none"], Some("sda"));
        assert!(!text.contains("group.disk"), "{text}");
        let loaded = directory.load();
        let of = |path| -> Vec<String> {
            let all = loaded.rules.of(path, Some("sda"), false);
            all.map(|(setting, _)| setting.in_words()).collect()
        };
        assert_eq!((of("/a"), of("/b[1]")), (vec!["weight=300".into()], vec!["min_iops=5".into()]));
        let text = keep("/a", &["weight=none"], None);
        assert!(!text.contains("\"/a\""), "{text}");
        let others = "[[group]]\nmatch = \"/*\"\n[group.disk.sda]\nmax_bps = 7\n";
        fs::write(directory.path().join("groups.d/others.toml"), others).unwrap();
        let text = keep("/a", &["max_bps=none", "min_iops=none"], Some("sda"));
        assert!(text.ends_with("[group.disk.sda]\nmax_bps = \"none\"\n"), "{text}");
        let rules = directory.load().rules;
        assert_eq!(
            rules.of("/a", Some("sda"), false).last().map(|it| it.0.in_words()).as_deref(),
            Some("max_bps=none")
        );
    }

    #[test]
    fn a_file_that_is_wrong_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::at(place.path().to_owned());
        fs::create_dir(place.path().join("groups.d")).unwrap();
        fs::write(directory.kept(), "[[group]]\nmatch = 7\n").unwrap();
        let setting = [Setting::parse("weight=5").unwrap()];
        let error = directory.keep("/a", &setting, None).unwrap_err().to_string();
        assert!(error.contains("ctl.toml:2:9: "), "{error}");
        assert_eq!(fs::read_to_string(directory.kept()).unwrap(), "[[group]]\nmatch = 7\n");
    }
}
