//! `fairdisk blame --command`: runs of the user's own command.

use crate::bad_input::demand_one_line;
use crate::interrupted::interrupt;
use crate::program::{Ended, Place, fairdisk};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Prints 1000, or a third less with both `a` and `b` on, plus up to 1 % of noise.
const PAIR: &str = "echo warming up; test $a$b = onon && cost=330; \
                    awk -v seed=$$ -v cost=${cost:-0} \
                    'BEGIN { srand(seed); print 1000 - cost + 10 * rand() - {c} * 0 }'";

const SWITCHES: [&str; 3] = ["--switch=a=off,on", "--switch=b=off,on", "--switch=c=1,2"];

#[test]
fn two_switches_that_cost_only_together_are_named() {
    let place = Place::new();
    let arguments = ["blame", "--command", PAIR, "--json", "--report=page.html"];
    let found = place.run(&[&arguments[..], &SWITCHES].concat()).json();
    assert_eq!(found["to_blame"], serde_json::json!(["a", "b"]), "{found:#}");
    assert_eq!(found["pairs"][0]["changes"], serde_json::json!(["a", "b"]), "{found:#}");
    assert_eq!(found["undo"]["changes"].as_array().unwrap().len(), 1, "{found:#}");
    // Eight mixtures, each as often as the budget of 100 runs allows.
    assert_eq!((&found["runs"], &found["seeds"]), (&96.into(), &12.into()));
    let page = fs::read_to_string(place.path().join("page.html")).unwrap();
    assert!(page.contains("2 of 3 changes are to blame"), "{page}");
}

#[test]
fn what_three_do_together_is_told_of_no_two_of_them() {
    let command = "test $a$b$c = onon2 && echo 70 || echo 100";
    let blame = ["blame", "--command", command, "--json", "-q"];
    let found = fairdisk(&[&blame[..], &SWITCHES].concat()).json();
    assert_eq!(found["ends"]["whole"], -30.0, "{found:#}");
    assert!(found["together"].as_array().is_none_or(Vec::is_empty), "{found:#}");
}

#[test]
fn nothing_is_claimed_within_the_noise() {
    let command = "awk -v seed=$$ 'BEGIN { srand(seed); print 100 + 20 * rand() }'";
    let text = fairdisk(&[&["blame", "--command", command][..], &SWITCHES].concat()).quiet();
    assert!(text.contains("the ends do not differ by more than the noise"), "{text}");
    assert!(text.contains("none of 3 changes is to blame: all is within the noise"), "{text}");
}

/// `PATH` itself may be a switch.
#[test]
fn the_shell_is_found_whatever_path_is() {
    let command = "test $PATH = /nowhere && echo 2 || echo 1";
    let path = "--switch=PATH=/usr/bin:/bin,/nowhere";
    let found = fairdisk(&["blame", "--command", command, path, "--json"]).json();
    assert_eq!(found["ends"]["whole"], 1.0, "{found:#}");
}

/// The command says why it is slow each time, and once is enough.
#[test]
fn values_of_mixtures_are_told_and_errors_once() {
    let place = Place::new();
    let command = "echo slow disk >&2; echo >> count; test $x$y = onon && echo 50 || echo 100";
    let more = ["--switch=x=off,on", "--switch=y=off,on", "--runs=12", "--warmup=2"];
    let ended =
        place.run(&[&["blame", "--command", command, "--lower-is-better"][..], &more].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(ended.err.matches("slow disk").count(), 1, "{}", ended.err);
    for part in [
        "what the command prints, lower is better",
        "x and y act only together: neither does anything alone, both -50.00 ± 0",
        "none      100.0 ± 0         100.0 100.0 100.0",
        "all       50.00 ± 0         50.00 50.00 50.00",
        "Lower is better, and the bad end is lower",
    ] {
        assert!(ended.out.contains(part), "no `{part}` in {}", ended.out);
    }
    // Two warm-ups of both ends, and twelve runs.
    let count = fs::read_to_string(place.path().join("count")).unwrap();
    assert_eq!(count.lines().count(), 16);
}

/// Braces without a switch's name belong to other programs.
#[test]
fn a_command_may_use_xargs() {
    let command = "echo {a} | xargs -I{} echo {}";
    let found = fairdisk(&["blame", "--command", command, "--switch=a=1,2", "--json"]).json();
    assert_eq!(found["ends"]["whole"], 1.0, "{found:#}");
}

#[test]
fn a_dash_is_no_file_to_keep_runs_in() {
    let place = Place::new();
    let blame = ["blame", "--command=echo {a}", "--switch=a=1,2", "--resume", "-"];
    demand_one_line(&place.run(&blame), &["error: --resume -: ", "expected its name"]);
    assert!(place.names().is_empty(), "{:?}", place.names());
}

/// What is left in the background has the output open until long after the test.
#[test]
fn a_run_ends_with_its_shell_and_not_with_what_that_leaves_behind() {
    let place = Place::new();
    let command = "sleep 1000 2>/dev/null & echo $! >> pids; echo {a}; seq 20000; echo {a}";
    let blame = ["blame", "--command", command, "--switch=a=1,2", "--json", "--runs=6"];
    let found = place.run(&[&blame[..], &["--timeout=20s"]].concat()).json();
    assert_eq!((&found["runs"], &found["ends"]["whole"]), (&6.into(), &1.0.into()), "{found:#}");
    for pid in fs::read_to_string(place.path().join("pids")).unwrap().lines() {
        let left = Command::new("kill").arg(pid).status().unwrap();
        assert!(left.success(), "{pid} is left alone");
    }
}

/// A low limit on file sizes stands for a full disk.
#[test]
fn runs_that_cannot_be_kept_are_shown_all_the_same() {
    let place = Place::new();
    let command =
        place.command(&["blame", "--command=echo {a}", "--switch=a=1,2", "--resume=kept"]);
    let limited = "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"";
    let ended = Command::new("sh")
        .args(["-c", limited])
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(place.path())
        .output()
        .expect("a shell");
    let ended = Ended::of(ended);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.out.contains("1 of 1 change"), "{}", ended.out);
    assert!(ended.err.contains("--resume kept: File too large"), "{}", ended.err);
}

/// Between the ends, every second run gives less, whatever the mixture.
const SCATTERED: &str = "case {a}{b}{c} in offoff1) echo 100;; onon2) echo 90;; \
                         *) echo . >>count; echo $((82 + 16 * ($(wc -l <count) % 2)));; esac";

#[test]
fn a_loss_that_cannot_be_divided_is_not_called_chance() {
    let place = Place::new();
    let arguments = [&["blame", "--command", SCATTERED][..], &SWITCHES].concat();
    let text = place.run(&arguments).quiet();
    assert!(text.contains("of 3 changes none is known to be to blame"), "{text}");
}

fn failed(more: &[&str], code: i32) -> String {
    let ended = fairdisk(&[&["blame"][..], more].concat());
    assert_eq!((ended.code, ended.out.as_str()), (Some(code), ""), "{}", ended.err);
    ended.err
}

#[test]
fn commands_that_measure_nothing_are_errors() {
    let run = |command: &str| failed(&["--command", command, "--switch", "x=1,2"], 1);
    let exit = run("exit 3");
    let [of, why] = ["run 1 of `exit 3` with x=", " failed: exit status: 3"];
    assert!(exit.contains(of) && exit.contains(why), "{exit}");
    assert!(run("true").contains("printed nothing; its last line must be a number"));
    assert!(
        run("echo {x} IOPS").contains(" IOPS`; its last line must be a number and nothing else")
    );
    assert!(run("no-such-program").contains("exit status: 127"));
    assert!(run("echo 1e308").contains("`1e308`; numbers up to 1e100 can be compared"));
}

#[test]
fn the_command_line_says_what_is_missing() {
    let refused = |more: &[&str], part: &str| {
        let message = failed(more, 2);
        assert!(message.contains(part), "no `{part}` in {message}");
    };
    refused(&["--command", "echo 1"], "--switch <NAME=GOOD,BAD>");
    refused(&["--switch", "x=1,2", "a", "b", "c"], "add --command CMD or drop it");
    refused(&["--command", "echo 1", "--switch", "x=1"], "expected NAME=GOOD,BAD");
    refused(&["--command", "echo 1", "--switch", "x=1,2", "--switch", "x=3,4"], "x is given twice");
    refused(&["--command", "echo 1", "--switch", "x=1,2", "a", "b", "c"], "cannot be used with");
    refused(&["--command", "echo {red}", "--switch", "read=1,2"], "did you mean `read`?");
    refused(&["--command", "echo 1", "--switch", "x=1,2", "--runs=5"], "both ends take 6 runs");
}

/// Whether the process whose number is in the file has ended, or ends soon after its signal.
fn is_gone(pid: &Path) -> bool {
    let pid = fs::read_to_string(pid).unwrap();
    let status = format!("/proc/{}/status", pid.trim());
    (0..2000).any(|_| {
        let status = fs::read_to_string(&status).unwrap_or_default();
        // Without its parent, the process may be a zombie until it is reaped.
        let is_gone = status.is_empty() || status.contains("State:\tZ");
        if !is_gone {
            fairdisk_plane::pause(std::time::Duration::from_millis(5));
        }
        is_gone
    })
}

/// Demands that a command that does not end is killed, along with the process whose number it
/// writes to `pid`.
fn demand_ended_in_time(command: &str) {
    let place = Place::new();
    let started = ["blame", "--command", command, "--switch=x=1,2", "--timeout=300ms"];
    let ended = place.run(&started);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.err.contains("was not done after 0.3 s; allow it more with --timeout"));
    assert!(is_gone(&place.path().join("pid")));
}

#[test]
fn a_command_that_takes_too_long_is_ended_with_all_it_started() {
    demand_ended_in_time("sleep 1000 & echo $! > pid; wait");
}

#[test]
fn a_command_that_has_said_all_still_has_to_end() {
    demand_ended_in_time("echo 5; exec > closed; echo $$ > pid; exec sleep 1000");
}

/// Interrupts the program during a run that writes its process number to `pid` and does not end.
fn interrupted_there(place: &Place, arguments: &[&str]) -> (Ended, Value) {
    let child = place.command(arguments).spawn().unwrap();
    let pid = place.path().join("pid");
    while !fs::read_to_string(&pid).is_ok_and(|pid| pid.ends_with('\n')) {
        std::thread::yield_now();
    }
    interrupt(&child);
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert!(is_gone(&pid));
    let value = serde_json::from_str(&ended.out).unwrap();
    (ended, value)
}

/// Both ends have been run once, and none of the mixtures between them.
#[test]
fn what_was_known_of_the_ends_is_printed_when_somebody_interrupts() {
    let place = Place::new();
    let command = "echo >> count; test $(wc -l < count) -lt 6 || { sleep 1000 & echo $! > pid; wait; }; \
                   test $x$y = onon && echo 50 || echo 100";
    let switches = ["--switch=x=off,on", "--switch=y=off,on"];
    let started = [&["blame", "--command", command, "--json"][..], &switches].concat();
    let (_, value) = interrupted_there(&place, &started);
    assert_eq!(value["ends"]["whole"], -50.0, "{value:#}");
    assert_eq!(value["seeds"], 1, "{value:#}");
}

/// Nine runs suffice for the ends, but not for all four mixtures.
#[test]
fn a_small_budget_is_spent_on_the_ends() {
    let command = ["blame", "--command", "test $x$y = onon && echo 50 || echo 100", "--json"];
    let more = ["--switch=x=off,on", "--switch=y=off,on", "--runs=9"];
    let value = fairdisk(&[&command[..], &more].concat()).json();
    assert_eq!(value["ends"]["whole"], -50.0, "{value:#}");
    assert_eq!(value["runs"], 6, "{value:#}");
}

#[test]
fn ctrl_c_ends_the_command_and_says_what_is_known() {
    let place = Place::new();
    // The seventh run does not end.
    let command = "echo >> count; test $(wc -l < count) -lt 7 || { sleep 1000 & echo $! > pid; wait; }; \
                   test $x = on && echo 50 || echo 100";
    let started = ["blame", "--command", command, "--switch=x=off,on", "--json"];
    let (ended, value) = interrupted_there(&place, &started);
    assert_eq!(ended.code, Some(130), "{}", ended.err);
    assert!(ended.err.contains("results are partial: 6 runs are done"), "{}", ended.err);
    assert_eq!(value["partial"], "interrupted");
    assert_eq!(value["ends"]["whole"], -50.0, "{value:#}");
    assert_eq!(value["to_blame"], serde_json::json!(["x"]), "{value:#}");
}
