//! Accounting over a time: what groups had got at a mark, and what they got since.

use super::table;
use crate::commands::top::{self, SortBy};
use crate::failure::Failure;
use crate::output::{self, plain};
use fairdisk_mount::control::{Client, GroupEntry, Status, directory};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;

/// Parses the name of a mark, which becomes a part of the name of a file.
pub(super) fn name(text: &str) -> Result<String, String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    let fits = (1..=64).contains(&text.len()) && text.chars().all(is_plain);
    let expected = "expected up to 64 letters, digits, `-` or `_`";
    if fits { Ok(text.to_owned()) } else { Err(expected.to_owned()) }
}

/// Remembers under a name what groups have got until now.
pub(super) fn set(clients: &mut [Client], name: &str) -> Result<(), Failure> {
    for client in clients {
        let status = client.status()?;
        let place = place(client, name);
        let kept = place.parent().map_or(Ok(()), fs::create_dir_all);
        let text = serde_json::to_vec(&status).map_err(|error| Failure::Run(error.to_string()))?;
        kept.and_then(|()| fs::write(&place, text)).map_err(|error| {
            Failure::Run(format!("mark `{name}`: {}: {error}", place.display()))
        })?;
    }
    Ok(())
}

/// Shows what groups got on a disk since a mark.
pub(super) fn show(
    client: &mut Client,
    name: &str,
    sort: SortBy,
    json: bool,
) -> Result<(), Failure> {
    let mut after = client.status()?;
    let before = read(client, name)?;
    let (before, begin) = match before {
        Some(before) if before.uptime_s <= after.uptime_s => (before, format!("since mark {name}")),
        // It was made before this mount, which has counted from nothing.
        _ => {
            let nothing = Status { uptime_s: 0.0, groups: Vec::new(), ..after.clone() };
            let disk = plain(&after.disk);
            (nothing, format!("since the mount ({disk} has no mark {name} since then)"))
        }
    };
    // Those are of the last second.
    after.groups.iter_mut().for_each(|group| group.waits.clear());
    let text = top::between(&before, &after, sort, json);
    if json {
        return Ok(output::print(&text)?);
    }
    Ok(output::print(&format!("{begin}\n{text}{}", table::operations(&since(&before, &after))))?)
}

/// The groups with the operations that came after those of `before`.
fn since(before: &Status, after: &Status) -> Vec<GroupEntry> {
    let groups = after.groups.iter().map(|group| {
        let older = before.groups.iter().find(|older| older.path == group.path);
        let Some(older) = older.filter(|older| group.follows(older)) else { return group.clone() };
        let ops = group.ops.since(&older.ops);
        let flush_waits = group.flush_waits.since(&older.flush_waits);
        GroupEntry { ops, flush_waits, ..group.clone() }
    });
    groups.collect()
}

/// The names of all marks.
pub(in crate::commands) fn names() -> Vec<String> {
    let entries = fs::read_dir(marks()).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let names = files.filter_map(|file| Some(file.split_once('.')?.0.to_owned()));
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

fn read(client: &Client, name: &str) -> Result<Option<Status>, Failure> {
    let place = place(client, name);
    let wrong = |why: String| Failure::Run(format!("mark `{name}`: {}: {why}", place.display()));
    match fs::read(&place) {
        Ok(text) => {
            serde_json::from_slice(&text).map(Some).map_err(|error| wrong(error.to_string()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(wrong(error.to_string())),
    }
}

/// Where marks are kept: beside the sockets, which a restart of the machine empties, too.
fn marks() -> PathBuf {
    directory().join("marks")
}

/// The file of a mark of a process.
fn place(client: &Client, name: &str) -> PathBuf {
    let process = client.process().unwrap_or_default();
    marks().join(format!("{name}.{process}.json"))
}
