//! The schedulers of mounts, by name.

use fairdisk_lab::catalog::error::unknown;
use fairdisk_lab::catalog::library::{Kind, is_path, under_mounts};
use fairdisk_lab::catalog::revision::tunables::{Tuned, tuned};
use fairdisk_mount::control::{Choice, Tunable};
use fairdisk_sched::SchedulerSpec;

/// The scheduler that a mount runs under `name`, with `tunables` as `KEY=VALUE`, of which a later
/// one replaces an earlier one.
///
/// # Errors
/// There is no such scheduler, and the message lists the known ones; or a tunable is unknown or out
/// of its range.
pub(in crate::commands) fn find(name: &str, tunables: &[String]) -> Result<Choice, String> {
    let Tuned { spec, tunables } = tuned(id(name)?, tunables).map_err(|error| error.to_string())?;
    let tunables = tunables.into_iter().map(|it| Tunable {
        key: it.key,
        value: it.value,
        default: it.default,
        allowed: it.allowed,
    });
    Ok(Choice { spec, tunables: tunables.collect() })
}

/// What the catalogue calls the scheduler that a mount runs under `name`.
///
/// # Errors
/// There is no such scheduler; the message lists the known ones.
pub(super) fn id(name: &str) -> Result<&str, String> {
    if is_path(name) {
        // The process that serves a mount may see other files than whoever asks.
        return Err(format!(
            "`{name}`: a mount takes a scheduler by its name, and no file; files are for \
             `fairdisk run` and the other commands of the lab"
        ));
    }
    let id = under_mounts(name).unwrap_or_else(|| Kind::Revision.own_name(name));
    if Kind::Revision.ids().any(|known| known == id) {
        return Ok(id);
    }
    let families = SchedulerSpec::NAMES;
    let revisions = Kind::Revision.ids().filter(|id| !families.contains(id));
    let known: Vec<&str> = families.iter().copied().chain(revisions).collect();
    Err(unknown("scheduler", name, &known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Span;
    use fairdisk_sched::cfq::{CfqParams, Quirks};
    use fairdisk_sched::two_layer::TwoLayerParams;

    fn find(name: &str) -> Result<SchedulerSpec, String> {
        super::find(name, &[]).map(|choice| choice.spec)
    }

    #[test]
    fn every_scheduler_of_the_catalogue_is_one_of_mounts() {
        for id in Kind::Revision.ids() {
            assert!(find(id).is_ok(), "{id}");
        }
        assert_eq!(find("none"), find("noop"), "the kernel's name");
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

    /// Two are set to suit mounts, where all that differs from the history stands here; the others
    /// are as in the code.
    #[test]
    fn a_mount_runs_what_suits_mounts() {
        let cfq = CfqParams {
            seeky_idle_ms: 8,
            target_latency_ms: 300,
            serve_together: true,
            quirks: Quirks { q6_queueing_latched: true, ..Quirks::default() },
            ..CfqParams::default()
        };
        let two_layer = TwoLayerParams {
            cfq,
            group_slice_ms: 40,
            inner_turn_resumes: true,
            d1_stale_group_records: false,
            d3_unbounded_wait: false,
            wait_max: Span::from_s(60),
            d4_nominal_turns: false,
            ..TwoLayerParams::default()
        };
        for name in SchedulerSpec::NAMES {
            let spec = match *name {
                "cfq" => SchedulerSpec::Cfq(cfq),
                "two-layer-cfq" => SchedulerSpec::TwoLayerCfq(two_layer),
                name => SchedulerSpec::named(name).unwrap(),
            };
            assert_eq!(find(name), Ok(spec), "{name}");
        }
        // By its name in the catalogue, too, and no other name stands for something else.
        let of_mounts: Vec<&str> =
            Kind::Revision.ids().filter(|id| id.starts_with("mount-")).collect();
        assert_eq!(of_mounts, ["mount-cfq", "mount-two-layer-cfq"]);
        for id in of_mounts {
            assert_eq!(find(id), find(id.trim_start_matches("mount-")));
        }
    }
}
