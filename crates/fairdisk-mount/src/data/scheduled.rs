//! The gate of scheduled mounts: a scheduler decides when each piece of I/O is done.

mod blocked;
mod recorded;
mod status;
mod waits;

pub use blocked::BlockedTask;
pub use status::GroupStatus;

use super::gate::{DirtyAccounts, Gate, Job, Piece};
use crate::identity::{
    Disks, FileId, GroupName, Hierarchy, Identity, Setting, SettingError, Silent, Who,
};
use fairdisk_core::{AttachError, Change, GroupId, Instant, Qos, Rates, Refusal};
use fairdisk_plane::disk::{Disk, Order, Served, Thread, Unfinished};
use fairdisk_sched::noop::NoopParams;
use fairdisk_sched::{Scheduler, SchedulerSpec};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use waits::Waits;

/// A disk with its scheduler, and the identification of who makes requests. All mounts on a disk
/// share it, each through a [`MountGate`].
pub struct ScheduledGate {
    disk: Disk,
    /// The name under which the current scheduler was asked for.
    scheduler: Mutex<String>,
    hierarchy: Option<Hierarchy>,
    identity: Mutex<Identity>,
    waits: Mutex<Waits>,
    /// For each mount, the function that returns its accounts with dirty data.
    dirty: Mutex<Vec<DirtyAccounts>>,
    mounts: AtomicU32,
}

/// The gate of one mount. It submits each piece to the disk's scheduler in the name of the thread
/// that made the request.
pub struct MountGate {
    gate: Arc<ScheduledGate>,
    mount: u32,
}

impl ScheduledGate {
    /// A gate to `disk`, whose scheduler was asked for as `scheduler`, and whose groups are the
    /// cgroups of `hierarchy`.
    #[must_use]
    pub fn new(disk: Disk, scheduler: &str, hierarchy: Option<Hierarchy>) -> Self {
        let scheduler = Mutex::new(scheduler.to_owned());
        let identity = Mutex::new(Identity::new(hierarchy.clone()));
        let (waits, dirty) = (Mutex::default(), Mutex::default());
        let mounts = AtomicU32::new(0);
        Self { disk, scheduler, hierarchy, identity, waits, dirty, mounts }
    }

    /// The gate of a further mount.
    #[must_use]
    pub fn for_mount(self: &Arc<Self>) -> MountGate {
        MountGate { gate: Arc::clone(self), mount: self.mounts.fetch_add(1, Ordering::Relaxed) }
    }

    /// The cgroup hierarchy that the groups come from.
    #[must_use]
    pub const fn hierarchy(&self) -> Option<&Hierarchy> {
        self.hierarchy.as_ref()
    }

    /// The name under which the current scheduler was asked for, as `cfq`, which is a revision of
    /// another name.
    #[must_use]
    pub fn scheduler(&self) -> String {
        self.called().clone()
    }

    fn called(&self) -> MutexGuard<'_, String> {
        self.scheduler.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What performs the I/O of a busy disk.
    #[must_use]
    pub const fn served(&self) -> &Served {
        self.disk.served()
    }

    /// The number of requests that the disk gets at once.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.disk.depth()
    }

    /// The time since the disk was started.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.disk.now()
    }

    /// Begins a period of the longest waits lately, which are forgotten after the next one.
    pub fn begin_period(&self) {
        self.disk.begin_period();
    }

    /// The group that is charged for what `group` has written: itself or, once it is removed, the
    /// closest enclosing one that still exists.
    #[must_use]
    pub fn heir(&self, group: GroupId) -> GroupId {
        self.identity().heir(group)
    }

    /// The number of jobs submitted and not yet finished.
    #[must_use]
    pub fn jobs_left(&self) -> usize {
        self.disk.jobs_left()
    }

    /// How often a request was dispatched that the scheduler would have held back.
    #[must_use]
    pub fn kept_back(&self) -> u64 {
        self.disk.kept_back()
    }

    /// Sets several settings of a group, all of them or none: for all disks, or for this one alone.
    /// They are in force when this returns, and stored with the cgroup.
    ///
    /// # Errors
    /// The group does not exist, the settings contradict one another, or the system or the
    /// scheduler refuses.
    pub fn set(&self, group: &str, settings: &[Setting], disks: Disks) -> Result<(), SettingError> {
        let hierarchy = self.hierarchy.as_ref().ok_or(SettingError::NoHierarchy)?;
        let mut identity = self.identity();
        let changed = hierarchy.set(group, settings, disks).inspect_err(|error| {
            if let SettingError::Contradicts(why) = error {
                tracing::warn!(group, %why, "setting refused");
            }
        })?;
        let is_at = |known: &GroupName<'_>| known.path == changed.group;
        let refused_before = identity.groups().find(is_at).map_or(Rates::NONE, |it| it.refused);
        identity.settings_changed(self.now(), &changed.group, settings);
        let refused = self.configure(&mut identity);
        // A floor of another group, or one that this group had before, may have been examined at
        // last, and refused.
        let is_its = |it: &&Refusal| identity.is_called(it.group(), &changed.group);
        let sets_floor = settings.iter().any(Setting::is_of_floor);
        let Some(refusal) = refused.iter().filter(|_| sets_floor).find(is_its).copied() else {
            self.tell(&mut identity);
            return Ok(());
        };
        let group = changed.group.clone();
        let is_it = |known: &GroupName<'_>| known.id == refusal.group();
        let floor = identity.groups().find(is_it).map_or(Rates::NONE, |known| known.refused);
        let floor = Setting::words(&Qos { floor, ..Qos::NONE }).collect();
        changed.undo();
        identity.undone(self.now(), &group, refused_before);
        self.tell(&mut identity);
        Err(SettingError::NotKept { group, floor, refusal })
    }

    /// Whether the scheduler knows enough of the disk to tell which floors can be kept.
    #[must_use]
    pub fn examines_floors(&self) -> bool {
        self.disk.examines_floors()
    }

    /// Detects removed groups, changed settings of groups, and floors that can be examined now.
    /// Others may change settings at any time, even while no requests arrive. Looks at `all` groups
    /// or, more often, at those that have requests.
    pub fn look_again(&self, all: bool) {
        self.look(None, |_, _| Who::NOBODY);
        self.tell(&mut self.identity());
        let groups: Vec<GroupId> = match all {
            true => self.identity().groups().map(|group| group.id).collect(),
            false => self.disk.presence().into_keys().collect(),
        };
        for group in groups {
            let mut identity = self.identity();
            identity.look_again(self.now(), group);
            self.tell(&mut identity);
        }
    }

    /// Reads the settings of the group at `path` again, if there is such a group, since others may
    /// have changed them.
    pub fn look_at(&self, path: &str) {
        let mut identity = self.identity();
        let known = identity.groups().find(|known| known.path == path).map(|known| known.id);
        if let Some(group) = known {
            identity.look_again(self.now(), group);
            self.tell(&mut identity);
        }
    }

    /// Switches to another scheduler, which was asked for as `name`. Returns the first floor that
    /// it refuses to guarantee, if any.
    ///
    /// # Errors
    /// The new scheduler cannot take over, and the current one stays.
    pub fn switch(&self, name: &str, scheduler: Scheduler) -> Result<Option<Refusal>, AttachError> {
        self.disk.switch(scheduler)?;
        name.clone_into(&mut self.called());
        let mut identity = self.identity();
        identity.ask_anew();
        let refused = self.configure(&mut identity);
        self.tell(&mut identity);
        Ok(refused.first().copied())
    }

    /// Stops sharing, because nobody is left to share with: whatever is queued is dispatched as
    /// fast as the disk takes it.
    pub fn let_all_through(&self) {
        if let Err(error) = self.disk.switch(SchedulerSpec::Noop(NoopParams).build()) {
            tracing::warn!(%error, "the scheduler stays");
        }
    }

    fn identity(&self) -> MutexGuard<'_, Identity> {
        self.identity.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Identifies the origin of a request of a caller for a file, if there is one, and first tells
    /// the scheduler what that has changed.
    fn look(
        &self,
        request: Option<(u32, FileId)>,
        with: impl FnOnce(&mut Identity, Instant) -> Who,
    ) -> Who {
        let mut identity = self.identity();
        let mut now = self.disk.now();
        let mut seen = None;
        if let Some((caller, file)) = request
            && let Some(due) = identity.due(now, caller, file)
        {
            // The kernel may take long to tell a cgroup while others move tasks between cgroups.
            drop(identity);
            seen = Some(due.look());
            identity = self.identity();
            now = self.disk.now();
        }
        let is_due = identity.is_to_be_swept(now);
        let silent = is_due.then(|| identity.sweep(now, || self.unfinished()));
        let who = identity.identify(seen, |identity| with(identity, now));
        // Reported while locked, so that changes reach the scheduler in order.
        self.tell(&mut identity);
        drop(identity);
        // Not locked, for the same reason as above.
        let mut ended = silent.unwrap_or_default();
        ended.retain(Silent::has_ended);
        if !ended.is_empty() {
            self.identity().have_ended(self.disk.now(), &ended);
        }
        who
    }

    /// The tasks and groups that have requests in flight or dirty data in the page cache.
    fn unfinished(&self) -> Unfinished {
        let mut unfinished = self.disk.unfinished();
        let mut mounts = self.dirty.lock().unwrap_or_else(PoisonError::into_inner);
        mounts.retain(|accounts| {
            let dirty = accounts();
            let groups = dirty.iter().flatten().map(|account| GroupId(*account));
            unfinished.groups.extend(groups);
            dirty.is_some()
        });
        unfinished
    }

    /// Tells the scheduler what has changed, and what holds in place of floors that it refuses.
    /// Logs the outcome.
    fn tell(&self, identity: &mut Identity) {
        self.configure(identity);
        identity.settle();
        // Nothing further is refused, unless a former floor is more by now than the disk can keep.
        while identity.has_changes() {
            self.configure(identity);
            identity.settle();
        }
        identity.tell_changed();
    }

    /// Tells the scheduler what has changed, and has all floors examined as soon as it can, if some
    /// were promised before it knew what requests cost. Returns what is refused.
    fn configure(&self, identity: &mut Identity) -> Vec<Refusal> {
        // Asked once: requests complete meanwhile.
        self.configure_if(self.disk.examines_floors(), identity)
    }

    /// Does that for a scheduler of which is known whether it `examines` floors.
    fn configure_if(&self, examines: bool, identity: &mut Identity) -> Vec<Refusal> {
        let is_floor = |it: &Change| has_floor(it).is_some();
        let mut changes = identity.take_changes();
        if examines && identity.has_unexamined() {
            // A new floor is examined together with them, not beside them.
            changes.retain(|change| !is_floor(change));
            identity.ask_anew();
            changes.extend(identity.take_changes());
        }
        let (mut refused, mut examines_now) = (Vec::new(), false);
        for change in changes {
            match self.try_to(change, identity) {
                Ok(()) if is_floor(&change) && !examines => identity.note_unexamined(),
                Ok(()) => {}
                Err(Refusal::Floor { .. }) if !examines => {
                    // It can since a moment ago, and is to examine this one with all the others.
                    identity.note_unexamined();
                    examines_now = true;
                }
                Err(why) if Self::note_refused(identity, &change, why) => refused.push(why),
                Err(_) => {}
            }
        }
        if examines_now {
            refused.extend(self.configure(identity));
        }
        refused
    }

    /// Tells the scheduler of one change. If there is no room for a floor, the room that removed
    /// groups left counts, even if nobody has noticed yet that they are gone.
    fn try_to(&self, change: Change, identity: &mut Identity) -> Result<(), Refusal> {
        if has_floor(&change).is_some_and(|group| identity.is_gone(group)) {
            return Ok(());
        }
        match self.disk.configure(change) {
            Err(Refusal::Floor { .. }) if identity.free_floors(self.now()) => {
                for end in identity.take_changes() {
                    self.disk.configure(end)?;
                    identity.accept(&end);
                }
                self.try_to(change, identity)
            }
            told => told.inspect(|()| identity.accept(&change)),
        }
    }

    /// Logs a refusal, if it matters; returns whether it does.
    fn note_refused(identity: &mut Identity, change: &Change, refusal: Refusal) -> bool {
        let is_floor = matches!(refusal, Refusal::Floor { .. });
        if is_floor && !identity.refuse(change) {
            return false;
        }
        let group = refusal.group();
        let path = identity.groups().find(|it| it.id == group).map(|it| it.path);
        if let Refusal::Floor { takes, left, .. } = refusal {
            let (takes_ms, left_ms) = (takes.as_ms(), left.as_ms());
            tracing::warn!(group = path, takes_ms, left_ms, "floor refused");
        } else {
            tracing::error!(group = path, %refusal, "change lost");
        }
        true
    }

    /// The identity of the calling thread or, without one, of the file's last user.
    fn who(&self, caller: u32, file: FileId) -> Who {
        self.look(Some((caller, file)), |identity, now| match caller {
            0 => identity.user_of(now, file),
            _ => identity.classify(now, caller),
        })
    }
}

/// The group that the change gives a floor.
const fn has_floor(change: &Change) -> Option<GroupId> {
    match change {
        Change::GroupQos { group, qos } if !qos.floor.is_none() => Some(*group),
        _ => None,
    }
}

impl MountGate {
    const fn file(&self, node: u64) -> FileId {
        FileId { mount: self.mount, node }
    }
}

impl Gate for MountGate {
    fn submit(&self, piece: Piece, job: Box<dyn Job>) {
        let file = self.file(piece.file);
        let who = match piece.account {
            Some(account) => self.gate.look(Some((piece.caller, file)), |identity, now| {
                identity.writer(now, piece.caller, file, GroupId(account))
            }),
            None => self.gate.who(piece.caller, file),
        };
        let order = Order {
            task: who.task,
            group: who.group,
            ioprio: who.ioprio,
            op: piece.op,
            start: piece.start,
            sectors: piece.sectors,
            sync: piece.sync,
            flags: piece.flags,
            waited: piece.waited,
        };
        let thread = if piece.may_wait { Thread::MayPerform } else { Thread::MustGoOn };
        self.gate.disk.submit(&order, job, thread);
    }

    fn hurry(&self) {
        self.gate.disk.hurry();
    }

    fn has_performers(&self) -> bool {
        true
    }

    fn uses(&self, caller: u32, file: u64) {
        let file = self.file(file);
        self.gate.look(Some((caller, file)), |identity, now| identity.uses(now, caller, file));
    }

    fn done_with(&self, file: u64) {
        self.gate.identity().done_with(self.file(file));
    }

    fn asks_before_reuse(&self, dirty: DirtyAccounts) {
        self.gate.dirty.lock().unwrap_or_else(PoisonError::into_inner).push(dirty);
    }

    fn account(&self, caller: u32, file: u64) -> u32 {
        let GroupId(group) = self.gate.who(caller, self.file(file)).group;
        group
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Span;
    use fairdisk_core::{Cost, CostModel, EngineConfig};
    use fairdisk_plane::backend::Preference;
    use fairdisk_plane::disk::Device;

    /// A gate to a disk whose requests take 10 ms, with groups that have these floors.
    fn gate(place: &std::path::Path, floors: &[(&str, &str)]) -> ScheduledGate {
        let hierarchy = Hierarchy::in_directory(place);
        for (path, floor) in floors {
            std::fs::create_dir(place.join(&path[1..])).unwrap();
            hierarchy.set(path, &[Setting::parse(floor).unwrap()], Disks::All).unwrap();
        }
        let (config, how) = (EngineConfig::default(), Preference::Threads);
        let fair = SchedulerSpec::named("fair").unwrap().build();
        let disk = Disk::start(fair, config, Device::Fixed, 1, how).unwrap();
        let one = Span::from_ms(10);
        let cost = Cost { random: one, ..Cost::default() };
        let costs = CostModel { depth: 1, saturation: one, alone: one, read: cost, write: cost };
        disk.configure(Change::Costs(costs)).unwrap();
        ScheduledGate::new(disk, "fair", Some(hierarchy))
    }

    /// The disk may become known between two floors that are told at once.
    #[test]
    fn a_floor_is_refused_once_if_it_is_examined_before_others() {
        let place = tempfile::tempdir().unwrap();
        let floors = [("/a", "min_iops=10"), ("/b", "min_iops=1000"), ("/c", "min_iops=20")];
        let gate = gate(place.path(), &floors);
        let mut identity = gate.identity();
        for (path, _) in floors {
            identity.settings_changed(gate.now(), path, &[]);
        }
        let refused = gate.configure_if(false, &mut identity);
        let b = identity.groups().find(|known| known.path == "/b").unwrap().id;
        assert_eq!(refused.iter().map(Refusal::group).collect::<Vec<_>>(), [b]);
        assert_eq!(gate.configure(&mut identity), [], "all have been examined");
        gate.tell(&mut identity);
        let in_force = |known: GroupName<'_>| known.asks.qos.floor.iops.map_or(0, u64::from);
        assert_eq!(identity.groups().map(in_force).collect::<Vec<_>>(), [0, 10, 0, 20]);
    }
}
