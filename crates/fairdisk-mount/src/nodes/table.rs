//! The table of nodes.

use super::dense::Dense;
use super::{Place, ROOT};
use rustix::fd::OwnedFd;
use std::collections::HashMap;
use std::sync::Arc;

/// Numbers from here on are made up: for files of other devices, and for those whose inode number
/// is taken.
const MADE_UP: u64 = 1 << 63;

/// What the kernel knows.
#[derive(Debug)]
pub(super) struct Table {
    device: u64,
    /// Those that are no more than a number and a generation,
    dense: Dense,
    /// and all others. No node is in both.
    known: HashMap<u64, Known>,
    /// Made-up numbers, by device and inode, and back.
    made_up: HashMap<(u64, u64), u64>,
    made_for: HashMap<u64, (u64, u64)>,
    next: u64,
}

#[derive(Debug)]
struct Known {
    /// How often the kernel was told.
    count: u64,
    place: Place,
}

impl Table {
    /// Inode numbers of `device` are used as they are.
    pub(super) fn new(device: u64) -> Self {
        Self {
            device,
            dense: Dense::default(),
            known: HashMap::new(),
            made_up: HashMap::new(),
            made_for: HashMap::new(),
            next: MADE_UP,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.dense.len() + self.known.len()
    }

    pub(super) fn place(&self, node: u64) -> Option<Place> {
        match self.dense.generation(node) {
            Some(generation) => Some(Place::Short { generation }),
            None => self.known.get(&node).map(|known| known.place.clone()),
        }
    }

    /// The kernel is told of a file once more. Its number is the answer.
    pub(super) fn know(&mut self, device: u64, inode: u64, place: Place) -> u64 {
        let node = self.number(device, inode);
        match self.known.get_mut(&node) {
            Some(known) => {
                known.count += 1;
                if !known.place.leads_as(&place) {
                    // The file that had the number is gone; the generation tells the kernel.
                    known.place = place;
                }
            }
            None => match place {
                Place::Short { generation } if node == inode => self.dense.know(node, generation),
                place => {
                    let count = self.dense.take(node).unwrap_or(0) + 1;
                    self.known.insert(node, Known { count, place });
                }
            },
        }
        node
    }

    fn number(&mut self, device: u64, inode: u64) -> u64 {
        if device == self.device && inode > ROOT && inode < MADE_UP {
            return inode;
        }
        if let Some(number) = self.made_up.get(&(device, inode)) {
            return *number;
        }
        self.next += 1;
        self.made_up.insert((device, inode), self.next);
        self.made_for.insert(self.next, (device, inode));
        self.next
    }

    /// The kernel forgets `count` times. What nobody knows any longer is the answer.
    #[must_use]
    pub(super) fn forget(&mut self, node: u64, count: u64) -> Option<Place> {
        let Some(known) = self.known.get_mut(&node) else {
            self.dense.forget(node, count);
            return None;
        };
        known.count = known.count.saturating_sub(count);
        if known.count > 0 {
            return None;
        }
        let gone = self.known.remove(&node).map(|known| known.place);
        if let Some(file) = self.made_for.remove(&node) {
            self.made_up.remove(&file);
        }
        let (used, room) = (self.known.len(), self.known.capacity());
        if room > 1024 && used < room / 8 {
            self.known.shrink_to(used * 2);
        }
        gone
    }

    /// Keeps a file reachable if the kernel knows it.
    pub(super) fn hold(&mut self, inode: u64, fd: Arc<OwnedFd>) {
        if let Some(known) = self.known.get_mut(&inode) {
            known.place = Place::Held(fd);
        } else if let Some(count) = self.dense.take(inode) {
            self.known.insert(inode, Known { count, place: Place::Held(fd) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(generation: u32) -> Place {
        Place::Short { generation }
    }

    #[test]
    fn a_node_is_gone_when_it_was_forgotten_as_often_as_it_was_told() {
        let mut table = Table::new(8);
        assert_eq!(table.know(8, 20, short(1)), 20);
        assert_eq!(table.know(8, 20, short(1)), 20);
        assert!(table.forget(20, 1).is_none() && table.place(20).is_some());
        assert!(table.forget(20, 1).is_none() && table.place(20).is_none());
        assert!(table.forget(20, 1).is_none());
    }

    #[test]
    fn a_number_that_is_used_again_leads_to_the_new_file() {
        let mut table = Table::new(8);
        table.know(8, 20, short(1));
        assert_eq!(table.know(8, 20, short(2)), 20);
        assert!(matches!(table.place(20), Some(Place::Short { generation: 2 })));
        assert!(table.forget(20, 1).is_none() && table.place(20).is_some());
    }

    #[test]
    fn other_devices_get_numbers_of_their_own() {
        let mut table = Table::new(8);
        let one = table.know(9, 20, short(1));
        assert!(one >= MADE_UP && one != table.know(10, 20, short(1)));
        assert_eq!(table.know(9, 20, short(1)), one);
        assert!(table.know(8, ROOT, short(1)) >= MADE_UP);
        let _ = table.forget(one, 2);
        assert_ne!(table.know(9, 20, short(1)), one);
    }

    #[test]
    fn a_held_file_stays_until_it_is_forgotten() {
        let mut table = Table::new(8);
        let fd = || Arc::new(OwnedFd::from(tempfile::tempfile().unwrap()));
        table.hold(20, fd());
        assert!(table.place(20).is_none(), "the kernel does not know it");
        table.know(8, 20, short(1));
        table.know(8, 20, short(1));
        table.hold(20, fd());
        assert!(matches!(table.place(20), Some(Place::Held(_))));
        assert!(table.forget(20, 1).is_none());
        assert!(matches!(table.forget(20, 1), Some(Place::Held(_))));
        assert_eq!(table.len(), 0);
    }
}
