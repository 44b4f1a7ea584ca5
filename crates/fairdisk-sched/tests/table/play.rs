//! Plays a scenario on a real engine under audit.

use crate::cast::Cast;
use crate::scenario::{Scenario, Step};
use crate::settings::{costs, ioprio, number, qos, scheduler, share};
use crate::telling::tell;
use fairdisk_core::{
    Auditor, Change, Effect, Effects, Engine, GroupId, Input, Instant, Journal, Record, Span,
    TaskId,
};
use fairdisk_sched::{Scheduler, SchedulerSpec};

type Elevator = Auditor<Scheduler>;

/// What the engine does at each step.
pub(crate) fn play(scenario: &Scenario) -> Result<Vec<String>, String> {
    let mut player = Player::new(scenario);
    let tell =
        |step: &Step| player.step(step).map_err(|fault| format!("line {}: {fault}", step.line));
    scenario.steps.iter().map(tell).collect()
}

struct Player {
    spec: SchedulerSpec,
    engine: Engine<Elevator>,
    effects: Effects,
    wake_at: Option<Instant>,
    /// The number of journal entries reported so far.
    told: usize,
    cast: Cast,
}

impl Player {
    fn new(scenario: &Scenario) -> Self {
        let settings = &scenario.settings;
        let elevator = Auditor::new(settings.spec.build());
        let mut player = Self {
            spec: settings.spec,
            engine: Engine::new(elevator, settings.config, Journal::keeping()),
            effects: Effects::new(),
            wake_at: None,
            told: 0,
            cast: Cast::default(),
        };
        for (group, share, qos) in settings.groups.iter().copied() {
            player.configure(Change::GroupAdded { group, share });
            player.configure(Change::GroupQos { group, qos });
        }
        for (task, group, ioprio) in settings.tasks.iter().copied() {
            player.cast.set_group(task, group);
            player.cast.set_ioprio(task, ioprio);
            player.configure(Change::TaskMoved { task, group });
            player.configure(Change::TaskPriority { task, ioprio });
        }
        player.told = player.engine.journal().entries().len();
        player
    }

    fn configure(&mut self, change: Change) {
        self.engine.handle(Instant::ZERO, Input::Configure(change), &mut self.effects);
    }

    fn step(&mut self, step: &Step) -> Result<String, String> {
        if let Some(wake_at) = self.wake_at.filter(|wake_at| *wake_at < step.at) {
            return Err(format!("the engine wanted a tick at {wake_at}"));
        }
        let words: Vec<&str> = step.words.iter().map(String::as_str).collect();
        match *words.as_slice() {
            ["repeat", times, ref words @ ..] => self.repeat(step.at, number(times)?, words),
            _ => self.act(step.at, &words),
        }
    }

    /// Runs `words` several times; `#` in them stands for 1, 2, …
    fn repeat(&mut self, now: Instant, times: u32, words: &[&str]) -> Result<String, String> {
        let mut told: Vec<(String, String, u32)> = Vec::new();
        for time in 1..=times {
            let number = time.to_string();
            let numbered: Vec<String> =
                words.iter().map(|word| word.replace('#', &number)).collect();
            let numbered: Vec<&str> = numbered.iter().map(String::as_str).collect();
            let text = self.act(now, &numbered)?;
            let shape = shape(&text, time);
            match told.last_mut() {
                Some((_, last, count)) if *last == shape => *count += 1,
                _ => told.push((text, shape, 1)),
            }
        }
        let parts = told.into_iter().map(|(text, shape, count)| match count {
            1 => text,
            _ => format!("{count} times {shape}"),
        });
        Ok(parts.collect::<Vec<_>>().join(", "))
    }

    fn act(&mut self, now: Instant, words: &[&str]) -> Result<String, String> {
        let input = self.input(words)?;
        self.engine.handle(now, input, &mut self.effects);
        self.wake_at = self.effects.wake_at;
        let entries = &self.engine.journal().entries()[self.told..];
        let records: Vec<Record> = entries.iter().map(|entry| entry.record).collect();
        self.told += records.len();
        self.note_woken(&records);
        let told = tell(&records, &mut self.cast);
        Ok(match (self.effects.switch_refused, self.effects.change_refused) {
            (Some(error), _) => format!("refused: {error:?}"),
            (None, Some(refusal)) => format!("refused: {refusal}"),
            (None, None) => told,
        })
    }

    /// Relates woken bios to sleepers: the journal names the bio, the effect names the sleeper.
    fn note_woken(&mut self, records: &[Record]) {
        let woken = records.iter().filter_map(|record| match *record {
            Record::Woken(bio) => Some(bio),
            _ => None,
        });
        let sleepers = self.effects.as_slice().iter().filter_map(|effect| match *effect {
            Effect::Wake { sleeper, .. } => Some(sleeper),
            _ => None,
        });
        for (bio, sleeper) in woken.zip(sleepers) {
            self.cast.woke(bio, sleeper);
        }
    }

    /// The table's own scheduler with its settings, or another one with default settings.
    fn spec(&self, name: &str) -> Result<SchedulerSpec, String> {
        if self.spec.name() == name { Ok(self.spec) } else { scheduler(name) }
    }

    fn input(&mut self, words: &[&str]) -> Result<Input<Elevator>, String> {
        Ok(match *words {
            ["submit", name, op, ref words @ ..] => Input::Submit(self.cast.bio(name, op, words)?),
            ["retry", name] => Input::Retry(self.cast.take_sleeper(name)?),
            ["cancel", name] => Input::Cancel(self.cast.bio_called(name)?),
            ["hurry", name] => Input::Hurry([self.cast.bio_called(name)?].into()),
            ["tick"] => Input::Tick,
            ["unplug"] => Input::Unplug,
            ["switch", name] => Input::Switch(Box::new(Auditor::new(self.spec(name)?.build()))),
            [end @ ("done" | "fail"), name] => {
                Input::Completed { request: self.cast.take_from_device(name)?, ok: end == "done" }
            }
            ["rotational", rotational] => {
                Input::Configure(Change::Rotational { rotational: number(rotational)? })
            }
            ["costs", us, ps, ref more @ ..] => {
                Input::Configure(Change::Costs(costs(us, ps, more)?))
            }
            ["depth", depth] => Input::Configure(Change::Depth { depth: number(depth)? }),
            _ => Input::Configure(self.change(words)?),
        })
    }

    fn change(&mut self, words: &[&str]) -> Result<Change, String> {
        let [what, id, rest @ ..] = words else { return Err(unknown(words)) };
        let (task, group) = (TaskId(number(id)?), GroupId(number(id)?));
        Ok(match (*what, rest) {
            ("ionice", [class]) => {
                let ioprio = ioprio(class)?;
                self.cast.set_ioprio(task, ioprio);
                Change::TaskPriority { task, ioprio }
            }
            ("move", [to]) => {
                let group = GroupId(number(to)?);
                self.cast.set_group(task, group);
                Change::TaskMoved { task, group }
            }
            ("exit", []) => Change::TaskExited { task },
            ("group", ["added", asks]) => Change::GroupAdded { group, share: share(asks)? },
            ("group", [idle]) if idle.starts_with("idle:") => {
                let ms = idle.trim_start_matches("idle:");
                let idle = if ms == "default" { None } else { Some(Span::from_ms(number(ms)?)) };
                Change::GroupIdle { group, idle }
            }
            ("group", ["removed"]) => Change::GroupRemoved { group },
            ("group", ["in", parent]) => {
                Change::GroupParent { group, parent: Some(GroupId(number(parent)?)) }
            }
            ("group", ["out"]) => Change::GroupParent { group, parent: None },
            ("group", ["asks", asks @ ..]) => Change::GroupQos { group, qos: qos(asks)? },
            ("group", [asks]) => Change::GroupShare { group, share: share(asks)? },
            _ => return Err(unknown(words)),
        })
    }
}

/// `text` with `#` for `time` and `#+1` for the number after it, so that similar steps look alike.
fn shape(text: &str, time: u32) -> String {
    let is_digit = |c: char| c.is_ascii_digit();
    let (mut shape, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(is_digit) {
        let (before, from) = rest.split_at(at);
        let (number, after) = from.split_at(from.find(|c| !is_digit(c)).unwrap_or(from.len()));
        shape += before;
        match number.parse::<u32>() {
            Ok(value) if value == time => shape.push('#'),
            Ok(value) if value == time + 1 => shape += "#+1",
            _ => shape += number,
        }
        rest = after;
    }
    shape + rest
}

fn unknown(words: &[&str]) -> String {
    format!("nothing that can happen: {}", words.join(" "))
}
