//! `fairdisk cgroup mount` over the tree of version 2, for systems without version 1.

use crate::cgroup::is_missing;
use crate::program::Place;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// Whether there is no tree of version 2; prints that.
fn lacks() -> bool {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let there = mounts.contains(" - cgroup2 ");
    if !there {
        println!("skipped: no cgroup hierarchy of version 2 is mounted");
    }
    !there || is_missing()
}

/// Runs a script while groups are shown at `$D` in a private mount namespace, with `$G` as the
/// group it starts in. `who` are arguments of `unshare`, `options` those of the mount.
fn groups(who: &[&str], options: &str, script: &str) -> (bool, String) {
    static LAST: AtomicU32 = AtomicU32::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    let place = Place::new();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(place.path().join("cgroup")).unwrap();
    let script = format!(
        "$PROGRAM cgroup mount $D {options} > /dev/null
         end() {{ set +e; cd /; echo $$ > $D/tasks; rmdir $D/$G/*/ $D/$G 2> /dev/null
           $PROGRAM cgroup umount $D {options} 2> /dev/null; }}
         trap 'status=$?; end; exit $status' EXIT; mkdir $D/$G; cd $D/$G\n{script}"
    );
    let output: Output = Command::new("unshare")
        .args(who)
        .args(["--mount", "--propagation", "private", "bash", "-ec", &script])
        .env("PROGRAM", env!("CARGO_BIN_EXE_fairdisk"))
        .env("D", place.path().join("cgroup"))
        .env("G", format!("fairdisk-test-{}-{number}", std::process::id()))
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).trim_end().to_owned())
}

#[test]
fn the_usual_lines_work_over_version_2() {
    if lacks() {
        return;
    }
    let script = "
        cat cfq.ioprio; echo 2 > cfq.ioprio; cat cfq.ioprio cfq.weight; ls | grep -cx tasks
        echo $$ > tasks; grep -c ^0::/$G'$' /proc/self/cgroup; grep -cx $$ tasks cgroup.procs
        (echo 0 > $D/tasks; grep -c ^0::/$G /proc/$BASHPID/cgroup || :)
        sleep 60 & child=$!; grep -cx $child tasks; rmdir $D/$G 2>&1 | grep -o 'busy'; kill $child
        echo 8 > cfq.ioprio || :; echo nonsense > tasks || :; echo 0 > cfq.idle; cat cfq.idle
        cd $D; echo $$ > tasks; wait; rmdir $G; mkdir $G; cat $G/cfq.ioprio";
    let (well, said) = groups(&[], "--hierarchy v2", script);
    let complaints = said.matches("Invalid argument").count();
    let lines: Vec<&str> = said.lines().filter(|line| !line.contains("bash:")).collect();
    let expected =
        ["4", "2", "150", "1", "1", "tasks:1", "cgroup.procs:1", "0", "1", "busy", "0", "4"];
    assert_eq!((well, lines, complaints), (true, expected.to_vec(), 2), "{said}");
}

/// In a threaded group, a single thread is moved and not its whole process.
#[test]
fn threads_are_moved_where_groups_are_of_threads() {
    if lacks() {
        return;
    }
    let script = "
        mkdir one; echo threaded > one/cgroup.type; echo $$ > tasks
        python3 -c '
import threading, os, sys
def body():
    open(\"one/tasks\", \"w\").write(str(threading.get_native_id()))
    print(open(\"/proc/thread-self/cgroup\").read().split(\"0::\")[1].strip().split(\"/\")[-1])
thread = threading.Thread(target=body); thread.start(); thread.join()
print(open(\"/proc/self/cgroup\").read().split(\"0::\")[1].strip() == \"/\" + os.environ[\"G\"])'
        cd $D; echo $$ > tasks";
    if Command::new("python3").arg("-V").output().is_err() {
        println!("skipped: no python3");
        return;
    }
    let (well, said) = groups(&[], "--hierarchy v2", script);
    assert_eq!((well, said.as_str()), (true, "one\nTrue"));
}

/// The kernel checks the permission on the common ancestor for whoever writes.
#[test]
fn who_owns_a_part_of_the_tree_moves_tasks_within_it_only() {
    if lacks() {
        return;
    }
    let script = "
        mkdir own own/a own/b; chown 65534 own own/cgroup.procs own/*/ own/*/cgroup.procs
        mkdir shared shared/a shared/b; chgrp 65533 shared{,/a,/b}/cgroup.procs
        chmod g+w shared{,/a,/b}/cgroup.procs
        as() { setpriv --reuid=65534 --regid=65534 $1 bash -c \"$2 || :\" 2>&1 |
          sed 's/.*: //'; }
        alone=--clear-groups group=--groups=65533
        sleep 60 & child=$!
        as $alone \"echo $child > own/a/tasks; echo $child > own/a/cgroup.procs\"
        as $alone 'echo 0 > own/a/tasks'
        as $alone 'echo 0 > shared/a/tasks'
        as $group 'echo 0 > shared/a/tasks'
        grep -c ^0::/$G/ /proc/$child/cgroup || kill $child
        (echo $BASHPID > own/a/tasks
         as $alone 'echo 0 > own/b/tasks; grep -o own/. /proc/self/cgroup'
         as $alone 'echo 0 > tasks')
        (echo $BASHPID > shared/a/tasks
         as $group 'echo 0 > shared/b/tasks; grep -o shared/. /proc/self/cgroup'
         as $alone 'echo 0 > shared/b/tasks')
        (echo $BASHPID > own/a/tasks
         unshare --cgroup setpriv --reuid=65534 --regid=65534 --clear-groups bash -c '
           cat own/b/cfq.ioprio; echo $$ > own/b/tasks' 2>&1 | sed 's/.*: //')
        wait; rmdir own/*/ shared/*/";
    let (well, said) = groups(&[], "--hierarchy v2", script);
    let denied = "Permission denied";
    let expected = [
        denied,
        denied,
        denied,
        denied,
        denied,
        "0",
        "own/b",
        denied,
        "shared/b",
        denied,
        "4",
        "Operation not permitted",
    ];
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!((well, lines), (true, expected.to_vec()), "{said}");
}

/// Root of a user namespace cannot mount hierarchies of version 1, as on a system without them.
#[test]
fn without_version_1_the_tree_of_version_2_stands_in() {
    if lacks() {
        return;
    }
    let script = "echo 1 > cfq.ioprio; cat cfq.weight; echo $$ > tasks
        grep -c ^0::/$G'$' /proc/self/cgroup; echo $$ > $D/tasks";
    let (well, said) = groups(&["--user", "--map-root-user"], "", script);
    let note = "note: no hierarchy of version 1 can be made here; groups are cgroups of version 2";
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!((well, lines), (true, vec!["175", "1", note]), "{said}");
}
