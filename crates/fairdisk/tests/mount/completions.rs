//! The things that a shell is offered: groups, mount points and marks.

use crate::host::{Host, lacks_something, text};
use std::process::Command;

/// What a shell is offered for the last of these words.
fn offered(words: &[&str]) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_fairdisk"))
        .envs([("FAIRDISK_COMPLETE", "bash"), ("_CLAP_IFS", "\n")])
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .args(["--", "fairdisk"])
        .args(words)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));
    text(&output).lines().map(str::to_owned).collect()
}

#[test]
fn a_shell_is_offered_the_groups_mounts_and_marks_that_are_there() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.mount_well(&["--scheduler", "noop"]);
    host.make_group("tenant");
    assert!(host.ctl(&["mark", "before-noon"]).status.success());
    let (tenant, at) = (host.path_of("tenant"), host.at().display().to_string());
    for (words, expected) in [
        (["ctl", "get", &tenant[..tenant.len() - 3]], &*tenant),
        (["ctl", "--at", &at[..at.len() - 1]], &at),
        (["top", "--at", &at[..at.len() - 1]], &at),
        (["ctl", "mark", "before-n"], "before-noon"),
    ] {
        assert!(
            offered(&words).iter().any(|it| it == expected),
            "{words:?}: {:?}",
            offered(&words)
        );
    }
}
