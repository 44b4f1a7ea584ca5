//! I/O engines as the lab models them: how many requests a job may have in flight.

use serde::Serialize;

use super::setting::Given;
use super::value::{Read, ValueError};
use crate::nearest::nearest;

/// How a job submits its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Submission {
    /// The name of the engine in fio.
    pub engine: &'static str,
    /// How the lab models the engine.
    pub class: SubmissionClass,
    /// The job's advice on how it will use its files.
    pub hint: Hint,
    /// What of a file leaves memory when the job starts on it (`invalidate`, `remount`).
    pub dropped: Dropped,
}

/// What of a file leaves memory when a job starts on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dropped {
    /// Nothing (`invalidate=0`).
    Nothing,
    /// Its data.
    Data,
    /// Its data, and the blocks that say where that is (`remount`).
    Everything,
}

/// A job's advice on how it will use its files (`fadvise_hint`), given with `posix_fadvise` and,
/// for mapped files, `madvise`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Hint {
    /// No advice.
    Nothing,
    /// The advice that matches the job's pattern.
    #[default]
    Pattern,
    /// Random access; the advice on a mapping still matches the pattern.
    Random,
    /// Sequential access; the advice on a mapping still matches the pattern.
    Sequential,
}

/// The classes of engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SubmissionClass {
    /// One request at a time, each by a system call that waits.
    Sync,
    /// One access at a time, by page faults instead of system calls.
    Mapped,
    /// Several requests in flight.
    Async(Queue),
    /// Every request completes at once without using a device.
    Null,
}

/// The queue of an asynchronous job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Queue {
    /// The most requests in flight.
    pub depth: u32,
    /// Requests submitted together, at most `depth`.
    pub batch: u32,
    /// The number of requests in flight at or below which the queue is refilled; at most `depth`.
    pub low: u32,
}

/// A row of the engine table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Engine {
    pub(super) name: &'static str,
    pub(super) kind: EngineKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EngineKind {
    Sync,
    Mapped,
    Async,
    Null,
    /// An engine of fio that does nothing that a disk scheduler sees.
    Foreign,
}

const fn engine(name: &'static str, kind: EngineKind) -> Engine {
    Engine { name, kind }
}

/// The default engine of fio on Linux.
pub(super) const DEFAULT: Engine = engine("psync", EngineKind::Sync);

const ENGINES: [Engine; 31] = [
    DEFAULT,
    engine("sync", EngineKind::Sync),
    engine("vsync", EngineKind::Sync),
    engine("pvsync", EngineKind::Sync),
    engine("pvsync2", EngineKind::Sync),
    engine("mmap", EngineKind::Mapped),
    engine("libaio", EngineKind::Async),
    engine("io_uring", EngineKind::Async),
    engine("posixaio", EngineKind::Async),
    engine("windowsaio", EngineKind::Async),
    engine("solarisaio", EngineKind::Async),
    engine("null", EngineKind::Null),
    engine("io_uring_cmd", EngineKind::Foreign),
    engine("splice", EngineKind::Foreign),
    engine("sg", EngineKind::Foreign),
    engine("net", EngineKind::Foreign),
    engine("netsplice", EngineKind::Foreign),
    engine("cpuio", EngineKind::Foreign),
    engine("ftruncate", EngineKind::Foreign),
    engine("filecreate", EngineKind::Foreign),
    engine("filestat", EngineKind::Foreign),
    engine("filedelete", EngineKind::Foreign),
    engine("exec", EngineKind::Foreign),
    engine("falloc", EngineKind::Foreign),
    engine("e4defrag", EngineKind::Foreign),
    engine("mtd", EngineKind::Foreign),
    engine("rbd", EngineKind::Foreign),
    engine("rados", EngineKind::Foreign),
    engine("rdma", EngineKind::Foreign),
    engine("nbd", EngineKind::Foreign),
    engine("external", EngineKind::Foreign),
];

/// Whether the engine of this name is synchronous.
pub(crate) fn is_sync(name: &str) -> bool {
    ENGINES.iter().any(|engine| engine.name == name && engine.kind == EngineKind::Sync)
}

/// Parses `ioengine=`. fio looks an engine up only when it runs it, so an unknown one is not wrong.
pub(super) fn read(given: Given<'_>) -> Read<Engine> {
    let name = given.text()?;
    match ENGINES.iter().find(|engine| engine.name == name) {
        Some(Engine { kind: EngineKind::Foreign, .. }) => ValueError::unsupported(
            "this engine does not read and write a disk's files; use a synchronous one such as \
             psync or an asynchronous one such as libaio",
        ),
        Some(engine) => Ok(*engine),
        None => {
            let names = ENGINES.iter().filter(|engine| engine.kind != EngineKind::Foreign);
            let names: Vec<&str> = names.map(|engine| engine.name).collect();
            let hint = nearest(&name, names.iter().copied())
                .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let list = names.join(", ");
            ValueError::unsupported(format!("no such engine here; use one of {list}{hint}"))
        }
    }
}
