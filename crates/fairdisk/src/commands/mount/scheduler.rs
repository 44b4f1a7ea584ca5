//! The schedulers of mounts, by name.

use fairdisk_core::{Elevator as _, Span};
use fairdisk_lab::catalog::error::{CatalogError, unknown};
use fairdisk_lab::catalog::library::{Kind, is_path};
use fairdisk_lab::catalog::revision::Revision;
use fairdisk_sched::SchedulerSpec;

/// What a scheduler of mounts consists of, compared with one of the catalogue.
pub(in crate::commands) struct Composition {
    /// The scheduler of the catalogue.
    pub(in crate::commands) base: &'static str,
    /// The settings that differ: their names, the values there and the values under a mount.
    pub(in crate::commands) changed: Vec<[String; 3]>,
}

/// What the scheduler that mounts call `name` consists of; `None` if that is what the catalogue
/// says.
pub(in crate::commands) fn composition(name: &str) -> Result<Option<Composition>, CatalogError> {
    let Some(spec) = fairdisk_mount::scheduler(name) else { return Ok(None) };
    let base = spec.build().describe().name;
    // The settings of both, in the same order.
    let [before, after] = [Revision::load(base)?.spec, spec].map(|spec| format!("{spec:?}"));
    let setting = |text: &str| {
        let (name, value) = text.rsplit_once(": ")?;
        let name = name.rsplit([' ', '{']).next()?;
        let value = value.trim_end_matches([' ', '}', ')']);
        let span = value.strip_prefix("Span(").and_then(|ns| ns.parse().ok()).map(Span::from_ns);
        Some([name.to_owned(), span.map_or_else(|| value.to_owned(), |span| span.to_string())])
    };
    let both = before.split(", ").zip(after.split(", ")).filter(|(before, after)| before != after);
    let changed = both.filter_map(|(before, after)| {
        let ([_, before], [name, after]) = (setting(before)?, setting(after)?);
        Some([name, before, after])
    });
    let changed: Vec<_> = changed.collect();
    Ok((base != name || !changed.is_empty()).then_some(Composition { base, changed }))
}

/// The scheduler that a mount runs under `name`: a family, configured for mounts, or a revision of
/// the catalogue, as it was.
///
/// # Errors
/// There is no such scheduler; the message lists the known ones.
pub(in crate::commands) fn find(name: &str) -> Result<SchedulerSpec, String> {
    if let Some(spec) = fairdisk_mount::scheduler(name) {
        return Ok(spec);
    }
    if is_path(name) {
        // The process that serves a mount may see other files than whoever asks.
        return Err(format!(
            "`{name}`: a mount takes a scheduler by its name, and no file; files are for \
             `fairdisk run` and the other commands of the lab"
        ));
    }
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
        let error = find("./short-turns.toml").unwrap_err();
        assert!(error.contains("by its name, and no file"), "{error}");
    }

    #[test]
    fn what_a_scheduler_of_mounts_consists_of_is_told_where_it_is_another() {
        for name in SchedulerSpec::NAMES {
            let spec = fairdisk_mount::scheduler(name).unwrap();
            let told = composition(name).unwrap();
            let same = Kind::Revision.ids().any(|id| id == *name)
                && Revision::load(name).unwrap().spec == spec;
            assert_eq!(told.is_none(), same, "{name}");
        }
        let Composition { base, changed } = composition("cfq").unwrap().unwrap();
        let change = |name: &str| changed.iter().find(|it| it[0] == name).map(|it| &it[1..]);
        assert_eq!(base, "cfq-2.6.25");
        assert_eq!(change("seeky_idle_ms"), Some(&["2", "8"].map(str::to_owned)[..]));
        assert_eq!(change("q8_idle_while_busy"), Some(&["true", "false"].map(str::to_owned)[..]));
        assert_eq!(change("quantum"), None);
        let Composition { changed, .. } = composition("two-layer-cfq").unwrap().unwrap();
        let wait = changed.iter().find(|it| it[0] == "wait_max").unwrap();
        assert!(wait[1].starts_with('5') && wait[2].starts_with("60"), "{wait:?}");
    }
}
