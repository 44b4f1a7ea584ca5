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
    finding.text.contains(ours) || places.clone().any(|place| place.file.contains(ours))
}

/// The faults about something of ours.
fn faults_about<'a>(findings: &'a [Finding], ours: &[&str]) -> Vec<&'a Finding> {
    let is_ours = |finding: &&Finding| ours.iter().any(|one| concerns(finding, one));
    findings.iter().filter(|finding| finding.is_fault()).filter(is_ours).collect()
}
