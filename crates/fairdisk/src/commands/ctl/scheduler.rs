//! `fairdisk ctl scheduler`: shows the scheduler with its tunables, or changes them.

use super::{only, print_json};
use crate::commands::limits::ignored_by_new;
use crate::failure::Failure;
use crate::output::{self, diagnose, plain};
use fairdisk_lab::catalog::library::Kind;
use fairdisk_mount::control::{Answer, Ask, Client, ControlError, Tunable, Tunables};
use std::fmt::Write as _;

/// Has the scheduler `name` take over with these tunables.
pub(super) fn change(clients: Vec<Client>, name: &str, tunables: &[String]) -> Result<(), Failure> {
    let mut client = only(clients)?;
    let name = Kind::Revision.own_name(name).to_owned();
    client.ask(&Ask::Scheduler { name, tunables: tunables.to_vec() })?;
    let note = client.status().ok().and_then(|status| ignored_by_new(&status));
    note.iter().for_each(|note| diagnose(note));
    Ok(())
}

/// Shows the scheduler of each disk with its tunables.
pub(super) fn show(clients: &mut [Client], json: bool) -> Result<(), Failure> {
    for (at, client) in clients.iter_mut().enumerate() {
        let all = match client.ask(&Ask::Tunables)? {
            Answer::Tunables(all) => all,
            other => return Err(ControlError::Gibberish(format!("{other:?}")).into()),
        };
        match json {
            true => print_json(&all)?,
            false if at > 0 => output::print(&format!("\n{}", table(&all)))?,
            false => output::print(&table(&all))?,
        }
    }
    Ok(())
}

fn table(all: &Tunables) -> String {
    let Tunables { disk, scheduler, tunables } = all;
    let mut text = format!("{}: {scheduler}\n", plain(disk));
    if tunables.is_empty() {
        return text + "no tunables\n";
    }
    let width = |of: fn(&Tunable) -> &str, heading: &str| {
        tunables.iter().map(|it| of(it).len()).chain([heading.len()]).max().unwrap_or(0)
    };
    let (keys, values) = (width(|it| &it.key, "tunable"), width(|it| &it.value, "value"));
    let defaults = width(|it| &it.default, "default");
    let mut line = |key: &str, value: &str, default: &str, allowed: &str| {
        let _ = writeln!(text, "{key:keys$}  {value:>values$}  {default:>defaults$}  {allowed}");
    };
    line("tunable", "value", "default", "allowed");
    for Tunable { key, value, default, allowed } in tunables {
        line(key, value, default, allowed);
    }
    text
}
