//! From settings to jobs: looks up each setting in the table of keys and checks each section.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::check;
use super::draft::{Draft, value};
use super::error::{Error, ErrorKind, Place, Problems};
use super::finish;
use super::flow::Flows;
use super::job::Job;
use super::keys::{self, Does, Key, Refused};
use super::limits;
use super::note::Notes;
use super::setting::{Given, Placed};
use super::source::{JobFile, Section, Setting};
use super::span;
use super::whole::{Groups, Size};
use crate::plan::Children;

/// The jobs of a file, and notes on how they were read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Resolved {
    /// One job for each section other than `[global]`, in file order.
    pub jobs: Vec<Job>,
    /// Notes: keys without effect, values that were adjusted.
    pub notes: Notes,
    /// What the jobs ask of the run as a whole.
    #[serde(skip)]
    pub asked: Vec<Asked>,
    /// The groups with floors, and where those are written.
    #[serde(skip)]
    pub floors: BTreeMap<String, Place>,
}

/// The jobs of one row of the results.
#[derive(Debug, Clone)]
pub struct JobRow {
    /// The label of the row.
    pub label: String,
    /// The jobs.
    pub jobs: Resolved,
    /// The tests of iozone that the jobs are, if they are.
    pub children: Vec<Children>,
}

impl From<Resolved> for JobRow {
    /// The row of a job file.
    fn from(jobs: Resolved) -> Self {
        Self { label: "jobs".to_owned(), jobs, children: Vec::new() }
    }
}

/// A `scheduler=` or `device=` setting of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The key.
    pub key: &'static str,
    /// The value.
    pub value: String,
    /// The location of the setting.
    pub place: Place,
}

impl JobFile {
    /// Resolves every setting and checks each job as a whole.
    ///
    /// # Errors
    /// Returns every setting that is wrong or not supported, and every job that cannot run.
    pub fn resolve(&self) -> Result<Resolved, Problems> {
        self.resolve_by(Work::default())
    }

    /// Resolves every setting as [`resolve`](Self::resolve) does, but leaves out what fio knows and
    /// Fairdisk does not support, each with a note.
    ///
    /// # Errors
    /// Returns every setting that is wrong, and every job that cannot run.
    pub fn resolve_approximately(&self) -> Result<Resolved, Problems> {
        self.resolve_by(Work { approximates: true, ..Work::default() })
    }

    fn resolve_by(&self, work: Work) -> Result<Resolved, Problems> {
        let mut work = Work { notes: self.notes.clone(), ..work };
        let mut base = Draft::default();
        let mut base_is_whole = true;
        work.exitall(&mut base, &self.sections);
        for section in &self.sections {
            if section.is_global() {
                base_is_whole &= work.apply(&mut base, section);
            } else {
                let mut draft = base.clone();
                // Gaps left by settings that could not be read would look like conflicts.
                let is_whole = work.apply(&mut draft, section) && base_is_whole;
                if work.refuse(&draft) && is_whole {
                    work.job(section, &draft);
                }
            }
        }
        if self.sections.iter().all(Section::is_global) {
            work.wrong.push(Error { place: self.start.clone(), kind: ErrorKind::NoJob });
        }
        work.wrong.extend(work.groups.contradictions());
        match Problems::from_list(work.wrong) {
            Some(problems) => Err(problems),
            None => {
                work.flows.remarks(&mut work.notes);
                work.notes.sort();
                work.groups.apply(&mut work.jobs);
                let floors = work.groups.floors();
                Ok(Resolved { jobs: work.jobs, notes: work.notes, asked: work.asked, floors })
            }
        }
    }
}

#[derive(Default)]
struct Work {
    /// Whether what cannot be honoured is left out, with a note.
    approximates: bool,
    engine_is_refused: bool,
    jobs: Vec<Job>,
    notes: Notes,
    asked: Vec<Asked>,
    groups: Groups,
    size: Size,
    flows: Flows,
    wrong: Vec<Error>,
}

impl Work {
    /// Applies the settings of a section. Returns whether all of them could be applied.
    fn apply(&mut self, draft: &mut Draft, section: &Section) -> bool {
        let before = self.wrong.len();
        // fio reads `kb_base` before everything else, wherever it is.
        let (units, others): (Vec<_>, Vec<_>) =
            section.settings.iter().partition(|setting| setting.key == "kb_base");
        self.overruled(section);
        for setting in units.into_iter().chain(others) {
            if let Err(kind) = self.setting(draft, setting) {
                self.leave_out(Error { place: setting.place.clone(), kind });
            }
        }
        self.engine_keys(draft);
        self.wrong.len() == before
    }

    /// To fio, `exitall` concerns every job, wherever it is. An error in it is told where it is.
    fn exitall(&mut self, base: &mut Draft, sections: &[Section]) {
        let settings = sections.iter().flat_map(|section| &section.settings);
        let is_it =
            |setting: &&Setting| keys::find(&setting.key).is_some_and(|key| key.name == "exitall");
        for setting in settings.filter(is_it) {
            self.setting(base, setting).unwrap_or_default();
        }
    }

    /// Notes keys that a section sets twice; file names accumulate and have a note of their own.
    fn overruled(&mut self, section: &Section) {
        let mut first: BTreeMap<&str, &Place> = BTreeMap::new();
        for setting in &section.settings {
            let Some(key) = keys::find(&setting.key).filter(|key| key.name != "filename") else {
                continue;
            };
            if let Some(place) = first.insert(key.name, &setting.place) {
                let text = format!("set before in {place}; this one counts, as in fio");
                self.notes.add(&setting.place, &setting.key, text);
            }
        }
    }

    fn setting(&mut self, draft: &mut Draft, setting: &Setting) -> Result<(), ErrorKind> {
        let key = keys::find(&setting.key).ok_or_else(|| ErrorKind::UnknownKey {
            key: setting.key.clone(),
            nearest: keys::nearest(&setting.key),
            closest: keys::closest(&setting.key),
        })?;
        if let ("filename", Some(before)) = (key.name, &draft.filename) {
            let text = format!("adds to `{}`, as in fio", span::written(&before.value));
            self.notes.add(&setting.place, key.name, text);
        }
        let given = Given {
            key: key.name,
            raw: setting.value.as_deref(),
            place: &setting.place,
            base: draft.base(),
        };
        match key.does {
            Does::Set(read) => {
                draft.note_engine_key(key, &setting.place);
                read(draft, given)
            }
            Does::Limit(limit) => limits::read(draft, limit, given),
            Does::Nothing(shape) => shape.check(given).map(|()| self.inert(draft, key, setting)),
            Does::Refuse(harmless) => harmless.check(given).map(|()| {
                draft.note_engine_key(key, &setting.place);
                draft.refused.retain(|before| before.key.name != key.name);
                draft.refused.push(Refused { key, setting: setting.clone() });
            }),
        }
        .map_err(|error| error.at(setting))
    }

    /// Refuses what would have an effect on the job. Returns whether nothing had to be refused.
    fn refuse(&mut self, draft: &Draft) -> bool {
        let before = self.wrong.len();
        for refused in &draft.refused {
            let Refused { key, setting } = refused;
            if let Some(why) = refused.has_no_effect(draft) {
                self.notes.add(&setting.place, &setting.key, format!("no effect: {why}"));
                continue;
            }
            let written = setting.key.clone();
            let kind = match (refused.neutral_values(), &setting.value) {
                ([], _) | (_, None) => ErrorKind::UnsupportedKey { key: written, remedy: key.help },
                (values, Some(value)) => ErrorKind::UnsupportedValue {
                    key: written,
                    value: value.clone(),
                    remedy: format!("{}; only {} can be run", key.help, values.join(" or ")),
                },
            };
            self.leave_out(Error { place: setting.place.clone(), kind });
        }
        self.wrong.len() == before
    }

    /// Refuses a setting, or runs the job without it if that was asked for.
    fn leave_out(&mut self, error: Error) {
        self.engine_is_refused |= matches!(
            &error.kind, ErrorKind::UnsupportedValue { key, .. } if key == "ioengine"
        );
        let (key, value, remedy) = match &error.kind {
            ErrorKind::UnsupportedKey { key, remedy } if self.approximates => {
                (key, String::new(), *remedy)
            }
            ErrorKind::UnsupportedValue { key, value, remedy } if self.approximates => {
                (key, format!("`{value}` "), &**remedy)
            }
            _ => return self.wrong.push(error),
        };
        let text = format!("{value}LEFT OUT, the result differs from fio's: {remedy}");
        self.notes.add(&error.place, key, text);
    }

    fn inert(&mut self, draft: &mut Draft, key: &'static Key, setting: &Setting) {
        draft.note_engine_key(key, &setting.place);
        self.notes.add(&setting.place, &setting.key, format!("no effect: {}", key.help));
    }

    /// To fio, the keys of an engine are unknown while another engine is set.
    fn engine_keys(&mut self, draft: &mut Draft) {
        if self.engine_is_refused {
            // The engine of these keys may be the one that was refused.
            for (key, place) in draft.engine_keys.drain(..) {
                self.notes.add(&place, key.name, "no effect: its engine is not supported");
            }
            return;
        }
        let engine = value(&draft.ioengine).map(|engine| engine.name);
        for (key, place) in draft.engine_keys.drain(..) {
            if !engine.is_some_and(|name| key.engines.contains(&name)) {
                let kind = ErrorKind::KeyOfOtherEngine { key: key.name, engines: key.engines };
                self.wrong.push(Error { place, kind });
            }
        }
    }

    fn job(&mut self, section: &Section, draft: &Draft) {
        let mut wrong = check::conflicts(section, draft);
        wrong.extend(check::waits_for_nobody(draft, &self.jobs));
        if !wrong.is_empty() {
            self.wrong.extend(wrong);
            return;
        }
        self.notes.extend(&check::remarks(draft));
        for slot in [&draft.scheduler, &draft.device].into_iter().flatten() {
            let Placed { key, value, place } = slot.clone();
            self.asked.push(Asked { key, value, place });
        }
        let job = finish::job(section, draft, self.jobs.last());
        self.wrong.extend(self.groups.add(&job, draft));
        self.wrong.extend(self.size.add(&job, draft, &section.place));
        self.flows.add(&job, draft);
        self.jobs.push(job);
    }
}

impl fmt::Display for Resolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = None;
        for job in &self.jobs {
            job.list(f, before)?;
            before = Some(job);
        }
        Ok(())
    }
}
