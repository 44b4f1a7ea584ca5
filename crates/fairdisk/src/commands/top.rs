//! `fairdisk top`: shows continuously how much of the disk each group gets.

mod asked;
pub(super) mod rates;
mod screen;

use super::ctl::{self, At};
use crate::failure::Failure;
use crate::interrupt;
use crate::number_arg::within;
use crate::output;
use crate::time_arg;
use fairdisk_mount::control::{Ask, Client, Status};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use rates::Row;
use screen::{Screen, Wish};
use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Watch who gets how much of the disk, and change weights
///
/// Keys: s sorts by another column, arrows select a group, + and - change its weight, w asks for
/// one, q quits.
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
    let seconds = text.parse::<u64>().map(|seconds| format!("{seconds}s"));
    let time = time_arg::parse(seconds.as_deref().unwrap_or(text));
    let time = time.map(|time| Duration::from_nanos(time.as_ns()));
    let allowed = Duration::from_millis(100)..=Duration::from_secs(3600);
    let expected =
        || "expected 100ms to 1h, as 500ms, 2s or 1m; a number alone is seconds".to_owned();
    time.ok().filter(|time| allowed.contains(time)).ok_or_else(expected)
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let client = ctl::connect(&args.at)?;
    let interval = args.interval;
    let prints = args.batch || args.json || args.looks().is_some();
    if prints || !io::stdout().is_terminal() {
        return print(client, interval, args);
    }
    let mut terminal = ratatui::init();
    let ended = watch(&mut terminal, client, interval);
    ratatui::restore();
    ended
}

fn print(mut client: Client, interval: Duration, args: &Args) -> Result<(), Failure> {
    let stop = interrupt::stop_flag()?;
    let mut before = client.status()?;
    let mut printed = 0;
    while args.looks().is_none_or(|count| printed < count) {
        if !pause(interval, &stop) {
            return Err(Failure::Interrupted(format!("{printed} looks are printed")));
        }
        let after = client.status()?;
        let rows = rates::rows(&before, &after, rates::SortBy::default());
        let text = if args.json {
            format!("{}\n", rates::json(&before, &after, &rows))
        } else {
            screen::lines(&after, &rows)
        };
        output::print(&text)?;
        before = after;
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

fn watch(
    terminal: &mut DefaultTerminal,
    mut client: Client,
    interval: Duration,
) -> Result<(), Failure> {
    let mut screen = Screen::default();
    let mut before = client.status()?;
    let mut after = before.clone();
    loop {
        let mut rows = rates::rows(&before, &after, screen.sort);
        terminal.draw(|frame| screen.draw(frame, &after, &rows)).map_err(no_terminal)?;
        let mut left = interval;
        while !left.is_zero() {
            let piece = Duration::from_millis(200).min(left);
            if !event::poll(piece).map_err(no_terminal)? {
                left = left.saturating_sub(piece);
                continue;
            }
            if act(&mut screen, &mut client, &rows)? {
                return Ok(());
            }
            rows = rates::rows(&before, &after, screen.sort);
            terminal.draw(|frame| screen.draw(frame, &after, &rows)).map_err(no_terminal)?;
        }
        let now: Status = client.status()?;
        before = std::mem::replace(&mut after, now);
    }
}

/// Reads an event from the terminal and acts on it. Returns whether to quit.
fn act(screen: &mut Screen, client: &mut Client, rows: &[Row]) -> Result<bool, Failure> {
    let Event::Key(key) = event::read().map_err(no_terminal)? else { return Ok(false) };
    if key.kind != KeyEventKind::Press {
        return Ok(false);
    }
    match screen.key(key, rows) {
        Some(Wish::Quit) => return Ok(true),
        Some(Wish::Weight(group, weight)) => {
            let settings = vec![format!("weight={weight}")];
            screen.message = match client.ask(&Ask::Set { group: group.clone(), settings }) {
                Ok(_) => format!("{group}: weight {weight}"),
                Err(error) => error.to_string(),
            };
        }
        None => {}
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_a_time_or_seconds() {
        for (text, ms) in [("1", 1000), ("2s", 2000), ("100ms", 100), ("1h", 3_600_000)] {
            assert_eq!(interval(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["0", "0s", "99ms", "3601", "2h", "-1", "often", "1 s"] {
            assert!(interval(text).unwrap_err().contains("100ms to 1h"), "{text}");
        }
    }
}
