//! `fairdisk advise` on the command line.

use crate::bad_input::demand_one_line;
use crate::program::{Ended, Place, fairdisk, two_groups};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const SHORT: &[&str] = &[
    "advise",
    "two-groups",
    "--duration",
    "10s",
    "--seeds",
    "1",
    "--device",
    "fixed-8ms",
    "--scheduler",
    "two-layer-cfq,deadline",
];

fn short<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [SHORT, more].concat()
}

#[test]
fn what_groups_ask_for_is_wished_and_what_does_it_is_proposed() {
    let table = fairdisk(&short(&[])).quiet();
    assert!(table.contains("proposed: two-layer-cfq"), "{table}");
    // A mount runs that one with other settings than those tried.
    assert!(table.contains("on a mount: not to be had") && !table.contains("ctl"), "{table}");
    let instead = "they run mount-two-layer-cfq, try --scheduler mount-two-layer-cfq";
    assert!(table.contains(instead), "{table}");
    let value = fairdisk(&short(&["--json", "--want", "backup: share=50"])).json();
    assert_eq!(value["granted"], true, "{value:#}");
    assert_eq!(value["wishes"][0]["wish"], "50.0 % of the disk");
    let tried = value["tried"].as_array().unwrap();
    assert_eq!(tried[0]["scheduler"], "noop");
}

#[test]
fn of_a_job_file_a_job_file_is_proposed() {
    let place = Place::new();
    let text = "[global]\nrw=randread\nsize=64m\n[gold]\ngroup=/gold\n[rest]\ngroup=/rest\n";
    place.write("mine.fio", text);
    let advise = ["advise", "mine.fio", "--duration", "10s", "--seeds", "1", "--json"];
    let more = ["--device", "fixed-8ms", "--scheduler", "fair", "--want"];
    // Groups without settings have no wishes.
    let ceiling = place.run(&[&advise[..], &more, &["/gold: max_iops=90"]].concat()).json();
    assert_eq!(ceiling["wishes"].as_array().unwrap().len(), 1, "{ceiling:#}");
    let want = "/gold: share=80, max_iops=90, latency_p99_ms=40";
    let value = place.run(&[advise.as_slice(), &more, &[want]].concat()).json();
    let lines = value["proposed"]["experiment"].as_str().unwrap();
    assert!(lines.contains("[global]\nscheduler=fair\n"), "{lines}");
    // The proposal is a complete job file that needs no further wishes.
    let job = |name: &str| {
        let (_, of_group) = lines.split_once(&format!("group=/{name}\n")).unwrap_or(("", "\n"));
        let of_group = of_group.split_once("\n\n").map_or(of_group, |(own, _)| own);
        format!("\n[{name}]\nrw=randread\nsize=64m\ngroup=/{name}\n{of_group}\n")
    };
    let text = ["[global]\nscheduler=fair\n", &job("gold"), &job("rest")].concat();
    place.write("mine.fio", text);
    let again = place.run(&advise.iter().chain(&more[..2]).collect::<Vec<_>>()).json();
    let wishes: Vec<&str> = again["wishes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|wish| wish["wish"].as_str().unwrap())
        .collect();
    assert!(wishes.iter().any(|wish| wish.contains("90")), "{wishes:?}");
}

/// The result of the command that is proposed for checking, with the proposal in `file`.
fn again(place: &Place, proposed: &Value, file: &str) -> Value {
    let check = proposed["check"].as_str().unwrap().replace("FILE", file);
    let program = Path::new(env!("CARGO_BIN_EXE_fairdisk")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{check} --json")]).env("PATH", path);
    Ended::of(shell.current_dir(place.path()).output().unwrap()).json()
}

/// The entry called `name` in a list whose names are under `key`.
fn named<'a>(list: &'a Value, key: &str, name: &str) -> &'a Value {
    let found = list.as_array().unwrap().iter().find(|one| one[key] == name);
    found.unwrap_or_else(|| panic!("no {name} in {list:#}"))
}

/// A load of nested groups, without its arms.
fn nested(id: &str, groups: &str) -> String {
    format!(
        "id = \"{id}\"\ntitle = \"Teams\"\ndevice = \"fixed-8ms\"\nhost = \"plain\"\n\
         duration_s = 5\n\n[[volume]]\nname = \"disk\"\nkind = \"raw\"\nsize_gib = 1\n\n\
         [[row]]\nlabel = \"busy day's\"\ntasks = [\n  \
         {{ group = \"gold\", volume = \"disk\", count = 4 }},\n  \
         {{ group = \"it's\", volume = \"disk\", count = 4 }},\n  \
         {{ group = \"rest\", volume = \"disk\", count = 4 }},\n]\n\n{groups}"
    )
}

const TEAMS: &str = "[[group]]\nname = \"my team\"\nweight = 300\n\n\
                     [[group]]\nname = \"gold\"\nparent = \"my team\"\nweight = 300\n\n\
                     [[group]]\nname = \"it's\"\nparent = \"my team\"\n\n\
                     [[group]]\nname = \"rest\"\n\n";

#[test]
fn a_proposed_experiment_runs_as_it_was_tried() {
    let place = Place::new();
    let arm = "[[arm]]\nname = \"quick\"\nscheduler = \"fair\"\nset = [\"fair.idle_max_ms=1\"]\n";
    place.write("teams.toml", nested("teams", &[TEAMS, arm].concat()));
    let advise = ["advise", "teams.toml", "--seeds", "1", "--json", "--scheduler"];
    let value = place.run(&[&advise[..], &["fair"]].concat()).json();
    let proposed = &value["proposed"];
    place.write("again.toml", nested("again", proposed["experiment"].as_str().unwrap()));
    let again = again(&place, proposed, "again.toml");
    let (cell, tried) =
        (named(&again["cells"], "arm", "proposed"), named(&value["tried"], "name", "quick"));
    assert_eq!(cell["mb_per_s"], tried["mb_per_s"], "{again:#}");
    assert_eq!(proposed["commands"].as_array().unwrap().len(), 0, "no mount sets that");
}

#[test]
fn a_group_in_a_group_is_a_cgroup_in_a_cgroup() {
    let place = Place::new();
    place.write(
        "teams.toml",
        nested("teams", &[TEAMS, "[[arm]]\nname = \"a\"\nscheduler = \"fair\"\n"].concat()),
    );
    let advise = ["advise", "teams.toml", "--seeds", "1", "--json", "--scheduler"];
    let proposed = place.run(&[&advise[..], &["bfq"]].concat()).json()["proposed"].take();
    let commands = [
        "fairdisk ctl scheduler --at MOUNTPOINT bfq",
        "fairdisk ctl set --at MOUNTPOINT '/my team' weight=300",
        "fairdisk ctl set --at MOUNTPOINT '/my team/gold' weight=300",
    ];
    assert_eq!(proposed["commands"], serde_json::json!(commands));
    // A scheduler without nested groups is not affected by a group without tasks.
    let proposed = place.run(&[&advise[..], &["two-layer-cfq"]].concat()).json()["proposed"].take();
    assert_eq!(proposed["scheduler"], "two-layer-cfq");
    assert_eq!(proposed["groups"]["my team"], serde_json::json!({}), "{proposed:#}");
    let of_team = |command: &Value| command.as_str().unwrap().contains("'/my team' ");
    assert!(!proposed["commands"].as_array().unwrap().iter().any(of_team), "{proposed:#}");
}

#[test]
fn what_a_job_file_cannot_say_the_command_says_that_runs_it_again() {
    let place = Place::new();
    let jobs = |global: &str, other: &str| {
        let job = |name: &str, group: &str| format!("[{name}]\ngroup={group}\n");
        let head = "rw=randread\nsize=64m\ndirect=1\ntime_based\nruntime=5\nnumjobs=2\n";
        let inner = [job("gold", "/t/gold"), job("silver", "/t/silver")].concat();
        format!("{global}{head}{inner}[other]\n{other}")
    };
    place.write("teams.fio", jobs("[global]\n", "group=/other\n"));
    let more = ["--seeds", "1", "--json", "--device", "fixed-8ms", "--scheduler", "fair"];
    let want = ["--want", "/t: share=80"];
    let value = place.run(&[&["advise", "teams.fio"][..], &more, &want].concat()).json();
    let proposed = &value["proposed"];
    let lines = proposed["experiment"].as_str().unwrap();
    let of_outer = "; no job is in /t, which no job file can give weight=160\n";
    assert!(lines.contains(of_outer) && !lines.contains("group=/t\n"), "{lines}");
    let (global, rest) = lines.split_once("\n\n; in a job of /other\n").unwrap();
    let (other, _) = rest.split_once("\n\n").unwrap();
    place.write("again.fio", jobs(&format!("{global}\n"), &format!("{other}\n")));
    let check = proposed["check"].as_str().unwrap();
    assert!(check.starts_with("fairdisk compare ") && check.contains("--want '/t: "), "{check}");
    let again = again(&place, proposed, "again.fio");
    let (cell, tried) =
        (named(&again["cells"], "arm", "fair"), named(&value["tried"], "name", "fair"));
    assert_eq!(cell["mb_per_s"], tried["mb_per_s"], "{again:#}");
    // 80 % for two groups, and the rest for the other one.
    let asked = |at: usize| cell["groups"][at]["asked"].as_f64().unwrap();
    assert!((asked(0) - 0.4).abs() < 0.01 && (asked(2) - 0.2).abs() < 0.01, "{cell:#}");
}

#[test]
fn only_what_a_scheduler_looks_at_is_given() {
    let advise = ["advise", "two-groups", "--duration", "5s", "--seeds", "1", "--json"];
    let more = ["--scheduler", "mclock", "--want", "backup: max_iops=20, burst_ms=100"];
    let value = fairdisk(&[&advise[..], &more].concat()).json();
    let group = &named(&value["tried"], "name", "mclock")["groups"]["backup"];
    assert_eq!(group["max_iops"], 20.0, "{value:#}");
    assert!(group["burst_ms"].is_null(), "{value:#}");
}

/// What is set about a scheduler that is not proposed would be refused by the one that is.
#[test]
fn the_command_has_only_what_is_about_the_proposed_scheduler() {
    let place = Place::new();
    shop(&place);
    let more = ["--json", "--device", "fixed-8ms", "--want", "/db: latency_p99_ms=1000"];
    let sets = ["--set", "scheduler.mclock.io_kib=8", "--set", "host.cpus=2"];
    let ask = |scheduler: &str| {
        place.run(&[SHOP, &more, &sets, &["--scheduler", scheduler]].concat()).json()
    };
    let value = ask("mclock");
    let proposed = &value["proposed"];
    assert_eq!(proposed["scheduler"], "noop", "{value:#}");
    let check = proposed["check"].as_str().unwrap();
    assert!(check.ends_with(" --set 'host.cpus=2'"), "{check}");
    let again = again(&place, proposed, "shop.fio");
    assert_eq!(again["cells"][0]["mb_per_s"], named(&value["tried"], "name", "noop")["mb_per_s"]);
}

/// The wishes override an arm's own priorities.
#[test]
fn an_arm_with_priorities_is_tried_as_wished() {
    let place = Place::new();
    let text = two_groups().replace("weight = 100\n", "").replace("weight = 400\n", "");
    place.write("mine.toml", text + "priorities = [4, 4]\n");
    let advise = ["advise", "mine.toml", "--duration", "10s", "--seeds", "1", "--json"];
    let want = ["--want", "database: share=80"];
    let more = [["--device", "fixed-8ms"], ["--scheduler", "two-layer-cfq"], want].concat();
    let value = place.run(&[advise.as_slice(), &more].concat()).json();
    let tried = value["tried"].as_array().unwrap().iter();
    let first = tried.clone().find(|one| one["name"] == "two-layer").unwrap();
    assert_eq!(first["wishes"][0]["met"], true, "{value:#}");
    let again = value["proposed"]["check"].as_str().unwrap();
    assert!(again.ends_with(" --seeds '1' --duration '10s'"), "{again}");
}

#[test]
fn a_small_share_is_missed_by_less() {
    let place = Place::new();
    let text = two_groups();
    let text = text.replace("\"backup\", count = 4", "\"backup\", count = 1");
    place.write("mine.toml", text.replace("\"database\", count = 4", "\"database\", count = 64"));
    let advise = ["advise", "mine.toml", "--duration", "10s", "--seeds", "1", "--json"];
    let more = ["--device", "fixed-8ms", "--scheduler", "noop", "--want", "backup: share=3"];
    let value = place.run(&[advise.as_slice(), &more].concat()).json();
    // One of 65 readers gets half of that.
    assert_eq!(value["wishes"][0]["met"], false, "{value:#}");
}

#[test]
fn advice_is_for_one_row_and_the_help_says_so() {
    let help = fairdisk(&["advise", "--help"]).quiet();
    assert!(help.contains("The row, if there are several\n"), "{help}");
    assert!(
        fairdisk(&["compare", "--help"]).quiet().contains("Run only this row (may be repeated)")
    );
}

#[test]
fn the_page_has_the_wishes_the_proposal_and_the_evidence() {
    let place = Place::new();
    let path = place.path().join("page.html");
    let more = ["--want", "backup: min_iops=500", "--scheduler=fair", "--report"];
    let arguments = [&SHORT[..SHORT.len() - 2], &more, &[path.to_str().unwrap()]].concat();
    fairdisk(&arguments).quiet();
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("<title>Advise: "));
    for chart in ["Throughput of what was tried", "Got, and asked for as a stroke"] {
        assert!(page.contains(&format!("<figcaption>{chart}</figcaption>")), "{chart}");
    }
    let wish = "<tr><td>backup</td><td>at least 500 I/Os/s</td><td>no</td><td>";
    for text in [
        wish,
        "<p class=\"verdict\">Proposed, the nearest to the wishes: ",
        "<pre>[[arm]]\nname = &#34;proposed&#34;\nscheduler = &#34;fair&#34;\n",
        "<pre>fairdisk compare FILE --row &#39;readers&#39; --device &#39;fixed-8ms&#39; --scheduler &#39;fair&#39; ",
        "<pre>fairdisk ctl scheduler --at MOUNTPOINT fair\nfairdisk ctl set --at MOUNTPOINT &#39;/backup&#39; ",
        "<tr><td>fair #2</td><td>backup: weight=100 min_iops=112; database: weight=400</td><td>",
        "<p>fair: `fair` refuses group `backup`",
    ] {
        assert!(page.contains(text), "no {text} in {page}");
    }
}

/// The floor is out of reach for every scheduler, but some miss it by less.
#[test]
fn the_nearest_to_a_floor_out_of_reach_has_most_of_it() {
    let advise = ["advise", "two-groups", "--duration", "5s", "--seeds", "1", "--json"];
    let more = ["--scheduler", "iocost,mclock", "--want", "database: min_iops=1000"];
    let value = fairdisk(&[advise.as_slice(), &more].concat()).json();
    let rate = |one: &Value| {
        let got = one["wishes"].as_array().unwrap().last().unwrap()["got"].as_str().unwrap();
        got.split(' ').next().unwrap().parse::<f64>().unwrap()
    };
    let tried = value["tried"].as_array().unwrap();
    let proposed = tried.iter().find(|one| one["name"] == value["proposed"]["name"]).unwrap();
    let most = tried.iter().filter(|one| one["met"] == proposed["met"]).map(rate);
    assert!(rate(proposed) > 0.95 * most.fold(0.0, f64::max), "{value:#}");
}

/// Two groups that read 4 KiB each time from a disk that does 125 I/Os a second.
fn shop(place: &Place) {
    let job = |name: &str| format!("[{name}]\nrw=randread\nsize=64m\ndirect=1\ngroup=/{name}\n");
    place.write("shop.fio", [job("db"), job("web")].concat());
}

const SHOP: &[&str] = &["advise", "shop.fio", "--seeds", "1", "--duration", "5s"];

/// A disk that does 125 I/Os a second keeps every group below 200.
#[test]
fn a_wish_that_is_not_enforced_is_no_yes() {
    let place = Place::new();
    shop(&place);
    let more = ["--device", "fixed-8ms", "--want", "/web: max_iops=200", "--scheduler"];
    let ask =
        |schedulers: &str, last: &[&str]| place.run(&[SHOP, &more, &[schedulers], last].concat());
    let table = ask("iocost", &[]).quiet();
    let held = "at most 200 I/Os/s  held  kept (under this load; noop does not enforce it)";
    assert!(table.contains(held), "{table}");
    assert_eq!(table.matches("  held: kept\n").count(), 2, "{table}");
    let value = ask("iocost", &["--json"]).json();
    let wish = &value["wishes"][0];
    assert_eq!((&wish["met"], &wish["enforced"]), (&true.into(), &false.into()), "{wish:#}");
    let table = ask("iocost,fair", &[]).quiet();
    assert!(table.contains("at most 200 I/Os/s  yes   kept\n"), "{table}");
    assert!(table.contains("proposed: fair\n"), "{table}");
}

#[test]
fn wishes_are_answered_in_their_units() {
    let place = Place::new();
    shop(&place);
    let more = ["--device", "fixed-8ms", "--scheduler", "fair", "--want"];
    let ask = |want: &str, last: &[&str]| place.run(&[SHOP, &more, &[want], last].concat());
    let table = ask("/db: min_bps=20M", &[]).quiet();
    assert!(table.contains("at least 20 MiB/s  no"), "{table}");
    let value = ask("/db: min_bps=20M, min_iops=20", &["--json"]).json();
    let wish = &value["wishes"][0];
    assert_eq!(wish["wish"], "at least 20 I/Os/s and 20 MiB/s");
    let got = wish["got"].as_str().unwrap();
    assert!(got.contains(" I/Os/s and 0.") && got.contains(" MiB/s"), "{wish:#}");
    let limit = wish["limit"].as_str().unwrap();
    assert!(limit.starts_with("alone on the disk it does 124 I/Os/s and 0.486 MiB/s"), "{limit}");
}

#[test]
fn of_each_try_it_is_told_which_wishes_failed() {
    let place = Place::new();
    shop(&place);
    let more = ["--device", "fixed-8ms", "--scheduler", "fair", "--want"];
    let table = place.run(&[SHOP, &more, &["/db: min_iops=500, max_iops=600"]].concat()).quiet();
    // The scheduler refuses the floor and keeps what it has room for.
    let tried = table.lines().find(|line| line.starts_with("  fair #2")).unwrap();
    assert!(tried.contains("no: ") && tried.ends_with("I/Os/s on average, below; kept"), "{table}");
    let tried = table.lines().find(|line| line.starts_with("  noop")).unwrap();
    assert!(tried.contains("no: ") && tried.ends_with(" of 5 s; held: kept"), "{table}");
}

#[test]
fn wishes_that_make_no_sense_are_refused() {
    let nobody = fairdisk(&short(&["--want", "nobody: weight=3"]));
    demand_one_line(&nobody, &["unknown group `nobody`"]);
    for (wants, why) in [
        (["backup: share=10", "backup: share=90"], "group `backup` has `share` twice"),
        (["backup: weight=10", "backup: weight=9"], "group `backup` has `weight` twice"),
        (["backup: share=10, weight=9999", "database: weight=3"], "both `share` and `weight`"),
        (["backup: min_iops=10", "backup: min_iops=20"], "has `min_iops` twice"),
        (["backup: min_iops=40, max_iops=20", "database: weight=3"], "40 or more"),
        (
            ["backup: burst_ms=10", "database: weight=3"],
            "group `backup`: `burst_ms` is about a ceiling",
        ),
    ] {
        let ended = fairdisk(&short(&["--want", wants[0], "--want", wants[1]]));
        demand_one_line(&ended, &["--want: ", why]);
    }
    let twice = fairdisk(&["advise", "two-groups", "--scheduler", "fair,fair"]);
    demand_one_line(&twice, &["--scheduler fair: given twice"]);
    let twice = fairdisk(&["compare", "two-groups", "--device", "nvme,null,nvme"]);
    demand_one_line(&twice, &["--device nvme: given twice"]);
    let nameless = fairdisk(&["compare", "two-groups", "--scheduler", ","]);
    demand_one_line(&nameless, &["--scheduler: a name between commas is missing"]);
    let rows = ["--row", "readers", "--row", "readers"];
    let rows = fairdisk(&short(&rows));
    assert!(rows.code == Some(2) && rows.err.contains("cannot be used multiple"), "{}", rows.err);
    let malformed = fairdisk(&short(&["--want", "backup: share=80,database"]));
    assert_eq!(malformed.code, Some(2));
    assert!(malformed.err.contains("expected KEY=VALUE"), "{}", malformed.err);
}

/// A log that commits beside buffered writers, as of etcd: a wish about its `fsync` is judged by
/// that, one about latencies says that it is not. What a proposal costs is said, and of proposals
/// that grant as much, the one that keeps most throughput is made.
#[test]
fn a_proposal_for_commits_says_what_it_costs_and_is_the_least_dear() {
    let place = Place::new();
    let how = ["bs=2300\nfdatasync=1", "bs=4k\nfsync=1", "bs=8k\ndirect=1\nfsync=1"];
    for (how, weight) in how.into_iter().zip([10, 100, 1000]) {
        let jobs = format!(
            "[wal]\nrw=write\n{how}\nsize=22m\ngroup=/etcd\ngroup_weight=1000\n[batch]\nrw=write\n\
             bs=1m\nsize=4g\nnumjobs=2\ngroup=/batch\ngroup_weight={weight}\n[global]\ntime_based\n"
        );
        place.write("etcd.fio", jobs);
        let asked = |want: &str, more: &[&str]| {
            let advise = ["advise", "etcd.fio", "--device", "sata-ssd", "--want", want];
            let tries = ["--scheduler", "noop,fair,bfq,shares", "--seeds", "1", "--duration", "2s"];
            place.run(&[&advise[..], &tries, more].concat())
        };
        let advice = asked("/etcd: fsync_p99_ms=10", &["--json"]).json();
        let best = &advice["proposed"];
        let all = advice["tried"].as_array().unwrap();
        let best = all.iter().find(|one| one["name"] == best["name"]).unwrap();
        let commits = |one: &Value| -> Value {
            let wishes = advice["wishes"].as_array().unwrap();
            let at = wishes.iter().position(|wish| wish["wish"] == "fsync p99 within 10 ms");
            one["wishes"][at.expect("it was asked for")]["met"].clone()
        };
        assert_eq!(commits(best), true, "{advice:#}");
        let kept = |one: &Value| one["of_noop"].as_f64().unwrap();
        let equal = all.iter().filter(|one| one["met"].as_u64() >= best["met"].as_u64());
        assert!(equal.clone().all(|one| kept(one) <= kept(best) + 0.01), "{advice:#}");
        let text = asked("/etcd: fsync_p99_ms=10", &[]);
        assert!(text.out.contains(" of the throughput that noop has"), "{}", text.out);
        let cheaper = all.iter().any(|one| commits(one) == true && kept(one) >= 2.0 * kept(best));
        let names = text.out.contains(" keeps ");
        assert_eq!(names, cheaper && kept(best) < 0.5, "{}", text.out);
        let text = asked("/etcd: latency_p99_ms=10", &[]);
        assert!(text.out.contains("(fsync, not counted: "), "{}", text.out);
    }
}
