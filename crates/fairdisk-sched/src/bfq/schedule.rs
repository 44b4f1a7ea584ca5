//! The hierarchy: queues lie in groups, groups in groups, and each of them is an entity of the node
//! it lies in (Documentation/block/bfq-iosched.rst, section 4). In a node I/O classes are served in
//! strict order; a group is of the ordinary class.

use super::timeline::{Timeline, Trees, Virtual, worth};
use crate::groups::Nested;
use crate::slab::Slab;
use alloc::vec::Vec;
use fairdisk_core::{Instant, IoClass, Span};

/// No entity.
pub(super) const NIL: u32 = u32::MAX;
/// The node of the root group; what lies in no group lies there.
pub(super) const ROOT: u32 = 0;
const CLASSES: usize = IoClass::RANKS;
/// What a level is worth, and how many weights of queues are told apart: none, those of eight
/// levels, raised ones.
const LEVEL_WEIGHT: usize = 10;
const QUEUE_WEIGHTS: usize = 10;
const QUEUE_KINDS: usize = QUEUE_WEIGHTS * CLASSES;
/// The largest weight of a group.
pub(super) const GROUP_WEIGHT_MAX: usize = 1000;
const ORDINARY: usize = IoClass::BestEffort.rank();
const IDLE: usize = IoClass::Idle.rank();
/// The idle class is passed over for so long at most, so that it does not starve. (That it is so is
/// in the documentation, how often is not.)
const IDLE_CLASS_AFTER: Span = Span::from_ms(200);

/// What is served: a queue, or a group of them.
#[derive(Clone, Copy, Debug)]
struct Entity {
    /// The node it lies in.
    parent: u32,
    /// Its node, if it is a group.
    node: u32,
    class: usize,
    /// The weight it has while it stands in a timeline.
    weight: u64,
    /// The weight it gets when it next does.
    weight_due: u64,
    /// The most it wants of its next service, in sectors.
    budget: u64,
    start: Virtual,
    finish: Virtual,
    active: bool,
    /// The weight it had when it began to want the disk.
    counted: u32,
}

/// A group's inside.
#[derive(Clone, Debug)]
struct Node {
    lines: [Timeline; CLASSES],
    active: u32,
    entity: u32,
    /// Since when others inside are served while the idle class waits.
    passed_over: Option<Instant>,
}

impl Node {
    const fn new(entity: u32) -> Self {
        Self { lines: [const { Timeline::new() }; CLASSES], active: 0, entity, passed_over: None }
    }
}

/// All entities.
#[derive(Debug)]
pub(super) struct Schedule {
    trees: Trees,
    entities: Slab<Entity>,
    nodes: Vec<Node>,
    variety: Variety,
}

/// Which weights there are among the entities that want the disk.
#[derive(Debug)]
struct Variety {
    /// How many have each.
    counts: [Vec<u32>; 2],
    /// How many weights there are, of queues and of groups.
    different: [u32; 2],
    /// Queues in the root group.
    in_root: u32,
}

impl Variety {
    fn new() -> Self {
        let counts = [QUEUE_KINDS, GROUP_WEIGHT_MAX + 1].map(|kinds| alloc::vec![0; kinds]);
        Self { counts, different: [0; 2], in_root: 0 }
    }

    fn enter(&mut self, entity: &Entity) {
        let (kind, at) = entity.variety();
        self.counts[kind][at] += 1;
        self.different[kind] += u32::from(self.counts[kind][at] == 1);
        self.in_root += u32::from(kind == 0 && entity.parent == ROOT);
    }

    fn leave(&mut self, entity: &Entity) {
        let (kind, at) = entity.variety();
        self.counts[kind][at] -= 1;
        self.different[kind] -= u32::from(self.counts[kind][at] == 0);
        self.in_root -= u32::from(kind == 0 && entity.parent == ROOT);
    }

    const fn is_asymmetric(&self) -> bool {
        let [queues, groups] = self.different;
        queues > 1 || groups > 1 || (groups > 0 && self.in_root > 0)
    }
}

impl Schedule {
    pub(super) fn new() -> Self {
        let nodes = alloc::vec![Node::new(NIL)];
        Self { trees: Trees::new(), entities: Slab::new(), nodes, variety: Variety::new() }
    }

    fn make(&mut self, entity: Entity) -> u32 {
        let at = self.entities.put(entity);
        self.trees.make_room(at);
        at
    }

    /// Makes sure that the node of this group exists. It lies in the root group's.
    pub(super) fn make_group(&mut self, group: u32, weight: u32) {
        while self.nodes.len() <= group as usize {
            let node = self.nodes.len() as u32;
            let entity = self.make(Entity::new(ROOT, node, ORDINARY, weight));
            self.nodes.push(Node::new(entity));
        }
    }

    /// A new queue of `group`.
    pub(super) fn make_queue(&mut self, group: u32, class: IoClass, weight: u32) -> u32 {
        self.make(Entity::new(group, NIL, class.rank(), weight))
    }

    /// The queue is gone; it must not be active.
    pub(super) fn free_queue(&mut self, entity: u32) {
        debug_assert!(!self.entities[entity].active, "it still wants the disk");
        self.entities.free(entity);
    }

    /// The entity of a group's node.
    pub(super) fn of_group(&self, group: u32) -> u32 {
        self.nodes[group as usize].entity
    }

    /// Class and weight count from the next service on.
    pub(super) fn set_weight(&mut self, entity: u32, weight: u32) {
        if let Some(entity) = self.entities.get_mut(entity) {
            entity.weight_due = u64::from(weight.max(1));
        }
    }

    /// The class of a queue that is not active.
    pub(super) fn set_class(&mut self, entity: u32, class: IoClass) {
        let entity = &mut self.entities[entity];
        debug_assert!(!entity.active, "it stands in the line of its class");
        entity.class = class.rank();
    }

    /// Puts a group into another. What would be a circle is not done.
    pub(super) fn set_parent(&mut self, group: u32, parent: u32) {
        let entity = self.of_group(group);
        if entity == NIL || self.entities[entity].parent == parent {
            return;
        }
        if self.may_lie_in(group, Some(parent)) {
            self.begin_in(entity, parent);
        }
    }

    /// Whoever gets the number of the group begins in the root group, and owes nothing.
    pub(super) fn begin_group(&mut self, group: u32) {
        let entity = self.of_group(group);
        if entity != NIL {
            self.begin_in(entity, ROOT);
        }
    }

    /// The entity lies in `parent` from now on, and begins where the others there are.
    fn begin_in(&mut self, entity: u32, parent: u32) {
        let active = self.entities[entity].active;
        if active {
            self.deactivate(entity);
        }
        let moved = &mut self.entities[entity];
        (moved.parent, moved.start, moved.finish) = (parent, 0, 0);
        if active {
            self.activate(entity);
        }
    }

    /// The most a queue wants in its next turn.
    pub(super) fn set_budget(&mut self, entity: u32, sectors: u64) {
        self.entities[entity].budget = sectors.max(1);
    }

    /// An entity wants the disk. One that was away gets no credit for it, and one that was ahead
    /// still is.
    pub(super) fn activate(&mut self, entity: u32) {
        let Entity { parent, class, finish, active, .. } = self.entities[entity];
        debug_assert!(!active, "it wants the disk already");
        let start = self.nodes[parent as usize].lines[class].now.max(finish);
        self.enter(entity, start);
        let it = &mut self.entities[entity];
        it.counted = it.weight as u32;
        self.variety.enter(&self.entities[entity]);
        let node = &mut self.nodes[parent as usize];
        node.active += 1;
        let (first, outer) = (node.active == 1, node.entity);
        if first && outer != NIL {
            let budget = self.entities[entity].budget;
            self.set_budget(outer, budget);
            self.activate(outer);
        }
    }

    /// An entity wants the disk no more.
    pub(super) fn deactivate(&mut self, entity: u32) {
        self.leave(entity);
        self.variety.leave(&self.entities[entity]);
        let it = &mut self.entities[entity];
        // What it was still to have it does not want.
        it.finish = it.start;
        let parent = it.parent;
        let node = &mut self.nodes[parent as usize];
        node.active -= 1;
        let (none, outer) = (node.active == 0, node.entity);
        if none && outer != NIL {
            self.deactivate(outer);
        }
    }

    fn enter(&mut self, entity: u32, start: Virtual) {
        let it = &mut self.entities[entity];
        it.weight = it.weight_due;
        let finish = start + worth(it.budget, it.weight);
        (it.start, it.finish, it.active) = (start, finish, true);
        let (times, weight) = ((it.start, it.finish), it.weight);
        let line = &mut self.nodes[it.parent as usize].lines[it.class];
        line.insert(&mut self.trees, entity, times, weight);
    }

    fn leave(&mut self, entity: u32) {
        let it = &mut self.entities[entity];
        it.active = false;
        let weight = it.weight;
        let line = &mut self.nodes[it.parent as usize].lines[it.class];
        line.remove(&mut self.trees, entity, weight);
    }

    /// The turn of a queue has ended: it and the groups it lies in have had so much, were they to
    /// have more or less. Their next service begins where this one ended; a group's is as long as
    /// that of the queue.
    pub(super) fn charge(&mut self, queue: u32, sectors: u64) {
        let (mut entity, budget) = (queue, self.entities[queue].budget);
        while entity != NIL {
            let it = &mut self.entities[entity];
            it.budget = budget;
            let finish = it.start + worth(sectors, it.weight);
            let node = &mut self.nodes[it.parent as usize];
            node.lines[it.class].advance(sectors);
            let outer = node.entity;
            self.leave(entity);
            self.enter(entity, finish);
            entity = outer;
        }
    }

    /// Whether weights or classes of those that want the disk differ.
    pub(super) const fn is_asymmetric(&self) -> bool {
        self.variety.is_asymmetric()
    }

    /// The queue to be served next.
    pub(super) fn next(&mut self, now: Instant) -> Option<u32> {
        let mut node = ROOT;
        loop {
            let class = self.class_of_next(node, now)?;
            let entities = &self.entities;
            let finish = |entity: u32| entities[entity].finish;
            let line = &mut self.nodes[node as usize].lines[class];
            let entity = line.next(&mut self.trees, finish)?;
            match self.entities[entity].node {
                NIL => return Some(entity),
                inner => node = inner,
            }
        }
    }

    fn class_of_next(&mut self, node: u32, now: Instant) -> Option<usize> {
        let node = &mut self.nodes[node as usize];
        let waits = |class: usize| !node.lines[class].is_empty();
        let best = (0..CLASSES).find(|class| waits(*class))?;
        // While the node was not visited nobody inside was served instead.
        let is_passed_over = waits(IDLE) && best != IDLE;
        let since = node.passed_over.unwrap_or(now);
        let due = is_passed_over && now.since(since) >= IDLE_CLASS_AFTER;
        node.passed_over = (is_passed_over && !due).then_some(since);
        Some(if due { IDLE } else { best })
    }
}

impl Nested for Schedule {
    fn outer(&self, group: u32) -> Option<u32> {
        (group != ROOT).then(|| self.entities[self.of_group(group)].parent)
    }
}

impl Entity {
    /// What it is counted under while it wants the disk: a group of a weight, or a queue of a class
    /// and level or a raised weight, whichever.
    fn variety(&self) -> (usize, usize) {
        if self.node != NIL {
            return (1, self.counted as usize);
        }
        let level = (self.counted as usize / LEVEL_WEIGHT).min(QUEUE_WEIGHTS - 1);
        (0, level * CLASSES + self.class)
    }

    fn new(parent: u32, node: u32, class: usize, weight: u32) -> Self {
        let weight = u64::from(weight.max(1));
        Self {
            parent,
            node,
            class,
            weight,
            weight_due: weight,
            budget: 1,
            start: 0,
            finish: 0,
            active: false,
            counted: 0,
        }
    }
}
