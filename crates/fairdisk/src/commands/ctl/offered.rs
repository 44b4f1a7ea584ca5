//! The things that shells offer as completions: those of the mounts that run and answer at once.

use fairdisk_mount::control::{Answer, Ask, Client, running};
use fairdisk_mount::identity::Hierarchy;
use std::time::Duration;

/// How long somebody who completes a word waits for each mount.
const PATIENCE: Duration = Duration::from_millis(300);

/// The answers of all mounts, of those that can answer `ask`.
fn answers(ask: &Ask) -> impl Iterator<Item = Answer> {
    let patient = |client: &mut Client| client.wait_no_longer_than(PATIENCE).is_ok();
    let clients =
        running().into_iter().filter_map(move |mut client| patient(&mut client).then_some(client));
    clients.filter_map(|mut client| client.ask(ask).ok())
}

/// The mount points.
pub(in crate::commands) fn mountpoints() -> Vec<String> {
    let mounts = answers(&Ask::Mounts).filter_map(|answer| match answer {
        Answer::Mounts(all) => Some(all),
        _ => None,
    });
    mounts.flatten().map(|mount| mount.mountpoint).collect()
}

/// The hierarchies from which groups come.
pub(in crate::commands) fn hierarchies() -> Vec<Hierarchy> {
    let names = answers(&Ask::List).filter_map(|answer| match answer {
        Answer::Status(status) => status.cgroups,
        _ => None,
    });
    names.filter_map(|name| Hierarchy::find(Some(&name)).ok().flatten()).collect()
}

/// The keys of the tunables of the schedulers that run.
pub(in crate::commands) fn tunables() -> Vec<String> {
    let all = answers(&Ask::Tunables).filter_map(|answer| match answer {
        Answer::Tunables(all) => Some(all.tunables),
        _ => None,
    });
    all.flatten().map(|tunable| tunable.key).collect()
}
