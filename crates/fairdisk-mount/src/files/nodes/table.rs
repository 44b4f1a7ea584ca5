//! The table of nodes.

use super::dense::Dense;
use super::named::{Step, Way};
use super::place::short_bytes;
use super::{Place, ROOT};
use crate::files::descriptor::Descriptor;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The first of the node numbers that we assign: to files of other devices, and to files whose
/// inode number is reserved.
const MADE_UP: u64 = 1 << 63;

/// The most names on the way to a node. A longer way is a circle.
const STEPS_MAX: usize = 1 << 16;

/// The table of all nodes that the kernel knows.
#[derive(Debug)]
pub(super) struct Table {
    device: u64,
    /// The number of nodes reached by name.
    names: usize,
    /// The most descriptors kept for nodes reached by name.
    room: usize,
    /// The nodes reached by name that have descriptors, in the order in which these are considered
    /// for closing. Some may have been closed already.
    open: VecDeque<u64>,
    /// Descriptors removed from the table, to be closed once the lock is released.
    closed: Vec<Arc<Descriptor>>,
    /// Nodes that consist of a number and a generation.
    dense: Dense,
    /// All other nodes. No node is in both tables.
    known: HashMap<u64, Known>,
    /// Assigned node numbers by device and inode.
    made_up: HashMap<(u64, u64), u64>,
    /// The device and inode of each assigned node number.
    made_for: HashMap<u64, (u64, u64)>,
    next: u64,
}

#[derive(Debug)]
struct Known {
    /// The number of lookups.
    count: u64,
    /// The number of nodes that are reached by way of this one.
    inside: u64,
    place: Place,
}

impl Table {
    /// A table in which inode numbers of `device` serve as node numbers, and up to `room` nodes
    /// reached by name have descriptors.
    pub(super) fn new(device: u64, room: usize) -> Self {
        Self {
            device,
            names: 0,
            room,
            open: VecDeque::new(),
            closed: Vec::new(),
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

    /// Whether the kernel knows a node.
    pub(super) fn knows(&self, node: u64) -> bool {
        self.dense.generation(node).is_some()
            || self.known.get(&node).is_some_and(|known| known.count > 0)
    }

    /// The handle of a node, as its kind and its bytes.
    pub(super) fn handle(&self, node: u64) -> Option<(i32, Vec<u8>)> {
        if let Some(generation) = self.dense.generation(node) {
            return Some((1, short_bytes(node, generation).to_vec()));
        }
        match &self.known.get(&node)?.place {
            Place::Short { generation } => Some((1, short_bytes(node, *generation).to_vec())),
            Place::Long(handle) => Some((handle.kind, handle.bytes.clone())),
            Place::Held(_) | Place::Named(_) => None,
        }
    }

    /// The descriptor kept with a node, if any.
    pub(super) fn descriptor(&mut self, node: u64) -> Option<Arc<Descriptor>> {
        match &mut self.known.get_mut(&node)?.place {
            Place::Held(fd) => Some(Arc::clone(fd)),
            Place::Named(named) => {
                named.used = true;
                named.fd.clone()
            }
            Place::Short { .. } | Place::Long(_) => None,
        }
    }

    /// The way to a node without a descriptor, from the nearest node that can be referred to
    /// directly. Has no steps if there is none.
    pub(super) fn way(&self, node: u64) -> Way {
        let mut way = Way { start: node, steps: Vec::new() };
        while let Some(Known { place: Place::Named(named), .. }) = self.known.get(&way.start)
            && (named.fd.is_none() || way.steps.is_empty())
        {
            if way.steps.len() == STEPS_MAX {
                return Way::default();
            }
            let (name, mark) = (named.name.clone(), named.mark);
            way.steps.push(Step { node: way.start, name, mark });
            way.start = named.parent;
        }
        way
    }

    /// Notes that a node was found again.
    pub(super) fn opened(&mut self, step: &Step, fd: &Arc<Descriptor>) {
        if let Some(Known { place: Place::Named(named), .. }) = self.known.get_mut(&step.node)
            && named.mark == step.mark
            && named.fd.is_none()
        {
            named.fd = Some(Arc::clone(fd));
            named.used = true;
            self.make_room(step.node);
        }
    }

    /// Counts in a new descriptor, and closes the least recently used ones that exceed the limit.
    fn make_room(&mut self, node: u64) {
        self.open.push_back(node);
        while self.open.len() > self.room {
            self.close_next_unused();
        }
    }

    /// Closes the descriptors that have not been used since the last call.
    pub(super) fn close_unused(&mut self) {
        for _ in 0..self.open.len() {
            self.close_next_unused();
        }
    }

    fn close_next_unused(&mut self) {
        let Some(node) = self.open.pop_front() else { return };
        if let Some(Known { place: Place::Named(named), .. }) = self.known.get_mut(&node) {
            if std::mem::take(&mut named.used) {
                self.open.push_back(node);
            } else {
                self.closed.extend(named.fd.take());
            }
        }
    }

    /// Takes the descriptors to close. They must not be closed under the lock, since that may free
    /// a large file.
    #[must_use]
    pub(super) fn closed(&mut self) -> Vec<Arc<Descriptor>> {
        std::mem::take(&mut self.closed)
    }

    /// Counts a lookup of a file that is reached by `place`. Returns its node number.
    pub(super) fn know(&mut self, device: u64, inode: u64, place: Place) -> u64 {
        let node = self.number(device, inode);
        match self.known.get_mut(&node) {
            Some(known) => {
                known.count += 1;
                if !known.place.leads_as(&place) {
                    // Either the number now belongs to another file, of which the generation
                    // informs the kernel, or the file has another name.
                    self.lead(node, place);
                }
            }
            None => match place {
                Place::Short { generation } if node == inode => self.dense.know(node, generation),
                place => {
                    let count = self.dense.take(node).unwrap_or(0) + 1;
                    // A placeholder for `lead` to replace.
                    let nowhere = Place::Short { generation: 0 };
                    self.known.insert(node, Known { count, inside: 0, place: nowhere });
                    self.lead(node, place);
                }
            },
        }
        node
    }

    /// Sets how `node` is reached.
    pub(super) fn lead(&mut self, node: u64, mut place: Place) {
        if !self.known.contains_key(&node) {
            return self.closed.extend(place.descriptor());
        }
        if let Place::Named(named) = &mut place
            && !self.add_inside(named.parent)
            && let Some(fd) = named.fd.take()
        {
            place = Place::Held(fd);
        }
        let named = matches!(place, Place::Named(_));
        let Some(known) = self.known.get_mut(&node) else { return };
        let before = std::mem::replace(&mut known.place, place);
        if named {
            self.names += 1;
            self.make_room(node);
        }
        self.leave(before);
    }

    /// Notes that a node is reached by way of `parent`, which must stay in the table for that.
    /// Returns false if `parent` is unknown.
    fn add_inside(&mut self, parent: u64) -> bool {
        if let (Some(generation), Some(count)) =
            (self.dense.generation(parent), self.dense.take(parent))
        {
            let place = Place::Short { generation };
            self.known.insert(parent, Known { count, inside: 0, place });
        }
        match self.known.get_mut(&parent) {
            Some(known) => known.inside += 1,
            None => return parent == ROOT,
        }
        true
    }

    /// Ends the use of a way to a node, and removes the nodes on it that are not needed any more.
    fn leave(&mut self, mut place: Place) {
        while let Place::Named(named) = place {
            self.names -= 1;
            self.closed.extend(named.fd);
            let Some(known) = self.known.get_mut(&named.parent) else { return };
            known.inside -= 1;
            if known.count > 0 || known.inside > 0 {
                return;
            }
            let Some(gone) = self.remove(named.parent) else { return };
            place = gone;
        }
        self.closed.extend(place.descriptor());
    }

    fn remove(&mut self, node: u64) -> Option<Place> {
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

    /// The node number of a file, if one is assigned or none needs to be.
    pub(super) fn find(&self, device: u64, inode: u64) -> Option<u64> {
        if device == self.device && inode > ROOT && inode < MADE_UP {
            return Some(inode);
        }
        self.made_up.get(&(device, inode)).copied()
    }

    fn number(&mut self, device: u64, inode: u64) -> u64 {
        if let Some(number) = self.find(device, inode) {
            return number;
        }
        self.next += 1;
        self.made_up.insert((device, inode), self.next);
        self.made_for.insert(self.next, (device, inode));
        self.next
    }

    /// Subtracts `count` lookups. Removing the node may leave descriptors to be
    /// [closed](Self::closed).
    pub(super) fn forget(&mut self, node: u64, count: u64) {
        let Some(known) = self.known.get_mut(&node) else {
            return self.dense.forget(node, count);
        };
        known.count = known.count.saturating_sub(count);
        if known.count > 0 || known.inside > 0 {
            return;
        }
        if let Some(gone) = self.remove(node) {
            self.leave(gone);
        }
    }

    /// The node of a file if the kernel knows it, and it must be kept open while a name is removed:
    /// it is reached by name, or `last` says that it is losing its last name.
    pub(super) fn to_hold(&self, device: u64, inode: u64, last: bool) -> Option<u64> {
        let is_to_be_held = |node: &u64| match last {
            true => self.known.contains_key(node) || self.dense.generation(*node).is_some(),
            false => self.named(*node),
        };
        self.find(device, inode).filter(is_to_be_held)
    }

    /// Keeps a file open. Returns false if the kernel has forgotten it meanwhile.
    pub(super) fn hold(&mut self, node: u64, fd: &Arc<Descriptor>) -> bool {
        let held = Place::Held(Arc::clone(fd));
        if let Some(count) = self.dense.take(node) {
            self.known.insert(node, Known { count, inside: 0, place: held });
        } else if self.known.contains_key(&node) {
            self.lead(node, held);
        } else {
            return false;
        }
        true
    }

    /// Sets how a node is reached instead of by `fd`, if it is still kept open by that.
    pub(super) fn let_go(&mut self, node: u64, fd: &Arc<Descriptor>, place: Place) {
        let held = self.known.get(&node).map(|known| &known.place);
        if matches!(held, Some(Place::Held(held)) if Arc::ptr_eq(held, fd)) {
            self.lead(node, place);
        } else {
            self.closed.extend(place.descriptor());
        }
    }

    /// Keeps a file open that is reached by a name about to change. Returns its node.
    pub(super) fn moving(&mut self, device: u64, inode: u64, fd: &Arc<Descriptor>) -> Option<u64> {
        let node = self.find(device, inode).filter(|node| self.named(*node))?;
        self.lead(node, Place::Held(Arc::clone(fd)));
        Some(node)
    }

    fn named(&self, node: u64) -> bool {
        self.known.get(&node).is_some_and(|known| matches!(known.place, Place::Named(_)))
    }

    /// Whether any node is reached by name.
    pub(super) const fn has_names(&self) -> bool {
        self.names > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::nodes::named::{Mark, Named};
    use std::ffi::OsStr;

    fn open() -> Descriptor {
        Descriptor::uncounted(tempfile::tempfile().unwrap().into())
    }

    fn short(generation: u32) -> Place {
        Place::Short { generation }
    }

    #[test]
    fn a_node_is_gone_when_it_was_forgotten_as_often_as_it_was_told() {
        let mut table = Table::new(8, 2);
        assert_eq!(table.know(8, 20, short(1)), 20);
        assert_eq!(table.know(8, 20, short(1)), 20);
        table.forget(20, 1);
        assert!(table.knows(20));
        table.forget(20, 1);
        assert!(!table.knows(20));
        table.forget(20, 1);
    }

    #[test]
    fn a_number_that_is_used_again_leads_to_the_new_file() {
        let mut table = Table::new(8, 2);
        table.know(8, 20, short(1));
        assert_eq!(table.know(8, 20, short(2)), 20);
        assert_eq!(table.handle(20), Some((1, short_bytes(20, 2).to_vec())));
        table.forget(20, 1);
        assert!(table.knows(20));
    }

    #[test]
    fn other_devices_get_numbers_of_their_own() {
        let mut table = Table::new(8, 2);
        let one = table.know(9, 20, short(1));
        assert!(one >= MADE_UP && one != table.know(10, 20, short(1)));
        assert_eq!(table.know(9, 20, short(1)), one);
        assert!(table.know(8, ROOT, short(1)) >= MADE_UP);
        table.forget(one, 2);
        assert_ne!(table.know(9, 20, short(1)), one);
    }

    #[test]
    fn a_held_file_stays_until_it_is_forgotten() {
        let mut table = Table::new(8, 2);
        let fd = || Arc::new(open());
        assert_eq!(table.to_hold(8, 20, true), None, "the kernel does not know it");
        assert!(!table.hold(20, &fd()));
        table.know(8, 20, short(1));
        table.know(8, 20, short(1));
        assert_eq!(table.to_hold(8, 20, false), None, "it has another name");
        assert!(table.descriptor(20).is_none());
        let (failed, done) = (fd(), fd());
        assert_eq!(table.to_hold(8, 20, true), Some(20));
        assert!(table.hold(20, &failed));
        table.let_go(20, &failed, short(1));
        assert!(table.descriptor(20).is_none(), "its name did not go");
        assert_eq!(table.closed().len(), 1);
        assert!(table.hold(20, &done));
        table.let_go(20, &failed, short(1));
        assert!(table.descriptor(20).is_some(), "somebody else took the name away");
        table.forget(20, 1);
        assert!(table.closed().is_empty());
        table.forget(20, 1);
        assert_eq!((table.closed().len(), table.len()), (1, 0));
    }

    fn named(parent: u64, name: &str) -> Place {
        let fd = Arc::new(open());
        let mark = Mark::of(&fd, &rustix::fs::fstat(&fd).unwrap());
        Place::Named(Box::new(Named::new(parent, OsStr::new(name), mark, fd)))
    }

    fn has(table: &mut Table, nodes: [u64; 3]) -> [bool; 3] {
        nodes.map(|node| table.descriptor(node).is_some())
    }

    #[test]
    fn files_reached_by_name_have_few_descriptors_and_all_a_way() {
        let mut table = Table::new(8, 2);
        table.know(8, 20, named(ROOT, "dir"));
        table.know(8, 21, named(20, "a"));
        table.know(8, 22, named(20, "b"));
        assert_eq!(table.closed().len(), 1);
        assert_eq!(has(&mut table, [20, 21, 22]), [false, true, true]);
        let way = table.way(20);
        assert_eq!((way.start, way.steps.len()), (ROOT, 1));
        let fd = Arc::new(open());
        table.opened(&way.steps[0], &fd);
        // Both others were used when they were looked up.
        assert_eq!(has(&mut table, [20, 21, 22]), [true, false, true]);
        let way = table.way(21);
        assert_eq!((way.start, way.steps.len()), (20, 1));
    }

    #[test]
    fn descriptors_that_nobody_needs_are_closed_and_the_names_stay() {
        let mut table = Table::new(8, 9);
        table.know(8, 20, named(ROOT, "dir"));
        table.know(8, 21, named(20, "a"));
        assert!(table.descriptor(21).is_some());
        for _ in 0..2 {
            table.close_unused();
            assert_eq!(table.closed().len(), 1);
        }
        assert_eq!(has(&mut table, [20, 21, 22]), [false, false, false]);
        assert_eq!(table.way(21).steps.len(), 2);
        assert!(table.has_names());
        (20..22).for_each(|node| table.forget(node, 1));
        assert!(!table.has_names());
    }

    #[test]
    fn a_directory_is_known_for_as_long_as_a_file_is_reached_through_it() {
        let mut table = Table::new(8, 9);
        table.know(8, 20, short(1));
        table.know(8, 21, named(20, "a"));
        table.know(8, 22, named(21, "b"));
        (20..22).for_each(|node| table.forget(node, 1));
        assert!(!table.knows(20) && table.handle(20).is_some() && table.len() == 3);
        // The file was found under another name, so the way there is not needed any more.
        table.know(8, 22, named(ROOT, "b"));
        assert!(table.handle(20).is_none() && table.len() == 1);
        table.forget(22, 2);
        assert_eq!((table.len(), table.closed().len()), (0, 3));
    }

    #[test]
    fn what_lies_in_nothing_known_is_held() {
        let mut table = Table::new(8, 1);
        table.know(8, 21, named(20, "a"));
        table.know(8, 22, named(20, "b"));
        assert!(table.closed().is_empty() && !table.has_names());
        assert_eq!(has(&mut table, [20, 21, 22]), [false, true, true]);
    }
}
