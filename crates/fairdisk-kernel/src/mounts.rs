//! The mounts of a system.

use crate::root::Root;
use std::path::{Path, PathBuf};

/// A mount.
#[derive(Clone, Debug)]
pub struct Mount {
    /// Where it is mounted.
    pub point: PathBuf,
    /// The number of its device, `MAJOR:MINOR`; a made-up one (`0:…`) if it has none or several.
    pub number: String,
    /// The type of the file system.
    pub kind: String,
    /// The device, or any name.
    pub source: String,
    /// The options of the file system.
    pub options: Vec<String>,
}

impl Mount {
    /// The value of an option, such as `upperdir`.
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        let of = |option: &'_ String| option.split_once('=').is_some_and(|(key, _)| key == name);
        let found = self.options.iter().find(|option| of(option))?;
        found.split_once('=').map(|(_, value)| value)
    }

    pub(crate) fn has(&self, option: &str) -> bool {
        self.options.iter().any(|one| one == option)
    }
}

/// The mounts in the order in which they were made.
pub(crate) fn read(root: &Root) -> Vec<Mount> {
    let text = root.text("proc/self/mountinfo").unwrap_or_default();
    text.lines().filter_map(parse).collect()
}

/// The mount that a path is on.
pub(crate) fn of_path<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let around = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    // A later one lies on an earlier one.
    around
        .enumerate()
        .max_by_key(|(at, mount)| (mount.point.components().count(), *at))
        .map(|it| it.1)
}

/// The mount whose file system has what is written below this one: that of the upper directory of
/// an overlay, else itself. `None` if overlays lie on no mount, or on each other in a ring.
pub(crate) fn carrier<'a>(mounts: &'a [Mount], mount: &'a Mount) -> Option<&'a Mount> {
    let mut seen: Vec<&Mount> = Vec::new();
    let mut at = mount;
    while let Some(upper) = at.option("upperdir") {
        if seen.iter().any(|known| std::ptr::eq(*known, at)) {
            return None;
        }
        seen.push(at);
        at = of_path(mounts, Path::new(upper))?;
    }
    Some(at)
}

/// Source of the fields: proc_pid_mountinfo(5).
fn parse(line: &str) -> Option<Mount> {
    let (front, back) = line.split_once(" - ")?;
    let front: Vec<&str> = front.split(' ').collect();
    let mut back = back.split(' ');
    let (kind, source) = (back.next()?, back.next()?);
    let options = back.next().unwrap_or_default();
    Some(Mount {
        point: PathBuf::from(unescaped(front.get(4)?)),
        number: (*front.get(2)?).to_owned(),
        kind: kind.to_owned(),
        source: unescaped(source),
        options: options.split(',').map(unescaped).collect(),
    })
}

/// A text in which `\040` stands for a space.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..3).and_then(|code| u8::from_str_radix(code, 8).ok());
        match code {
            Some(code) => {
                clean.push(char::from(code));
                clean.push_str(&part[3..]);
            }
            None => {
                clean.push('\\');
                clean.push_str(part);
            }
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_on_the_mount_that_lies_on_top() {
        let lines = [
            r"1 0 8:1 / / rw - ext4 /dev/sda1 rw",
            r"2 1 8:2 / /a\040b rw,relatime shared:3 - xfs /dev/sda2 rw,noquota",
            r"3 1 0:9 / /a\040b rw - overlay none rw,upperdir=/up,workdir=/w",
        ];
        let mounts: Vec<Mount> = lines.into_iter().filter_map(parse).collect();
        let at = |path: &str| of_path(&mounts, Path::new(path)).unwrap();
        assert_eq!(at("/a b/c").option("upperdir"), Some("/up"));
        assert_eq!((at("/a").number.as_str(), at("/a").kind.as_str()), ("8:1", "ext4"));
    }
}
