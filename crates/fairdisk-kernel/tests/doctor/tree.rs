//! A made-up system: a tree of files as the kernel has them.

use fairdisk_kernel::{Finding, Root, Snapshot, Stack, check};
use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// A made-up system.
pub(crate) struct Tree {
    scratch: TempDir,
    mounts: RefCell<Vec<String>>,
}

const TOP: &str = "sys/fs/cgroup";

impl Tree {
    pub(crate) fn new() -> Self {
        let tree = Self { scratch: tempfile::tempdir().unwrap(), mounts: RefCell::default() };
        tree.file("proc/sys/kernel/osrelease", "6.1.0-13-amd64")
    }

    pub(crate) fn root(&self) -> Root {
        Root::at(self.scratch.path())
    }

    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        let place = self.root().place(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, format!("{text}\n")).unwrap();
        self
    }

    pub(crate) fn link(self, path: &str, target: &str) -> Self {
        let place = self.root().place(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        symlink(target, place).unwrap();
        self
    }

    /// A whole device that has this scheduler in use.
    pub(crate) fn disk(self, name: &str, number: &str, scheduler: &str) -> Self {
        let all = ["none", "mq-deadline", "kyber", "bfq"];
        let line = all.map(|one| if one == scheduler { format!("[{one}]") } else { one.into() });
        self.file(&format!("sys/block/{name}/dev"), number)
            .file(&format!("sys/block/{name}/size"), "2048")
            .file(&format!("sys/block/{name}/queue/scheduler"), &line.join(" "))
            .file(&format!("dev/{name}"), "")
    }

    pub(crate) fn partition(self, disk: &str, name: &str, number: &str) -> Self {
        let directory = format!("sys/block/{disk}/{name}");
        self.file(&format!("{directory}/partition"), "1")
            .file(&format!("{directory}/dev"), number)
            .file(&format!("{directory}/size"), "1024")
    }

    pub(crate) fn mount(
        self,
        number: &str,
        at: &str,
        kind: &str,
        source: &str,
        options: &str,
    ) -> Self {
        let line = format!("1 0 {number} / {at} rw - {kind} {source} {options}");
        self.mounts.borrow_mut().push(line);
        let text = self.mounts.borrow().join("\n");
        self.file("proc/self/mountinfo", &text)
    }

    /// Version 2, with `io` handed on at the top.
    pub(crate) fn v2(self) -> Self {
        self.v2_without_io()
            .file(&format!("{TOP}/cgroup.controllers"), "cpu io memory")
            .file(&format!("{TOP}/cgroup.subtree_control"), "io memory")
    }

    pub(crate) fn v2_without_io(self) -> Self {
        self.mount("0:26", "/sys/fs/cgroup", "cgroup2", "cgroup2", "rw")
            .file(&format!("{TOP}/cgroup.controllers"), "cpu")
    }

    pub(crate) fn v1(self) -> Self {
        self.mount("0:27", "/sys/fs/cgroup/blkio", "cgroup", "cgroup", "rw,blkio")
    }

    /// A group of version 2 with a file.
    pub(crate) fn group(self, path: &str, name: &str, text: &str) -> Self {
        let controllers = format!("{TOP}/{path}/cgroup.controllers");
        let is_new = !self.root().place(&controllers).exists();
        let tree = if is_new { self.file(&controllers, "io memory") } else { self };
        tree.file(&format!("{TOP}/{path}/{name}"), text)
    }

    pub(crate) fn group_of_v1(self, path: &str, name: &str, text: &str) -> Self {
        self.file(&format!("{TOP}/blkio/{path}/{name}"), text)
    }

    /// A process of one thread with this number as its I/O priority.
    pub(crate) fn thread(self, pid: u32, priority: u32) -> Self {
        self.file(&format!("proc/{pid}/cmdline"), "worker")
            .file(&format!("proc/{pid}/task/{pid}/comm"), "worker")
            .file(&format!("proc/{pid}/task/{pid}/ioprio"), &priority.to_string())
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot::read(&self.root())
    }

    pub(crate) fn stack(&self, of: &str) -> Stack {
        self.snapshot().stack(of).unwrap()
    }

    /// The findings about all disks.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        self.findings_for(&[]).unwrap()
    }

    /// The findings about all disks and some groups.
    pub(crate) fn findings_for(&self, groups: &[String]) -> Result<Vec<Finding>, String> {
        let snapshot = self.snapshot();
        check(&snapshot, &snapshot.all_stacks(), groups)
    }

    /// The findings about a device or path.
    pub(crate) fn findings_at(&self, of: &str) -> Result<Vec<Finding>, String> {
        let snapshot = self.snapshot();
        check(&snapshot, &[snapshot.stack(of)?], &[])
    }
}
