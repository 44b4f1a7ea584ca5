//! The settings with which a disk is served, and their comparison with those of a mount that wants
//! to join.

use super::server::About;
use crate::mounting::mounts::MountEntry;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// The settings with which a disk is served, or those that a mount asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The scheduler; `None` accepts any.
    pub scheduler: Option<String>,
    /// Its tunables, as `KEY=VALUE` with the full key; none accepts any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tunables: Vec<String>,
    /// The device model that sets the pace; `None` for the disk's own pace.
    pub device_model: Option<String>,
    /// The device whose costs schedulers go by; `None` accepts any, or leaves them unknown.
    pub costs: Option<String>,
    /// The queue depth in requests; `None` accepts any, or leaves it to the disk.
    pub depth: Option<u32>,
    /// What performs the reads of a busy disk; `None` accepts anything.
    pub io: Option<String>,
    /// The hierarchy that groups come from; `None` accepts any.
    pub cgroups: Option<String>,
    /// The address for Prometheus; `None` accepts any.
    pub metrics: Option<String>,
}

impl About {
    /// The reason why a mount with the settings `asked` cannot share the disk with `mounts`; `None`
    /// if it can.
    pub(super) fn conflict(&self, asked: &Settings, mounts: &[MountEntry]) -> Option<String> {
        let is = &self.settings;
        let text = |value: &Option<String>, none: &str| {
            value.as_deref().map_or_else(|| none.to_owned(), ToOwned::to_owned)
        };
        let depth = |value: Option<u32>| {
            value.map_or_else(|| "what suits the disk".to_owned(), |depth| depth.to_string())
        };
        let tunables = |all: &[String]| match all {
            [] => "as the scheduler has it".to_owned(),
            all => all.join(" "),
        };
        let unlike = |asked: &Option<String>, is| asked.is_some() && asked != is;
        let own = "the disk's own pace";
        let differences = [
            (
                unlike(&asked.scheduler, &is.scheduler),
                ("--scheduler", text(&is.scheduler, ""), text(&asked.scheduler, "")),
            ),
            (
                asked.tunables.iter().any(|it| !self.choice.has(it)),
                ("--tunable", tunables(&is.tunables), tunables(&asked.tunables)),
            ),
            (
                asked.device_model != is.device_model,
                ("--device-model", text(&is.device_model, own), text(&asked.device_model, own)),
            ),
            (
                unlike(&asked.costs, &is.costs),
                ("--costs", text(&is.costs, "not known"), text(&asked.costs, "")),
            ),
            (
                asked.depth.is_some() && asked.depth != is.depth,
                ("--depth", depth(is.depth), depth(asked.depth)),
            ),
            (unlike(&asked.io, &is.io), ("--io", text(&is.io, ""), text(&asked.io, ""))),
            (
                unlike(&asked.cgroups, &is.cgroups),
                ("--cgroups", text(&is.cgroups, "none"), text(&asked.cgroups, "")),
            ),
            (
                unlike(&asked.metrics, &is.metrics),
                ("--metrics", text(&is.metrics, "none"), text(&asked.metrics, "")),
            ),
        ];
        let mut differences =
            differences.into_iter().filter_map(|(differs, what)| differs.then_some(what));
        let first = differences.next()?;
        let mut why = format!("{} is already shared at other settings:", self.disk);
        for (option, is, asked) in std::iter::once(first).chain(differences) {
            let _ = write!(why, " {option} is {is}, asked for is {asked};");
        }
        let at: Vec<&str> = mounts.iter().map(|mount| mount.mountpoint.as_str()).collect();
        let first = match &at[..] {
            [] => "wait for what its last mount still writes or has open".to_owned(),
            at => format!("unmount {} first", at.join(" and ")),
        };
        let own = "use --separate for a scheduler of your own";
        let _ = write!(why, " ask for the same, {first}, or {own}");
        Some(why)
    }
}

/// The identity of our mount namespace.
#[must_use]
pub fn namespace() -> String {
    let name = std::fs::read_link("/proc/self/ns/mnt").unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Choice, Tunable};
    use fairdisk_sched::SchedulerSpec;
    use fairdisk_sched::noop::NoopParams;

    fn about() -> About {
        let settings = Settings {
            scheduler: Some("two-layer-cfq".to_owned()),
            io: Some("uring".to_owned()),
            cgroups: Some("v2".to_owned()),
            ..Settings::default()
        };
        let spec = SchedulerSpec::Noop(NoopParams);
        let choice = Choice { spec, tunables: Vec::new() };
        About { disk: "sda".to_owned(), settings, choice, find: |_, _| Err(String::new()) }
    }

    fn conflict(asked: Settings) -> Option<String> {
        let mount = MountEntry { source: "/srv".to_owned(), mountpoint: "/mnt/a".to_owned() };
        about().conflict(&asked, &[mount])
    }

    #[test]
    fn who_asks_for_nothing_or_the_same_joins() {
        assert_eq!(conflict(Settings::default()), None);
        assert_eq!(conflict(about().settings), None);
    }

    #[test]
    fn who_asks_for_something_else_is_told_what() {
        let asked = Settings {
            scheduler: Some("cfq".to_owned()),
            tunables: vec!["cfq.quantum=8".to_owned()],
            device_model: Some("wd2500js".to_owned()),
            costs: Some("nvme".to_owned()),
            depth: Some(4),
            io: Some("threads".to_owned()),
            cgroups: Some("v2".to_owned()),
            metrics: None,
        };
        assert_eq!(
            conflict(asked).unwrap(),
            "sda is already shared at other settings: --scheduler is two-layer-cfq, asked for is \
             cfq; --tunable is as the scheduler has it, asked for is cfq.quantum=8; --device-model is the disk's own pace, asked for is wd2500js; --costs is not known, asked \
             for is nvme; --depth is what suits the disk, asked for is 4; --io is uring, asked for is threads; ask for the same, unmount /mnt/a first, or use \
             --separate for a scheduler of your own"
        );
    }

    /// Also for the value that the scheduler has by itself.
    #[test]
    fn who_asks_for_a_tunable_is_told_of_another_value_in_force() {
        let tunable = |key: &str, value: &str, default: &str| Tunable {
            key: key.to_owned(),
            value: value.to_owned(),
            default: default.to_owned(),
            allowed: String::new(),
        };
        let spec = SchedulerSpec::Noop(NoopParams);
        let tunables = vec![tunable("cfq.quantum", "8", "4"), tunable("cfq.slice_ms", "9", "9")];
        let choice = Choice { spec, tunables };
        let settings = Settings { tunables: choice.changed(), ..about().settings };
        let about = About { settings, choice: choice.clone(), ..about() };
        let why = |asked: &str| {
            let tunables = vec![asked.to_owned()];
            about.conflict(&Settings { tunables, ..Settings::default() }, &[])
        };
        assert_eq!((why("cfq.quantum=8"), why("cfq.slice_ms=9")), (None, None));
        let says = "--tunable is cfq.quantum=8, asked for is cfq.quantum=4";
        assert!(why("cfq.quantum=4").unwrap().contains(says));
        let asked = ["quantum=8".to_owned(), "cfq.slice_ms=9".to_owned()];
        assert_eq!(choice.named(&asked), ["cfq.quantum=8", "cfq.slice_ms=9"]);
    }

    #[test]
    fn what_a_mount_has_left_behind_cannot_be_unmounted() {
        let asked = Settings { depth: Some(4), ..Settings::default() };
        let why = about().conflict(&asked, &[]).unwrap();
        let says = "ask for the same, wait for what its last mount still writes or has open, or";
        assert!(why.contains(says), "{why}");
    }
}
