//! What is set on a system, read at once.

use crate::blocks::{Block, Blocks};
use crate::groups::Trees;
use crate::ioprio::Ioprio;
use crate::mounts::{self, Mount, of_path};
use crate::root::Root;
use crate::units::{self, Ask};
use serde::Serialize;
use std::path::Path;

/// A thread with an I/O priority of its own.
#[derive(Clone, Debug, Serialize)]
pub struct Prioritised {
    /// Its process.
    pub pid: u32,
    /// Its number.
    pub tid: u32,
    /// Its name.
    pub name: String,
    /// Its priority.
    pub priority: Ioprio,
}

/// What is set on a system.
#[derive(Debug)]
pub struct Snapshot {
    pub(crate) root: Root,
    /// The version of the kernel: first and second number.
    pub kernel: (u32, u32),
    /// The mounts.
    pub mounts: Vec<Mount>,
    /// The block devices.
    pub blocks: Blocks,
    /// The groups.
    pub trees: Trees,
    /// The threads that `ionice` was used for.
    pub prioritised: Vec<Prioritised>,
    /// What unit files ask for.
    pub asks: Vec<Ask>,
}

/// A path or device, and the devices under it.
#[derive(Clone, Debug, Serialize)]
pub struct Stack {
    /// What was asked about.
    pub of: String,
    /// The type of the file system, if it was a path.
    pub file_system: Option<String>,
    /// The devices from the top; none if there is no disk.
    pub layers: Vec<Block>,
}

impl Stack {
    /// The devices that lie on no other.
    pub fn disks(&self) -> impl Iterator<Item = &Block> {
        let is_known = |name: &String| self.layers.iter().any(|layer| layer.name == *name);
        self.layers.iter().filter(move |layer| !layer.below.iter().any(is_known))
    }

    /// Whether one device is the other, or lies on it.
    pub(crate) fn leads(&self, from: &Block, to: &Block) -> bool {
        let mut reached = vec![from];
        let mut at = 0;
        while let Some(block) = reached.get(at) {
            if block.name == to.name {
                return true;
            }
            let below = self.layers.iter().filter(|layer| block.below.contains(&layer.name));
            let new: Vec<&Block> =
                below.filter(|layer| reached.iter().all(|it| it.name != layer.name)).collect();
            reached.extend(new);
            at += 1;
        }
        false
    }
}

impl Snapshot {
    /// Reads a system.
    pub fn read(root: &Root) -> Self {
        let mounts = mounts::read(root);
        Self {
            kernel: kernel(&root.text("proc/sys/kernel/osrelease").unwrap_or_default()),
            blocks: Blocks::read(root),
            trees: Trees::read(root, &mounts),
            prioritised: prioritised(root),
            asks: units::read(root),
            mounts,
            root: root.clone(),
        }
    }

    /// The devices under a device, a device's name or an absolute path.
    ///
    /// # Errors
    /// There is no such device or path.
    pub fn stack(&self, of: &str) -> Result<Stack, String> {
        let path = Path::new(of);
        let is_device = of.starts_with("/dev/") || !of.contains('/');
        if let Some(block) = self.blocks.named(&self.root, path).filter(|_| is_device) {
            return Ok(self.stack_of(block));
        }
        if !path.is_absolute() || !self.root.exists(path) {
            return Err(format!("{of}: no such device or path"));
        }
        let mount = of_path(&self.mounts, path);
        let mount = mount.ok_or_else(|| format!("{of}: on no mount"))?;
        let mut layers: Vec<Block> = Vec::new();
        for top in self.blocks.under(&self.root, &self.mounts, mount) {
            for block in self.blocks.stack(&self.root, &self.mounts, top) {
                if !layers.iter().any(|known| known.name == block.name) {
                    layers.push(block);
                }
            }
        }
        Ok(Stack { of: of.to_owned(), file_system: Some(mount.kind.clone()), layers })
    }

    /// The stacks of all disks, and of all devices on them that are not partitions.
    pub fn all_stacks(&self) -> Vec<Stack> {
        self.blocks.whole(&self.root, &self.mounts).map(|block| self.stack_of(block)).collect()
    }

    fn stack_of(&self, block: &Block) -> Stack {
        let layers = self.blocks.stack(&self.root, &self.mounts, block);
        Stack { of: format!("/dev/{}", block.name), file_system: None, layers }
    }
}

fn kernel(release: &str) -> (u32, u32) {
    let digits = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>();
    let mut numbers = release.split('.').map(|part| digits(part).parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

fn prioritised(root: &Root) -> Vec<Prioritised> {
    let mut found = Vec::new();
    let processes = root.names("proc");
    for pid in processes.iter().filter_map(|name| name.parse::<u32>().ok()) {
        // A task of the kernel has no command line.
        if root.text(format!("proc/{pid}/cmdline")).is_none_or(|line| line.is_empty()) {
            continue;
        }
        let threads = root.names(format!("proc/{pid}/task"));
        for tid in threads.iter().filter_map(|name| name.parse::<u32>().ok()) {
            let Some(priority) = root.ioprio(pid, tid).filter(|it| it.is_unusual()) else {
                continue;
            };
            let name = root.text(format!("proc/{pid}/task/{tid}/comm")).unwrap_or_default();
            found.push(Prioritised { pid, tid, name, priority });
        }
    }
    found
}
