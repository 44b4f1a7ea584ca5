//! Faulty experiments, hosts and schedulers of the user's own: exit status 2, and a message with
//! file, line, key, value and what is allowed.

use crate::bad_input::{demand_one_line, demand_refused};
use crate::bad_parts::scheduler_refused;
use crate::program::{Place, fairdisk, two_groups};
use std::fs;

/// The experiment, called `mine`, with one piece of its text replaced.
fn mine(from: &str, to: &str) -> String {
    let text = two_groups();
    assert!(text.contains(from), "no `{from}`");
    text.replacen(from, to, 1)
}

/// The line of the text that contains `part`.
pub(crate) fn line_of(text: &str, part: &str) -> usize {
    let at = text.lines().position(|line| line.contains(part));
    at.unwrap_or_else(|| panic!("no `{part}` in {text}")) + 1
}

/// Demands that the experiment with `to` in place of `from` is refused at the line that contains
/// `at`.
#[track_caller]
fn refused_at(at: &str, from: &str, to: &str, parts: &[&str]) {
    let place = Place::new();
    let text = mine(from, to);
    place.write("mine.toml", &text);
    let line = format!("mine.toml:{}: ", line_of(&text, at));
    demand_refused(&place.run(&["run", "mine.toml"]), &[&[line.as_str()], parts].concat());
}

/// Like [`refused_at`], at the line that contains `to`.
#[track_caller]
fn refused(from: &str, to: &str, parts: &[&str]) {
    refused_at(to, from, to, parts);
}

#[test]
fn what_is_no_experiment() {
    let place = Place::new();
    place.write("empty.toml", "");
    demand_one_line(&place.run(&["run", "empty.toml"]), &["empty.toml:1", "missing key `id`"]);
    place.write("binary.toml", [0xFF, 0xFE, 0, 1]);
    demand_one_line(&place.run(&["run", "binary.toml"]), &["binary.toml"]);
    demand_one_line(&place.run(&["run", "missing.toml"]), &["missing.toml", "cannot be read"]);
    refused_at("kind", "kind = \"raw\"", "kind = ", &[]);
    refused("duration_s", "duration", &["duration_s"]);
    refused("count = 4", "count = \"4\"", &["`count` is the text \"4\"; allowed: 1 to 100000"]);
}

#[test]
fn the_device_of_a_job_file() {
    let place = Place::new();
    place.write("x.fio", "[a]\nrw=read\nsize=1m\nfilename=x\ndevice=hdd-ncx\n");
    let parts = ["x.fio:5: unknown device `hdd-ncx`; did you mean `hdd-ncq`?"];
    demand_refused(&place.run(&["run", "x.fio"]), &parts);
    // What is asked for by an option is in no file.
    place.write("y.fio", "[a]\nrw=read\nsize=1m\nfilename=y\ndevice=hdd-ncq\n");
    let parts = ["error: unknown device `hdd-ncy`"];
    demand_refused(&place.run(&["run", "y.fio", "--device", "hdd-ncy"]), &parts);
}

/// What jobs name is looked up, also where an option says to use something else.
#[test]
fn names_in_a_job_file_that_are_not_used() {
    let place = Place::new();
    let refused = |key: &str, arguments: &[&str], message: &str| {
        place.write("x.fio", format!("[a]\nsize=1m\nrw=read\n{key}\n[b]\nsize=1m\n"));
        demand_refused(&place.run(arguments), &[message]);
    };
    let message = "x.fio:4: unknown scheduler `nosuch`";
    refused("scheduler=nosuch", &["run", "x.fio"], message);
    refused("scheduler=nosuch", &["run", "x.fio", "--scheduler", "noop"], message);
    refused("scheduler=nosuch", &["compare", "x.fio"], message);
    refused("scheduler=nosuch", &["advise", "x.fio"], message);
    let message = "x.fio:4: unknown device `nosuch`";
    refused("device=nosuch", &["run", "x.fio", "--device", "hdd-ncq"], message);
    refused("device=nosuch", &["compare", "x.fio", "--device", "hdd-ncq"], message);
    let run = ["run", "x.fio", "--scheduler", "noop"];
    refused("scheduler=mine.toml", &run, "x.fio:4: cannot be read: ");
}

#[test]
fn iozone_commands() {
    let place = Place::new();
    let refused = |command: &str, arguments: &[&str], parts: &[&str]| {
        place.write("x.iozone", format!("# as in the report\niozone {command}\n"));
        demand_one_line(&place.run(arguments), parts);
    };
    let cases = [
        ("-i 0 -t 2 -u 2", "-t and -u"),
        ("-i 0 -t 1 -B -I", "drop one of them"),
        ("-i 0 -t 1 -B -H 2", "drop one of them"),
        ("-i 0 -t 1 -B -o", "drop one of them"),
        ("-i 0 -t 1 -H 2 -k 2", "drop one of them"),
        ("-i 0 -l 2", "add -u, or drop -l"),
        ("-i 0 -l 3 -u 2", "swap them"),
        ("-i 0 -t 2 -F one", "name one for each"),
        ("-i 0 -t 2 -F one one", "each process has a file of its own"),
        ("-i 0 -t 1 -r 64k -s 100k", "change one of the two"),
        ("-i 0 -t 1 -a", "there is no automatic mode"),
        ("-i 6 -t 1", "use 0, 1, 2, 3, 5 or 8"),
    ];
    for (command, message) in cases {
        refused(command, &["run", "x.iozone"], &["x.iozone:2", message]);
    }
    let parts = ["x.iozone:2: advise proposes", "write one with `fairdisk run x.iozone --show-job"];
    refused("-i 0 -t 1", &["advise", "x.iozone"], &parts);
}

#[test]
fn names_of_other_files() {
    refused("hdd-7200-2007", "hdd-7200-2008", &["unknown device", "did you mean"]);
    let near = "`plain-2008`?";
    refused("\"plain-2008\"", "\"plian-2008\"", &["unknown host `plian-2008`", near]);
    let near = "did you mean `cfq-2.6.25`?";
    refused("\"cfq-2.6.25\"", "\"cfq-2.6.24\"", &["unknown scheduler `cfq-2.6.24`", near]);
    refused("\"cfq-2.6.25\"", "\"my.toml\"", &["my.toml: cannot be read"]);
}

#[test]
fn a_copy_of_a_file_needs_no_id_of_its_own() {
    let place = Place::new();
    place.write("other.toml", mine("mine", "mine"));
    let shown = place.run(&["run", "other.toml", "--seeds=1", "--duration=1s", "--json"]).json();
    assert_eq!(shown["experiment"], "other", "results have the name of the file");
}

#[test]
fn names_that_disagree() {
    refused("{ group = \"backup\", c", "{ group = \"backups\", c", &["did you mean `backup`?"]);
    refused("volume = \"scratch\"", "volume = \"scratches\"", &["unknown volume `scratches`"]);
}

#[test]
fn tasks_that_name_no_volume() {
    let (tasks, named) = ("{ group = \"backup\"", "volume = \"scratch\"\n");
    refused_at(tasks, named, "", &["these tasks need a `volume` (known: scratch)"]);
    let volume = "[[volume]]\nname = \"scratch\"\nkind = \"raw\"\nsize_gib = 4\n\n[defaults]\n";
    let all = [volume, named].concat();
    refused_at(tasks, &all, "[defaults]\n", &["need a `volume`; add a [[volume]] that they"]);
}

#[test]
fn names_given_twice() {
    let group = "\n[[group]]\nname = \"backup\" # again\n\n[[row]]\n";
    refused_at("# again", "\n[[row]]\n", group, &["another group `backup`"]);
    let row = "\n[[row]]\nlabel = \"readers\" # again\ntasks = []\n\n[[arm]]\n";
    refused_at("# again", "\n[[arm]]\n", row, &["another row `readers`"]);
    refused_at("\"flat\" # again", "\"two-layer\"", "\"flat\" # again", &["another arm `flat`"]);
}

#[test]
fn names_that_are_no_plain_text() {
    let allowed = "allowed: text without control characters";
    refused("name = \"flat\"", "name = \"\\u001b[31mred\"", &["is \"\\u{1b}[31mred\"", allowed]);
    refused("name = \"database\"", "name = \"a\\u0007b\"", &["`name`", allowed]);
    refused("label = \"readers\"", "label = \"a\\rb\"", &["`label` is \"a\\rb\"", allowed]);
    refused("label = \"readers\"", "label = \" \"", &["`label` is empty"]);
    refused_at("title", "Two groups of", "Two\\tgroups of", &["`title`", allowed]);
    let group = "group = \"a\\u001b\", c";
    refused("group = \"backup\", c", group, &["unknown group `a\\u{1b}`"]);
}

#[test]
fn sizes_that_cannot_be() {
    let allowed = "allowed: 1 to 1048576";
    let block = "block_kib = 900000000";
    refused("block_kib = 4", block, &["`block_kib` is 900000000", allowed]);
    refused("block_kib = 4", "block_kib = 0", &["`block_kib` is 0", allowed]);
    refused("count = 4", "count = 4, block_kib = 9000000", &["is 9000000", allowed]);
    let allowed = "allowed: a block of 4 KiB or more";
    refused("size_gib = 4", "size_gib = 1e-7", &["`size_gib` is 0.0000001", allowed]);
    refused("size_gib = 4", "size_gib = nan", &["`size_gib` is NaN", allowed]);
    refused_at("start_gib", "size_gib = 4", "size_gib = 4\nstart_gib = -1", &["`start_gib` is -1"]);
    refused("count = 4", "count = 0", &["`count` is 0", "allowed: 1 to 100000"]);
    refused("count = 4", "count = 4, depth = 0", &["`depth` is 0"]);
    refused("weight = 400", "weight = 10001", &["`weight` is 10001", "allowed: 1 to 10000"]);
    let both = "priority = 1\nweight = 3";
    refused_at("weight = 3", "weight = 400", both, &["exclude each other; drop one"]);
    refused("duration_s = 30", "duration_s = 0", &["`duration_s` is 0", "more than 0"]);
    let (row, own) = ("label = \"readers\"", "label = \"readers\"\nduration_s = 0");
    refused_at("duration_s = 0", row, own, &["`duration_s` is 0", "more than 0"]);
}

#[test]
fn loads_that_cannot_be() {
    let (tasks, named) =
        ("{ group = \"backup\", count = 4", "{ name = \"a\", group = \"backup\", count = 4");
    refused(
        tasks,
        "{ group = \"backup\", direct = false, depth = 8, count = 4",
        &["`depth` is about direct"],
    );
    let again = "{ group = \"backup\", name = \"a\", count = 4";
    let twice = format!("{named} }},\n  {again}");
    refused_at(again, tasks, &twice, &["there is another task `a`"]);
    let ends = "ramp_s = 1\nuntil = \"done\"";
    refused_at("ramp_s", "duration_s = 30", ends, &["drop `ramp_s`"]);
    let arm = "name = \"flat\"";
    for (set, why) in [
        ("cfq.quantum", "cfq.quantum: expected KEY=VALUE, as in cfq.slice_idle_ms=0"),
        ("cfq.quantum=3\", \"cfq.quantum=4", "cfq.quantum=4: changes what cfq.quantum=3 changes"),
        ("scheduler.cfq.quantum=8", "in an arm that is `cfq.quantum=8`"),
    ] {
        refused_at("set =", arm, &format!("{arm}\nset = [\"{set}\"]"), &[why]);
    }
    let both = "  { group = \"backup\", count = 4 },\n  { group = \"database\", count = 4 },\n";
    refused_at("tasks = [", both, "", &["at least one task"]);
}

#[test]
fn published_figures_that_cannot_be() {
    let arm = "[[arm]]\nname = \"flat\"";
    let place = "arm = \"flat\"\nrow = \"readers\"";
    let published = |more: &str| format!("[[published]]\n{place}\n{more}\n{arm}");
    refused_at("row = ", arm, &published(""), &["nothing is published"]);
    let both = published("ios = [1, 2]\npercent = [30, 70]");
    refused_at("percent =", arm, &both, &["exclude each other"]);
    let change = |to: &str, more: &str| {
        format!(
            "[[published_change]]\nrow = \"readers\"\nfrom = \"flat\"\nto = \"{to}\"\n{more}\n{arm}"
        )
    };
    refused_at("to = ", arm, &change("flat", "percent = 3"), &["is the one it is compared with"]);
}

#[test]
fn volumes_that_cannot_be() {
    let size = "size_gib = 4";
    let about = |key: &str| format!("`{key}` is about volumes of kind");
    let more = |line: &str| format!("{size}\n{line}");
    refused_at("files =", size, &more("files = 0"), &[&about("files")]);
    refused_at("file_mib =", size, &more("file_mib = 7"), &[&about("file_mib")]);
    refused_at("cached =", size, &more("cached = true"), &[&about("cached")]);
    refused_at("journal =", size, &more("journal = false"), &[&about("journal")]);
    let files = |text: &str| ["files = ", text, "\nfile_mib = 1"].concat();
    let ext = |from: &str, to: &str, at: &str, parts: &[&str]| {
        let raw = format!("kind = \"raw\"\n{size}");
        refused_at(at, &raw, &format!("kind = \"ext2\"\n{}", files("4").replace(from, to)), parts);
    };
    let allowed = "allowed: 1 to 1000000";
    ext("files = 4", "files = 4294967295", "files =", &["`files` is 4294967295", allowed]);
    ext("files = 4", "size_gib = 1\nfiles = 4", "size_gib = 1", &[&about("size_gib")]);
    ext("files = 4", "journal = true\nfiles = 4", "journal =", &[&about("journal")]);
    let all = ["run", "two-groups", "--set", "volume.files=0"];
    demand_one_line(&fairdisk(&all), &["--set volume.files=0", &about("files")]);
}

/// A value that is not used indicates a mistake.
#[test]
fn values_that_nothing_uses() {
    let mix = "`read_percent` is about a mix";
    refused("count = 4", "count = 4, read_percent = 20", &[mix]);
    let block = "block_kib = 4";
    let defaults = |line: &str| format!("{block}\n{line}");
    let unused = "no task reads and writes";
    refused_at("read_percent", block, &defaults("read_percent = 20"), &[unused]);
    let percent = defaults("read_percent = 200");
    refused_at("read_percent", block, &percent, &["`read_percent` is 200; allowed: 0 to 100"]);
    refused_at("advice", block, &defaults("advice = \"random\""), &["no task has a mapping"]);
    let burst = "weight = 400\nburst_ms = 5";
    refused_at("burst_ms", "weight = 400", burst, &["`burst_ms` is about a ceiling"]);
}

#[test]
fn names_that_are_too_long() {
    let name = "x".repeat(70_000);
    let group = format!("name = \"{name}\"");
    let at = format!("name = \"{}", &name[..100]);
    refused_at(
        &at,
        "name = \"backup\"",
        &group,
        &["`name` has 70000 letters; allowed: up to 1000"],
    );
}

/// A character that reverses the direction of the text after it would disguise the name.
#[test]
fn names_with_letters_that_are_not_seen() {
    let turned = "name = \"a\\u202eb\"";
    let allowed = "others that are not seen";
    refused("name = \"database\"", turned, &["`name` is \"a\\u{202e}b\"", allowed]);
    let place = Place::new();
    place.write("x.fio", "[a]\nsize=1m\ndescription=\u{202e}x\n");
    demand_one_line(&place.run(&["run", "x.fio"]), &["x.fio:3", "a character that is not seen"]);
    let disk =
        "id = \"disk\"\ntitle = \"\\u202e\"\nkind = \"null\"\ncapacity_sectors = 8\ndepth = 1\n";
    place.write("disk.toml", disk);
    let ended = place.run(&["run", "two-groups", "--device", "disk.toml"]);
    demand_one_line(&ended, &["disk.toml:2: `title`", allowed]);
}

#[test]
fn volumes_on_top_of_each_other() {
    let size = "size_gib = 4";
    let other =
        "\n[[volume]]\nname = \"other\"\nkind = \"ext3\"\nstart_gib = 3.5\nfiles = 2\nfile_mib = 8";
    let within = "volume `other` begins within `scratch`, which takes up the disk to 4.000 GiB";
    refused_at("start_gib = 3.5", size, &format!("{size}\n{other}"), &[within]);
    let place = Place::new();
    place.write("mine.toml", mine(size, &format!("{size}\n{}", other.replace("3.5", "4"))));
    assert_eq!(place.run(&["run", "mine.toml", "--duration", "100ms"]).code, Some(0));
}

/// Nested groups, in a circle if `closed`.
fn chain(levels: usize, closed: bool) -> String {
    let group = |at: usize| match at {
        0 if !closed => "\n[[group]]\nname = \"0\"\n".to_owned(),
        _ => {
            let outer = at.checked_sub(1).unwrap_or(levels - 1);
            format!("\n[[group]]\nname = \"{at}\"\nparent = \"{outer}\"\n")
        }
    };
    (0..levels).map(group).collect::<String>() + "\n[[row]]\n"
}

#[test]
fn groups_in_each_other() {
    let at = |name: usize| format!("parent = \"{name}\"");
    let deep = chain(20_000, false);
    refused_at(&at(100), "\n[[row]]\n", &deep, &["group `101` lies in more than 100 groups"]);
    refused_at(&at(2), "\n[[row]]\n", &chain(3, true), &["group `0` would lie in itself"]);
    let place = Place::new();
    place.write("mine.toml", mine("\n[[row]]\n", &chain(100, false)));
    let run = ["run", "mine.toml", "--duration", "10ms", "--seeds", "1"];
    assert_eq!(place.run(&run).code, Some(0));
}

#[test]
fn a_run_that_ends_before_it_is_measured() {
    let place = Place::new();
    let text = mine("duration_s = 30", "duration_s = 600\nramp_s = 500");
    place.write("mine.toml", text.replace("block_kib = 4", "block_kib = 4\nbytes_mib = 1"));
    demand_one_line(&place.run(&["run", "mine.toml"]), &["500 s of `ramp_s`", "lower it"]);
}

#[test]
fn published_figures_nobody_can_compare_with() {
    let published = |line: &str| {
        let text = "\n[[published]]\narm = \"flat\"\nrow = \"readers\"\n";
        format!("{text}{line}\n\n[[arm]]\n")
    };
    for (line, parts) in [
        ("total = 0", &["`total` is 0; allowed: more than 0"][..]),
        ("total = nan", &["`total` is NaN"]),
        ("total = 1e300", &["`total` is 1000"]),
        ("ios = [0, 0]", &["`ios` is 0 for all groups"]),
        ("percent = [30, 30]", &["`percent` is 60 for all groups together; allowed: 98 to 102"]),
        ("percent = [60, -60]", &["`percent` is -60; allowed: 0 to 100"]),
        ("ios = [-1, 5]", &["`ios` is -1; allowed: 0 to"]),
        ("read_percent = [101, 5]", &["`read_percent` is 101; allowed: 0 to 100"]),
    ] {
        refused_at(line, "\n[[arm]]\n", &published(line), parts);
    }
}

#[test]
fn tables_of_other_schedulers() {
    let head = "id = \"turns\"\ntitle = \"x\"\nfamily = \"noop\"\n";
    let refused = |more: &str, parts: &[&str]| {
        scheduler_refused(&format!("{head}{more}\n"), 4, parts);
    };
    let fair = "[fair]\nround_ms = 0\nidle_max_ms = 1\ncredit_ms = 1\nexpire_ms = 0";
    refused(fair, &["table `[fair]` is of another family than `noop`"]);
    refused("[switches]\nnonsense = true", &["table `[switches]` is of another family"]);
    let defect = |name: &str| format!("defects.{name} = true");
    refused(&defect("d4_nominal_turns"), &["`d4_nominal_turns` is a defect of the family"]);
    refused(&defect("d3_unbounded_wait"), &["`d3_unbounded_wait` is a defect of the families"]);
}

#[test]
fn files_that_inherit() {
    let place = Place::new();
    fs::create_dir(place.path().join("sub")).unwrap();
    let link = |name: &str, parent: &str| {
        let text = format!("id = \"{name}\"\ntitle = \"t\"\ninherits = \"{parent}\"\n");
        place.write(&format!("sub/{name}.toml"), text);
    };
    let run = |name: &str| {
        let device = format!("sub/{name}.toml");
        place.run(&["run", "two-groups", "--duration", "10ms", "--device", &device])
    };
    // A chain of twenty files is no circle, and each file is found beside the one that refers to
    // it.
    (0..20).for_each(|at| link(&format!("c{at}"), &format!("c{}.toml", at + 1)));
    link("c20", "fixed-8ms");
    assert_eq!(run("c0").code, Some(0), "{}", run("c0").err);
    link("a", "b.toml");
    link("b", "a.toml");
    demand_one_line(
        &run("a"),
        &["sub/a.toml:3: `inherits` leads in a circle, back to `sub/a.toml`"],
    );
    link("d", "none.toml");
    demand_one_line(&run("d"), &["sub/d.toml:3: sub/none.toml: cannot be read"]);
    let text = mine("\"hdd-7200-2007\"", "\"c0.toml\"");
    place.write("sub/mine.toml", text);
    assert_eq!(place.run(&["run", "sub/mine.toml", "--duration", "10ms"]).code, Some(0));
}

/// Each is refused beside the default of the other, but both together are accepted.
#[test]
fn values_that_are_bound_by_each_other() {
    let sets = ["iocost.rate_min_percent=200", "iocost.rate_max_percent=300"];
    for order in [[0, 1], [1, 0]] {
        let sets = order.map(|at| sets[at]);
        let [one, other] = sets.map(|set| format!("scheduler.{set}"));
        let run = ["run", "two-groups", "--duration", "10ms", "--scheduler", "iocost"];
        let ended = fairdisk(&[&run[..], &["--set", &one, "--set", &other]].concat());
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        let arm = format!("\"iocost\"\nset = [\"{}\", \"{}\"]", sets[0], sets[1]);
        let place = Place::new();
        place.write("mine.toml", mine("\"two-layer-cfq\"", &arm));
        let ended = place.run(&["run", "mine.toml", "--duration", "10ms"]);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
    }
    let alone = "\"iocost\"\nset = [\"iocost.rate_min_percent=200\"]";
    refused_at("set = [", "\"two-layer-cfq\"", alone, &["rate_min_percent"]);
}

#[test]
fn a_floor_that_is_refused_is_named_where_it_is_written() {
    let floor = "weight = 400\nmin_iops = 50000";
    let place = Place::new();
    let text = mine("weight = 400", floor).replace("\"two-layer-cfq\"", "\"fair\"");
    place.write("mine.toml", &text);
    let line = format!("mine.toml:{}: `fair` refuses group `database`", line_of(&text, "min_iops"));
    let run = ["run", "mine.toml", "--seeds", "1", "--duration", "2s"];
    let alone = place.run(&[&run[..], &["--arm", "two-layer"]].concat());
    assert!(alone.out.ends_with("ask for less, or choose a faster --device\n"), "{}", alone.out);
    let one = format!("error: 1 of 1 row was refused; {line}");
    assert!(alone.err.starts_with(&one) && alone.err.lines().count() == 1, "{}", alone.err);
    let explain = ["explain", "mine.toml/two-layer", "--slowest", "1"];
    let explained = place.run(&explain);
    assert!(explained.err.starts_with(&format!("error: {line}")), "{}", explained.err);
    assert_eq!((alone.code, explained.code), (Some(1), Some(1)));
    let ended = place.run(&run);
    let reason = format!("refused\n  two-layer, readers: {line}");
    assert!(ended.out.contains("total ") && ended.out.contains(&reason), "{}", ended.out);
    assert!(
        ended.err.contains("error: 2 of 3 rows were refused; the first: mine.toml:"),
        "{}",
        ended.err
    );
    assert_eq!(ended.code, Some(1));
    let json = place.run(&[&run[..], &["--json", "--quiet", "--report", "page.html"]].concat());
    let value: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(value["rows"].as_array().unwrap().len(), 1, "{value:#}");
    assert_eq!(value["refused"][0]["arm"], "two-layer");
    assert_eq!(json.code, Some(1));
    let page = fs::read_to_string(place.path().join("page.html")).unwrap();
    let (_, refused) = page.split_once("<h2>Refused</h2>").unwrap();
    assert!(refused.contains("<li>two-layer, readers: mine.toml"), "{refused:.500}");
    let compare = ["compare", "mine.toml", "--scheduler", "deadline,fair", "--duration", "2s"];
    let json = place.run(&[&compare[..], &["--json"]].concat());
    let value: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(value["cells"].as_array().unwrap().len(), 2, "{value:#}");
    assert_eq!(value["refused"][0]["arm"], "two-layer");
    let ended = place.run(&compare);
    let table = &ended.out;
    assert!(
        ended.err.starts_with(&format!("error: 2 of 4 cells were refused; the first: {line}")),
        "{ended:?}"
    );
    assert_eq!((json.code, ended.code), (Some(1), Some(1)));
    assert!(
        table.contains("refused\n  two-layer on hdd-7200-2007, readers: mine.toml:"),
        "{table}"
    );
    let large = mine("size_gib = 4", "size_gib = 4000");
    place.write("mine.toml", &large);
    let line = format!("mine.toml:{}: the load needs 4000 GiB", line_of(&large, "[[volume]]"));
    demand_one_line(&place.run(&["run", "mine.toml"]), &[&line]);
    let row = mine("label = ", "set = [\"volume.size_gib=4000\"]\nlabel = ");
    place.write("mine.toml", &row);
    let line = format!("mine.toml:{}: the load needs 4000 GiB", line_of(&row, "set = ["));
    demand_one_line(&place.run(&["run", "mine.toml"]), &[&line]);
}
