//! Block devices, and which lies on which.

use crate::mounts::{Mount, carrier, of_path};
use crate::root::Root;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a block device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A disk.
    Disk,
    /// A part of a disk.
    Partition,
    /// A logical volume.
    Lvm,
    /// An encrypted device.
    Crypt,
    /// Several ways to one disk.
    Multipath,
    /// Another device of the device mapper.
    Mapped,
    /// An array of disks (md).
    Array,
    /// A file as a device.
    Loop,
    /// A device in memory.
    Memory,
}

impl Kind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Partition => "partition",
            Self::Lvm => "lvm",
            Self::Crypt => "dm-crypt",
            Self::Multipath => "multipath",
            Self::Mapped => "dm",
            Self::Array => "md",
            Self::Loop => "loop",
            Self::Memory => "memory",
        }
    }
}

/// A block device.
#[derive(Clone, Debug, Serialize)]
pub struct Block {
    /// The kernel's name, such as `sda1`.
    pub name: String,
    /// `MAJOR:MINOR`.
    pub number: String,
    /// What it is.
    pub kind: Kind,
    /// The scheduler in use; `None` if the device has no queue of its own.
    pub scheduler: Option<String>,
    /// The devices that it lies on, and the whole disk of a partition.
    pub below: Vec<String>,
    /// The file of a loop device.
    pub file: Option<PathBuf>,
    /// The name given by the device mapper, such as `vg-root`.
    pub mapped_name: Option<String>,
    /// 512-byte sectors.
    pub sectors: u64,
}

impl Block {
    /// The file that sets the scheduler.
    pub fn scheduler_file(&self) -> String {
        format!("/sys/block/{}/queue/scheduler", self.name)
    }

    /// Whether it is a CD or floppy drive.
    fn is_drive(&self) -> bool {
        let number = self.name.strip_prefix("sr").or_else(|| self.name.strip_prefix("fd"));
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    }
}

/// All block devices by name.
#[derive(Clone, Debug, Default)]
pub struct Blocks(BTreeMap<String, Block>);

impl Blocks {
    /// Reads them.
    pub fn read(root: &Root) -> Self {
        let mut all = BTreeMap::new();
        for name in root.names("sys/block") {
            let directory = format!("sys/block/{name}");
            let parts = root.names(&directory).into_iter();
            let parts = parts.filter(|part| root.exists(format!("{directory}/{part}/partition")));
            let parts = parts.filter_map(|part| partition(root, &name, &part));
            all.extend(parts.map(|part| (part.name.clone(), part)));
            all.extend(disk(root, &name).map(|disk| (name, disk)));
        }
        Self(all)
    }

    /// A device by its name.
    pub fn get(&self, name: &str) -> Option<&Block> {
        self.0.get(name)
    }

    /// A device by `MAJOR:MINOR`.
    pub fn numbered(&self, number: &str) -> Option<&Block> {
        self.0.values().find(|block| block.number == number)
    }

    /// The whole devices that have a size, except those in memory, those that are only read, and
    /// drives whose medium can be taken out and is not mounted: an empty one has a size, too.
    pub fn whole<'a>(
        &'a self,
        root: &'a Root,
        mounts: &'a [Mount],
    ) -> impl Iterator<Item = &'a Block> {
        let is_kept = move |block: &&Block| {
            let dull = matches!(block.kind, Kind::Partition | Kind::Memory);
            let says = |file: &str| {
                root.text(format!("sys/block/{}/{file}", block.name)).as_deref() == Some("1")
            };
            !dull
                && block.sectors > 0
                && !says("ro")
                && (!(block.is_drive() || says("removable"))
                    || self.is_mounted(root, mounts, block))
        };
        self.0.values().filter(is_kept)
    }

    /// Whether a file system that is mounted lies on the device.
    fn is_mounted(&self, root: &Root, mounts: &[Mount], block: &Block) -> bool {
        let tops = mounts.iter().flat_map(|mount| self.under(root, mounts, mount));
        let mut layers = tops.flat_map(|top| self.stack(root, mounts, top));
        layers.any(|layer| layer.name == block.name)
    }

    /// A device by a path below `/dev`, or by its name.
    pub fn named(&self, root: &Root, path: &Path) -> Option<&Block> {
        let followed = root.followed(path);
        let name = followed.file_name()?.to_str()?;
        let mapped = || self.0.values().find(|block| block.mapped_name.as_deref() == Some(name));
        self.0.get(name).or_else(mapped)
    }

    /// The devices directly under a mount. A file system that lies on others is followed.
    pub fn under(&self, root: &Root, mounts: &[Mount], mount: &Mount) -> Vec<&Block> {
        let Some(mount) = carrier(mounts, mount) else { return Vec::new() };
        if let Some(block) = self.numbered(&mount.number) {
            return vec![block];
        }
        let Some(block) = self.named(root, Path::new(&mount.source)) else { return Vec::new() };
        if mount.kind != "btrfs" {
            return vec![block];
        }
        let sets = root.names("sys/fs/btrfs").into_iter();
        let mut sets = sets.map(|id| root.names(format!("sys/fs/btrfs/{id}/devices")));
        let set = sets.find(|set| set.contains(&block.name));
        set.map_or_else(
            || vec![block],
            |set| set.iter().filter_map(|name| self.get(name)).collect(),
        )
    }

    /// A device and all that it lies on, each once, from the top. The device under the file of a
    /// loop device is below it.
    pub fn stack(&self, root: &Root, mounts: &[Mount], top: &Block) -> Vec<Block> {
        let mut stack: Vec<Block> = vec![top.clone()];
        let mut at = 0;
        while at < stack.len() {
            let mount = stack[at].file.as_deref().and_then(|file| of_path(mounts, file));
            let under = mount.map(|mount| self.under(root, mounts, mount)).unwrap_or_default();
            stack[at].below.extend(under.iter().map(|block| block.name.clone()));
            for name in stack[at].below.clone() {
                let is_known = stack.iter().any(|known| known.name == name);
                stack.extend(self.get(&name).filter(|_| !is_known).cloned());
            }
            at += 1;
        }
        stack
    }
}

fn partition(root: &Root, disk: &str, name: &str) -> Option<Block> {
    let directory = format!("sys/block/{disk}/{name}");
    Some(Block {
        name: name.to_owned(),
        number: root.text(format!("{directory}/dev"))?,
        kind: Kind::Partition,
        scheduler: None,
        below: vec![disk.to_owned()],
        file: None,
        mapped_name: None,
        sectors: sectors(root, &directory),
    })
}

fn sectors(root: &Root, directory: &str) -> u64 {
    root.text(format!("{directory}/size")).and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn disk(root: &Root, name: &str) -> Option<Block> {
    let directory = format!("sys/block/{name}");
    let text = |file: &str| root.text(format!("{directory}/{file}"));
    let mapper_id = text("dm/uuid");
    let kind = if root.is_dir(format!("{directory}/md")) {
        Kind::Array
    } else if root.is_dir(format!("{directory}/dm")) {
        mapped(mapper_id.as_deref().unwrap_or_default())
    } else if name.starts_with("loop") {
        Kind::Loop
    } else if name.starts_with("zram") || name.starts_with("ram") {
        Kind::Memory
    } else {
        Kind::Disk
    };
    let scheduler = text("queue/scheduler").and_then(|line| in_use(&line));
    // A device that only hands on has a queue without a scheduler.
    let hands_on = matches!(kind, Kind::Lvm | Kind::Crypt | Kind::Mapped | Kind::Array);
    let hands_on = hands_on && scheduler.as_deref() == Some("none");
    Some(Block {
        name: name.to_owned(),
        number: text("dev")?,
        kind,
        scheduler: scheduler.filter(|_| !hands_on),
        below: root.names(format!("{directory}/slaves")),
        file: text("loop/backing_file").map(PathBuf::from),
        mapped_name: text("dm/name"),
        sectors: sectors(root, &directory),
    })
}

/// Source of the prefixes: the `uuid` of `dmsetup info` as LVM, cryptsetup and multipath-tools give
/// it.
fn mapped(id: &str) -> Kind {
    let known = [("LVM-", Kind::Lvm), ("CRYPT-", Kind::Crypt), ("mpath-", Kind::Multipath)];
    let found = known.into_iter().find(|(prefix, _)| id.starts_with(prefix));
    found.map_or(Kind::Mapped, |(_, kind)| kind)
}

/// The scheduler in brackets of a disk's `queue/scheduler`, as in `none [bfq]`; a single name has
/// none. `None` if none is named.
#[must_use]
pub fn in_use(line: &str) -> Option<String> {
    let Some((_, after)) = line.split_once('[') else {
        return Some(line.trim().to_owned()).filter(|name| !name.is_empty());
    };
    after.split_once(']').map(|(name, _)| name.to_owned())
}
