//! The gate behind which a scheduler decides.

use crate::gate::{DirtyAccounts, Gate, Job, Piece};
use crate::identity::{Asks, FileId, GroupName, Hierarchy, Identity, Setting, SettingError, Who};
use fairdisk_core::{AttachError, GroupAccount, GroupId, GroupLoad, Instant, Refusal, Span};
use fairdisk_plane::disk::{Disk, Order, Served, Thread, Unfinished};
use fairdisk_sched::cfq::{CfqParams, Quirks};
use fairdisk_sched::noop::NoopParams;
use fairdisk_sched::two_layer::TwoLayerParams;
use fairdisk_sched::{Scheduler, SchedulerSpec};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A disk with its scheduler, and who asks it for what. The mounts on the disk share it: each has
/// a [`MountGate`] to it.
pub struct ScheduledGate {
    disk: Disk,
    hierarchy: Option<Hierarchy>,
    identity: Mutex<Identity>,
    /// Who knows of dirty data, in each of the mounts.
    dirty: Mutex<Vec<DirtyAccounts>>,
    mounts: AtomicU32,
}

/// Lets the pieces of one mount through when the scheduler of the disk says so, each in the name of
/// the thread that asked.
pub struct MountGate {
    gate: Arc<ScheduledGate>,
    mount: u32,
}

/// The scheduler called `name` as a mount runs it: without the quirks and defects that the lab
/// keeps for the sake of history.
#[must_use]
pub fn scheduler(name: &str) -> Option<SchedulerSpec> {
    // Through a mount a program is back later than in the kernel, whether it seeks or not.
    let seeky_idle_ms = CfqParams::default().slice_idle_ms;
    // A disk queues commands once it has been seen to, not until the contrary is proved: those that
    // take one request at a time never prove anything.
    let quirks = Quirks { q6_queueing_latched: true, ..Quirks::default() };
    // Hundreds of tasks in a group of small weight: none of them waits for the long slices of all.
    let target_latency_ms = 300;
    // Waiting for one task while others of its group could be served costs a disk that takes many
    // requests at once most of what it can do, and buys nothing.
    let serve_together = true;
    let cfq = CfqParams {
        seeky_idle_ms,
        target_latency_ms,
        serve_together,
        quirks,
        ..CfqParams::default()
    };
    Some(match SchedulerSpec::named(name)? {
        SchedulerSpec::Cfq(_) => SchedulerSpec::Cfq(cfq),
        SchedulerSpec::TwoLayerCfq(_) => SchedulerSpec::TwoLayerCfq(TwoLayerParams {
            cfq,
            // Half of what the lab's has: nobody waits longer than need be for a group of great
            // weight, and one seek in 40 ms is not too dear.
            group_slice_ms: 40,
            // That is shorter than the slices inside a group.
            inner_turn_resumes: true,
            d1_stale_group_records: false,
            d3_unbounded_wait: false,
            // A group of small weight with hundreds of processes waits long for each by right.
            wait_max: Span::from_s(60),
            d4_nominal_turns: false,
            ..TwoLayerParams::default()
        }),
        other => other,
    })
}

/// A group and what it got.
#[derive(Clone, Debug)]
pub struct GroupStatus {
    /// The number the scheduler knows it by.
    pub id: GroupId,
    /// Its cgroup.
    pub path: String,
    /// What it asks for.
    pub asks: Asks,
    /// The group it lies in.
    pub parent: Option<GroupId>,
    /// What it got so far.
    pub account: GroupAccount,
    /// What it has at the disk at this moment.
    pub load: GroupLoad,
    /// How long the oldest of what it has asked for and not got has been asked for.
    pub oldest: Span,
}

impl ScheduledGate {
    /// A gate to `disk`, whose groups are the directories of `hierarchy`.
    #[must_use]
    pub fn new(disk: Disk, hierarchy: Option<Hierarchy>) -> Self {
        let identity = Mutex::new(Identity::new(hierarchy.clone()));
        Self { disk, hierarchy, identity, dirty: Mutex::default(), mounts: AtomicU32::new(0) }
    }

    /// The gate of one more mount.
    #[must_use]
    pub fn for_mount(self: &Arc<Self>) -> MountGate {
        MountGate { gate: Arc::clone(self), mount: self.mounts.fetch_add(1, Ordering::Relaxed) }
    }

    /// Where groups come from.
    #[must_use]
    pub const fn hierarchy(&self) -> Option<&Hierarchy> {
        self.hierarchy.as_ref()
    }

    /// The scheduler in charge, by the name of its revision.
    #[must_use]
    pub fn scheduler(&self) -> &'static str {
        self.disk.scheduler()
    }

    /// What performs the I/O of a busy disk.
    #[must_use]
    pub const fn served(&self) -> &Served {
        self.disk.served()
    }

    /// The time since the disk was started.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.disk.now()
    }

    /// All groups heard of and still there. Whoever wants the disk meanwhile waits for the names
    /// or for the account of one group to be copied, not for all of them together.
    #[must_use]
    pub fn groups(&self) -> Vec<GroupStatus> {
        let status = |group: GroupName<'_>| GroupStatus {
            id: group.id,
            path: group.path.to_owned(),
            asks: group.asks,
            parent: group.parent,
            account: GroupAccount::default(),
            load: GroupLoad::default(),
            oldest: Span::ZERO,
        };
        let mut groups: Vec<GroupStatus> = self.identity().groups().map(status).collect();
        let presence = self.disk.presence();
        for group in &mut groups {
            group.account = self.disk.account(group.id).unwrap_or_default();
            if let Some(now) = presence.get(&group.id) {
                (group.load, group.oldest) = (now.load, now.oldest);
                group.account.wait_max = group.account.wait_max.max(now.waits);
            }
        }
        // A number that has been given anew meanwhile had the account of another.
        let identity = self.identity();
        groups.retain(|group| identity.is_called(group.id, &group.path));
        groups
    }

    /// How much has been asked for and is not answered yet.
    #[must_use]
    pub fn jobs_left(&self) -> usize {
        self.disk.jobs_left()
    }

    /// How often the scheduler has let something through that it would have kept back.
    #[must_use]
    pub fn kept_back(&self) -> u64 {
        self.disk.kept_back()
    }

    /// Makes settings of a group, all of them or none. They are in effect when this returns, and
    /// kept with the group.
    ///
    /// # Errors
    /// There is no such group, the settings cannot be meant together, the system refuses, or the
    /// scheduler.
    pub fn set(&self, group: &str, settings: &[Setting]) -> Result<(), SettingError> {
        let hierarchy = self.hierarchy.as_ref().ok_or(SettingError::NoHierarchy)?;
        let mut identity = self.identity();
        let changed = hierarchy.set(group, settings).inspect_err(|error| {
            if let SettingError::Contradicts(why) = error {
                tracing::warn!(group, %why, "setting refused");
            }
        })?;
        identity.settings_changed(&changed.group);
        let Some(refusal) = self.configure(&mut identity) else {
            identity.tell_changed();
            return Ok(());
        };
        let group = changed.group.clone();
        changed.undo();
        identity.settings_changed(&group);
        self.tell(&mut identity);
        Err(SettingError::NotKept { group, refusal })
    }

    /// Finds out what groups ask for that wait for the disk, and which are gone: others may change
    /// that, also while nobody asks for anything.
    pub fn look_again(&self) {
        self.look(|_, _| Who::NOBODY);
        for group in self.disk.presence().into_keys() {
            let mut identity = self.identity();
            identity.look_again(group);
            self.tell(&mut identity);
        }
    }

    /// Finds out what the group at `path` asks for, if there is such a group: others may have
    /// changed that since it asked last.
    pub fn look_at(&self, path: &str) {
        let mut identity = self.identity();
        let known = identity.groups().find(|known| known.path == path).map(|known| known.id);
        if let Some(group) = known {
            identity.look_again(group);
            self.tell(&mut identity);
        }
    }

    /// Another scheduler takes over. Gives back the first floor it refuses to keep, if any.
    ///
    /// # Errors
    /// It cannot work with what it finds; the one in charge stays.
    pub fn switch(&self, scheduler: Scheduler) -> Result<Option<Refusal>, AttachError> {
        self.disk.switch(scheduler)?;
        let mut identity = self.identity();
        identity.ask_anew();
        Ok(self.configure(&mut identity))
    }

    /// Nobody is left to share the disk with: what is queued goes as fast as the disk takes it,
    /// whatever was asked for.
    pub fn let_all_through(&self) {
        if let Err(error) = self.disk.switch(SchedulerSpec::Noop(NoopParams).build()) {
            tracing::warn!(%error, "the scheduler stays");
        }
    }

    fn identity(&self) -> MutexGuard<'_, Identity> {
        self.identity.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at somebody; the scheduler hears of what changed first.
    fn look(&self, with: impl FnOnce(&mut Identity, Instant) -> Who) -> Who {
        let mut identity = self.identity();
        let now = self.disk.now();
        if identity.is_to_be_swept(now) {
            identity.sweep(now, || self.unfinished());
        }
        let who = with(&mut identity, now);
        // Told under the lock: in the order in which it happened.
        self.tell(&mut identity);
        who
    }

    /// Who has something on its way to the disk, data in the page cache included.
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

    /// Tells the scheduler what has changed, and the log what has come of it.
    fn tell(&self, identity: &mut Identity) {
        self.configure(identity);
        identity.tell_changed();
    }

    /// Tells the scheduler what has changed; the first thing it refuses, if any.
    fn configure(&self, identity: &mut Identity) -> Option<Refusal> {
        let mut first = None;
        for change in identity.take_changes() {
            let Err(refusal) = self.disk.configure(change) else { continue };
            let Refusal::Floor { group, takes, left } = refusal;
            identity.refuse(group);
            let path = identity.groups().find(|it| it.id == group).map(|it| it.path);
            let (takes_ms, left_ms) = (takes.as_ms(), left.as_ms());
            tracing::warn!(group = path, takes_ms, left_ms, "floor refused");
            first = first.or(Some(refusal));
        }
        first
    }

    /// The thread, or who used the file last if nobody asks.
    fn who(&self, caller: u32, file: FileId) -> Who {
        self.look(|identity, now| match caller {
            0 => identity.user_of(now, file),
            _ => identity.classify(now, caller),
        })
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
            Some(account) => self
                .gate
                .look(|identity, now| identity.writer(now, piece.caller, file, GroupId(account))),
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
        };
        let thread = if piece.may_wait { Thread::MayPerform } else { Thread::MustGoOn };
        self.gate.disk.submit(&order, job, thread);
    }

    fn has_performers(&self) -> bool {
        true
    }

    fn uses(&self, caller: u32, file: u64) {
        self.gate.look(|identity, now| identity.uses(now, caller, self.file(file)));
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
