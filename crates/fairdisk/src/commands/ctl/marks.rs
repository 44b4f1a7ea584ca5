//! Accounting over a time: what groups had got at a mark, and what they got since.

use crate::commands::top::{self, SortBy};
use crate::failure::Failure;
use crate::output::{self, plain};
use fairdisk_mount::control::{Client, Status, directory};
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
    let after = client.status()?;
    let before = read(client, name)?;
    let (text, begin) = match before {
        Some(before) if before.uptime_s <= after.uptime_s => {
            (top::between(&before, &after, sort, json), format!("since mark {name}"))
        }
        // It was made before this mount, which has counted from nothing.
        _ => {
            let begin = Status { uptime_s: 0.0, groups: Vec::new(), ..after.clone() };
            let disk = plain(&after.disk);
            let since = format!("since the mount ({disk} has no mark {name} since then)");
            (top::between(&begin, &after, sort, json), since)
        }
    };
    Ok(output::print(&if json { text } else { format!("{begin}\n{text}") })?)
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

/// Where a mark of a process is kept: beside the sockets, which a restart of the machine empties,
/// too.
fn place(client: &Client, name: &str) -> PathBuf {
    let process = client.process().unwrap_or_default();
    directory().join("marks").join(format!("{name}.{process}.json"))
}
