//! The mount's end.

use super::protocol::{Answer, Ask, GroupEntry, Status};
use crate::identity::Setting;
use crate::scheduled::{ScheduledGate, scheduler};
use fairdisk_sched::SchedulerSpec;
use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use std::fs::{self, Permissions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The longest question. None of ours comes near it.
const ASK_BYTES_MAX: u64 = 64 << 10;

/// Who says nothing for so long is hung up on.
const PATIENCE: Duration = Duration::from_secs(30);

/// Connections at once; more are hung up on.
const CONNECTIONS_MAX: usize = 32;

/// What a mount says about itself besides its groups.
#[derive(Clone, Debug)]
pub struct About {
    /// What is mounted.
    pub source: PathBuf,
    /// Where.
    pub mountpoint: PathBuf,
    /// The scheduler it began with.
    pub scheduler: String,
    /// The disk whose timing is kept to, if any.
    pub device_model: Option<String>,
}

/// Answers until it is dropped.
#[derive(Debug)]
pub struct Server {
    path: PathBuf,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

struct Shared {
    gate: Arc<ScheduledGate>,
    about: Mutex<About>,
    connections: AtomicUsize,
    closing: AtomicBool,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Server {
    /// Answers questions about `gate` on a socket at `path`. A socket left behind by a mount that
    /// is gone is replaced.
    ///
    /// # Errors
    /// The socket cannot be made, or somebody answers there already.
    pub fn start(path: &Path, gate: Arc<ScheduledGate>, about: About) -> io::Result<Self> {
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
            fs::set_permissions(directory, Permissions::from_mode(0o755))?;
        }
        wait_until_silent(path)?;
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(path)?;
        // Everybody may connect; what they may do is decided for each question.
        fs::set_permissions(path, Permissions::from_mode(0o666))?;
        let shared = Arc::new(Shared {
            gate,
            about: Mutex::new(about),
            connections: AtomicUsize::new(0),
            closing: AtomicBool::new(false),
        });
        let own = Arc::clone(&shared);
        let builder = std::thread::Builder::new().name("fairdisk-control".to_owned());
        let thread = builder.spawn(move || own.listen(&listener))?;
        Ok(Self { path: path.to_owned(), shared, listener: Some(thread) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Release);
        // A last call wakes the listener.
        let woken = UnixStream::connect(&self.path).is_ok();
        let _ = fs::remove_file(&self.path);
        if let Some(listener) = self.listener.take().filter(|_| woken) {
            let _ = listener.join();
        }
    }
}

impl Shared {
    fn listen(self: &Arc<Self>, listener: &UnixListener) {
        for stream in listener.incoming() {
            if self.closing.load(Ordering::Acquire) {
                return;
            }
            let Ok(stream) = stream else { continue };
            if self.connections.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS_MAX {
                self.connections.fetch_sub(1, Ordering::AcqRel);
                continue;
            }
            let own = Arc::clone(self);
            let builder = std::thread::Builder::new().name("fairdisk-caller".to_owned());
            let spawned = builder.spawn(move || {
                // Somebody who hangs up in the middle is no concern of ours.
                let _ = own.converse(&stream);
                own.connections.fetch_sub(1, Ordering::AcqRel);
            });
            if spawned.is_err() {
                self.connections.fetch_sub(1, Ordering::AcqRel);
            }
        }
    }

    /// Answers line by line.
    fn converse(&self, stream: &UnixStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let may_change = may_change(stream);
        let mut reader = BufReader::new(stream);
        loop {
            let mut line = Vec::new();
            let length = reader.by_ref().take(ASK_BYTES_MAX).read_until(b'\n', &mut line)?;
            if length == 0 {
                return Ok(());
            }
            let whole = line.ends_with(b"\n");
            let answer = match serde_json::from_slice(&line) {
                Ok(ask) => self.answer(&ask, may_change),
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

    fn answer(&self, ask: &Ask, may_change: bool) -> Answer {
        if ask.is_change() && !may_change {
            let text = "only root and whoever runs the mount may change settings";
            return Answer::Error(text.to_owned());
        }
        match ask {
            Ask::List => Answer::Status(self.status()),
            Ask::Set { group, setting } => {
                let set = Setting::parse(setting).and_then(|it| self.gate.set(group, it));
                set.map_or_else(|error| Answer::Error(error.to_string()), |()| Answer::Done)
            }
            Ask::Scheduler { name } => self.switch(name),
        }
    }

    fn switch(&self, name: &str) -> Answer {
        let Some(spec) = scheduler(name) else {
            let known = SchedulerSpec::NAMES.join(", ");
            return Answer::Error(format!("unknown scheduler `{name}` (known: {known})"));
        };
        match self.gate.switch(spec.build()) {
            Ok(()) => {
                name.clone_into(&mut self.about().scheduler);
                Answer::Done
            }
            Err(error) => Answer::Error(format!("`{name}` cannot take over: {error}")),
        }
    }

    fn about(&self) -> std::sync::MutexGuard<'_, About> {
        self.about.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn status(&self) -> Status {
        let about = self.about().clone();
        let groups = self.gate.groups();
        Status {
            schema: 1,
            source: about.source.to_string_lossy().into_owned(),
            mountpoint: about.mountpoint.to_string_lossy().into_owned(),
            scheduler: about.scheduler,
            device_model: about.device_model,
            cgroups: self.gate.hierarchy().map(|it| it.name().to_owned()),
            uptime_s: self.gate.now().as_ns() as f64 / 1e9,
            groups: groups.iter().map(|group| GroupEntry::of(group, &self.gate)).collect(),
        }
    }
}

/// A mount that was just unmounted there may still be on its way out.
fn wait_until_silent(path: &Path) -> io::Result<()> {
    for _ in 0..100 {
        if UnixStream::connect(path).is_err() {
            return Ok(());
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
    Err(io::Error::from(io::ErrorKind::AddrInUse))
}

fn may_change(stream: &UnixStream) -> bool {
    socket_peercred(stream).is_ok_and(|peer| peer.uid.is_root() || peer.uid == geteuid())
}
