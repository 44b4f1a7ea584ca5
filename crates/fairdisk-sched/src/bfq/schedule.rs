//! The hierarchy of the schedule. A node stands for a group; its entities are the queues and groups
//! directly inside that group (Documentation/block/bfq-iosched.rst, section 4). Within a node, I/O
//! classes are served in strict order, and groups belong to the best-effort class.

mod competing;

use super::switches::Switches;
use super::timeline::{Timeline, Trees, Virtual, worth};
use crate::groups::Nested;
use crate::slab::Slab;
use alloc::vec::Vec;
use competing::{Children, Variety};
use fairdisk_core::{Instant, IoClass, Span};

/// Stands for "no entity" and "no node".
pub(super) const NIL: u32 = u32::MAX;
/// The node of the root group, which contains everything that is in no other group.
pub(super) const ROOT: u32 = 0;
const CLASSES: usize = IoClass::RANKS;
/// The largest weight of a group.
pub(super) const GROUP_WEIGHT_MAX: usize = 1000;
const ORDINARY: usize = IoClass::BestEffort.rank();
const IDLE: usize = IoClass::Idle.rank();
/// The longest time the idle class is passed over, so that it does not starve. The documentation
/// says that it does not, but gives no time.
const IDLE_CLASS_AFTER: Span = Span::from_ms(200);

/// Something that gets service: a queue or a group.
#[derive(Clone, Copy, Debug)]
struct Entity {
    /// The node that contains the entity.
    parent: u32,
    /// The entity's own node if it is a group; `NIL` for a queue.
    node: u32,
    class: usize,
    /// The weight used while the entity is in a timeline.
    weight: u64,
    /// The weight to use from its next service on.
    weight_due: u64,
    /// The most the entity will use of its next service, in sectors.
    budget: u64,
    start: Virtual,
    finish: Virtual,
    active: bool,
    /// The index of its weight under which [`Variety`] counts the entity while it competes.
    counted: Option<usize>,
}

/// The entities inside one group.
#[derive(Clone, Debug)]
struct Node {
    lines: [Timeline; CLASSES],
    active: u32,
    children: Children,
    entity: u32,
    /// Since when other classes have been served while the idle class waited.
    passed_over: Option<Instant>,
}

impl Node {
    fn new(entity: u32) -> Self {
        let (lines, children) = ([const { Timeline::new() }; CLASSES], Children::default());
        Self { lines, active: 0, children, entity, passed_over: None }
    }
}

/// The schedule of all queues and groups of a device.
#[derive(Debug)]
pub(super) struct Schedule {
    trees: Trees,
    entities: Slab<Entity>,
    nodes: Vec<Node>,
    variety: Variety,
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

    /// Ensures that the group's node exists. A new group is directly inside the root group.
    pub(super) fn make_group(&mut self, group: u32, weight: u32) {
        while self.nodes.len() <= group as usize {
            let node = self.nodes.len() as u32;
            let entity = self.make(Entity::new(ROOT, node, ORDINARY, weight));
            self.nodes.push(Node::new(entity));
        }
    }

    /// Creates an entity for a new queue of `group`.
    pub(super) fn make_queue(&mut self, group: u32, class: IoClass, weight: u32) -> u32 {
        self.make(Entity::new(group, NIL, class.rank(), weight))
    }

    /// Frees the entity of a queue; it must not be active.
    pub(super) fn free_queue(&mut self, entity: u32) {
        let it = &self.entities[entity];
        debug_assert!(!it.active && it.counted.is_none(), "it still wants the disk");
        self.entities.free(entity);
    }

    /// The entity of a group; `NIL` for the root group.
    pub(super) fn of_group(&self, group: u32) -> u32 {
        self.nodes[group as usize].entity
    }

    /// Sets the weight that the entity gets from its next service on.
    pub(super) fn set_weight(&mut self, entity: u32, weight: u32) {
        if let Some(entity) = self.entities.get_mut(entity) {
            entity.weight_due = u64::from(weight.max(1));
        }
    }

    /// Moves a queue to the line of its new class, where it starts at the virtual time.
    pub(super) fn set_class(&mut self, entity: u32, class: IoClass) {
        let Entity { class: old, parent, active, .. } = self.entities[entity];
        if old == class.rank() {
            return;
        }
        if active {
            self.leave(entity);
        }
        let moved = &mut self.entities[entity];
        (moved.class, moved.start, moved.finish) = (class.rank(), 0, 0);
        if active {
            let now = self.nodes[parent as usize].lines[class.rank()].now;
            self.enter(entity, now);
        }
    }

    /// Moves a group into `parent`. Does nothing if that would make a circle.
    pub(super) fn set_parent(&mut self, group: u32, parent: u32) {
        let entity = self.of_group(group);
        if entity == NIL || self.entities[entity].parent == parent {
            return;
        }
        if self.may_lie_in(group, Some(parent)) {
            self.begin_in(entity, parent);
        }
    }

    /// Resets a group whose number is reused: it starts in the root group and has no debt.
    pub(super) fn begin_group(&mut self, group: u32) {
        let entity = self.of_group(group);
        if entity != NIL {
            self.begin_in(entity, ROOT);
        }
    }

    /// Moves the entity into `parent` and starts it at the virtual time there.
    fn begin_in(&mut self, entity: u32, parent: u32) {
        let (active, queues) = (self.entities[entity].active, self.competing(entity));
        if active {
            self.deactivate(entity);
        }
        self.count(entity, queues, 0);
        let moved = &mut self.entities[entity];
        (moved.parent, moved.start, moved.finish) = (parent, 0, 0);
        self.count(entity, 0, queues);
        if active {
            self.activate(entity);
        }
    }

    /// Sets the budget of the queue's next turn.
    pub(super) fn set_budget(&mut self, entity: u32, sectors: u64) {
        self.entities[entity].budget = sectors.max(1);
    }

    /// Makes an entity active. It gets no credit for the time it was inactive, and keeps its debt
    /// if it was ahead of virtual time.
    pub(super) fn activate(&mut self, entity: u32) {
        let Entity { parent, class, finish, active, .. } = self.entities[entity];
        debug_assert!(!active, "it wants the disk already");
        let start = self.nodes[parent as usize].lines[class].now.max(finish);
        self.enter(entity, start);
        let node = &mut self.nodes[parent as usize];
        node.active += 1;
        let (first, outer) = (node.active == 1, node.entity);
        if first && outer != NIL {
            let budget = self.entities[entity].budget;
            self.set_budget(outer, budget);
            self.activate(outer);
        }
    }

    /// Makes an entity inactive.
    pub(super) fn deactivate(&mut self, entity: u32) {
        self.leave(entity);
        let it = &mut self.entities[entity];
        // The entity gives up the part of its budget that it has not used.
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
        self.recount(entity);
    }

    fn leave(&mut self, entity: u32) {
        let it = &mut self.entities[entity];
        it.active = false;
        let weight = it.weight;
        let line = &mut self.nodes[it.parent as usize].lines[it.class];
        line.remove(&mut self.trees, entity, weight);
    }

    /// Charges a finished turn to the queue and the groups around it, whether it used less or more
    /// than the budget. Their next service starts in virtual time where this one ended; a group's
    /// next service is as long as that of the queue.
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

    /// Whether competing queues are to get different parts of the disk, so that keeping their
    /// shares may need idling.
    pub(super) fn is_asymmetric(&self, on: &Switches) -> bool {
        let in_root = self.nodes[ROOT as usize].children.has_queues();
        let grouped = self.variety.nodes() - u32::from(in_root);
        self.variety.is_asymmetric()
            || match (on.groups_asymmetric, on.one_group_symmetric) {
                (false, _) => self.variety.is_uneven(),
                (true, false) => grouped > 0,
                (true, true) => self.variety.nodes() > 1,
            }
    }

    /// How many competing queues have raised weights.
    pub(super) fn raised(&self) -> u32 {
        self.variety.raised()
    }

    /// Whether the queue is due before the other for its greater weight; where groups around them
    /// compete, whether its group is.
    pub(super) fn comes_before(&self, queue: u32, other: u32) -> bool {
        let parent = |entity: u32| self.entities[entity].parent;
        let depth = |entity: u32| {
            let group = |node: u32| (node != ROOT).then(|| parent(self.of_group(node)));
            core::iter::successors(Some(parent(entity)), |node| group(*node)).count()
        };
        let (mut one, mut two) = (queue, other);
        while parent(one) != parent(two) {
            let deeper = if depth(one) >= depth(two) { &mut one } else { &mut two };
            *deeper = self.of_group(parent(*deeper));
        }
        let [one, two] = [one, two].map(|entity| &self.entities[entity]);
        let now = self.nodes[one.parent as usize].lines[one.class].now;
        one.class == two.class
            && one.weight > two.weight
            && one.start <= now
            && one.finish < two.finish
    }

    /// Whether a queue of the group, or of one inside it, is active.
    pub(super) fn wants(&self, group: u32) -> bool {
        self.nodes.get(group as usize).is_some_and(|node| node.active > 0)
    }

    /// The queue to serve next; `None` if none is active.
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
        // While the node was not visited, nobody inside it was served, so the idle class was not
        // passed over.
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
            counted: None,
        }
    }
}
