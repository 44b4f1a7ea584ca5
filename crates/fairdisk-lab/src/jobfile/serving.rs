//! How a job goes from file to file (`openfiles`, `file_service_type`).

use std::num::NonZeroU32;

use serde::Serialize;

use super::check::{self, say};
use super::draft::{Draft, Slot, value};
use super::note::Notes;
use super::render::Lines;
use super::setting::Given;
use super::value::{Read, ValueError};

/// The keys of turns of files.
#[derive(Debug, Clone, Default)]
pub(super) struct ServingKeys {
    pub(super) open: Slot<u32>,
    pub(super) service: Slot<Service>,
}

/// A value of `file_service_type=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    InTurn(NonZeroU32),
    Random(NonZeroU32),
    Sequential,
}

/// How a job goes from file to file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Serving {
    /// The most files that are open at once; the next one is opened when one is done.
    pub open: Option<NonZeroU32>,
    /// Whether the file of the next request is drawn.
    pub random: bool,
    /// The number of requests in a turn.
    pub ios: NonZeroU32,
}

const ONE: NonZeroU32 = NonZeroU32::MIN;

/// Parses `file_service_type=`.
pub(super) fn service(given: Given<'_>) -> Read<Service> {
    let text = given.word("a way, such as roundrobin or random:8")?;
    let (word, count) = match text.split_once(':') {
        Some((word, count)) => (word, Some(Given { raw: Some(count), ..given })),
        None => (text, None),
    };
    let words = [("roundrobin", 0), ("random", 1), ("sequential", 2)];
    let others = [("zipf", 3), ("pareto", 3), ("normal", 3), ("gauss", 3)];
    let words: Vec<(&str, u8)> = words.into_iter().chain(others).collect();
    let kind = Given { raw: Some(word), ..given }.choice(&words)?;
    if kind == 3 {
        return ValueError::unsupported("files are drawn evenly only; use random or roundrobin");
    }
    let ios = count.map(|count| count.count32(1)).transpose()?;
    let ios = ios.and_then(NonZeroU32::new).unwrap_or(ONE);
    Ok(match kind {
        0 => Service::InTurn(ios),
        1 => Service::Random(ios),
        _ => Service::Sequential,
    })
}

impl ServingKeys {
    /// One file after the other is the same as one open file. The number of files says what has an
    /// effect.
    pub(super) fn serving(&self, files: u64) -> Serving {
        let service = value(&self.service).filter(|_| files > 1).unwrap_or(Service::InTurn(ONE));
        let open = value(&self.open).and_then(NonZeroU32::new);
        let open = open.filter(|open| u64::from(open.get()) < files);
        match service {
            Service::InTurn(ios) => Serving { open, random: false, ios },
            Service::Random(ios) => Serving { open, random: true, ios },
            Service::Sequential => Serving { open: Some(ONE), random: false, ios: ONE },
        }
    }
}

pub(super) fn remarks(draft: &Draft, notes: &mut Notes) {
    let files = check::file_count(draft);
    let keys = &draft.serving;
    let text = "no effect: there is one file";
    say(notes, &keys.open, files == 1, text);
    say(notes, &keys.service, files == 1, text);
    let holds = value(&keys.open).is_some_and(|open| open == 0 || u64::from(open) >= files);
    say(notes, &keys.open, files > 1 && holds, "no effect: all files are open");
}

impl Serving {
    pub(super) fn lines(&self, lines: &mut Lines) {
        if let Some(open) = self.open {
            lines.set("openfiles", open, "files at a time");
        }
        let word = if self.random { "random" } else { "roundrobin" };
        if self.random || self.ios != ONE {
            lines.set("file_service_type", format!("{word}:{}", self.ios), "requests in a turn");
        }
    }
}
