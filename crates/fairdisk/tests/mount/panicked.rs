//! Processes that panic while programs wait for them.

use crate::host::{Host, is_missing, lacks_something, text, wait_until};
use crate::killed::all_end;
use crate::log::of;
use crate::process::{is_alive, process};
use rustix::io::Errno;
use std::fs;
use std::path::Path;

/// A library that makes clock_gettime(2) or pthread_attr_init(3), which is needed to start a
/// thread, fail once, at which the standard library panics: when the file `$FAIL` exists, in the
/// thread that the kernel calls `$FAIL_IN`.
const FAILS_ONCE: &str = r"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int fails(void) {
    const char *file = getenv(`FAIL`), *thread = getenv(`FAIL_IN`);
    char name[16];
    return file && thread && !prctl(PR_GET_NAME, name) && !strcmp(name, thread) && !unlink(file);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock == CLOCK_MONOTONIC && fails()) {
        errno = EIO;
        return -1;
    }
    return syscall(SYS_clock_gettime, clock, time);
}

int pthread_attr_init(pthread_attr_t *attributes) {
    int (*real)(pthread_attr_t *) = dlsym(RTLD_NEXT, `pthread_attr_init`);
    return fails() ? EIO : real(attributes);
}
";

/// The timer thread holds the scheduler's lock at that moment, and the main thread holds none. The
/// thread that tells the kernel of changed files has no descriptor for the log.
#[test]
fn a_panic_in_any_thread_ends_the_mount_at_once_and_the_log_says_why() {
    if lacks_something() || is_missing("cc") {
        return;
    }
    // The kernel's name of the thread, and the standard library's.
    for (thread, name) in [
        ("fairdisk-timer", "fairdisk-timer"),
        ("fairdisk", "main"),
        ("fairdisk-notice", "fairdisk-notices"),
    ] {
        let mut host = Host::new();
        host.make_file("data", 1);
        let (fail, log) = (host.scratch().join("fail"), host.scratch().join("log"));
        let library = host.library("fails_once", FAILS_ONCE);
        let environment =
            [("LD_PRELOAD", &*library), ("FAIL", &fail), ("FAIL_IN", Path::new(thread))];
        let said = text(&host.mount_in(&environment, &[]));
        fs::write(host.file("kept"), "answered").unwrap();
        let group = host.group("slow", "max_bps=100K");
        let mut reader = [host.start(&group, &format!("cat {} > /dev/null", host.file("data")))];
        wait_until(|| host.device_time(std::slice::from_ref(&group))[0] > 0.0);
        fs::write(&fail, "").unwrap();
        fs::write(host.source("data"), vec![b'y'; 1 << 20]).unwrap();
        wait_until(|| {
            // At this, the kernel is told that the file has changed.
            let _ = fs::metadata(host.file("data"));
            !fail.exists()
        });
        assert!(all_end(&host, &mut reader), "{thread}: the reader waits for nobody");
        assert!(!reader[0].wait().unwrap().success());
        wait_until(|| !is_alive(process(&said)));
        // Nothing is cached of a file that nobody has asked for.
        let dead = fs::metadata(host.file("other")).unwrap_err();
        assert_eq!(dead.raw_os_error(), Some(Errno::NOTCONN.raw_os_error()), "{thread}");
        let told = fs::read_to_string(&log).unwrap();
        let line = told.lines().find(|line| of(line, "event") == Some("panicked")).expect(&told);
        assert_eq!(of(line, "level"), Some("error"));
        assert_eq!(of(line, "thread"), Some(name));
        assert!(of(line, "error").is_some_and(|error| error.contains(": 5")), "{line}");
        assert!(of(line, "place").is_some_and(|place| place.contains(".rs:")), "{line}");
        host.mount_well(&[]);
        assert_eq!(fs::read(host.file("kept")).unwrap(), b"answered");
        assert_eq!(fs::read(host.file("data")).unwrap().len(), 1 << 20);
        host.unmount();
    }
}
