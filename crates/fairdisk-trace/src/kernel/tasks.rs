//! The names of tasks and of their groups, asked for while they run.

use std::collections::HashMap;
use std::fs;
use std::io::Read as _;

/// What is known of tasks by their numbers.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    known: HashMap<u32, Known>,
}

#[derive(Debug)]
struct Known {
    name: Vec<u8>,
    group: String,
    task: String,
}

impl Tasks {
    /// The group and the name of the task. A task that has ended, or works for the kernel such as
    /// one that writes back what others left in memory, has no group that is known.
    pub(super) fn names(&mut self, pid: u32, name: &[u8]) -> (&str, &str) {
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        let name = &name[..end];
        // Numbers are used again, by tasks with other names.
        if self.known.get(&pid).is_none_or(|known| known.name != name) {
            let task = format!("{}-{pid}", String::from_utf8_lossy(name));
            let group = group_of(pid).unwrap_or_default();
            self.known.insert(pid, Known { name: name.to_vec(), group, task });
        }
        let Known { group, task, .. } = &self.known[&pid];
        (group, task)
    }
}

/// The cgroup of a task that runs and is not the kernel's.
fn group_of(pid: u32) -> Option<String> {
    // One byte tells whether there is a command line.
    let mut program = fs::File::open(format!("/proc/{pid}/cmdline")).ok()?;
    if program.read(&mut [0]).ok()? == 0 {
        return None;
    }
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    group_in(&text)
}

/// The path of the hierarchy that limits I/O: that of `blkio` in version 1, else that of version 2.
fn group_in(text: &str) -> Option<String> {
    let of = |wanted: &str| {
        text.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?);
            controllers.split(',').any(|one| one == wanted).then(|| path.to_owned())
        })
    };
    of("blkio").or_else(|| of(""))
}

#[cfg(test)]
mod tests {
    use super::group_in;

    #[test]
    fn the_group_is_that_of_the_hierarchy_for_io() {
        let two = "0::/system.slice/db.service\n";
        assert_eq!(group_in(two).as_deref(), Some("/system.slice/db.service"));
        let one = "5:cpu,cpuacct:/a\n4:blkio:/b:c\n0::/d\n";
        assert_eq!(group_in(one).as_deref(), Some("/b:c"));
        assert_eq!(group_in(""), None);
    }
}
