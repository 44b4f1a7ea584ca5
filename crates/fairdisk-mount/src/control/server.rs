//! The mount's end.

use super::name::{prepare, remove};
use super::protocol::{Answer, Ask, GroupEntry, Status, Wanted};
use super::settings::{Settings, namespace};
use crate::identity::{Setting, SettingError, group_path};
use crate::mounts::Mounts;
use crate::scheduled::GroupStatus;
use crate::trouble::Seldom;
use crate::visitors::{Place, Visitors};
use fairdisk_core::{GroupAccount, Refusal, WeightMap};
use fairdisk_sched::{Honours, SchedulerSpec};
use rustix::net::sockopt::socket_peercred;
use rustix::process::{Uid, geteuid};
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The longest question. None of ours comes near it.
const ASK_BYTES_MAX: u64 = 64 << 10;

/// Who says nothing for so long is hung up on.
const PATIENCE: Duration = Duration::from_secs(30);

/// Connections at once; those that come then take the place of silent ones.
const CONNECTIONS_MAX: usize = 128;

static NOT_ALLOWED: Seldom = Seldom::new();

/// What a disk says about itself besides its mounts and groups.
#[derive(Clone, Debug)]
pub struct About {
    /// What the kernel calls it.
    pub disk: String,
    /// The scheduler in charge, and how else it is run.
    pub settings: Settings,
    /// What that scheduler honours.
    pub honours: Honours,
    /// The scheduler of a name, or why there is none.
    pub find: fn(&str) -> Result<SchedulerSpec, String>,
}

/// Answers whoever asks after the mounts on a disk. Dropping it ends that.
#[derive(Debug)]
pub struct Server {
    path: PathBuf,
    /// Those who are being answered when it is dropped are answered.
    _visitors: Visitors<UnixListener>,
}

struct Disk {
    mounts: Arc<Mounts>,
    about: Mutex<About>,
}

impl Server {
    /// Answers questions about `mounts` on a socket at `path`. A socket left behind by a process
    /// that is gone is replaced.
    ///
    /// # Errors
    /// The socket cannot be made, or somebody answers there already.
    pub fn start(path: &Path, mounts: Arc<Mounts>, about: About) -> io::Result<Self> {
        path.parent().map_or(Ok(()), prepare)?;
        wait_until_silent(path)?;
        remove(path)?;
        let listener = UnixListener::bind(path)?;
        // Everybody may connect; what they may do is decided for each question.
        fs::set_permissions(path, Permissions::from_mode(0o666))?;
        let disk = Disk { mounts, about: Mutex::new(about) };
        let talk = move |stream: &UnixStream, place: &Place<UnixListener>| {
            // Somebody who hangs up in the middle is no concern of ours.
            let _ = disk.converse(stream, place);
        };
        let visitors = Visitors::receive("control", listener, CONNECTIONS_MAX, talk)?;
        Ok(Self { path: path.to_owned(), _visitors: visitors })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Disk {
    /// Answers line by line.
    fn converse(&self, stream: &UnixStream, place: &Place<UnixListener>) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let uid = socket_peercred(stream).ok().map(|peer| peer.uid);
        let mut reader = BufReader::new(stream);
        loop {
            let mut line = Vec::new();
            let length = reader.by_ref().take(ASK_BYTES_MAX).read_until(b'\n', &mut line)?;
            if length == 0 {
                return Ok(());
            }
            let whole = line.ends_with(b"\n");
            let answer = match serde_json::from_slice(&line) {
                Ok(ask) => place.answer(|| self.answer(&ask, uid)),
                Err(error) => Answer::Error(format!("not a question: {error}")),
            };
            let mut text = serde_json::to_vec(&answer)?;
            text.push(b'\n');
            (&mut &*stream).write_all(&text)?;
            if !whole {
                return Ok(());
            }
        }
    }

    fn answer(&self, ask: &Ask, uid: Option<Uid>) -> Answer {
        if ask.is_change() && !uid.is_some_and(may_change) {
            if let Some(unsaid) = NOT_ALLOWED.pass() {
                tracing::warn!(uid = uid.map(Uid::as_raw), unsaid, "change refused");
            }
            let text = "only root and whoever runs the mount may change anything";
            return Answer::Error(text.to_owned());
        }
        match ask {
            Ask::List => Answer::Status(self.status(self.entries())),
            Ask::Get { group } => match self.entry(group) {
                Ok(entry) => Answer::Status(self.status(vec![entry])),
                Err(error) => Answer::Error(error.to_string()),
            },
            Ask::Set { group, settings } => {
                let gate = self.mounts.gate();
                let set = Setting::parse_all(settings).and_then(|all| gate.set(group, &all));
                set.map_or_else(|error| Answer::Error(error.to_string()), |()| Answer::Done)
            }
            Ask::Scheduler { name } => self.switch(name),
            Ask::Mount(wanted) => self.mount(wanted),
            Ask::Unmount { mountpoint } => match self.mounts.unmount(Path::new(mountpoint)) {
                Ok(()) => Answer::Done,
                Err(error) => Answer::Error(error.to_string()),
            },
            Ask::Mounts => Answer::Mounts(self.mounts.list()),
        }
    }

    fn mount(&self, wanted: &Wanted) -> Answer {
        if wanted.namespace != namespace() {
            let text = "the process that runs the disk sees other mounts (it is in another \
                        namespace); use --separate for a scheduler of your own";
            return Answer::Error(text.to_owned());
        }
        self.mounts.settle();
        if self.mounts.are_over() {
            return Answer::Over;
        }
        if let Some(why) = self.about().conflict(&wanted.settings, &self.mounts.list()) {
            return Answer::Error(why);
        }
        let (source, at) = (Path::new(&wanted.source), Path::new(&wanted.mountpoint));
        match self.mounts.mount(source, at, wanted.options.clone()) {
            Ok(Some(at)) => Answer::Mounted(at.into_os_string()),
            Ok(None) => Answer::Over,
            Err(error) => Answer::Error(error.to_string()),
        }
    }

    fn switch(&self, name: &str) -> Answer {
        let find = self.about().find;
        let spec = match find(name) {
            Ok(spec) => spec,
            Err(error) => return Answer::Error(error),
        };
        let gate = self.mounts.gate();
        let from = gate.scheduler();
        match gate.switch(spec.build()) {
            Ok(refusal) => {
                tracing::info!(from, to = gate.scheduler(), "scheduler switched");
                let mut about = self.about();
                about.settings.scheduler = Some(name.to_owned());
                about.honours = spec.honours();
                match refusal {
                    None => Answer::Done,
                    Some(refusal) => {
                        let Refusal::Floor { group, .. } = refusal;
                        let groups = gate.groups();
                        let group = groups.iter().find(|known| known.id == group);
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

    fn about(&self) -> std::sync::MutexGuard<'_, About> {
        self.about.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn status(&self, groups: Vec<GroupEntry>) -> Status {
        let About { disk, settings, .. } = self.about().clone();
        let gate = self.mounts.gate();
        Status {
            schema: 2,
            disk,
            mounts: self.mounts.list(),
            scheduler: settings.scheduler.unwrap_or_default(),
            device_model: settings.device_model,
            io: settings.io,
            cgroups: settings.cgroups,
            uptime_s: gate.now().as_ns() as f64 / 1e9,
            groups,
        }
    }

    /// How each group is doing.
    fn entries(&self) -> Vec<GroupEntry> {
        let (groups, scheduler) = (self.mounts.gate().groups(), self.scheduler());
        let paths: BTreeMap<_, _> = groups.iter().map(|group| (group.id, &*group.path)).collect();
        let path = |id| paths.get(&id).copied();
        let entry = |group: &GroupStatus| {
            let place = (&*group.path, group.parent.and_then(path));
            GroupEntry::of(place, group.asks, &group.account, scheduler)
        };
        groups.iter().map(entry).collect()
    }

    /// How the group is doing that tasks in the cgroup `name` belong to.
    fn entry(&self, name: &str) -> Result<GroupEntry, SettingError> {
        let known = |path: &str| self.entries().into_iter().find(|entry| entry.path == path);
        let gate = self.mounts.gate();
        let Some(hierarchy) = gate.hierarchy() else {
            return known(&group_path(name)).ok_or(SettingError::NoHierarchy);
        };
        let cgroup = hierarchy.group(name)?;
        let (path, said) = hierarchy.effective(&cgroup);
        gate.look_at(path);
        Ok(known(path).unwrap_or_else(|| {
            let parent = hierarchy.outer(path).map(|(parent, _)| parent);
            let nothing = GroupAccount::default();
            GroupEntry::of((path, parent), said.asks, &nothing, self.scheduler())
        }))
    }

    /// What a priority is worth, and what the scheduler in charge honours.
    fn scheduler(&self) -> (WeightMap, Honours) {
        (self.mounts.gate().weight_map(), self.about().honours)
    }
}

/// Whoever answered there before may still be on its way out.
fn wait_until_silent(path: &Path) -> io::Result<()> {
    for _ in 0..100 {
        if UnixStream::connect(path).is_err() {
            return Ok(());
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
    Err(io::Error::from(io::ErrorKind::AddrInUse))
}

fn may_change(uid: Uid) -> bool {
    uid.is_root() || uid == geteuid()
}
