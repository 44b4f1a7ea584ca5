//! Plans in made-up systems: what is written where, all or nothing, and back.

use crate::tree::Tree;
use fairdisk_kernel::{Plan, Root, Snapshot, apply, preview, undo};
use std::path::PathBuf;

const PLAN: &str = r#"
[[device]]
path = "/dev/sda"
scheduler = "bfq"
iosched.low_latency = 0
io.cost.qos = "enable=0"

[[group]]
path = "shop/db"
io.weight = 400
io.bfq.weight = 400
io.max."/dev/sda" = "wbps=1048576"
predicted.share = 80.0
"#;

/// A system on which the plan can be carried out, but whose files do not answer as a kernel's do.
fn tree() -> Tree {
    Tree::new()
        .disk("sda", "8:0", "none")
        .partition("sda", "sda1", "8:1")
        .file("sys/block/sda/queue/iosched/low_latency", "1")
        .v2()
        .file("sys/fs/cgroup/io.cost.qos", "")
        .group("shop", "cgroup.subtree_control", "memory")
        .group("shop/db", "io.weight", "default 100")
        .group("shop/db", "io.bfq.weight", "default 100")
        .group("shop/db", "io.max", "")
}

struct Applied {
    tree: Tree,
    state: PathBuf,
    said: Vec<String>,
    result: Result<(), String>,
}

fn apply_to(tree: Tree, plan: &str) -> Applied {
    let steps = Plan::parse(plan).unwrap().steps(&tree.snapshot()).unwrap();
    let state = tree.root().place("run/kernel.state");
    let mut said = Vec::new();
    let result = apply(&tree.root(), &steps, &state, &mut |line| said.push(line.to_owned()));
    Applied { tree, state, said, result }
}

fn text(root: &Root, path: &str) -> String {
    root.text(path).unwrap()
}

#[test]
fn a_plan_is_written_in_order_and_taken_back() {
    let applied = apply_to(tree(), PLAN);
    assert_eq!(applied.result, Ok(()));
    let expected = [
        "/sys/block/sda/queue/scheduler: bfq (was none)",
        "/sys/block/sda/queue/iosched/low_latency: 0 (was 1)",
        "/sys/fs/cgroup/io.cost.qos: 8:0 enable=0 (was 8:0 enable=0)",
        "/sys/fs/cgroup/shop/cgroup.subtree_control: +io (was -io)",
        "/sys/fs/cgroup/shop/db/io.weight: 400 (was 100)",
        "/sys/fs/cgroup/shop/db/io.bfq.weight: 400 (was 100)",
        "/sys/fs/cgroup/shop/db/io.max: 8:0 wbps=1048576 (was 8:0 rbps=max wbps=max riops=max \
         wiops=max)",
    ];
    assert_eq!(applied.said, expected);
    let root = applied.tree.root();
    assert_eq!(text(&root, "sys/fs/cgroup/shop/db/io.weight"), "400");
    // Once at a time.
    let steps = Plan::parse(PLAN).unwrap().steps(&applied.tree.snapshot()).unwrap();
    let again = apply(&root, &steps, &applied.state, &mut |_| ()).unwrap_err();
    assert!(again.contains("fairdisk kernel undo"), "{again}");
    undo(&root, &applied.state, &mut |_| ()).unwrap();
    assert_eq!(text(&root, "sys/fs/cgroup/shop/db/io.weight"), "100");
    assert_eq!(text(&root, "sys/block/sda/queue/scheduler"), "none");
    assert_eq!(text(&root, "sys/fs/cgroup/shop/cgroup.subtree_control"), "-io");
    let over = undo(&root, &applied.state, &mut |_| ()).unwrap_err();
    assert!(over.contains("no plan is applied"), "{over}");
}

#[test]
fn what_cannot_be_written_leaves_everything_as_it_was() {
    let without = tree();
    std::fs::remove_file(without.root().place("sys/fs/cgroup/shop/db/io.bfq.weight")).unwrap();
    let applied = apply_to(without, PLAN);
    let why = applied.result.unwrap_err();
    assert!(why.starts_with("cannot write `400` to /sys/fs/cgroup/shop/db/io.bfq.weight"), "{why}");
    assert!(why.ends_with("; nothing is changed"), "{why}");
    let root = applied.tree.root();
    assert_eq!(text(&root, "sys/block/sda/queue/scheduler"), "none");
    assert_eq!(text(&root, "sys/fs/cgroup/shop/db/io.weight"), "100");
    assert!(!applied.state.exists());
}

#[test]
fn what_cannot_be_taken_back_stays_kept() {
    let applied = apply_to(tree(), PLAN);
    let root = applied.tree.root();
    let weight = root.place("sys/fs/cgroup/shop/db/io.weight");
    let whole = std::fs::read_to_string(&applied.state).unwrap();
    // A directory in place of the file cannot be written to.
    std::fs::remove_file(&weight).unwrap();
    std::fs::create_dir(&weight).unwrap();
    let why = undo(&root, &applied.state, &mut |_| ()).unwrap_err();
    assert!(why.starts_with("not taken back (kept in ") && why.contains("db/io.weight"), "{why}");
    assert_eq!(text(&root, "sys/block/sda/queue/scheduler"), "none");
    let left = std::fs::read_to_string(&applied.state).unwrap();
    let expected: Vec<&str> = whole.lines().filter(|line| line.contains("io.weight")).collect();
    assert_eq!(left.lines().collect::<Vec<_>>(), expected);
    std::fs::remove_dir(&weight).unwrap();
    std::fs::write(&weight, "400").unwrap();
    undo(&root, &applied.state, &mut |_| ()).unwrap();
    assert_eq!(text(&root, "sys/fs/cgroup/shop/db/io.weight"), "100");
    assert!(!applied.state.exists());
}

#[test]
fn nothing_that_is_kept_is_forgotten_in_silence() {
    let applied = apply_to(tree(), PLAN);
    let root = applied.tree.root();
    let whole = std::fs::read_to_string(&applied.state).unwrap();
    let scheduler = || text(&root, "sys/block/sda/queue/scheduler");
    for spoilt in [format!("{{\n{whole}"), format!("{whole}{{\n")] {
        std::fs::write(&applied.state, &spoilt).unwrap();
        let why = undo(&root, &applied.state, &mut |_| ()).unwrap_err();
        assert!(why.contains("line ") && why.ends_with("nothing is taken back"), "{why}");
        assert_eq!((scheduler().as_str(), applied.state.exists()), ("bfq", true));
    }
    // The step of a line that was not written to its end was not begun.
    std::fs::write(&applied.state, format!("{whole}{{\"step\"")).unwrap();
    undo(&root, &applied.state, &mut |_| ()).unwrap();
    assert_eq!((scheduler().as_str(), applied.state.exists()), ("none", false));
}

#[test]
fn a_preview_says_the_same_and_writes_nothing() {
    let tree = tree();
    let steps = Plan::parse(PLAN).unwrap().steps(&tree.snapshot()).unwrap();
    let lines = preview(&tree.root(), &steps);
    assert_eq!(lines, apply_to(tree, PLAN).said);
}

#[test]
fn version_1_gets_its_own_files() {
    let tree = Tree::new()
        .disk("sda", "8:0", "bfq")
        .v1()
        .group_of_v1("db", "blkio.bfq.weight", "100")
        .group_of_v1("db", "blkio.throttle.read_iops_device", "8:0 50")
        .group_of_v1("db", "blkio.throttle.write_bps_device", "");
    let plan = "[[group]]\npath = 'db'\nio.bfq.weight = 300\n\
                io.max.'/dev/sda' = 'riops=100 wbps=max'\n";
    let applied = apply_to(tree, plan);
    let expected = [
        "/sys/fs/cgroup/blkio/db/blkio.bfq.weight: 300 (was 100)",
        "/sys/fs/cgroup/blkio/db/blkio.throttle.read_iops_device: 8:0 100 (was 8:0 50)",
        "/sys/fs/cgroup/blkio/db/blkio.throttle.write_bps_device: 8:0 0 (was 8:0 0)",
    ];
    assert_eq!(applied.said, expected);
}

#[test]
fn plans_that_no_system_can_have_are_refused() {
    let wrong = |text: &str| Plan::parse(text).unwrap_err();
    assert!(wrong("").contains("empty"));
    let unknown = wrong("[[group]]\npath = 'a'\nio.wieght = 3\n");
    assert!(unknown.contains("wieght") && unknown.contains("weight"), "{unknown}");
    let above = wrong("[[group]]\npath = 'a'\nio.bfq.weight = 2000\n");
    assert_eq!(above, "group `a`: io.bfq.weight = 2000: weights are 1 to 1000");
    for path in ["", "/a", "a/../b", "a//b"] {
        let text = format!("[[group]]\npath = '{path}'\nio.weight = 3\n");
        assert!(wrong(&text).contains("below the top"), "{path}");
    }
    let limit = wrong("[[group]]\npath = 'a'\nio.max.'/dev/sda' = 'bps=3'\n");
    assert!(limit.contains("`bps=3`: not one of rbps, wbps, riops, wiops"), "{limit}");
    let priority = wrong("[[group]]\npath = 'a'\nionice = 'best'\n");
    assert!(priority.contains("real-time:0-7"), "{priority}");
    let steps =
        |text: &str, snapshot: &Snapshot| Plan::parse(text).unwrap().steps(snapshot).unwrap_err();
    let partition = "[[group]]\npath = 'shop/db'\nio.max.'/dev/sda1' = 'rbps=3'\n";
    let why = steps(partition, &tree().snapshot());
    assert!(why.contains("is a partition") && why.ends_with("/dev/sda"), "{why}");
    let v1 = Tree::new().disk("sda", "8:0", "none").v1();
    let weight = steps("[[group]]\npath = 'db'\nio.weight = 3\n", &v1.snapshot());
    assert!(weight.contains("io.weight is not in version 1"), "{weight}");
    let gone = steps("[[device]]\npath = '/dev/sdz'\nscheduler = 'bfq'\n", &v1.snapshot());
    assert!(gone.contains("no such device"), "{gone}");
}

#[test]
fn a_plan_is_read_as_it_is_written() {
    let plan = Plan::parse(PLAN).unwrap();
    assert_eq!(Plan::parse(&plan.to_toml()), Ok(plan));
}

/// The plan of the book.
#[test]
fn the_documented_plan_is_one() {
    let page = include_str!("../../../../docs/kernel-knobs.md");
    let (_, block) = page.split_once("```toml,file=plan.toml\n").unwrap();
    let plan = Plan::parse(block.split_once("```").unwrap().0).unwrap();
    let tree = Tree::new()
        .disk("sda", "8:0", "mq-deadline")
        .mount("8:0", "/srv", "ext4", "/dev/sda", "rw")
        .file("srv/x", "")
        .v2();
    let steps = plan.steps(&tree.snapshot()).unwrap();
    let lines = preview(&tree.root(), &steps);
    assert_eq!(lines[0], "/sys/block/sda/queue/scheduler: bfq (was mq-deadline)");
    let limit = "/sys/fs/cgroup/system.slice/backup.service/io.max: 8:0 wbps=52428800";
    assert!(lines.contains(&limit.to_owned()), "{lines:#?}");
}
