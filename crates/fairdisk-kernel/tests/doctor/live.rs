//! Faults planted on this machine, on loop devices and cgroups of our own. Without root, loop
//! devices or the cgroup version that a fault needs, a test prints that it is skipped.

mod applied;
mod machine;
mod verified;
mod version1;
mod version2;

use fairdisk_kernel::{Cause, Finding};

/// The one of the findings whose cause is wanted and which is about something of ours: others on
/// this machine may have faults of their own.
fn about<'a>(
    findings: &'a [Finding],
    ours: &str,
    is_wanted: impl Fn(&Cause) -> bool,
) -> &'a Finding {
    let found = findings.iter().find(|it| is_wanted(&it.cause) && concerns(it, ours));
    found.unwrap_or_else(|| panic!("nothing about {ours}: {findings:#?}"))
}

fn concerns(finding: &Finding, ours: &str) -> bool {
    let places = finding.places.iter();
    has_whole(&finding.text, ours) || places.clone().any(|place| has_whole(&place.file, ours))
}

/// Whether a text has a name, and not only as a part of another: `loop10` has no `loop1`.
fn has_whole(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
    })
}

#[test]
fn a_name_is_not_found_in_a_longer_one() {
    for (text, has) in [
        ("on loop1: none", true),
        ("/sys/block/loop1/queue", true),
        ("on loop10, loop1", true),
        ("on loop10: none", false),
        ("on loop1p1", false),
        ("on xloop1", false),
    ] {
        assert_eq!(has_whole(text, "loop1"), has, "{text}");
    }
}

/// The faults about something of ours.
fn faults_about<'a>(findings: &'a [Finding], ours: &[&str]) -> Vec<&'a Finding> {
    let is_ours = |finding: &&Finding| ours.iter().any(|one| concerns(finding, one));
    findings.iter().filter(|finding| finding.is_fault()).filter(is_ours).collect()
}
