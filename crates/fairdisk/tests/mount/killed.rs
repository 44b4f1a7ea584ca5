//! Processes that are killed while programs wait for them.

use crate::host::{Host, is_missing, lacks_something, soak, text, wait_until};
use crate::joined::{Two, two};
use crate::process::{process, signal};
use rustix::process::Signal;
use std::fs::{self, OpenOptions};
use std::io::{copy, sink};
use std::os::unix::fs::FileExt as _;
use std::process::{Child, Command, Stdio};
use std::thread::spawn;
use std::time::Duration;

const FILES: usize = 4;
const READERS: usize = 3;
const CHANGES: u8 = 20;

/// The number of checks, 10 ms apart, on programs that might wait for ever.
const LOOKS: u32 = 1500;

/// Whether all programs end, with whatever result. Those that still wait for `host`'s mount are
/// released, so that a failing test leaves nobody behind.
pub(crate) fn all_end(host: &Host, waiting: &mut [Child]) -> bool {
    let mut ended = || waiting.iter_mut().all(|one| one.try_wait().unwrap().is_some());
    let all = (0..LOOKS).any(|_| {
        fairdisk_plane::pause(Duration::from_millis(10));
        ended()
    });
    if !all {
        let _ = Command::new("umount").arg("-f").arg(host.at()).output();
    }
    all
}

/// Whether a thread of the process, or this one, is in uninterruptible sleep.
fn is_held_up(pid: i32, thread: Option<i32>) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let threads = threads.map(|thread| thread.path());
    let meant = threads.filter(|at| thread.is_none_or(|one| at.ends_with(one.to_string())));
    let stat = meant.map(|thread| fs::read_to_string(thread.join("stat")));
    stat.flatten().any(|stat| stat.contains(") D "))
}

/// Freezes or thaws the first partition.
fn freeze(two: &Two, how: &str) {
    let at = two.source(1);
    assert!(Command::new("fsfreeze").arg(how).arg(at).status().unwrap().success());
}

fn start(program: &mut Command) -> Child {
    program.stderr(Stdio::null()).spawn().unwrap()
}

/// A thread that has the kernel drop cached data of a file ends only when nobody reads that file,
/// and after a kill nobody serves further reads.
#[test]
fn whoever_reads_a_changed_file_when_the_process_is_killed_gets_an_error() {
    if lacks_something() {
        return;
    }
    for round in 0..if soak() { 100 } else { 8 } {
        let mut host = Host::new();
        let name = |number: usize| format!("data{number}");
        (0..FILES).for_each(|number| host.make_file(&name(number), 4));
        let said = text(&host.mount(&[]));
        let group = host.group("slow", "max_bps=1M");
        let read = |number| {
            let mut reader = host.start(&group, &format!("cat {}", host.file(&name(number))));
            let out = reader.stdout.take();
            spawn(move || out.map(|mut out| copy(&mut out, &mut sink())));
            reader
        };
        let mut readers: Vec<Child> = (0..FILES * READERS).map(|n| read(n % FILES)).collect();
        wait_until(|| host.device_time(std::slice::from_ref(&group))[0] > 0.0);
        for change in 0..CHANGES {
            for number in 0..FILES {
                let file = OpenOptions::new().write(true).open(host.source(&name(number)));
                file.unwrap().write_all_at(&[change], 0).unwrap();
                let _ = fs::metadata(host.file(&name(number)));
            }
            fairdisk_plane::pause(Duration::from_millis(10));
        }
        signal(process(&said), Signal::KILL);
        assert!(all_end(&host, &mut readers), "round {round}: readers wait for nobody");
        host.mount_well(&[]);
        assert_eq!(fs::read(host.file(&name(0))).unwrap()[0], CHANGES - 1, "it is there again");
    }
}

/// Where nobody else looks at the mount, as `df` does, nothing of it is left in use once the
/// programs that used it have ended.
#[test]
fn a_mount_whose_process_was_killed_is_not_busy() {
    if lacks_something() || is_missing("unshare") {
        return;
    }
    let host = Host::new();
    let script = r#"for round in $(seq $ROUNDS); do
        said=$("$FAIRDISK" mount --separate --log-file "$LOG" "$SOURCE" "$MNT" 2>&1) || { echo "$said"; exit 1; }
        for writer in 1 2 3; do (
            cd "$MNT" || exit
            while mkdir d$writer && echo x > d$writer/a && mv d$writer/a d$writer/b &&
                rm -r d$writer; do :; done 2> /dev/null
        ) & done
        while [ ! -e "$SOURCE/d1" ]; do :; done
        kill -9 "${said##*pid=}"; wait
        umount "$MNT" || { echo "round $round"; umount -l "$MNT"; exit 1; }
        rm -rf "$SOURCE"/d?
    done"#;
    let output = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "bash", "-c", script])
        .env("ROUNDS", if soak() { "200" } else { "10" })
        .env("FAIRDISK", env!("CARGO_BIN_EXE_fairdisk"))
        .env("LOG", host.scratch().join("log"))
        .env("SOURCE", host.source(""))
        .env("MNT", host.at())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));
}

/// A thread that waits for a disk that hangs cannot be killed, and the process's descriptors stay
/// open.
#[test]
fn whoever_waits_for_a_disk_that_hangs_when_the_process_is_killed_gets_an_error() {
    if lacks_something() || is_missing("fsfreeze") {
        return;
    }
    let Some(mut two) = two() else { return };
    let (pid, mut served) = two.foreground((1, 1));
    assert_eq!(two.mount((2, 2), &[]), pid, "it has joined");
    let [file, other] = [1, 2].map(|number| two.place(number).join("file"));
    fs::write(&file, "x").unwrap();
    freeze(&two, "--freeze");
    let mut waiting = vec![start(Command::new("truncate").args(["-s", "0"]).arg(&file))];
    wait_until(|| is_held_up(pid, None));
    signal(pid, Signal::KILL);
    waiting.push(start(Command::new("stat").arg(&file)));
    waiting.push(start(Command::new("touch").arg(&other)));
    let ended = all_end(&two.host, &mut waiting);
    let stays = is_held_up(pid, None);
    freeze(&two, "--unfreeze");
    assert!(ended, "programs wait for nobody");
    assert!(stays, "it could end, and this has tested nothing");
    assert!(!served.wait().unwrap().success());
    let again = two.mount((1, 1), &[]);
    assert_eq!(two.mount((2, 2), &[]), again);
    two.works(1);
    two.works(2);
}

/// The main thread is blocked as well, in a message about unmounting.
#[test]
fn whoever_waits_when_the_main_thread_is_held_up_and_killed_gets_an_error() {
    if lacks_something() || is_missing("fsfreeze") {
        return;
    }
    let Some(mut two) = two() else { return };
    let log = two.source(1).join("log");
    let pid = two.mount((1, 1), &["--log-file", log.to_str().unwrap()]);
    let file = two.place(1).join("file");
    fs::write(&file, "x").unwrap();
    freeze(&two, "--freeze");
    let mut waiting = [start(Command::new("truncate").args(["-s", "0"]).arg(&file))];
    wait_until(|| is_held_up(pid, None));
    signal(pid, Signal::TERM);
    wait_until(|| is_held_up(pid, Some(pid)));
    signal(pid, Signal::KILL);
    let ended = all_end(&two.host, &mut waiting);
    let stays = is_held_up(pid, Some(pid));
    freeze(&two, "--unfreeze");
    assert!(ended, "programs wait for nobody");
    assert!(stays, "it could end, and this has tested nothing");
}
