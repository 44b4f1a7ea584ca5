//! Mounts that are told to end.

use crate::host::{Host, fairdisk, finish, is_missing, lacks_something, text, wait_until};
use crate::log::of;
use crate::process::{is_alive, process, signal};
use fairdisk_core::Span;
use fairdisk_plane::{Clock as _, MonotonicClock};
use rustix::mount::{MountFlags, UnmountFlags};
use rustix::process::Signal;
use std::fs;
use std::io::Write as _;
use std::process::Command;

/// Data that a ceiling would let through only in two minutes delays neither the end of a mount nor
/// that of its process.
#[test]
fn a_signal_ends_it_with_everything_written_whatever_ceilings_there_are() {
    if lacks_something() {
        return;
    }
    for unmounted_before in [false, true] {
        let mut host = Host::new();
        let said = text(&host.mount(&[]));
        let pid = process(&said);
        let group = host.group("slow", "max_bps=64K");
        let write = format!("dd if=/dev/zero of={} bs=1M count=8", host.file("data"));
        finish(host.start(&group, &write));
        if unmounted_before {
            host.unmount();
        }
        assert!(is_alive(pid));
        signal(pid, Signal::TERM);
        let clock = MonotonicClock::start();
        let begun = clock.now();
        while is_alive(pid) {
            let waited = clock.now().since(begun);
            assert!(waited < Span::from_s(60), "after {waited}, unmounted: {unmounted_before}");
            std::thread::yield_now();
        }
        assert_eq!(fs::metadata(host.source("data")).unwrap().len(), 8 << 20);
    }
}

/// The parent may hold a lock, or wait at the other end of a pipe.
#[test]
fn a_mount_in_the_background_keeps_nothing_of_whoever_started_it() {
    if lacks_something() {
        return;
    }
    let host = Host::new();
    let script = "exec 9> \"$LOCK\"; flock 9; \"$FAIRDISK\" mount --separate --log-file \"$LOG\" \"$SOURCE\" \"$MNT\"
        exec 9>&-; flock -n \"$LOCK\" echo free; umount \"$MNT\"";
    let output = Command::new("timeout")
        .args(["30", "sh", "-ec", script])
        .env("LOCK", host.scratch().join("lock"))
        .env("LOG", host.scratch().join("log"))
        .env("FAIRDISK", env!("CARGO_BIN_EXE_fairdisk"))
        .env("SOURCE", host.source(""))
        .env("MNT", host.at())
        .output()
        .unwrap();
    let said = text(&output);
    assert!(output.status.success() && said.ends_with("free\n"), "{said}");
}

/// As when a daemon was killed and cannot end: whoever mounts there gets an error and does not wait
/// for ever.
#[test]
fn a_mount_that_does_not_answer_is_not_mounted_over() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    let said = text(&host.mount(&[]));
    let pid = process(&said);
    signal(pid, Signal::STOP);
    let [source, at] = [host.source(""), host.at()].map(|path| path.display().to_string());
    let again = fairdisk(&["mount", &source, &at]);
    signal(pid, Signal::CONT);
    let words = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(words.contains("does not answer") && words.contains("umount -f"), "{words}");
    assert_eq!(again.status.code(), Some(1), "{words}");
}

/// For example if that process was stopped just then. Otherwise two mounts would be made at one
/// place.
#[test]
fn nobody_mounts_while_another_is_about_to() {
    if lacks_something() || is_missing("unshare") || is_missing("flock") {
        return;
    }
    let host = Host::new();
    let script = "mount -t tmpfs none /run; mkdir /run/fairdisk
        mount() { \"$PROGRAM\" mount --separate --log-file \"$LOG\" \"$SOURCE\" \"$MNT\" 2>&1; }
        exec 7> /run/fairdisk/.lock; flock 7
        mount 7>&- || echo \"status $?\"; grep -c \" $MNT \" /proc/self/mounts
        flock -u 7; mount 7>&- > /dev/null && umount \"$MNT\" && echo free";
    let output = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", script])
        .env("PROGRAM", env!("CARGO_BIN_EXE_fairdisk"))
        .env("LOG", host.scratch().join("log"))
        .env("SOURCE", host.source(""))
        .env("MNT", host.at())
        .output()
        .unwrap();
    let said = text(&output);
    let at = host.at().display().to_string();
    assert!(said.starts_with(&format!("error: {at}: waited in vain for process ")), "{said}");
    let rest = "which has locked /run/fairdisk/.lock; let it go on or end it, and mount again\n\
        status 1\n0\nfree\n";
    assert!(said.ends_with(rest), "{said}");
}

/// A library with which no file whose path ends in `$NO_MORE` can be opened, for lack of
/// descriptors.
const NO_DESCRIPTOR: &str = r"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int open64(const char *path, int flags, ...) {
    const char *ending = getenv(`NO_MORE`);
    if (ending && strlen(path) >= strlen(ending)
        && !strcmp(path + strlen(path) - strlen(ending), ending)) {
        errno = EMFILE;
        return -1;
    }
    va_list more;
    va_start(more, flags);
    int mode = va_arg(more, int);
    va_end(more);
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, `open64`);
    return real(path, flags, mode);
}
";

/// Others may have the lock all the same.
#[test]
fn a_shortage_is_not_taken_for_a_place_without_locks() {
    if lacks_something() || is_missing("cc") {
        return;
    }
    let host = Host::new();
    let (library, at) = (host.library("no_descriptor", NO_DESCRIPTOR), host.at());
    // The first lock needed is that of the disk. With a scheduler of its own, a mount needs only
    // the one for mounting.
    for (separate, lock) in [(None, ".lock: "), (Some("--separate"), "/run/fairdisk/.lock: ")] {
        let mut mount = Command::new(env!("CARGO_BIN_EXE_fairdisk"));
        mount.arg("mount").args(separate).args([&host.source(""), &at]);
        mount.arg("--log-file").arg(host.scratch().join("log"));
        let output = mount.env("LD_PRELOAD", &library).env("NO_MORE", ".lock").output().unwrap();
        let is_mounted = Command::new("umount").arg("-l").arg(&at).output().unwrap();
        let said = text(&output);
        assert!(!is_mounted.status.success(), "{said}");
        assert_eq!(output.status.code(), Some(1), "{said}");
        let why = "Too many open files (os error 24); let this process open more files (ulimit -n) \
                   and try again\n";
        assert!(said.contains("cannot lock /run/fairdisk/") && said.contains(lock), "{said}");
        assert!(said.ends_with(why), "{said}");
    }
}

/// A write-back that a ceiling prolongs is reported.
#[test]
fn the_log_says_what_is_still_being_written_out() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    let log = host.scratch().join("log");
    let said = text(&host.mount(&["--log-file", log.to_str().unwrap()]));
    let pid = process(&said);
    let group = host.group("slow", "max_bps=256K");
    let write = format!("dd if=/dev/zero of={} bs=1M count=8", host.file("data"));
    finish(host.start(&group, &write));
    host.unmount();
    let left = || -> Vec<u64> {
        let log = fs::read_to_string(&log).unwrap();
        let told = log.lines().filter(|line| line.contains("event=\"still being written out\""));
        told.map(|line| of(line, "bytes").unwrap().parse().unwrap()).collect()
    };
    wait_until(|| left().last() < left().first());
    signal(pid, Signal::TERM);
    wait_until(|| !is_alive(pid));
}

/// A mount that is covered by another, or has a copy elsewhere, remains in the directory tree.
#[test]
fn a_mount_that_stays_is_not_said_to_be_gone() {
    if lacks_something() {
        return;
    }
    for (covered, how) in [(true, "--separate"), (false, "--separate"), (true, "--unscheduled")] {
        let mut host = Host::new();
        let (log, copy) = (host.scratch().join("log"), host.scratch().join("copy"));
        let said = text(&host.mount(&[how, "--log-file", log.to_str().unwrap()]));
        let pid = process(&said);
        fs::create_dir(&copy).unwrap();
        let (none, at) = (MountFlags::empty(), host.at());
        let other = if covered { &at } else { &copy };
        match covered {
            true => rustix::mount::mount("tmpfs", &at, "tmpfs", none, c"size=1m").unwrap(),
            false => rustix::mount::mount_bind(&at, &copy).unwrap(),
        }
        signal(pid, Signal::TERM);
        let told = || {
            let log = fs::read_to_string(&log).unwrap();
            log.lines().find(|line| line.contains("event=\"still mounted")).map(str::to_owned)
        };
        wait_until(|| told().is_some() || !is_alive(pid));
        assert!(is_alive(pid), "it is served");
        let still_at = other.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(told().is_some_and(|line| line.contains(&format!("/{still_at}"))), "{:?}", told());
        let log = fs::read_to_string(&log).unwrap();
        assert!(!log.contains("detached"), "{log}");
        rustix::mount::unmount(other, UnmountFlags::empty()).unwrap();
        if covered {
            host.unmount();
        }
        host.has_ended();
        wait_until(|| !is_alive(pid));
    }
}

/// A file that is open when the mount is told to end can be used until it is closed.
#[test]
fn what_is_open_when_a_signal_comes_is_served_until_it_is_closed() {
    if lacks_something() {
        return;
    }
    for how in ["--separate", "--unscheduled"] {
        let mut host = Host::new();
        let said = text(&host.mount(&[how]));
        let pid = process(&said);
        let mut open = fs::File::create(host.file("open")).unwrap();
        open.write_all(b"before ").unwrap();
        signal(pid, Signal::TERM);
        let (clock, path) = (MonotonicClock::start(), host.file("open"));
        let begun = clock.now();
        let in_time = || assert!(clock.now().since(begun) < Span::from_s(60), "{how}");
        while fs::metadata(&path).is_ok() {
            in_time();
            std::thread::yield_now();
        }
        open.write_all(b"after").unwrap();
        open.sync_all().unwrap();
        assert!(is_alive(pid), "somebody still uses it");
        drop(open);
        while is_alive(pid) {
            in_time();
            std::thread::yield_now();
        }
        assert_eq!(fs::read(host.source("open")).unwrap(), b"before after");
    }
}
