//! Patterns of cgroup names: paths, systemd's units, Kubernetes' pods, containers.

use std::fmt;

/// How the paths of cgroups are compared: `*` stands for a part of a name, `**` for any names.
const OPTIONS: glob::MatchOptions = glob::MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// The fewest digits of a container's id, as runtimes print it when they shorten it.
const ID_DIGITS_MIN: usize = 12;

/// What a pattern is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The path of the cgroup; without a `/` at its beginning, its last names.
    Match,
    /// The name of a systemd unit.
    Unit,
    /// The UID of a Kubernetes pod.
    Pod,
    /// The id of a container, or the beginning of one.
    Container,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::Match, Self::Unit, Self::Pod, Self::Container];

    /// The key in a file.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Unit => "unit",
            Self::Pod => "pod",
            Self::Container => "container",
        }
    }
}

/// A pattern of cgroup names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    kind: Kind,
    /// As it was written.
    text: String,
    glob: glob::Pattern,
}

impl Pattern {
    /// The pattern, or what is wrong with it and after how many letters.
    pub(super) fn new(kind: Kind, text: &str) -> Result<Self, (usize, String)> {
        if text.is_empty() {
            return Err((0, format!("`{}` is empty", kind.key())));
        }
        let made = match kind {
            Kind::Match if text.starts_with('/') => text.to_owned(),
            Kind::Match => format!("/**/{text}"),
            // As systemctl does.
            Kind::Unit if !text.contains('.') => format!("{text}.service"),
            Kind::Unit => text.to_owned(),
            // Slices have underscores, as a dash is systemd's separator there.
            Kind::Pod => text.replace('_', "-"),
            Kind::Container => format!("{}*", text.trim_end_matches('*')),
        };
        let before = if made.ends_with(text) { made.len() - text.len() } else { 0 };
        let glob = glob::Pattern::new(&made);
        let glob =
            glob.map_err(|error| (error.pos.saturating_sub(before), error.msg.to_owned()))?;
        Ok(Self { kind, text: text.to_owned(), glob })
    }

    /// Whether it is about whole paths, which nobody but their owners can make.
    pub(super) fn is_for_paths(&self) -> bool {
        self.kind == Kind::Match && self.text.starts_with('/')
    }

    /// Whether the cgroup `path` is one of those that are meant.
    pub(super) fn matches(&self, path: &str) -> bool {
        let last = path.rsplit('/').next().unwrap_or_default();
        let is = |text: &str| self.glob.matches_with(text, OPTIONS);
        match self.kind {
            Kind::Match => is(path),
            // A name that a file of the kernel has is led by an underscore.
            Kind::Unit => is(last) || last.strip_prefix('_').is_some_and(is),
            Kind::Pod => pod(last).is_some_and(|uid| is(&uid.replace('_', "-"))),
            Kind::Container => container(last).is_some_and(is),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} \"{}\"", self.kind.key(), self.text)
    }
}

/// The UID of the pod whose cgroup is called `name`: `pod…`, or with systemd
/// `kubepods-burstable-pod….slice`.
fn pod(name: &str) -> Option<&str> {
    match name.strip_suffix(".slice") {
        Some(slice) => {
            let rest = slice.strip_prefix("kubepods-")?;
            let rest = ["burstable-", "besteffort-"].iter().find_map(|it| rest.strip_prefix(it));
            rest.unwrap_or(&slice["kubepods-".len()..]).strip_prefix("pod")
        }
        None => name.strip_prefix("pod"),
    }
}

/// The id of the container whose cgroup is called `name`: the id itself, or with systemd the name
/// of its runtime before it and `.scope` after.
fn container(name: &str) -> Option<&str> {
    let name = name.strip_suffix(".scope").unwrap_or(name);
    let (runtime, id) = name.rsplit_once('-').unwrap_or(("", name));
    let is_id = id.len() >= ID_DIGITS_MIN && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    // Beside a container there may be one of its monitor.
    (is_id && !runtime.contains("conmon")).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cgroups_are_found_by_the_names_that_people_know_them_by() {
        let uid = "0b1e58f6-6ad9-4d43-9f4e-0123456789ab";
        let slice = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0b1e58f6_6ad9_\
                     4d43_9f4e_0123456789ab.slice";
        let id = "3f1d0a2b9c4e5f60718293a4b5c6d7e8f901a2b3c4d5e6f708192a3b4c5d6e7f";
        let scope = format!("{slice}/cri-containerd-{id}.scope");
        let plain = format!("/docker/{id}");
        let monitor = format!("/machine.slice/libpod-conmon-{id}.scope");
        let cgroupfs = format!("/kubepods/besteffort/pod{uid}");
        let guaranteed = format!("/kubepods.slice/kubepods-pod{}.slice", uid.replace('-', "_"));
        let service = "/system.slice/system-postgresql.slice/postgresql@14-main.service";
        for (kind, text, path, is) in [
            (Kind::Match, "/system.slice/**", service, true),
            (Kind::Match, "/system.slice/*", service, false),
            (Kind::Match, "/system.slice/*/*.service", service, true),
            (Kind::Match, "postgresql@*", service, true),
            (Kind::Match, "/", "/", true),
            (Kind::Match, "/a[0-9]", "/a7", true),
            (Kind::Match, "/a", "/ab", false),
            (Kind::Unit, "postgresql@*.service", service, true),
            (Kind::Unit, "postgresql@14-main", service, true),
            (Kind::Unit, "cgroup.service", "/system.slice/_cgroup.service", true),
            (Kind::Unit, "system.slice", service, false),
            (Kind::Pod, uid, slice, true),
            (Kind::Pod, uid, &cgroupfs, true),
            (Kind::Pod, uid, &guaranteed, true),
            (Kind::Pod, "*", &scope, false),
            (Kind::Pod, "*", "/kubepods.slice/kubepods-burstable.slice", false),
            (Kind::Container, &id[..12], &scope, true),
            (Kind::Container, id, &plain, true),
            (Kind::Container, "*", &plain, true),
            (Kind::Container, "*", &monitor, false),
            (Kind::Container, "*", service, false),
        ] {
            let pattern = Pattern::new(kind, text).expect("a pattern");
            assert_eq!(pattern.matches(path), is, "{pattern} {path}");
        }
    }

    #[test]
    fn an_error_in_a_pattern_has_its_place() {
        for (kind, text, at) in
            [(Kind::Match, "/a/b**", 4), (Kind::Match, "a[", 1), (Kind::Unit, "", 0)]
        {
            let error = Pattern::new(kind, text).expect_err("it is wrong");
            assert!(error.0.abs_diff(at) <= 1, "{text}: {error:?}");
        }
    }
}
