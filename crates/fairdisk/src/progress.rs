//! Progress bars on standard error. They are hidden unless that is a terminal that can redraw a
//! line.

use crate::output;
use fairdisk_lab::run::Progress;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::env;
use std::io::{self, IsTerminal as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A progress bar of `length` steps, none of them done. `length` is 0 while the number is unknown.
pub(crate) fn bar(length: u64, quiet: bool) -> ProgressBar {
    let is_dumb = output::is_dumb(env::var_os("TERM").as_deref());
    let visible = !quiet && io::stderr().is_terminal() && !is_dumb;
    let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let known = (length > 0).then_some(length);
    let bar = ProgressBar::with_draw_target(known, target);
    let style = ProgressStyle::with_template("[{bar:24}] {pos}/{len}  {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("=> "));
    bar
}

/// Sets a bar to `done` of `all` steps.
pub(crate) fn show(bar: &ProgressBar, done: u64, all: u64) {
    bar.set_length(all);
    bar.set_position(done);
}

/// Calls `work` and shows its progress, in runs, the cell at work, and about how long it still
/// takes, until it returns.
pub(crate) fn of_runs<T>(quiet: bool, work: impl FnOnce(&dyn Progress) -> T) -> T {
    let runs = Runs { bar: bar(0, quiet), shown: Mutex::default() };
    let done = work(&runs);
    runs.bar.finish_and_clear();
    done
}

/// A bar that counts runs and names the cell that began last.
struct Runs {
    bar: ProgressBar,
    shown: Mutex<Shown>,
}

/// What the bar shows.
#[derive(Debug, Default)]
struct Shown {
    cell: String,
    done: usize,
    all: usize,
}

impl Shown {
    fn message(&self, elapsed: Duration) -> String {
        let Self { cell, done, all } = self;
        let separator = if cell.is_empty() { "" } else { ": " };
        format!("{}{separator}{cell}", runs(elapsed, *done, *all))
    }
}

impl Runs {
    fn change(&self, change: impl FnOnce(&mut Shown)) {
        if self.bar.is_hidden() {
            return;
        }
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut shown);
        show(&self.bar, shown.done as u64, shown.all as u64);
        self.bar.set_message(shown.message(self.bar.elapsed()));
    }
}

impl Progress for Runs {
    fn begins(&self, cell: &str) {
        self.change(|shown| cell.clone_into(&mut shown.cell));
    }

    fn done(&self, done: usize, all: usize) {
        self.change(|shown| {
            // Another round of runs.
            if done < shown.done {
                self.bar.reset_elapsed();
            }
            (shown.done, shown.all) = (done, all);
        });
    }
}

/// What is said beside the numbers of runs.
fn runs(elapsed: Duration, done: usize, all: usize) -> String {
    left(elapsed, done, all)
        .map_or("runs".to_owned(), |left| format!("runs, about {} left", HumanDuration(left)))
}

/// About how long the rest takes, if each run takes as long as those that are done. `None` if
/// nothing is known of that, or nothing is left.
fn left(elapsed: Duration, done: usize, all: usize) -> Option<Duration> {
    let (done, left) = (done as u128, all.saturating_sub(done) as u128);
    let millis = (elapsed.as_millis() * left).checked_div(done)?;
    (left > 0).then(|| Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn each_run_takes_about_as_long_as_those_before() {
        assert_eq!(left(MINUTE, 3, 12), Some(3 * MINUTE));
        assert_eq!(left(MINUTE, 11, 12), Some(whole_millis(MINUTE / 11)));
        assert_eq!([left(MINUTE, 0, 12), left(MINUTE, 12, 12)], [None, None]);
    }

    fn whole_millis(time: Duration) -> Duration {
        Duration::from_millis(time.as_millis() as u64)
    }

    #[test]
    fn the_time_left_is_told_once_a_run_is_done() {
        assert_eq!(runs(Duration::ZERO, 0, 12), "runs");
        assert_eq!(runs(MINUTE, 3, 12), "runs, about 3 minutes left");
        assert_eq!(runs(MINUTE, 12, 12), "runs");
    }

    #[test]
    fn the_cell_at_work_is_named() {
        let shown = Shown { cell: "mix under fair on nvme".to_owned(), done: 3, all: 12 };
        let said = shown.message(MINUTE);
        assert_eq!(said, "runs, about 3 minutes left: mix under fair on nvme");
        assert_eq!(Shown::default().message(MINUTE), "runs");
    }

    #[test]
    fn nothing_is_shown_if_nobody_wants_to_see_it() {
        assert!(bar(12, true).is_hidden());
    }
}
