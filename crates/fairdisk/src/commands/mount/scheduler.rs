//! The schedulers of mounts, by name.

use fairdisk_lab::catalog::error::unknown;
use fairdisk_lab::catalog::library::Kind;
use fairdisk_lab::catalog::revision::Revision;
use fairdisk_sched::SchedulerSpec;

/// The scheduler that a mount runs under `name`: a family, configured for mounts, or a revision of
/// the catalogue, as it was.
///
/// # Errors
/// There is no such scheduler; the message lists the known ones.
pub(in crate::commands) fn find(name: &str) -> Result<SchedulerSpec, String> {
    if let Some(spec) = fairdisk_mount::scheduler(name) {
        return Ok(spec);
    }
    // Not the path of a file, because the client of a running mount may see other files.
    if Kind::Revision.ids().any(|id| id == name) {
        let revision = Revision::load(name).map_err(|error| error.to_string())?;
        return Ok(revision.spec);
    }
    let families = SchedulerSpec::NAMES;
    let revisions = Kind::Revision.ids().filter(|id| !families.contains(id));
    let known: Vec<&str> = families.iter().copied().chain(revisions).collect();
    Err(unknown("scheduler", name, &known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheduler_of_the_catalogue_is_one_of_mounts() {
        for id in Kind::Revision.ids() {
            assert!(find(id).is_ok(), "{id}");
        }
        // Revisions keep their historical parameters; the family has those for mounts.
        let [old, new, own] = ["cfq-2.6.25", "cfq-2.6.34", "cfq"].map(|name| find(name).unwrap());
        assert!(old != new && old != own);
        let error = find("cfq-2.6.35").unwrap_err();
        assert!(
            error.contains("did you mean `cfq-2.6.") && error.contains("known: noop, deadline")
        );
        assert!(find("/tmp/my.toml").is_err());
    }
}
