//! `fairdisk blame --git`: commits of a small repository.

use crate::program::Place;
use serde_json::Value;
use std::fs;
use std::process::Command;

/// Runs git there; `None` if there is none.
fn git(place: &Place, arguments: &[&str]) -> Option<String> {
    let who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    let command = Command::new("git").args(who).args(arguments).current_dir(place.path()).output();
    let output = command.ok()?;
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

/// Commits a file and returns the short name of the commit.
fn commit(place: &Place, file: &str, text: &str, summary: &str) -> String {
    place.write(file, text);
    git(place, &["add", "."]).unwrap();
    git(place, &["commit", "-q", "-m", summary]).unwrap();
    git(place, &["rev-parse", "--short", "HEAD"]).unwrap()
}

/// The program takes a second for each line of `cost`, and three for both halves of a feature.
const RUN: &str =
    "n=$(wc -l < built); test -e left -a -e right && n=$((n + 30)); echo $((100 + n))";

fn blame(place: &Place, build: &str, more: &[&str]) -> Value {
    let blame = ["blame", "--git", "good..HEAD", "--build", build, "--run", RUN, "--json", "-q"];
    place.run(&[&blame[..], more].concat()).json()
}

fn names(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> =
        value.as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    names.sort_unstable();
    names
}

#[test]
fn commits_are_blamed_alone_and_in_pairs_and_built_once() {
    let place = Place::new();
    if git(&place, &["init", "-q"]).is_none() {
        return eprintln!("skipped: there is no git");
    }
    commit(&place, "cost", "start\n", "The beginning");
    git(&place, &["tag", "good"]).unwrap();
    let slow = commit(&place, "cost", &format!("start\n{}", "more\n".repeat(20)), "More checks");
    let harmless = commit(&place, "notes", "a word\n", "Notes");
    let left = commit(&place, "left", "one\n", "Half of a feature");
    let right = commit(&place, "right", "two\n", "The other half");
    // This one changes what `left` is made of, so it cannot be there without it.
    let dependent = commit(&place, "left", "one\nand more\n", "A comment in the first half");

    let build = "cp cost built; echo >> ../builds";
    let found = blame(&place, build, &["--lower-is-better"]);
    let mut guilty = vec![slow.as_str(), left.as_str(), right.as_str()];
    guilty.sort_unstable();
    assert_eq!(names(&found["to_blame"]), guilty, "{found:#}");
    assert!(!guilty.contains(&harmless.as_str()));
    assert_eq!(found["together"].as_array().unwrap().len(), 1, "{found:#}");
    let mut both = vec![left.as_str(), right.as_str()];
    both.sort_unstable();
    assert_eq!(names(&found["together"][0]), both, "{found:#}");
    assert_eq!(found["ends"]["whole"], 50.0, "{found:#}");
    let summaries: Vec<&str> = found["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["summary"].as_str().unwrap())
        .collect();
    assert_eq!(summaries[..2], ["More checks", "Notes"]);
    let note = format!("{dependent} does not apply without {left}, and counts as nothing there.");
    let caveats = found["caveats"].as_array().unwrap();
    assert!(caveats.iter().any(|caveat| *caveat == note.as_str()), "{found:#}");

    // Of 32 mixtures, 8 have the last commit without what it needs. Each tree is built once, and
    // not again by the next investigation.
    let builds = || {
        let path = place.path().join(".git/fairdisk-blame/builds");
        fs::read_to_string(path).unwrap().lines().count()
    };
    assert!((4..=24).contains(&builds()), "{} builds", builds());
    let before = builds();
    blame(&place, build, &[]);
    assert_eq!(builds(), before);
    assert_eq!(git(&place, &["status", "--porcelain"]).unwrap(), "", "the work tree is as it was");
}

/// A command that asks git where it is must not be told of the repository of the user.
#[test]
fn commands_do_not_see_the_repository_around_them() {
    let place = Place::new();
    if git(&place, &["init", "-q"]).is_none() {
        return eprintln!("skipped: there is no git");
    }
    commit(&place, "a", "1\n", "One");
    git(&place, &["tag", "good"]).unwrap();
    commit(&place, "a", "2\n", "Two");
    let asks = "git rev-parse --git-dir 2>/dev/null && exit 1; cat a";
    let arguments =
        ["blame", "--git", "good..HEAD", "--build", asks, "--run", asks, "--json", "-q"];
    let found = place.run(&arguments).json();
    assert_eq!(found["ends"]["whole"], 1.0, "{found:#}");
}

#[test]
fn what_cannot_be_built_or_is_no_range_is_an_error() {
    let place = Place::new();
    if git(&place, &["init", "-q"]).is_none() {
        return eprintln!("skipped: there is no git");
    }
    commit(&place, "a", "1\n", "One");
    git(&place, &["tag", "good"]).unwrap();
    let last = commit(&place, "a", "2\n", "Two");
    let run = |more: &[&str]| {
        let ended = place.run(&[&["blame", "--run", "echo 1", "-q"][..], more].concat());
        assert_ne!(ended.code, Some(0), "{}", ended.out);
        ended.err
    };
    let failed = run(&["--git", "good..HEAD", "--build", "grep -q 1 a"]);
    assert!(failed.contains(&format!("`grep -q 1 a` with good and {last} failed")), "{failed}");
    assert!(run(&["--git", "good"]).contains("expected GOOD..BAD"));
    assert!(run(&["--git", "good..nowhere"]).contains("`nowhere` is no revision"));
    assert!(run(&["--git", "HEAD..good"]).contains("HEAD is no ancestor of good"));
    assert!(run(&["--git", "good..good"]).contains("0 commits; expected 1 to"));
}
