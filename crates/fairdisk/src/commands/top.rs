//! `fairdisk top`: shows continuously how much of the disk each group gets.

mod asked;
mod columns;
mod json;
pub(super) mod rates;
mod screen;
mod view;

use super::ctl::{self, At};
use crate::failure::Failure;
use crate::interrupt;
use crate::number_arg::within;
use crate::output;
use fairdisk_core::{Instant, Span};
use fairdisk_lab::results::value;
use fairdisk_lab::time_text;
use fairdisk_mount::control::{Ask, Client, Status};
use fairdisk_plane::{Clock as _, MonotonicClock};
pub(super) use json::TopResults;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use rates::Row;
pub(super) use rates::SortBy;
use screen::{Screen, Wish};
use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use view::Look;

/// Watch who gets how much of the disk, and change weights
///
/// Keys: ? shows them all. Arrows select a group, + and - change its weight, u takes that back, s
/// sorts, o shows the latency of reads, writes or fsyncs, t shows a tree, / filters, Tab shows the
/// next disk, q quits. NO_COLOR in the environment turns colours off.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    at: At,
    /// Time between two looks, 100ms to 1h; a number alone is seconds
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    interval: Duration,
    /// Print tables instead of drawing a screen; without a terminal that is so anyway
    #[arg(long)]
    batch: bool,
    /// Print JSON, an object in a line for each look, instead of drawing a screen
    #[arg(long)]
    json: bool,
    /// Tables or objects to print [default: until interrupted]
    #[arg(long, value_name = "N", value_parser = within::<u64>(1..=u64::MAX))]
    count: Option<u64>,
    /// The same as --count 1
    #[arg(long, conflicts_with = "count")]
    once: bool,
}

impl Args {
    /// The number of looks to print; `None` to continue until interrupted.
    const fn looks(&self) -> Option<u64> {
        if self.once { Some(1) } else { self.count }
    }
}

/// Parses the time between two looks.
fn interval(text: &str) -> Result<Duration, String> {
    let time = time_text::parse(text).map(|time| Duration::from_nanos(time.as_ns()));
    let allowed = Duration::from_millis(100)..=Duration::from_secs(3600);
    let expected =
        || "expected 100ms to 1h, as 500ms, 2s or 1m; a number alone is seconds".to_owned();
    time.ok().filter(|time| allowed.contains(time)).ok_or_else(expected)
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let clients = ctl::connect_all(&args.at)?;
    let interval = args.interval;
    let prints = args.batch || args.json || args.looks().is_some();
    if prints || !io::stdout().is_terminal() {
        return print(clients, interval, args);
    }
    let mut terminal = ratatui::init();
    let ended = watch(&mut terminal, clients, interval);
    ratatui::restore();
    ended
}

/// A disk, and the last two looks at it.
struct Disk {
    client: Client,
    before: Status,
    /// The last look, with the weights that were set since.
    after: Status,
}

impl Disk {
    fn of(mut client: Client) -> Result<Self, Failure> {
        let before = client.status()?;
        Ok(Self { client, after: before.clone(), before })
    }

    fn look(&mut self) -> Result<(), Failure> {
        let now = self.client.status()?;
        self.before = std::mem::replace(&mut self.after, now);
        Ok(())
    }

    fn rows(&self, sort: SortBy) -> Vec<Row> {
        rates::rows(&self.before, &self.after, sort)
    }
}

/// What groups asked for and got between two looks, as a table or an object in a line.
pub(super) fn between(before: &Status, after: &Status, sort: SortBy, json: bool) -> String {
    let rows = rates::rows(before, after, sort);
    match json {
        true => format!("{}\n", value(&TopResults::new(before, after, &rows))),
        false => view::lines(after, &rows),
    }
}

fn print(clients: Vec<Client>, interval: Duration, args: &Args) -> Result<(), Failure> {
    let stop = interrupt::stop_flag()?;
    let disks: Result<Vec<Disk>, Failure> = clients.into_iter().map(Disk::of).collect();
    let mut disks = disks?;
    let mut printed = 0;
    while args.looks().is_none_or(|count| printed < count) {
        if !pause(interval, &stop) {
            return Err(Failure::Interrupted(format!("{printed} looks are printed")));
        }
        for disk in &mut disks {
            disk.look()?;
            output::print(&between(&disk.before, &disk.after, SortBy::default(), args.json))?;
        }
        printed += 1;
    }
    Ok(())
}

/// Waits for `span`, or until `stop` is set. Returns whether the whole time has passed.
fn pause(span: Duration, stop: &AtomicBool) -> bool {
    let piece = Duration::from_millis(50);
    let mut left = span;
    while !left.is_zero() && !stop.load(Ordering::Relaxed) {
        fairdisk_plane::pause(piece.min(left));
        left = left.saturating_sub(piece);
    }
    !stop.load(Ordering::Relaxed)
}

/// The error of a terminal that has gone, for example because its window was closed.
fn no_terminal(error: io::Error) -> Failure {
    Failure::Run(format!("cannot use the terminal: {error}"))
}

/// The screen, and what it shows.
struct Watch<'a> {
    clock: MonotonicClock,
    terminal: &'a mut DefaultTerminal,
    disks: Vec<Disk>,
    /// The disk that is shown.
    shown: usize,
    screen: Screen,
    /// What takes back what was set: the group and the setting, the last one last.
    done: Vec<(String, String)>,
    colours: bool,
}

/// What happens between two looks.
trait Stage {
    fn now(&self) -> Instant;

    /// Waits up to `patience` for an event of the terminal. Returns whether there is one.
    fn waits(&mut self, patience: Span) -> Result<bool, Failure>;

    /// Reads an event from the terminal and acts on it. Returns whether to quit.
    fn act(&mut self) -> Result<bool, Failure>;

    fn draw(&mut self) -> Result<(), Failure>;
}

fn watch(
    terminal: &mut DefaultTerminal,
    clients: Vec<Client>,
    interval: Duration,
) -> Result<(), Failure> {
    let clock = MonotonicClock::start();
    let disks: Result<Vec<Disk>, Failure> = clients.into_iter().map(Disk::of).collect();
    let colours = std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
    let (screen, done) = (Screen::default(), Vec::new());
    let mut watch = Watch { clock, terminal, disks: disks?, shown: 0, screen, done, colours };
    let interval = Span::from_ns(interval.as_nanos() as u64);
    while !quits_until(watch.now() + interval, &mut watch)? {
        if !watch.screen.is_paused {
            watch.disks.iter_mut().try_for_each(Disk::look)?;
            let rows = watch.disks[watch.shown].rows(watch.screen.sort);
            watch.screen.remember(&rows);
        }
    }
    Ok(())
}

/// Draws and acts on events until the next look is due, however many events there are. Returns
/// whether to quit. Keys that came together are all acted on before the next drawing.
fn quits_until(due: Instant, stage: &mut impl Stage) -> Result<bool, Failure> {
    loop {
        stage.draw()?;
        let mut patience = due.since(stage.now());
        if patience == Span::ZERO || !stage.waits(patience)? {
            return Ok(false);
        }
        while patience > Span::ZERO && stage.waits(Span::ZERO)? {
            if stage.act()? {
                return Ok(true);
            }
            patience = due.since(stage.now());
        }
    }
}

impl Stage for Watch<'_> {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn waits(&mut self, patience: Span) -> Result<bool, Failure> {
        event::poll(Duration::from_nanos(patience.as_ns())).map_err(no_terminal)
    }

    fn act(&mut self) -> Result<bool, Failure> {
        let Event::Key(key) = event::read().map_err(no_terminal)? else { return Ok(false) };
        if key.kind != KeyEventKind::Press {
            return Ok(false);
        }
        let rows = self.disks[self.shown].rows(self.screen.sort);
        match self.screen.key(key, &rows) {
            Some(Wish::Quit) => return Ok(true),
            Some(Wish::Set { group, setting, before }) => {
                let is_set = self.set(&group, &setting);
                self.done.extend(is_set.then_some((group, before)));
            }
            Some(Wish::Undo) => match self.done.pop() {
                Some((group, setting)) => drop(self.set(&group, &setting)),
                None => "nothing to take back".clone_into(&mut self.screen.message),
            },
            Some(Wish::NextDisk) => {
                self.shown = (self.shown + 1) % self.disks.len();
                self.screen.remember(&[]);
            }
            None => {}
        }
        Ok(false)
    }

    fn draw(&mut self) -> Result<(), Failure> {
        let Self { terminal, screen, disks, shown, colours, .. } = self;
        let Disk { before, after, .. } = &disks[*shown];
        let (rows, busy) = (disks[*shown].rows(screen.sort), rates::busy(before, after));
        let disk = (*shown, disks.len());
        let look = Look { status: after, rows: &rows, disk, busy, colours: *colours };
        let drawn = terminal.draw(|frame| view::draw(screen, frame, look));
        drawn.map(drop).map_err(no_terminal)
    }
}

impl Watch<'_> {
    /// Sets a weight or a priority. Returns whether that was done.
    fn set(&mut self, group: &str, setting: &str) -> bool {
        let Disk { client, after, .. } = &mut self.disks[self.shown];
        let (group, settings) = (group.to_owned(), vec![setting.to_owned()]);
        let ask = Ask::Set { group: group.clone(), settings, own: false };
        let set = client.ask(&ask);
        let done = set.is_ok();
        self.screen.message = match set {
            Ok(_) => {
                note(after, &group, setting);
                format!("{group}: {setting}; u takes it back")
            }
            Err(error) => error.to_string(),
        };
        done
    }
}

/// Notes a weight that was set since the look, so that it is shown, and the next key counts from
/// it.
fn note(status: &mut Status, group: &str, setting: &str) {
    let weight = setting.strip_prefix("weight=").and_then(|weight| weight.parse().ok());
    let entry = status.groups.iter_mut().find(|entry| entry.path == group);
    if let Some((entry, weight)) = entry.zip(weight) {
        (entry.weight, entry.ioprio) = (weight, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    /// A group and a terminal at which a key is held: each press takes 50 ms to act on, and others
    /// are there by then.
    struct Held {
        now: Instant,
        pressed: u32,
        most: u32,
        drawn: u32,
        screen: Screen,
        status: Status,
    }

    impl Stage for Held {
        fn now(&self) -> Instant {
            self.now
        }

        fn waits(&mut self, patience: Span) -> Result<bool, Failure> {
            let waits = self.pressed < self.most;
            if !waits {
                self.now += patience;
            }
            Ok(waits)
        }

        fn act(&mut self) -> Result<bool, Failure> {
            self.pressed += 1;
            self.now += Span::from_ms(50);
            let rows = rates::rows(&self.status, &self.status, self.screen.sort);
            let key = KeyEvent::new(KeyCode::Char('+'), KeyModifiers::NONE);
            if let Some(Wish::Set { group, setting, .. }) = self.screen.key(key, &rows) {
                note(&mut self.status, &group, &setting);
            }
            Ok(false)
        }

        fn draw(&mut self) -> Result<(), Failure> {
            self.drawn += 1;
            Ok(())
        }
    }

    #[test]
    fn each_press_of_a_key_counts_and_a_held_key_does_not_hold_up_the_next_look() {
        let looks = |most| {
            let status = rates::tests::status_of("/a", 100);
            let mut screen = Screen::default();
            let rows = rates::rows(&status, &status, screen.sort);
            screen.key(KeyEvent::new(KeyCode::Down, KeyModifiers::NONE), &rows);
            let now = Instant::ZERO;
            let mut held = Held { now, pressed: 0, most, drawn: 0, screen, status };
            assert!(!quits_until(now + Span::from_s(1), &mut held).unwrap());
            held
        };
        let few = looks(5);
        assert_eq!((few.status.groups[0].weight, few.drawn), (303, 2));
        assert_eq!(looks(0).drawn, 1);
        let held = looks(u32::MAX);
        assert_eq!(held.now, Instant::ZERO + Span::from_s(1), "the next look is in time");
        assert_eq!((held.pressed, held.drawn), (20, 2));
    }

    #[test]
    fn an_interval_is_a_time_or_seconds() {
        for (text, ms) in [
            ("1", 1000),
            ("0.1", 100),
            ("2.5", 2500),
            ("2s", 2000),
            ("100ms", 100),
            ("1h", 3_600_000),
        ] {
            assert_eq!(interval(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "0", "0s", "0.09", "99ms", "3601", "2h", "-1", "often", "1 s"] {
            assert!(interval(text).unwrap_err().contains("100ms to 1h"), "{text}");
        }
    }
}
