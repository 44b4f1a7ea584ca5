//! Recordings of what programs do, sent to a client as they are made.
//!
//! The disk keeps its events while a recording runs, and the thread of the connection fetches them
//! many times a second. A client that reads too slowly loses requests, which are counted; programs
//! never wait for it.

use super::protocol::Answer;
use super::server::{self, to_line};
use crate::data::scheduled::ScheduledGate;
use crate::visitors::go_with_others;
use fairdisk_core::{Entry, GroupId, Instant, IoPrio, Span, TaskId};
use fairdisk_trace::fdt::Recorder;
use fairdisk_trace::journal::{FromJournal, Name};
use fairdisk_trace::{About, OriginId, Origins, Request, Settings, enclosing};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::{self, BufWriter, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often events are fetched.
const FETCH_EACH: Duration = Duration::from_millis(20);

/// The most events that are kept in between, some 25 MB: six or so for each request.
const EVENTS_MOST: usize = 1 << 18;

/// How often all that was recorded is sent, so that it can be read while the recording runs.
const SEND_EACH: Span = Span::from_s(1);

/// The recording of a disk. There is at most one at a time.
#[derive(Debug, Default)]
pub(super) struct Recording {
    runs: AtomicBool,
}

/// What a recording that begins now says of the disk.
fn about(of: &server::About, gate: &ScheduledGate) -> About {
    let server::About { disk, settings, .. } = of;
    About {
        tunables: settings.tunables.clone(),
        depth: Some(gate.depth()),
        // The costs of a model are those of its own disk.
        tells_costs: Some(settings.costs.is_some() || settings.device_model.is_some()),
        ..About::recording(
            disk,
            settings.scheduler.as_deref().unwrap_or_default(),
            fairdisk_plane::wall_time(),
        )
    }
}

/// A recording that runs. Ends it when dropped.
struct Running<'a> {
    recording: &'a Recording,
    gate: &'a ScheduledGate,
}

impl Recording {
    /// Answers a client with a recording of `time`, or with the reason why there is none.
    ///
    /// # Errors
    /// The client does not read it.
    pub(super) fn answer(
        &self,
        gate: &ScheduledGate,
        mut stream: &UnixStream,
        of: &server::About,
        time: Span,
    ) -> io::Result<()> {
        let Some(running) = self.begin(gate) else {
            let text = "a recording of this disk runs already; end that first";
            return stream.write_all(&to_line(&Answer::Error(text.to_owned()))?);
        };
        stream.write_all(&to_line(&Answer::Recording)?)?;
        running.send(stream, &about(of, gate), time)
    }

    /// Begins to record what goes to `gate`; `None` if that is being done already.
    fn begin<'a>(&'a self, gate: &'a ScheduledGate) -> Option<Running<'a>> {
        if self.runs.swap(true, Ordering::AcqRel) {
            return None;
        }
        gate.keep_journal(EVENTS_MOST);
        Some(Running { recording: self, gate })
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.gate.keep_journal(0);
        self.recording.runs.store(false, Ordering::Release);
    }
}

impl Running<'_> {
    /// Sends what happens on the disk for `time`, or until the client sends nothing more.
    ///
    /// # Errors
    /// The client does not read it.
    fn send(self, stream: &UnixStream, about: &About, time: Span) -> io::Result<()> {
        go_with_others();
        stream.set_read_timeout(Some(FETCH_EACH))?;
        let gate = self.gate;
        let began = gate.now();
        let mut recorder = Recorder::new(BufWriter::new(stream), about)?;
        let mut names = Names {
            gate,
            origins: Origins::default(),
            known: HashMap::new(),
            groups: BTreeSet::new(),
            settings: BTreeMap::new(),
            ended: 0,
        };
        let mut journal = FromJournal::default();
        let (mut events, mut requests) = (Vec::<Entry>::new(), Vec::<Request>::new());
        let (mut lost, mut sent) = (0, began);
        loop {
            let has_ended = has_hung_up(stream) || gate.now() >= began + time;
            let missed = gate.swap_journal(&mut events);
            for entry in events.drain(..) {
                journal.take(&entry, &mut names, |request| requests.push(request));
            }
            if has_ended || missed > lost {
                // Ends, and who has gone meanwhile, may be missing as well.
                names.known.clear();
                core::mem::take(&mut journal).finish(|request| requests.push(request));
            }
            let settings = core::mem::take(&mut names.settings);
            if !settings.is_empty() {
                recorder.settings(&settings)?;
            }
            for request in requests.drain(..) {
                recorder.add(&since(began, request), &names.origins)?;
            }
            if missed > lost {
                recorder.lost(missed - lost)?;
                lost = missed;
            }
            if has_ended {
                return recorder.finish()?.flush();
            }
            if gate.now() >= sent + SEND_EACH {
                recorder.flush()?;
                sent = gate.now();
            }
        }
    }
}

/// Waits until events are to be fetched, or the client sends nothing more. Returns whether it does
/// not.
fn has_hung_up(mut stream: &UnixStream) -> bool {
    let mut byte = [0];
    match stream.read(&mut byte) {
        Ok(read) => read == 0,
        Err(error) => !matches!(
            error.kind(),
            ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
        ),
    }
}

/// The request with its times from the start of the recording.
fn since(began: Instant, request: Request) -> Request {
    let since = |at: Instant| Instant::ZERO + at.since(began);
    Request {
        queued: since(request.queued),
        issued: request.issued.map(since),
        done: request.done.map(since),
        ..request
    }
}

/// The names of tasks and groups, asked for once each.
struct Names<'a> {
    gate: &'a ScheduledGate,
    origins: Origins,
    known: HashMap<(TaskId, GroupId, IoPrio), OriginId>,
    /// The groups whose settings have been asked for.
    groups: BTreeSet<String>,
    /// Settings that have not been sent.
    settings: BTreeMap<String, Settings>,
    /// Threads that had ended before their names were asked for.
    ended: u32,
}

impl Name for Names<'_> {
    fn origin(&mut self, task: TaskId, group: GroupId, ioprio: IoPrio) -> OriginId {
        if let Some(known) = self.known.get(&(task, group, ioprio)) {
            return *known;
        }
        let path = self.gate.path_of(group).unwrap_or_default();
        for path in enclosing(&path).filter(|path| self.groups.insert((*path).to_owned())) {
            let settings = self.gate.settings_of(path);
            self.settings.extend(settings.map(|settings| (path.to_owned(), settings)));
        }
        let thread = self.gate.thread_of(task).map(|thread| {
            let name = fs::read_to_string(format!("/proc/{thread}/comm"));
            format!("{}-{thread}", name.as_deref().unwrap_or("(ended)").trim_end())
        });
        let thread = thread.unwrap_or_else(|| {
            self.ended += 1;
            format!("(ended)-{}", self.ended)
        });
        let origin = self.origins.number("", &path, &thread, ioprio);
        self.known.insert((task, group, ioprio), origin);
        origin
    }

    fn ended(&mut self, task: TaskId) {
        self.known.retain(|(known, ..), _| *known != task);
    }

    fn gone(&mut self, group: GroupId) {
        self.known.retain(|(_, known, _), _| *known != group);
    }
}
