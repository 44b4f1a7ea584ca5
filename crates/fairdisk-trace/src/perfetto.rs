//! Traces for the Perfetto UI: a track for each group and task, with its requests, what was under
//! way, and the scheduler's decisions.
//!
//! The file is a sequence of packets as Perfetto's `perfetto_trace.proto` describes them; the
//! messages here are the few fields of it that are written.

use crate::origins::{Origin, OriginId, Origins};
use crate::request::Request;
use fairdisk_core::{Instant, Op};
use prost::Message;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::io::{self, Write};

#[derive(Clone, PartialEq, Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<Packet>,
}

#[derive(Clone, PartialEq, Message)]
struct Packet {
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
    #[prost(uint64, optional, tag = "5")]
    parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    counter: Option<Counter>,
}

#[derive(Clone, PartialEq, Message)]
struct Counter {
    #[prost(string, optional, tag = "6")]
    unit_name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    debug_annotations: Vec<Annotation>,
    #[prost(int32, optional, tag = "9")]
    r#type: Option<i32>,
    #[prost(uint64, optional, tag = "11")]
    track_uuid: Option<u64>,
    #[prost(string, repeated, tag = "22")]
    categories: Vec<String>,
    #[prost(string, optional, tag = "23")]
    name: Option<String>,
    #[prost(int64, optional, tag = "30")]
    counter_value: Option<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Annotation {
    #[prost(uint64, optional, tag = "3")]
    uint_value: Option<u64>,
    #[prost(string, optional, tag = "10")]
    name: Option<String>,
}

/// Kinds of events.
mod kind {
    pub(super) const BEGIN: i32 = 1;
    pub(super) const END: i32 = 2;
    pub(super) const INSTANT: i32 = 3;
    pub(super) const COUNTER: i32 = 4;
}

/// All packets are of one writer.
const SEQUENCE: u32 = 1;
/// The track of the scheduler, and the number of the first of the others.
const SCHEDULER: u64 = 1;
const FIRST: u64 = 2;

/// Writes a trace for Perfetto. Requests are added in the order in which they were asked for.
#[derive(Debug)]
pub struct Perfetto<W> {
    out: W,
    next_track: u64,
    groups: BTreeMap<String, Group>,
    /// The group and the lanes of each origin.
    tasks: HashMap<OriginId, Task>,
    has_scheduler: bool,
}

/// A group: its track, and what is under way.
#[derive(Debug)]
struct Group {
    track: u64,
    depth_track: u64,
    under_way: BinaryHeap<Reverse<Instant>>,
}

#[derive(Debug)]
struct Task {
    group: String,
    name: String,
    /// Requests of a task that are under way at once lie on lanes of their own; when each is free.
    lanes: Vec<(u64, Instant)>,
}

impl<W: Write> Perfetto<W> {
    /// Begins a trace.
    pub fn new(out: W) -> Self {
        Self {
            out,
            next_track: FIRST,
            groups: BTreeMap::new(),
            tasks: HashMap::new(),
            has_scheduler: false,
        }
    }

    /// Adds a request, whose origin is one of `origins`. One without an end is a point.
    ///
    /// # Errors
    /// Returns an error if the trace cannot be written.
    pub fn add(&mut self, request: &Request, origins: &Origins) -> io::Result<()> {
        let origin = origins.get(request.origin);
        if !self.tasks.contains_key(&request.origin) {
            self.begin_task(request.origin, origin)?;
        }
        self.count(request)?;
        let track = self.lane(request)?;
        let name = words(request);
        let begin = TrackEvent {
            debug_annotations: annotations(request),
            ..event(kind::BEGIN, track, Some(name), "request")
        };
        let Some(done) = request.done else {
            let point = TrackEvent { r#type: Some(kind::INSTANT), ..begin };
            return self.put(request.queued, point);
        };
        self.put(request.queued, begin)?;
        if let Some(issued) = request.issued.filter(|issued| *issued > request.queued) {
            let waits = event(kind::BEGIN, track, Some("waits for the scheduler".into()), "waits");
            self.put(request.queued, waits)?;
            self.put(issued, event(kind::END, track, None, "waits"))?;
        }
        self.put(done, event(kind::END, track, None, "request"))
    }

    /// Adds a decision of the scheduler, with its reason.
    ///
    /// # Errors
    /// Returns an error if the trace cannot be written.
    pub fn decision(&mut self, at: Instant, reason: &str) -> io::Result<()> {
        if !self.has_scheduler {
            self.has_scheduler = true;
            self.track(SCHEDULER, "scheduler: decisions", None, None)?;
        }
        self.put(at, event(kind::INSTANT, SCHEDULER, Some(reason.to_owned()), "decision"))
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// Returns an error if the rest cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        for name in self.groups.keys().cloned().collect::<Vec<_>>() {
            self.count_until(&name, Instant::MAX)?;
        }
        self.out.flush()
    }

    fn begin_task(&mut self, id: OriginId, origin: &Origin) -> io::Result<()> {
        let named = |name: &str, other: &str| if name.is_empty() { other } else { name }.to_owned();
        let group = named(&origin.group, "(no group)");
        if !self.groups.contains_key(&group) {
            let (track, depth_track) = (self.number(), self.number());
            self.track(track, &group, None, None)?;
            let unit = Counter { unit_name: Some("requests".to_owned()) };
            self.track(depth_track, "under way", Some(track), Some(unit))?;
            let under_way = BinaryHeap::new();
            self.groups.insert(group.clone(), Group { track, depth_track, under_way });
        }
        let (track, parent) = (self.number(), self.groups[&group].track);
        let name = named(&origin.task, "(no task)");
        self.track(track, &name, Some(parent), None)?;
        let lanes = vec![(track, Instant::ZERO)];
        self.tasks.insert(id, Task { group, name, lanes });
        Ok(())
    }

    /// The track on which the request fits.
    fn lane(&mut self, request: &Request) -> io::Result<u64> {
        let until = request.done.unwrap_or(request.queued);
        let next = self.next_track;
        let Some(task) = self.tasks.get_mut(&request.origin) else { return Ok(SCHEDULER) };
        if let Some((track, free)) = task.lanes.iter_mut().find(|(_, free)| *free <= request.queued)
        {
            *free = until;
            return Ok(*track);
        }
        task.lanes.push((next, until));
        // Tracks of one name are shown as one.
        let (name, parent) = (task.name.clone(), self.groups[&task.group].track);
        self.next_track += 1;
        self.track(next, &name, Some(parent), None)?;
        Ok(next)
    }

    /// Counts the request as under way in its group.
    fn count(&mut self, request: &Request) -> io::Result<()> {
        let group = self.tasks[&request.origin].group.clone();
        self.count_until(&group, request.queued)?;
        let Some(known) = self.groups.get_mut(&group) else { return Ok(()) };
        known.under_way.extend(request.done.map(Reverse));
        let (depth, track) = (known.under_way.len(), known.depth_track);
        self.put(request.queued, counter(track, depth))
    }

    /// Counts down what was done until then.
    fn count_until(&mut self, group: &str, until: Instant) -> io::Result<()> {
        while let Some(known) = self.groups.get_mut(group) {
            let Some(Reverse(done)) = known.under_way.peek().copied() else { break };
            if done > until {
                break;
            }
            known.under_way.pop();
            let (depth, track) = (known.under_way.len(), known.depth_track);
            self.put(done, counter(track, depth))?;
        }
        Ok(())
    }

    fn number(&mut self) -> u64 {
        self.next_track += 1;
        self.next_track - 1
    }

    fn track(
        &mut self,
        uuid: u64,
        name: &str,
        parent: Option<u64>,
        counter: Option<Counter>,
    ) -> io::Result<()> {
        let descriptor = TrackDescriptor {
            uuid: Some(uuid),
            name: Some(name.to_owned()),
            parent_uuid: parent,
            counter,
        };
        self.write(Packet { track_descriptor: Some(descriptor), ..Packet::default() })
    }

    fn put(&mut self, at: Instant, event: TrackEvent) -> io::Result<()> {
        let timestamp = Some(at.as_ns());
        self.write(Packet { timestamp, track_event: Some(event), ..Packet::default() })
    }

    /// Writes a packet: a trace of several is the traces of each, one behind the other.
    fn write(&mut self, packet: Packet) -> io::Result<()> {
        let packet = Packet { trusted_packet_sequence_id: Some(SEQUENCE), ..packet };
        self.out.write_all(&Trace { packet: vec![packet] }.encode_to_vec())
    }
}

fn event(kind: i32, track: u64, name: Option<String>, category: &str) -> TrackEvent {
    let categories = name.iter().map(|_| category.to_owned()).collect();
    TrackEvent {
        r#type: Some(kind),
        track_uuid: Some(track),
        categories,
        name,
        ..TrackEvent::default()
    }
}

fn counter(track: u64, depth: usize) -> TrackEvent {
    TrackEvent { counter_value: Some(depth as i64), ..event(kind::COUNTER, track, None, "") }
}

fn words(request: &Request) -> String {
    let op = match request.op {
        Op::Read => "read",
        Op::Write => "write",
        Op::WriteZeroes => "write zeroes",
        Op::Flush => return "flush".to_owned(),
        Op::Discard => "discard",
    };
    format!("{op} {} KiB", request.sectors.bytes() as f64 / 1024.0)
}

fn annotations(request: &Request) -> Vec<Annotation> {
    let of = |(name, value): (&str, u64)| Annotation {
        uint_value: Some(value),
        name: Some(name.to_owned()),
    };
    [("start_sector", request.start.0), ("sectors", request.sectors.0.into())].map(of).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Traits;
    use fairdisk_core::{IoPrio, Lba, Sectors};

    /// A request with the times at which it was asked for, issued and done, in ns.
    fn request(origin: OriginId, [queued, issued, done]: [u64; 3]) -> Request {
        Request {
            origin,
            op: Op::Read,
            traits: Traits::SYNC,
            start: Lba(8),
            sectors: Sectors(8),
            queued: Instant::from_ns(queued),
            issued: Some(Instant::from_ns(issued)),
            done: (done > 0).then(|| Instant::from_ns(done)),
        }
    }

    /// Tracks by number: their names and parents.
    type TracksByNumber = BTreeMap<u64, (String, Option<u64>)>;

    /// The tracks, and the events, a line each.
    fn written(bytes: &[u8]) -> (TracksByNumber, Vec<String>) {
        let trace = Trace::decode(bytes).expect("it is a trace");
        let mut tracks = BTreeMap::new();
        let mut events = Vec::new();
        for packet in trace.packet {
            if let Some(it) = packet.track_descriptor {
                tracks.insert(it.uuid(), (it.name().to_owned(), it.parent_uuid));
            }
            if let Some(it) = packet.track_event {
                let (name, at) = (&tracks[&it.track_uuid()].0, packet.timestamp.expect("a time"));
                let what = ["", "begin", "end", "point", "count"][it.r#type() as usize];
                let more = it.counter_value.map_or(it.name().to_owned(), |count| count.to_string());
                events.push(format!("{at} {name} {}: {what} {more}", it.track_uuid()));
            }
        }
        (tracks, events)
    }

    #[test]
    fn requests_lie_on_tracks_of_their_tasks() {
        let mut origins = Origins::default();
        let db = origins.number("", "/db", "postgres-7", IoPrio::UNSET);
        let log = origins.number("", "", "", IoPrio::UNSET);
        let (mut bytes, all) = (
            Vec::new(),
            [
                request(db, [0, 0, 100]),
                // Beside the first one.
                request(db, [50, 80, 120]),
                request(log, [60, 60, 0]),
                // The first lane is free again.
                request(db, [100, 100, 110]),
            ],
        );
        let mut out = Perfetto::new(&mut bytes);
        for one in &all {
            out.add(one, &origins).expect("memory takes it");
        }
        out.decision(Instant::from_ns(80), "its turn").and_then(|()| out.finish()).expect("so too");
        let (tracks, events) = written(&bytes);
        let names: Vec<_> = tracks.values().map(|(name, parent)| (&**name, *parent)).collect();
        assert_eq!(
            names,
            [
                ("scheduler: decisions", None),
                ("/db", None),
                ("under way", Some(2)),
                ("postgres-7", Some(2)),
                ("postgres-7", Some(2)),
                ("(no group)", None),
                ("under way", Some(6)),
                ("(no task)", Some(6)),
            ]
        );
        assert_eq!(
            events,
            [
                "0 under way 3: count 1",
                "0 postgres-7 4: begin read 4 KiB",
                "100 postgres-7 4: end ",
                "50 under way 3: count 2",
                "50 postgres-7 5: begin read 4 KiB",
                "50 postgres-7 5: begin waits for the scheduler",
                "80 postgres-7 5: end ",
                "120 postgres-7 5: end ",
                "60 under way 7: count 0",
                "60 (no task) 8: point read 4 KiB",
                "100 under way 3: count 1",
                "100 under way 3: count 2",
                "100 postgres-7 4: begin read 4 KiB",
                "110 postgres-7 4: end ",
                "80 scheduler: decisions 1: point its turn",
                "110 under way 3: count 1",
                "120 under way 3: count 0",
            ]
        );
    }
}
