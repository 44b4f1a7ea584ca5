//! Parts of a system that mount on behalf of others: mount(8) with an fstab entry, and systemd.

use crate::host::{Host, fairdisk, is_missing, lacks_something, text, wait_until};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::fs;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// An installation by `make install` into a directory of its own.
struct Installed {
    place: TempDir,
}

impl Installed {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let output = Command::new(repository().join("scripts/install.sh"))
            .current_dir(place.path())
            .env("FAIRDISK_PROGRAM", env!("CARGO_BIN_EXE_fairdisk"))
            .env("PREFIX", place.path().join("usr"))
            .env("SBINDIR", place.path().join("sbin"))
            .env_remove("DESTDIR")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output));
        Self { place }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Runs a script in a private mount namespace where mount(8) finds the helper. With the options
    /// in `$OWN`, a mount has a scheduler and a log of its own.
    fn shell(&self, host: &Host, script: &str) -> Output {
        let script = format!("mount --bind \"$SBIN\" /sbin; cd /; {script}");
        Command::new("unshare")
            .args(["--mount", "--propagation", "private", "sh", "-ec", &script])
            .env("SBIN", self.path("sbin"))
            .env("FSTAB", self.path("fstab"))
            .env("SOURCE", host.source(""))
            .env("MNT", host.at())
            .env("OWN", format!("separate,log_file={}", self.path("log").display()))
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn prints(&self, host: &Host, script: &str) -> String {
        let output = self.shell(host, script);
        assert!(output.status.success(), "{script}\n{}", text(&output));
        text(&output).trim_end().to_owned()
    }
}

#[test]
fn what_is_installed_is_all_there() {
    let installed = Installed::new();
    for name in [
        "usr/bin/fairdisk",
        "usr/share/man/man1/fairdisk-mount.1",
        "usr/share/bash-completion/completions/fairdisk",
        "usr/share/zsh/site-functions/_fairdisk",
        "usr/share/fish/vendor_completions.d/fairdisk.fish",
    ] {
        let length = fs::metadata(installed.path(name)).map(|file| file.len());
        assert!(length.is_ok_and(|length| length > 100), "{name}");
    }
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let target = fs::read_link(installed.path("sbin/mount.fairdisk")).unwrap();
    assert_eq!(target, installed.path("usr/bin/fairdisk"));
    let groups = fs::read_link(installed.path("sbin/mount.fairdisk-cgroup")).unwrap();
    assert_eq!(groups, target);
    let unit = installed.path("usr/lib/systemd/system/fairdisk@.service");
    let start = format!("ExecStart={} mount --foreground", target.display());
    assert!(fs::read_to_string(&unit).unwrap().contains(&start));
    // Without systemd, the earlier checks have to suffice.
    if let Ok(said) =
        Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&unit).output()
    {
        let ours = text(&said).lines().filter(|line| line.contains("fairdisk")).count();
        assert!(said.status.success() && ours == 0, "{}", text(&said));
    }
}

#[test]
fn a_line_of_fstab_works() {
    if lacks_something() || is_missing("unshare") {
        return;
    }
    let (installed, host) = (Installed::new(), Host::new());
    let (source, at) = (host.source(""), host.at());
    let line = format!(
        "{} {} fairdisk defaults,separate,scheduler=two-layer-cfq,depth=1,allow_other,ro,nofail,_netdev,log_file={} 0 0\n",
        source.display().to_string().trim_end_matches('/'),
        at.display(),
        installed.path("log").display()
    );
    fs::write(installed.path("fstab"), line).unwrap();
    fs::write(host.source("a"), "as it was\n").unwrap();
    let said = installed.prints(
        &host,
        "mount -T $FSTAB $MNT; cat $MNT/a; findmnt -no FSTYPE $MNT
         setpriv --reuid=65534 --regid=65534 --clear-groups cat $MNT/a
         grep -c \" $MNT fuse.fairdisk ro,.*allow_other\" /proc/self/mounts
         touch $MNT/new 2>&1 | grep -o 'Read-only file system'
         mount -a -T $FSTAB 2>&1 || :; umount $MNT; ls $MNT | wc -l
         mount -a -T $FSTAB; cat $MNT/a; umount $MNT",
    );
    let expected = "as it was\nfuse.fairdisk\nas it was\n1\nRead-only file system\n0\nas it was";
    assert_eq!(said, expected);
}

/// The line of the cover letter of 2008 with another type, by hand and in fstab, and the commands
/// that followed it.
#[test]
fn groups_are_mounted_by_mount_and_fstab_with_the_options_of_2008() {
    if lacks_something() || is_missing("unshare") {
        return;
    }
    let (installed, host) = (Installed::new(), Host::new());
    let at = host.scratch().join("groups");
    let own = format!("hierarchy=fairdisk-test-{}", std::process::id());
    let line = format!("cfq {} fairdisk-cgroup cfq,X-mount.mkdir,nofail,{own} 0 0\n", at.display());
    fs::write(installed.path("fstab"), line).unwrap();
    let commands = "mkdir $AT/test1; echo 2 > $AT/test1/cfq.ioprio; cat $AT/test1/cfq.ioprio
        sh -c 'echo $$ > '$AT'/test1/tasks; grep -c /test1$ /proc/self/cgroup'; rmdir $AT/test1
        findmnt -no FSTYPE $AT; umount $AT";
    let script = format!(
        "AT={}; mount -T $FSTAB $AT; {commands}
         mount -t fairdisk-cgroup -o cfq,{own} cfq $AT; {commands}
         mount -t fairdisk-cgroup -o ro cfq $AT 2>&1 | grep -o 'made and changed there'
         mount -t cgroup -o cfq cfq $AT 2> /dev/null || echo no controller of the kernel",
        at.display()
    );
    let once = "2\n1\nfuse.fairdisk";
    let refused = "made and changed there\nno controller of the kernel";
    assert_eq!(installed.prints(&host, &script), format!("{once}\n{once}\n{refused}"));
}

#[test]
fn a_source_may_be_called_like_the_guardian() {
    if lacks_something() || is_missing("unshare") {
        return;
    }
    let (installed, host) = (Installed::new(), Host::new());
    let said = installed.prints(
        &host,
        "cd $SOURCE; mkdir fairdisk-guardian; echo there > fairdisk-guardian/a
         $SBIN/mount.fairdisk fairdisk-guardian $MNT -o $OWN; cat $MNT/a; umount $MNT",
    );
    assert_eq!(said, "there");
}

#[test]
fn the_mount_helper_says_how_it_is_used() {
    if lacks_something() || is_missing("unshare") {
        return;
    }
    let (installed, host) = (Installed::new(), Host::new());
    let usage = "usage: mount.fairdisk SOURCE MOUNTPOINT [-sfnv] [-o OPTIONS]";
    let said = installed.prints(
        &host,
        "$SBIN/mount.fairdisk --help | head -n 1; $SBIN/mount.fairdisk 2>&1 || echo $?",
    );
    assert_eq!(said, format!("{usage}\nerror: {usage}\n1"));
}

/// The guardian should have a unit of its own, but works without.
#[test]
fn a_mount_is_guarded_where_systemd_gives_no_unit() {
    if lacks_something() || is_missing("unshare") {
        return;
    }
    let (installed, host) = (Installed::new(), Host::new());
    for (systemd, says) in
        [("exit 1", "systemd-run: exit status: 1"), ("exec sleep 60", "no answer within 4 s")]
    {
        let script = format!(
            "mount -t tmpfs none /run; mkdir -p /run/systemd/system /run/bin
             echo systemd > /run/first; mount --bind /run/first /proc/1/comm
             printf '#!/bin/sh\necho $1 > /run/asked; {systemd}\n' > /run/bin/systemd-run
             chmod 755 /run/bin/systemd-run; PATH=/run/bin:$PATH
             timeout 15 $SBIN/mount.fairdisk $SOURCE $MNT -v -o separate,log_file=/run/log > /run/said
             cat /run/asked; pid=$(sed 's/.*pid=//' /run/said)
             cat /proc/$pid/task/*/children | tr -d ' ' > /run/guardian
             cat /proc/$(cat /run/guardian)/comm; umount $MNT
             timeout 30 tail -s 0.02 --pid=$pid -f /dev/null
             grep -c 'level=warn event=\"no unit for the guardian\" error=\".*{says}' /run/log"
        );
        assert_eq!(installed.prints(&host, &script), "--quiet\nguardian\n1", "{systemd}");
    }
}

#[test]
fn options_of_mount_mean_what_they_say() {
    if lacks_something() || is_missing("unshare") {
        return;
    }
    let (installed, host) = (Installed::new(), Host::new());
    for kind in ["fairdisk", "fuse.fairdisk"] {
        let script = format!(
            "mount -t {kind} -o $OWN,noexec,scheduler=noop $SOURCE $MNT
             printf 'true' > $MNT/run; chmod 755 $MNT/run; ($MNT/run 2>&1 || :) | grep -o denied
             umount $MNT; cat $SOURCE/run
             mount -t {kind} $SOURCE $MNT -o $OWN,exec; $MNT/run; umount $MNT
             mount -v -t {kind} $SOURCE $MNT -s -o $OWN,colour=red | grep -o 'scheduler=[a-z0-9-]*'
             umount $MNT"
        );
        let expected = "denied\ntruescheduler=fair";
        assert_eq!(installed.prints(&host, &script), expected, "{kind}");
    }
    for (options, code, says) in [
        ("shceduler=noop", 1, "unknown option `shceduler`; did you mean `scheduler`?"),
        ("sync", 1, "`sync` is not supported"),
        ("depth=many", 1, "invalid value 'many' for '--depth"),
        ("scheduler=cfs", 1, "known: noop"),
        ("metrics=unix:/nonexistent/socket", 32, "cannot listen there"),
    ] {
        let output = installed
            .shell(&host, &format!("mount -t fairdisk $SOURCE $MNT -o separate,{options}"));
        assert_eq!(output.status.code(), Some(code), "{options}: {}", text(&output));
        assert!(text(&output).contains(says), "{options}: {}", text(&output));
    }
    let remounted = installed.shell(
        &host,
        "mount -t fairdisk -o separate $SOURCE $MNT
         trap 'umount $MNT' EXIT; mount -t fairdisk -o remount,ro $SOURCE $MNT",
    );
    assert!(!remounted.status.success(), "{}", text(&remounted));
    assert!(text(&remounted).contains("`remount` is not supported"), "{}", text(&remounted));
}

/// The next notification to the service manager.
fn told(socket: &UnixDatagram) -> String {
    let mut message = [0; 1000];
    let length = socket.recv(&mut message).unwrap();
    String::from_utf8(message[..length].to_vec()).unwrap()
}

#[test]
fn the_service_manager_hears_when_it_is_ready_and_when_it_stops() {
    if lacks_something() {
        return;
    }
    let host = Host::new();
    let path = host.at().with_file_name("notify");
    let name = format!("fairdisk-test-{}", std::process::id());
    let hidden = SocketAddr::from_abstract_name(&name).unwrap();
    for (socket, named) in [
        (UnixDatagram::bind(&path).unwrap(), path.display().to_string()),
        (UnixDatagram::bind_addr(&hidden).unwrap(), format!("@{name}")),
    ] {
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut daemon = Command::new(env!("CARGO_BIN_EXE_fairdisk"))
            .args(["mount", "--separate", "--foreground"])
            .args([host.source(""), host.at()])
            .env("NOTIFY_SOCKET", named)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let ready = told(&socket);
        assert!(ready.starts_with("READY=1\nSTATUS=mounted source="), "{ready}");
        fs::write(host.file("a"), "through").unwrap();
        kill_process(Pid::from_child(&daemon), Signal::TERM).unwrap();
        assert_eq!(told(&socket), "STOPPING=1");
        assert!(daemon.wait().unwrap().success());
        assert!(!Path::new(&host.file("a")).exists());
        assert_eq!(fs::read_to_string(host.source("a")).unwrap(), "through");
    }
}

/// The capabilities that the unit grants suffice for what a mount does on behalf of its callers.
#[test]
fn the_unit_leaves_enough_capabilities() {
    if lacks_something() || is_missing("setpriv") {
        return;
    }
    let unit = fs::read_to_string(repository().join("packaging/fairdisk@.service")).unwrap();
    let lists = unit.lines().filter_map(|line| line.strip_prefix("CapabilityBoundingSet="));
    let names = lists.flat_map(str::split_whitespace).filter_map(|name| name.strip_prefix("CAP_"));
    let kept: Vec<String> = names.map(|name| format!("+{}", name.to_lowercase())).collect();
    assert!(kept.len() > 10, "{kept:?}");
    let host = Host::new();
    let (source, at) = (host.source(""), host.at());
    let output = Command::new("setpriv")
        .arg(format!("--bounding-set=-all,{}", kept.join(",")))
        .args(["--inh-caps=-all", "--no-new-privs", env!("CARGO_BIN_EXE_fairdisk"), "mount"])
        .args([&source, &at])
        .args(["--separate", "--allow-other"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let script = "cd $MNT; mkdir open; chmod 1777 open; echo x > secret; chmod 600 secret
        nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
        $nobody sh -ec 'exec 2> /dev/null; echo mine > open/file; mkfifo open/pipe; ln open/file open/link
            ! cat secret; ! echo x > file'
        stat -c %u open/file open/pipe; chown 1:2 open/file; stat -c %u:%g $SOURCE/open/file
        mknod null c 1 3; stat -c %t:%T null; dd if=/dev/zero of=big bs=1M count=4 oflag=direct 2>&1 \
            | grep -c copied; sync big; cmp -n 4194304 big /dev/zero; rm -r open; cat secret";
    let done = Command::new("sh")
        .args(["-ec", script])
        .env("MNT", &at)
        .env("SOURCE", &source)
        .output()
        .unwrap();
    let unmounted = Command::new("umount").arg(&at).status().unwrap();
    assert!(done.status.success() && unmounted.success(), "{}", text(&done));
    assert_eq!(text(&done), "65534\n65534\n1:2\n1:3\n1\nx\n");
    let known = fairdisk(&["mount", "--help"]);
    assert!(text(&known).contains("--no-exec"), "{}", text(&known));
}

/// Another file system below the source is mounted and unmounted while the mount runs.
#[test]
fn a_file_system_below_the_source_can_be_unmounted_when_nobody_uses_it() {
    if lacks_something() {
        return;
    }
    for how in ["--separate", "--unscheduled"] {
        let mut host = Host::new();
        let inner = host.source("inner");
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join("below"), "").unwrap();
        host.mount_well(&[how]);
        mount("tmpfs", &inner, "tmpfs", MountFlags::empty(), c"size=1m").unwrap();
        fs::write(inner.join("file"), "text").unwrap();
        let file = host.at().join("inner/file");
        wait_until(|| fs::read(&file).is_ok_and(|text| text == b"text"));
        fs::copy(&file, host.at().join("copy")).unwrap();
        if how == "--separate" {
            assert_eq!(host.entry("/")["errors"], 0, "copied by reading and writing");
        }
        let open = fs::File::open(&file).unwrap();
        let gone = || unmount(&inner, UnmountFlags::empty());
        assert_eq!(gone(), Err(Errno::BUSY), "somebody uses it");
        drop(open);
        wait_until(|| gone().is_ok());
        wait_until(|| host.at().join("inner/below").exists());
        host.unmount();
    }
}

/// The path of a mount point need not be UTF-8.
#[test]
fn a_mount_elsewhere_whose_name_is_no_text_is_in_nobodys_way() {
    if lacks_something() || is_missing("unshare") {
        return;
    }
    let host = Host::new();
    let odd = host.scratch().join(OsStr::from_bytes(b"odd \xff"));
    fs::create_dir(&odd).unwrap();
    let script = "mount -t tmpfs odd \"$ODD\"; cd /
        \"$PROGRAM\" mount --separate --log-file \"$LOG\" \"$SOURCE\" \"$MNT\" > /dev/null
        echo through > \"$MNT/a\"; cat \"$SOURCE/a\"
        \"$PROGRAM\" ctl --at \"$MNT\" get / > /dev/null; umount \"$MNT\"
        \"$PROGRAM\" mount --log-file \"$LOG\" \"$ODD\" \"$ODD\" > /dev/null
        echo below > \"$ODD/b\"; umount \"$ODD\"; cat \"$ODD/b\"";
    let done = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-ec", script])
        .env("PROGRAM", env!("CARGO_BIN_EXE_fairdisk"))
        .env("SOURCE", host.source(""))
        .env("MNT", host.at())
        .env("ODD", odd)
        .env("LOG", host.scratch().join("log"))
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", text(&done));
    // What follows is a note, as the second one is in memory.
    assert!(text(&done).starts_with("through\nbelow\n"), "{}", text(&done));
}
