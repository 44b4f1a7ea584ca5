//! Help, completions, man pages and the catalogue.

use crate::program::{Ended, Place, fairdisk};
use fairdisk_core::QosKey;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

const COMMANDS: &[&str] = &["demo", "run", "catalog", "explain", "blame", "completions", "man"];

#[test]
fn help_names_every_command() {
    let help = fairdisk(&["--help"]).quiet();
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "{help}");
        let own = fairdisk(&[command, "--help"]).quiet();
        assert!(own.contains(&format!("fairdisk {command}")), "{own}");
    }
    assert!(fairdisk(&["--version"]).quiet().starts_with("fairdisk "));
}

#[test]
fn help_names_every_setting_of_groups() {
    for command in [&["ctl", "set", "--help"][..], &["advise", "--help"]] {
        let help = fairdisk(command).quiet();
        for key in QosKey::ALL.map(QosKey::name) {
            assert!(help.contains(key), "{key}: {help}");
        }
    }
}

#[test]
fn help_tells_orders_and_defaults() {
    let usage = fairdisk(&["explain", "--help"]).quiet();
    for order in ["<RUN> <REQUEST>\n", "<RUN> --slowest <N>\n"] {
        assert!(usage.contains(&format!("fairdisk explain [OPTIONS] {order}")), "{usage}");
    }
    let help = fairdisk(&["run", "--help"]).quiet();
    let words: Vec<&str> = help.split_whitespace().collect();
    let help = words.join(" ");
    let parts = [
        "else 5]",
        "two-layer-cfq]",
        "hdd-7200-2007; on a real file, that file as it is]",
        "until its jobs are done]",
        "Only the arms that have it are run; if none has, one arm that has it replaces them all",
        "[default: auto]",
        "[default: lab]",
    ];
    for part in parts {
        assert!(help.contains(part), "no `{part}` in {help}");
    }
}

#[test]
fn without_a_command_it_says_which_there_are() {
    let ended = fairdisk::<&str>(&[]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""));
    assert!(ended.err.contains("Usage: fairdisk"), "{}", ended.err);
}

#[test]
fn completions_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = fairdisk(&["completions", shell]).quiet();
        assert!(script.contains("FAIRDISK_COMPLETE") && script.contains("fairdisk"), "{shell}");
    }
    let place = Place::new();
    place.write("completions", fairdisk(&["completions", "bash"]).quiet());
    match offered(&place, &[""]) {
        Ok(all) => assert!(COMMANDS.iter().all(|it| all.iter().any(|all| all == it)), "{all:?}"),
        Err(error) => eprintln!("skipped: no bash to ask: {error}"),
    }
}

/// What bash offers as completions of the last of `words`.
fn offered(place: &Place, words: &[&str]) -> io::Result<Vec<String>> {
    // Defines what bash has only in interactive use.
    let script = "compopt() { :; }; . ./completions; \
                  COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); \
                  _clap_complete_fairdisk fairdisk \"${COMP_WORDS[COMP_CWORD]}\" \
                  \"${COMP_WORDS[COMP_CWORD-1]}\"; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    let program = Path::new(env!("CARGO_BIN_EXE_fairdisk")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    bash.args(["-c", script, "bash", "fairdisk"]).args(words).current_dir(place.path());
    bash.env("PATH", path);
    let offered = Ended::of(bash.output()?).quiet();
    Ok(offered.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

#[test]
fn bash_offers_names_where_names_are_expected_and_no_files_elsewhere() {
    let place = Place::new();
    place.write("completions", fairdisk(&["completions", "bash"]).quiet());
    place.write("two-file", "");
    let cases: [(&[&str], &[&str]); 24] = [
        (&["run", "two-g"], &["two-groups"]),
        (&["explain", "two-g"], &["two-groups"]),
        (&["run", "two-groups", "--device", "wd"], &["wd2500js", "wd2500js-ryo"]),
        (&["run", "two-groups", "--scheduler", "two-l"], &["two-layer-cfq"]),
        (&["run", "two-groups", "--on", ""], &["file:", "lab"]),
        (&["compare", "two-g"], &["two-groups"]),
        (&["compare", "two-groups", "--scheduler", "two-l"], &["two-layer-cfq"]),
        (&["advise", "two-g"], &["two-groups"]),
        (&["advise", "two-groups", "--device", "nv"], &["nvme"]),
        (&["catalog", "devices", "fixed-"], &["fixed-8ms"]),
        (&["catalog", "devices", "n"], &["null", "nvme"]),
        (&["catalog", "schedulers", "noo"], &["noop"]),
        (&["catalog", "h"], &["hosts"]),
        (&["blame", "cfq-2.6.34"], &["cfq-2.6.34"]),
        (&["mount", "--costs", "nv"], &["nvme"]),
        (&["run", "two-groups", "--device", "./two"], &["./two-file"]),
        (&["run", "two-groups", "--arm", "two-"], &[]),
        (&["run", "two-groups", "--set", "host.h"], &["host.hz="]),
        (&["compare", "two-groups", "--scheduler", "noop,two-l"], &["noop,two-layer-cfq"]),
        (&["blame", "cfq-2.6.34", "cfq-2.6.33-"], &["cfq-2.6.33-rc1"]),
        (&["mount", "--device-model", "nv"], &["nvme"]),
        (&["ctl", "set", "/db", "max_w"], &["max_write_bps=", "max_write_iops="]),
        (&["ctl", "scheduler", "dead"], &["deadline"]),
        (&["ctl", "list", "--sort", "p"], &["p99"]),
    ];
    for (words, expected) in cases {
        match offered(&place, words) {
            Ok(mut offered) => {
                offered.sort();
                assert_eq!(offered, expected, "{words:?}");
            }
            Err(error) => return eprintln!("skipped: no bash to ask: {error}"),
        }
    }
}

#[test]
fn man_pages_are_written_for_every_command() {
    let place = Place::new();
    assert_eq!(place.run(&["man", "."]).quiet(), "");
    let names = place.names();
    for command in COMMANDS {
        assert!(names.contains(&format!("fairdisk-{command}.1")), "{names:?}");
    }
    let page = fs::read_to_string(place.path().join("fairdisk-run.1")).unwrap();
    assert!(page.starts_with(".ie") && page.contains("scheduler"), "{page}");
}

#[test]
fn a_directory_for_man_pages_is_made_if_it_is_not_there() {
    let place = Place::new();
    assert_eq!(place.run(&["man", "share/man1"]).quiet(), "");
    assert!(place.path().join("share/man1/fairdisk-run.1").exists());
}

#[test]
fn the_catalogue_lists_every_kind_with_titles() {
    let all = fairdisk(&["catalog"]).quiet();
    for kind in ["devices", "schedulers", "experiments", "hosts", "kernels"] {
        assert!(all.contains(&format!("{kind}\n")), "{all}");
        let list = fairdisk(&["catalog", kind]).quiet();
        assert!(!list.is_empty());
        for line in list.lines() {
            let (id, title) = line.split_once("  ").unwrap();
            assert!(!id.is_empty() && title.trim().len() > 5, "no title: {line}");
        }
    }
    let value = fairdisk(&["catalog", "--json"]).json();
    assert!(value["experiments"][0]["title"].is_string(), "{value}");
    assert_eq!(value["schema"], 1, "{value}");
}

#[test]
fn what_was_published_is_printed_beside_the_lab() {
    let published = ["catalog", "published", "satoshi-2008-04-03-dd", "--seeds", "1"];
    let text = fairdisk(&published).quiet();
    let line = text.lines().find(|line| line.contains("run4") && line.contains("data2  seconds"));
    let words: Vec<&str> = line.expect("a line").split_whitespace().collect();
    assert_eq!(words[..5], ["run4", "two-layer", "data2", "seconds", "17.4"], "{text}");
    assert!(!text.contains("flat"), "no source prints that arm: {text}");
    assert!(text.contains("published by Satoshi UCHIDA"), "{text}");
    let value = fairdisk(&[&published[..], &["--json"]].concat()).json();
    let figures = value["experiments"][0]["figures"].as_array().expect("a list");
    assert_eq!(figures.len(), 16, "seconds and rates of two tasks in four runs");
    let refused = fairdisk(&["catalog", "published", "two-groups"]);
    assert!(refused.err.contains("its source prints nothing"), "{}", refused.err);
    let refused = fairdisk(&["catalog", "hosts", "--seeds", "1"]);
    assert!(refused.err.contains("--seeds is for `fairdisk catalog published`"), "{}", refused.err);
}

#[test]
fn an_entry_is_shown_with_its_provenance() {
    let text = fairdisk(&["catalog", "devices", "wd2500js"]).quiet();
    assert!(text.contains("id = \"wd2500js\"") && text.contains('#'), "{text}");
    let value = fairdisk(&["catalog", "schedulers", "noop", "--json"]).json();
    assert_eq!((&value["id"], &value["schema"]), (&"noop".into(), &1.into()));
    assert!(value["switches"].is_null(), "noop has no switches");
}

#[test]
fn a_kernel_says_which_changes_it_has_and_whose() {
    let text = fairdisk(&["catalog", "kernels", "2.6.32"]).quiet();
    assert!(text.contains("# e084b2d9, Mel Gorman, 2.6.31\ncold_ascending = true\n"), "{text}");
    assert!(text.contains("\nwait_iff_congested = false\n"), "{text}");
    let value = fairdisk(&["catalog", "kernels", "2.6.30", "--json"]).json();
    let switches = value["switches"].as_array().unwrap();
    let ascending = switches.iter().find(|it| it["name"] == "cold_ascending").unwrap();
    assert_eq!((&ascending["on"], &ascending["release"]), (&false.into(), &"2.6.31".into()));
    let message = fairdisk(&["catalog", "kernels", "2.6.12"]).err;
    assert!(message.contains("unknown kernel `2.6.12`"), "{message}");
}

#[test]
fn a_scheduler_says_what_it_honours() {
    let list = fairdisk(&["catalog", "schedulers"]).quiet();
    let line = |id: &str| list.lines().find(|line| line.starts_with(&format!("{id} "))).unwrap();
    assert!(line("token-bucket").ends_with("bursts at a rate, bursts]"), "{list}");
    assert!(line("mclock").ends_with("[shares, floors, ceilings]"), "{list}");
    assert!(!line("noop").contains('['), "{list}");
    let value = fairdisk(&["catalog", "schedulers", "mclock", "--json"]).json();
    assert_eq!(value["honours"], serde_json::json!(["shares", "floors", "ceilings"]));
    let text = fairdisk(&["catalog", "schedulers", "deadline"]).quiet();
    assert!(text.ends_with("\n# Honours: nothing of groups and tasks\n"), "{text}");
}

#[test]
fn a_revision_of_cfq_is_shown_with_its_switches() {
    let text = fairdisk(&["catalog", "schedulers", "cfq-2.6.33-rc1"]).quiet();
    assert!(text.contains("# on   idle_corner_a: no idle wait"), "{text}");
    assert!(text.contains("# off  seek_history: "), "{text}");
    let value = fairdisk(&["catalog", "schedulers", "cfq-2.6.34", "--json"]).json();
    let switches = value["switches"].as_array().expect("a list");
    let history = switches.iter().find(|switch| switch["name"] == "seek_history");
    let history = history.expect("it is listed");
    assert_eq!((&history["on"], &history["id"]), (&true.into(), &"G1".into()));
    assert_eq!(history["commit"], "3dde36ddea3");
}

#[test]
fn a_revision_of_bfq_is_shown_with_its_switches() {
    let text = fairdisk(&["catalog", "schedulers", "bfq-4.20"]).quiet();
    assert!(text.contains("# on   injection: on flash that queues"), "{text}");
    assert!(text.contains("# off  weight_preempts: "), "{text}");
    assert!(text.contains("#        96a291c38c32, Paolo Valente, 5.3-rc1"), "{text}");
    let value = fairdisk(&["catalog", "schedulers", "bfq-v0", "--json"]).json();
    let switches = value["switches"].as_array().expect("a list");
    assert!(switches.iter().all(|switch| switch["on"] == false), "{value}");
}

/// Mounts have a `cfq` that the catalogue lists under another name, and a `two-layer-cfq` that is
/// not the one of 2008.
#[test]
fn a_scheduler_says_what_mounts_run_under_its_name() {
    let text = fairdisk(&["catalog", "schedulers", "cfq"]).quiet();
    assert!(
        text.contains("id = \"mount-cfq\"") && text.contains("\nseeky_idle_ms = 8\n"),
        "{text}"
    );
    assert!(text.contains("\n\n# As cfq, mounts run mount-cfq ("), "{text}");
    let value = fairdisk(&["catalog", "schedulers", "cfq", "--json"]).json();
    let mine = &serde_json::Value::from("mount-cfq");
    assert_eq!((&value["id"], &value["under_mounts"]), (mine, mine));
    let text = fairdisk(&["catalog", "schedulers", "two-layer-cfq"]).quiet();
    let (file, _) =
        text.split_once("\n# As two-layer-cfq, mounts run mount-two-layer-cfq (").unwrap();
    assert!(file.contains("id = \"two-layer-cfq\""), "{text}");
    for same in ["fair", "mount-cfq", "cfq-2.6.25"] {
        let value = fairdisk(&["catalog", "schedulers", same, "--json"]).json();
        assert_eq!((&value["id"], value["under_mounts"].is_null()), (&same.into(), true));
    }
}

#[test]
fn a_reader_that_has_gone_away_is_no_failure() {
    let commands: [&[&str]; 5] = [
        &["catalog"],
        &["catalog", "devices", "wd2500js"],
        &["--help"],
        &["run", "satoshi-2008-04-03-dd", "--row", "run1", "--seeds", "1"],
        &["completions", "zsh"],
    ];
    for arguments in commands {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let output = Place::new().command(arguments).stdout(writer).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), err.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn results_that_cannot_be_written_are_a_failure() {
    let commands: [&[&str]; 4] = [&["catalog"], &["--help"], &["run", "--help"], &["--version"]];
    for arguments in commands {
        let full = fs::File::create("/dev/full").unwrap();
        let output = Place::new().command(arguments).stdout(full).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {err}");
        assert!(err.starts_with("error: cannot write the results: "), "{arguments:?}: {err}");
    }
}

/// The output of the program on a terminal of this type.
fn on_a_terminal(term: &str) -> io::Result<String> {
    let run = "run two-groups --arm flat --seeds 1 --duration 1s";
    let mut script = Command::new("script");
    script.args(["-qec", &format!("{} {run}", env!("CARGO_BIN_EXE_fairdisk")), "/dev/null"]);
    script.env("TERM", term).env_remove("NO_COLOR").stdin(Stdio::null());
    Ok(Ended::of(script.output()?).quiet())
}

#[test]
fn colours_are_for_terminals_that_have_them() {
    match on_a_terminal("xterm").and_then(|text| Ok((text, on_a_terminal("dumb")?))) {
        Ok((colourful, dumb)) => {
            assert!(colourful.contains("\x1b[1m"), "{colourful}");
            assert!(dumb.contains("two-groups") && !dumb.contains('\x1b'), "{dumb}");
        }
        Err(error) => eprintln!("skipped: no script(1): {error}"),
    }
}

#[test]
fn man_pages_tell_exit_statuses_and_files() {
    let place = Place::new();
    assert_eq!(place.run(&["man", "."]).quiet(), "");
    let page = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
    for name in place.names() {
        assert!(page(&name).contains(".SH \"EXIT STATUS\"\n.TP\n0\n"), "{name}");
    }
    // Each example in a line of its own, as it is typed.
    let examples = page("fairdisk-advise.1");
    assert!(examples.contains(".SH EXAMPLES\n.nf\n  fairdisk advise two\\-groups\n"), "{examples}");
    for (name, has) in [("fairdisk-ctl-set.1", true), ("fairdisk-run.1", false)] {
        assert_eq!(page(name).contains(".I /etc/fairdisk/groups.toml"), has, "{name}");
    }
}
