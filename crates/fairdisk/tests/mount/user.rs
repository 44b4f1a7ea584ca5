//! Mounts of users other than root.

use crate::host::{Host, is_missing, lacks_something, text};
use std::os::unix::fs::chown;
use std::process::{Command, Output, Stdio};

const USER: u32 = 65534;

/// A source and a mount point that belong to a user.
fn place() -> Host {
    let host = Host::new();
    for own in [host.source(""), host.at()] {
        chown(own, Some(USER), Some(USER)).unwrap();
    }
    host
}

/// Runs a script as root, and parts of it as another user: `as UID SCRIPT`. `mode` is the mode of
/// `/dev/fuse` in a private mount namespace. With `$LOG`, a mount has a log of its own.
fn shell(host: &Host, mode: &str, script: &str) -> Output {
    let scratch = host.at().parent().unwrap().to_owned();
    let device = format!(
        "mknod $SCRATCH/fuse c 10 229; chmod {mode} $SCRATCH/fuse
         mount --bind $SCRATCH/fuse /dev/fuse; mkdir -p $SCRATCH/run; chown {USER} $SCRATCH/run
         export XDG_RUNTIME_DIR=$SCRATCH/run
         as() {{ setpriv --reuid=$1 --regid=$1 --clear-groups sh -ec \"$2\"; }}
         trap 'umount -l $MNT 2> /dev/null || :; umount -l /dev/fuse; rm $SCRATCH/fuse' EXIT"
    );
    Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-ec"])
        .arg(format!("{device}\n{script}"))
        .env("SCRATCH", scratch)
        .env("PROGRAM", host.program_for_all())
        .env("SOURCE", host.source(""))
        .env("MNT", host.at())
        .env("LOG", format!("--log-file={}", host.scratch().join("run/log").display()))
        .env("LC_ALL", "C")
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn lacks() -> bool {
    lacks_something() || is_missing("fusermount3") || is_missing("unshare")
}

#[test]
fn a_user_mounts_a_directory_of_its_own() {
    if lacks() {
        return;
    }
    let host = place();
    let script = "
        as 65534 '$PROGRAM mount $LOG $SOURCE $MNT > $SCRATCH/run/said; grep -c \"^mounted\" $SCRATCH/run/said
            echo mine > $MNT/file; cat $MNT/file; stat -c %u $SOURCE/file
            dd if=/dev/zero of=$MNT/big bs=1M count=4 oflag=direct 2> /dev/null; stat -c %s $SOURCE/big
            mkdir $MNT/list; echo > $MNT/list/only; chmod 400 $MNT/list; ls $MNT/list
            $PROGRAM ctl --at $MNT list | grep -c \" on $MNT\"
            $PROGRAM ctl --at $MNT scheduler noop; $PROGRAM ctl --at $MNT list | grep -c noop'
        ls $MNT 2> /dev/null || echo root is kept out
        as 65533 '$PROGRAM ctl --at $MNT list | grep -c noop; $PROGRAM ctl --at $MNT scheduler cfq' 2>&1 || :
        as 65534 'fusermount3 -u $MNT; ls -A $MNT; cat $SOURCE/file'";
    let output = shell(&host, "666", script);
    let expected = "1\nmine\n65534\n4194304\nonly\n1\n1\nroot is kept out\n1\n\
        error: only root and whoever runs the mount may change anything\nmine\n";
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(text(&output), expected);
}

#[test]
fn what_a_users_dead_daemon_left_is_taken_away_and_a_signal_unmounts() {
    if lacks() {
        return;
    }
    let host = place();
    let script = "
        as 65534 '$PROGRAM mount $LOG $SOURCE $MNT --separate > $SCRATCH/run/said
            kill -9 $(sed \"s/.*pid=//\" $SCRATCH/run/said)
            while ls $MNT 2> /dev/null; do :; done
            $PROGRAM mount $LOG $SOURCE $MNT --separate > $SCRATCH/run/said; echo again > $MNT/file
            pid=$(sed \"s/.*pid=//\" $SCRATCH/run/said); kill $pid
            while kill -0 $pid 2> /dev/null; do :; done
            ls -A $MNT; cat $SOURCE/file'";
    let output = shell(&host, "666", script);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(text(&output), "again\n");
}

/// What ends a user's mount is opened when the mount is made, where the system shows it. The
/// guardian is reached neither by Ctrl-C nor by killing all processes of the program's name, and if
/// it is killed, another one takes over.
#[test]
fn a_users_mount_has_a_guardian_that_stays() {
    if lacks() {
        return;
    }
    let host = place();
    let script = "
        mountpoint -q /sys/fs/fuse/connections || mount -t fusectl none /sys/fs/fuse/connections
        as 65534 '$PROGRAM mount $LOG $SOURCE $MNT --separate > $SCRATCH/run/said'
        pid=$(sed 's/.*pid=//' $SCRATCH/run/said)
        its() { cat /proc/$pid/task/*/children | tr -d \" \"; }
        first=$(its); end=/sys/fs/fuse/connections/$(as 65534 'stat -c %d $MNT')/abort
        ls -l /proc/$first/fd | grep -q $end
        kill -KILL $first; while [ -e /proc/$first ]; do :; done
        until guardian=$(its); [ \"$guardian\" ] && ls -l /proc/$guardian/fd | grep -q $end; do :; done
        [ $(cat /proc/$guardian/comm) = guardian ]
        kill -INT $guardian; kill -TERM $guardian; kill -HUP $guardian
        as 65534 'ls $MNT'; ls -l /proc/$guardian/fd | grep -q $end
        as 65534 'fusermount3 -u $MNT'
        while kill -0 $guardian 2> /dev/null; do :; done";
    let output = shell(&host, "666", script);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(text(&output), "");
}

/// fusectl is not mounted, and a user cannot mount it.
#[test]
fn a_users_mount_without_a_guardian_tells_the_log_what_root_can_do() {
    if lacks() {
        return;
    }
    let host = place();
    let script = "
        ! mountpoint -q /sys/fs/fuse/connections || umount /sys/fs/fuse/connections
        told() { grep -c \"$1\" $SCRATCH/run/log || :; }
        as 65534 '$PROGRAM mount $LOG $SOURCE $MNT --separate > $SCRATCH/run/said; fusermount3 -u $MNT'
        told 'event=.no guardian for this mount. .* error=.*not permitted.*; as root: mount -t fusectl'
        rm $SCRATCH/run/log
        as 65534 '$PROGRAM mount $LOG --log-level info $SOURCE $MNT --separate > $SCRATCH/run/said'
        $(grep -o 'mount -t fusectl fusectl [a-z/]*' $SCRATCH/run/log)
        until grep -q 'event=guarded ' $SCRATCH/run/log; do sleep 0.1; done
        guardian=$(cat /proc/$(sed 's/.*pid=//' $SCRATCH/run/said)/task/*/children | tr -d \" \")
        ls -l /proc/$guardian/fd | grep -q /connections/$(as 65534 'stat -c %d $MNT')/abort
        as 65534 'fusermount3 -u $MNT'
        told 'no guardian'; told event=guarded; rm $SCRATCH/run/log
        as 65534 '$PROGRAM mount $LOG $SOURCE $MNT --separate > $SCRATCH/run/said; fusermount3 -u $MNT'
        told guardian";
    let output = shell(&host, "666", script);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(text(&output), "1\n1\n1\n0\n");
}

#[test]
fn a_user_who_cannot_mount_is_told_what_is_missing_and_what_works() {
    if lacks() {
        return;
    }
    let host = place();
    let instead = "fairdisk run works without, in the lab and --on file:PATH";
    for (mode, path, options, says) in [
        ("600", "$PATH", "", "/dev/fuse may not be opened; as root: chmod 666 /dev/fuse"),
        ("666", "/nonexistent", "", "not permitted; run as root, or install fusermount3"),
        ("666", "$PATH", "--allow-other", "user_allow_other"),
    ] {
        let script = format!("as 65534 'PATH={path}; exec $PROGRAM mount $SOURCE $MNT {options}'");
        let output = shell(&host, mode, &script);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        let said = text(&output);
        assert!(said.contains(says) && said.lines().count() == 1, "{said}");
        assert!(options == "--allow-other" || said.contains(instead), "{said}");
    }
}

#[test]
fn root_is_told_what_is_missing_where_it_cannot_mount_either() {
    if lacks() {
        return;
    }
    let host = place();
    for (begin, says) in [
        ("mount --bind /dev/null /dev/fuse;", "/dev/fuse is not the device of that name"),
        ("set -- setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin;", "CAP_SYS_ADMIN"),
    ] {
        let output = shell(&host, "600", &format!("{begin} \"$@\" $PROGRAM mount $SOURCE $MNT"));
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        let said = text(&output);
        assert!(said.contains(says) && said.lines().count() == 1, "{said}");
        assert!(said.contains("fairdisk run works without"), "{said}");
    }
}
