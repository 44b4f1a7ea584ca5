//! Classes of requests and the service each has received in proportion to its shares, with one
//! level of nested classes.

use crate::groups::{Nested, OWN_TASKS, Order, VirtualTime, virtual_time};
use alloc::vec::Vec;
use fairdisk_core::tree::{Forest, Tree};
use fairdisk_core::{Span, Weight, dense};

#[derive(Clone, Debug)]
struct Class {
    shares: u64,
    outer: Option<u32>,
    /// Service received divided by shares, as an inner class: compared with classes inside the same
    /// outermost one.
    inside: VirtualTime,
    /// Service received divided by shares, as an outermost class: compared with the other outermost
    /// classes.
    among: VirtualTime,
    /// The outermost class in whose line it is, if it has requests queued.
    stands_in: Option<u32>,
    /// The inner classes, and the class itself, that have requests queued.
    line: Tree,
    /// The sum of its inner class that was served last.
    last: VirtualTime,
}

/// All classes.
#[derive(Debug)]
pub(super) struct Classes {
    classes: Vec<Class>,
    inner: Forest<VirtualTime>,
    outermost: Order<VirtualTime>,
    /// The sum of the outermost class that was served last.
    last: VirtualTime,
    forgiven: Span,
}

impl Classes {
    pub(super) const fn new(forgiven: Span) -> Self {
        Self {
            classes: Vec::new(),
            inner: Forest::new(),
            outermost: Order::new(),
            last: 0,
            forgiven,
        }
    }

    fn make(&mut self, group: u32) -> &mut Class {
        dense::entry(&mut self.classes, group, || Class {
            shares: u64::from(Weight::DEFAULT.get()),
            outer: None,
            inside: 0,
            among: 0,
            stands_in: None,
            line: Tree::new(),
            last: 0,
        })
    }

    fn class(&mut self, group: u32) -> &mut Class {
        &mut self.classes[group as usize]
    }

    fn outermost(&self, group: u32) -> u32 {
        self.path(group).last().unwrap_or(group)
    }

    /// The shares of `group` among the classes inside `outermost`, whose own requests count as one
    /// of them.
    fn inner_shares(&self, group: u32, outermost: u32) -> u64 {
        if group == outermost { OWN_TASKS } else { self.classes[group as usize].shares }
    }

    /// Adds a class that has requests queued again. It may claim a little of the service it missed.
    pub(super) fn join(&mut self, group: u32) {
        self.make(group);
        let outermost = self.outermost(group);
        self.make(outermost);
        let forgiven = self.forgiven;
        let inner_shares = self.inner_shares(group, outermost);
        let Class { last, ref line, shares, .. } = self.classes[outermost as usize];
        let is_alone = line.is_empty();
        let least = last.saturating_sub(virtual_time(forgiven, inner_shares));
        let class = self.class(group);
        class.inside = class.inside.max(least);
        if is_alone {
            let least = self.last.saturating_sub(virtual_time(forgiven, shares));
            let among = &mut self.class(outermost).among;
            *among = (*among).max(least);
        }
        self.enter_line(group, outermost);
        if is_alone {
            self.place_outermost(outermost);
        }
    }

    /// Removes a class that has no requests queued any more.
    pub(super) fn leave(&mut self, group: u32) {
        let Some(outermost) = self.leave_line(group) else { return };
        if self.class(outermost).line.is_empty() {
            self.place_outermost(outermost);
        }
    }

    fn enter_line(&mut self, group: u32, outermost: u32) {
        let class = self.class(group);
        class.stands_in = Some(outermost);
        let sum = class.inside;
        self.inner.insert(&mut self.classes[outermost as usize].line, group, sum);
    }

    /// Removes a class from its line and returns the outermost class of that line.
    fn leave_line(&mut self, group: u32) -> Option<u32> {
        let outermost = self.class(group).stands_in.take()?;
        self.inner.remove(&mut self.classes[outermost as usize].line, group);
        Some(outermost)
    }

    /// Updates the place of an outermost class; removes it if neither it nor a class inside has
    /// requests queued.
    fn place_outermost(&mut self, outermost: u32) {
        let class = &self.classes[outermost as usize];
        self.outermost.place(outermost, (!class.line.is_empty()).then_some(class.among));
    }

    /// The class whose request is next.
    pub(super) fn next(&self) -> Option<u32> {
        let (outermost, _) = self.outermost.first()?;
        self.inner.first(&self.classes[outermost as usize].line)
    }

    /// Accounts for a dispatched request of the class; `has_more` says whether it has others
    /// queued.
    pub(super) fn served(&mut self, group: u32, cost: Span, has_more: bool) {
        let outermost = self.leave_line(group).unwrap_or(group);
        let inner = virtual_time(cost, self.inner_shares(group, outermost));
        let class = self.class(group);
        let sum = class.inside;
        class.inside = sum + inner;
        let class = self.class(outermost);
        class.last = sum;
        let sum = class.among;
        class.among = sum + virtual_time(cost, class.shares);
        self.last = sum;
        if has_more {
            self.enter_line(group, outermost);
        }
        self.place_outermost(outermost);
    }

    pub(super) fn set_shares(&mut self, group: u32, weight: Weight) {
        self.make(group).shares = u64::from(weight.get());
    }

    /// Moves the class, with all classes inside it, into `outer`. Does nothing if that would make a
    /// circle.
    pub(super) fn set_outer(&mut self, group: u32, outer: Option<u32>) {
        if !self.may_lie_in(group, outer) {
            return;
        }
        let before = self.outermost(group);
        self.make(group).outer = outer;
        if let Some(outer) = outer {
            self.make(outer);
        }
        if self.outermost(group) == before {
            return;
        }
        for class in 0..self.classes.len() as u32 {
            if self.lies_in(class, group) {
                self.move_over(class);
            }
        }
    }

    /// Moves a class into the line of another outermost class. It starts at the current sum there,
    /// because its own sum belongs to another line.
    fn move_over(&mut self, class: u32) {
        let outermost = self.outermost(class);
        let stands = self.class(class).stands_in.is_some();
        self.leave(class);
        self.class(class).inside = self.class(outermost).last;
        if stands {
            self.join(class);
        }
    }

    /// Resets the class to the current sum of the others.
    pub(super) fn forget(&mut self, group: u32) {
        let stands = self.make(group).stands_in.is_some();
        if stands {
            self.leave(group);
        }
        let last = self.last;
        let class = self.class(group);
        class.inside = class.last;
        class.among = last;
        if stands {
            self.join(group);
        }
    }
}

impl Nested for Classes {
    fn outer(&self, group: u32) -> Option<u32> {
        self.classes.get(group as usize)?.outer
    }
}
