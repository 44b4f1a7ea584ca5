//! The server of the control protocol.

use super::client::Client;
use super::latency::ms;
use super::name::{NEW, Own, alone_beside, prepare, remove, visit};
use super::protocol::{Answer, Ask, GroupEntry, Status, Tunable, Tunables, Wanted};
use super::recording::Recording;
use super::settings::{Settings, namespace};
use super::socket_name;
use super::waits::WaitEntry;
use crate::data::scheduled::GroupStatus;
use crate::identity::{Disks, Setting, SettingError, group_path};
use crate::metrics::{Address, Switch};
use crate::mounting::errors::MountError;
use crate::mounting::mounts::Mounts;
use crate::trouble::Seldom;
use crate::visitors::{Place, Visitors, go_with_others};
use fairdisk_core::{Instant, Qos, Span};
use fairdisk_sched::{Honours, SchedulerSpec};
use rustix::net::sockopt::socket_peercred;
use rustix::process::{Uid, geteuid};
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The largest request in bytes, far above that of any client of ours.
const ASK_BYTES_MAX: u64 = 64 << 10;

/// How long a client may be silent before its connection is closed.
const PATIENCE: Duration = Duration::from_secs(30);

/// The most connections at once. Further ones replace silent ones.
const CONNECTIONS_MAX: usize = 128;

/// How often to check whether a socket's name is free.
const LOOKS: u32 = 100;
/// The interval between these checks, and the time limit for the answer of a process that has the
/// name.
const PAUSE: Duration = Duration::from_millis(20);

/// How long the status is cached for those who may only query.
const FRESH: Span = Span::from_ms(100);

/// The pause after each answer to one of those.
const PACE: Duration = Duration::from_millis(10);

static NOT_ALLOWED: Seldom = Seldom::new();

/// What the server needs to know about a disk, beside its mounts and groups.
#[derive(Clone, Debug)]
pub struct About {
    /// The kernel's name of the disk.
    pub disk: String,
    /// The current scheduler and the other settings.
    pub settings: Settings,
    /// The current scheduler with its tunables.
    pub choice: Choice,
    /// Finds a scheduler by its name, with tunables as `KEY=VALUE`, of which a later one replaces
    /// an earlier one, or says what is wrong.
    pub find: fn(&str, &[String]) -> Result<Choice, String>,
}

/// A scheduler with its tunables.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The scheduler.
    pub spec: SchedulerSpec,
    /// All of its tunables.
    pub tunables: Vec<Tunable>,
}

impl Choice {
    /// The tunables with another value than the scheduler has by itself, as `KEY=VALUE`.
    #[must_use]
    pub fn changed(&self) -> Vec<String> {
        self.those(|it| it.value != it.default)
    }

    /// The tunables that `asked` names, also without the table in front, as `KEY=VALUE`.
    #[must_use]
    pub fn named(&self, asked: &[String]) -> Vec<String> {
        let keys = asked.iter().filter_map(|it| Some(it.split_once('=')?.0.trim()));
        let keys: Vec<&str> = keys.collect();
        let rest = |key: &str| key.rsplit_once('.').is_some_and(|(_, rest)| keys.contains(&rest));
        self.those(|it| keys.contains(&&*it.key) || rest(&it.key))
    }

    fn those(&self, is_meant: impl Fn(&Tunable) -> bool) -> Vec<String> {
        let those = self.tunables.iter().filter(|it| is_meant(it));
        those.map(|Tunable { key, value, .. }| format!("{key}={value}")).collect()
    }

    /// Whether a tunable has this value, given as `KEY=VALUE`.
    pub(super) fn has(&self, asked: &str) -> bool {
        let is_it = |it: &Tunable| asked.split_once('=') == Some((&it.key, &it.value));
        self.tunables.iter().any(is_it)
    }
}

/// The control server of a disk, which answers until it is dropped.
#[derive(Debug)]
pub struct Server {
    _own: Own,
    /// The connections. Those being answered when this is dropped still get their answers.
    _visitors: Visitors<UnixListener>,
}

struct Disk {
    mounts: Arc<Mounts>,
    metrics: Arc<Switch>,
    recording: Recording,
    about: Mutex<About>,
    /// Held from looking at what is set to noting what is set instead.
    changing: Mutex<()>,
    /// The cached status for those who may only query.
    shown: Mutex<Option<Arc<Shown>>>,
}

/// The status of a moment ago.
struct Shown {
    made: Instant,
    status: Status,
    line: Arc<[u8]>,
}

impl Server {
    /// Serves requests about `mounts` on a socket at `path`. A socket left over from a process that
    /// has ended is replaced.
    ///
    /// # Errors
    /// The socket cannot be created, or another process answers there.
    pub fn start(
        path: &Path,
        mounts: Arc<Mounts>,
        metrics: Arc<Switch>,
        about: About,
    ) -> io::Result<Self> {
        path.parent().map_or(Ok(()), prepare)?;
        let listener = listen(path)?;
        let own = Own::at(path.to_owned())?;
        let (about, shown) = (Mutex::new(about), Mutex::new(None));
        let (changing, recording) = (Mutex::new(()), Recording::default());
        let disk = Disk { mounts, metrics, recording, about, changing, shown };
        let talk = move |stream: &UnixStream, place: &Place<UnixListener>| {
            // A client that disconnects early is no concern of ours.
            let _ = disk.converse(stream, place);
        };
        let visitors = Visitors::receive("control", listener, CONNECTIONS_MAX, talk)?;
        Ok(Self { _own: own, _visitors: visitors })
    }
}

impl Disk {
    /// Answers a connection line by line.
    fn converse(&self, stream: &UnixStream, place: &Place<UnixListener>) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let peer = socket_peercred(stream).ok();
        let changes = peer.is_some_and(|peer| may_change(peer.uid));
        if !changes {
            go_with_others();
        }
        let uid = peer.map(|peer| peer.uid);
        let mut reader = BufReader::new(stream);
        loop {
            let mut line = Vec::new();
            let length = reader.by_ref().take(ASK_BYTES_MAX).read_until(b'\n', &mut line)?;
            if length == 0 {
                return Ok(());
            }
            let whole = line.ends_with(b"\n");
            if let Ok(Ask::Record { ms }) = serde_json::from_slice(&line)
                && changes
            {
                let (gate, about) = (self.mounts.gate(), self.current());
                let time = Span::from_ns(ms.saturating_mul(1_000_000));
                return place.answer(|| self.recording.answer(gate, stream, &about, time));
            }
            let answer = place.answer(|| self.reply(&line, uid))?;
            (&mut &*stream).write_all(&answer)?;
            if !whole {
                return Ok(());
            }
            if !changes {
                fairdisk_plane::pause(PACE);
            }
        }
    }

    /// The answer to a line.
    fn reply(&self, line: &[u8], uid: Option<Uid>) -> io::Result<Arc<[u8]>> {
        let changes = uid.is_some_and(may_change);
        let answer = match serde_json::from_slice(line) {
            Ok(Ask::List) if !changes => return Ok(Arc::clone(&self.shown(|| ())?.line)),
            Ok(ask) => {
                let answer = self.answer(&ask, uid);
                if changes && ask.is_change() {
                    *self.last_shown() = None;
                }
                answer
            }
            Err(error) => Answer::Error(format!("not a question: {error}")),
        };
        to_line(&answer)
    }

    /// The status, which is refreshed after `first` if it is too old. However many clients ask,
    /// this holds up requests for the disk at most ten times per second.
    fn shown(&self, first: impl FnOnce()) -> io::Result<Arc<Shown>> {
        let mut shown = self.last_shown();
        let now = self.mounts.gate().now();
        if let Some(shown) = &*shown
            && now < shown.made + FRESH
        {
            return Ok(Arc::clone(shown));
        }
        first();
        let status = self.status(self.entries());
        let line = to_line(&Answer::Status(Box::new(status.clone())))?;
        let new = Arc::new(Shown { made: now, status, line });
        *shown = Some(Arc::clone(&new));
        Ok(new)
    }

    fn last_shown(&self) -> MutexGuard<'_, Option<Arc<Shown>>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, ask: &Ask, uid: Option<Uid>) -> Answer {
        let changes = uid.is_some_and(may_change);
        if ask.is_change() && !changes {
            if let Some(unsaid) = NOT_ALLOWED.pass() {
                tracing::warn!(uid = uid.map(Uid::as_raw), unsaid, "change refused");
            }
            let text = "only root and whoever runs the mount may change anything";
            return Answer::Error(text.to_owned());
        }
        match ask {
            Ask::List => Answer::Status(Box::new(self.status(self.entries()))),
            Ask::Get { group } => match self.entry(group, changes) {
                Ok(entry) => Answer::Status(Box::new(self.status(vec![entry]))),
                Err(error) => Answer::Error(error.to_string()),
            },
            Ask::Set { group, settings, own } => {
                let gate = self.mounts.gate();
                let disks = if *own { Disks::This } else { Disks::All };
                let all = Setting::parse_all(settings);
                let set = all.and_then(|all| gate.set(group, &all, disks));
                set.map_or_else(|error| Answer::Error(error.to_string()), |()| Answer::Done)
            }
            Ask::Scheduler { name, tunables } => self.switch(name, tunables),
            // Whoever may have one got it before.
            Ask::Record { .. } => Answer::Error("a recording is no line".to_owned()),
            Ask::Tunables => Answer::Tunables(self.tunables()),
            Ask::Metrics { address } => self.tell_metrics(address.as_deref()),
            Ask::Mount(wanted) => self.mount(wanted),
            Ask::Unmount { mountpoint } => match self.mounts.unmount(Path::new(mountpoint)) {
                Ok(()) => Answer::Done,
                Err(error) => not_mounted(&error),
            },
            Ask::Mounts => Answer::Mounts(self.mounts.list()),
        }
    }

    fn tell_metrics(&self, address: Option<&str>) -> Answer {
        let _changing = self.changing();
        let Some(text) = address else {
            self.metrics.turn_off();
            return Answer::Done;
        };
        let address: Address = match text.parse() {
            Ok(address) => address,
            Err(error) => return Answer::Error(format!("{text}: {error}")),
        };
        match self.metrics.turn_on(&address) {
            Ok(()) => Answer::Done,
            Err(error) => Answer::Failed(format!("{text}: {error}")),
        }
    }

    fn mount(&self, wanted: &Wanted) -> Answer {
        if wanted.namespace != namespace() {
            let text = "the process that runs the disk sees other mounts (it is in another \
                        namespace); use --separate for a scheduler of your own";
            return Answer::Error(text.to_owned());
        }
        let conflict = || self.current().conflict(&wanted.settings, &self.mounts.list());
        // Whoever can share the disk need not wait for what is still being written to it.
        self.mounts.settle(conflict().is_some());
        if self.mounts.are_closed() {
            return Answer::Over;
        }
        if let Some(why) = conflict() {
            return Answer::Error(why);
        }
        let (source, at) = (Path::new(&wanted.source), Path::new(&wanted.mountpoint));
        match self.mounts.mount(source, at, wanted.options.clone()) {
            Ok(Some(at)) => Answer::Mounted(at.into_os_string()),
            Ok(None) => Answer::Over,
            Err(error) => not_mounted(&error),
        }
    }

    /// Switches to the scheduler `name`. What is set already is kept if it runs already.
    fn switch(&self, name: &str, tunables: &[String]) -> Answer {
        let _changing = self.changing();
        let gate = self.mounts.gate();
        let from = gate.scheduler();
        let About { find, choice, .. } = self.about().clone();
        let kept = if from == name { choice.changed() } else { Vec::new() };
        let choice = match find(name, &[&kept, tunables].concat()) {
            Ok(choice) => choice,
            Err(error) => return Answer::Error(error),
        };
        match gate.switch(name, choice.spec.build()) {
            Ok(refusal) => {
                let changed = choice.changed();
                tracing::info!(from, to = name, tunables = changed.join(" "), "scheduler switched");
                let mut about = self.about();
                about.settings.scheduler = Some(name.to_owned());
                about.choice = choice;
                drop(about);
                match refusal {
                    None => Answer::Done,
                    Some(refusal) => {
                        let groups = gate.groups();
                        let group = groups.iter().find(|known| known.id == refusal.group());
                        let group = group.map_or("a group that is gone", |known| &*known.path);
                        Answer::Error(format!(
                            "`{name}` has taken over, but does not keep the floor of {group}: \
                             {refusal}"
                        ))
                    }
                }
            }
            Err(error) => Answer::Error(format!("`{name}` cannot take over: {error}")),
        }
    }

    fn tunables(&self) -> Tunables {
        let About { disk, settings, choice, .. } = self.about().clone();
        let scheduler = settings.scheduler.unwrap_or_default();
        Tunables { disk, scheduler, tunables: choice.tunables }
    }

    fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn about(&self) -> MutexGuard<'_, About> {
        self.about.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is served now, with the settings that may have changed since the first mount.
    fn current(&self) -> About {
        let mut about = self.about().clone();
        about.settings.tunables = about.choice.changed();
        about.settings.metrics = self.metrics.address();
        about
    }

    fn status(&self, groups: Vec<GroupEntry>) -> Status {
        let About { disk, settings, .. } = self.current();
        let gate = self.mounts.gate();
        Status {
            schema: 3,
            disk,
            mounts: self.mounts.list(),
            scheduler: settings.scheduler.unwrap_or_default(),
            tunables: settings.tunables,
            device_model: settings.device_model,
            costs: settings.costs,
            io: settings.io,
            depth: Some(gate.depth()),
            cgroups: settings.cgroups,
            metrics: settings.metrics,
            rules: gate.hierarchy().and_then(|it| it.rules().directory()),
            uptime_s: gate.now().as_ns() as f64 / 1e9,
            unattributed_writes: self.mounts.unattributed_writes(),
            groups,
        }
    }

    /// The entries of all groups.
    fn entries(&self) -> Vec<GroupEntry> {
        let gate = self.mounts.gate();
        let (groups, honours, examines) = (gate.groups(), self.honours(), gate.examines_floors());
        let paths: BTreeMap<_, _> = groups.iter().map(|group| (group.id, &*group.path)).collect();
        let path = |id| paths.get(&id).copied();
        let entry = |group: &GroupStatus| {
            let place = (&*group.path, group.parent.and_then(path));
            let (got, present) = ((&group.account, &group.flushes), (group.load, group.oldest));
            GroupEntry {
                refused: Setting::words(&Qos { floor: group.refused, ..Qos::NONE }).collect(),
                deferred_ms: ms(group.deferred),
                waits: group.waits.iter().map(WaitEntry::from).collect(),
                unexamined: !examines && honours.floors && !group.asks.qos.floor.is_none(),
                ..GroupEntry::of(place, group.asks, got, present, honours)
            }
        };
        groups.iter().map(entry).collect()
    }

    /// The entry of the group to which tasks in the cgroup `name` belong. Unless `now`, it may be a
    /// moment old.
    fn entry(&self, name: &str, now: bool) -> Result<GroupEntry, SettingError> {
        let gate = self.mounts.gate();
        let known = |path: &str| {
            let is_it = |entry: &&GroupEntry| entry.path == path;
            if now {
                gate.look_at(path);
                return self.entries().iter().find(is_it).cloned();
            }
            let shown = self.shown(|| gate.look_at(path)).ok()?;
            shown.status.groups.iter().find(is_it).cloned()
        };
        let Some(hierarchy) = gate.hierarchy() else {
            return known(&group_path(name)).ok_or(SettingError::NoHierarchy);
        };
        let cgroup = hierarchy.group(name)?;
        let found = hierarchy.effective(&cgroup);
        let unknown = || GroupEntry::unknown(hierarchy, found, self.honours());
        let entry = known(found.0).unwrap_or_else(unknown);
        Ok(entry.asked_about(hierarchy, &cgroup))
    }

    /// The settings that the current scheduler takes into account.
    fn honours(&self) -> Honours {
        self.about().choice.spec.honours()
    }
}

/// Listens at `path` if nobody else does. Waits for a process there that is about to end.
fn listen(path: &Path) -> io::Result<UnixListener> {
    let is_free = || visit(path).is_err() || is_given_up(path);
    for _ in 0..LOOKS {
        if is_free() {
            let _alone = alone_beside(path)?;
            if is_free() {
                return listen_alone(path);
            }
        }
        fairdisk_plane::pause(PAUSE);
    }
    Err(io::Error::from(io::ErrorKind::AddrInUse))
}

/// Whether the socket has the name of a mount that the answering process no longer serves, or
/// serves only for those who had files open when it was detached.
fn is_given_up(path: &Path) -> bool {
    let ask = || -> Option<Answer> {
        let mut client = Client::connect(path).ok()?;
        // A short limit, because a stopped process would delay each of the repeated checks.
        client.wait_no_longer_than(PAUSE).ok()?;
        client.ask(&Ask::Mounts).ok()
    };
    let is_its = |at: &str| path.ends_with(socket_name(Path::new(at)));
    let is_of_one = path.extension().is_some_and(|ending| ending == "sock");
    is_of_one
        && match ask() {
            Some(Answer::Mounts(all)) => !all.iter().any(|mount| is_its(&mount.mountpoint)),
            _ => false,
        }
}

fn listen_alone(path: &Path) -> io::Result<UnixListener> {
    // Bound under a temporary name, so that a socket under the final name always has a listener or
    // is left over, and may be removed.
    let early = path.with_file_name(format!("{}.{NEW}", std::process::id()));
    remove(&early)?;
    let listener = UnixListener::bind(&early)?;
    // Everybody may connect; each request is authorised separately.
    fs::set_permissions(&early, Permissions::from_mode(0o666))?;
    fs::rename(&early, path)?;
    Ok(listener)
}

fn not_mounted(error: &MountError) -> Answer {
    let answer = if error.is_bad_input() { Answer::Error } else { Answer::Failed };
    answer(error.to_string())
}

pub(super) fn to_line(answer: &Answer) -> io::Result<Arc<[u8]>> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    Ok(line.into())
}

fn may_change(uid: Uid) -> bool {
    uid.is_root() || uid == geteuid()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::scheduled::ScheduledGate;
    use crate::metrics::Page;
    use fairdisk_core::EngineConfig;
    use fairdisk_plane::backend::Preference;
    use fairdisk_plane::disk::{Device, Disk as Plane};
    use fairdisk_sched::noop::NoopParams;

    fn disk() -> Disk {
        let spec = SchedulerSpec::Noop(NoopParams);
        let (config, how) = (EngineConfig::default(), Preference::Threads);
        let plane = Plane::start(spec.build(), config, Device::Fixed, 1, how).unwrap();
        let gate = Arc::new(ScheduledGate::new(plane, "noop", None));
        let find = |name: &str, _: &[String]| {
            let spec = SchedulerSpec::named(name).ok_or_else(String::new)?;
            Ok(Choice { spec, tunables: Vec::new() })
        };
        let choice = Choice { spec, tunables: Vec::new() };
        let settings = Settings { scheduler: Some("noop".to_owned()), ..Settings::default() };
        let about = About { disk: "sdx".to_owned(), settings, choice, find };
        let mounts = Arc::new(Mounts::new(gate, Path::new("/nonexistent"), None));
        let page = Page::new(Arc::clone(&mounts), None, "sdx".to_owned());
        let metrics = Arc::new(Switch::new(page));
        let (about, shown) = (Mutex::new(about), Mutex::new(None));
        let (changing, recording) = (Mutex::new(()), Recording::default());
        Disk { mounts, metrics, recording, about, changing, shown }
    }

    /// However often clients ask, locks that programs wait for are taken at most ten times per
    /// second.
    #[test]
    fn those_who_may_only_look_share_a_look() {
        let disk = disk();
        let (now, stranger) = (|| disk.mounts.gate().now(), Some(Uid::from_raw(4321)));
        let begun = now();
        let list = || disk.reply(br#"{"do":"list"}"#, stranger).unwrap();
        let mut lines: Vec<Arc<[u8]>> = (0..1000).map(|_| list()).collect();
        lines.dedup_by(|one, other| Arc::ptr_eq(one, other));
        let allowed = now().since(begun).as_ns() / FRESH.as_ns() + 2;
        assert!(lines.len() as u64 <= allowed, "{} looks", lines.len());
        // A change is visible at once all the same.
        let done = disk.reply(br#"{"do":"scheduler","name":"deadline"}"#, Some(geteuid())).unwrap();
        assert_eq!(&*done, b"\"done\"\n");
        let text = String::from_utf8(list().to_vec()).unwrap();
        assert!(text.contains(r#""scheduler":"deadline""#), "{text}");
    }

    /// In the log and in the metrics as well, where a revision has another name.
    #[test]
    fn a_scheduler_is_called_as_it_was_asked_for() {
        let disk = disk();
        let page = Page::new(Arc::clone(&disk.mounts), None, "sda".to_owned());
        for name in ["noop", "cfq"] {
            disk.switch(name, &[]);
            assert_eq!(disk.mounts.gate().scheduler(), name);
            let shown = format!("fairdisk_scheduler_info{{scheduler=\"{name}\",disk=\"sda\"}} 1\n");
            assert!(page.text().contains(&shown), "{name}");
        }
    }
}
