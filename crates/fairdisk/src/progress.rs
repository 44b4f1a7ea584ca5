//! Progress bars on standard error. They are hidden unless that is a terminal that can redraw a
//! line.

use crate::output;
use fairdisk_lab::run::Progress;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::env;
use std::io::{self, IsTerminal as _};
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

/// Calls `work` and shows its progress, in runs, and about how long it still takes, until it
/// returns.
pub(crate) fn of_runs<T>(quiet: bool, work: impl FnOnce(Progress<'_>) -> T) -> T {
    let bar = bar(0, quiet);
    bar.set_message("runs");
    let done = work(&|done, all| {
        if !bar.is_hidden() {
            show(&bar, done as u64, all as u64);
            bar.set_message(runs(bar.elapsed(), done, all));
        }
    });
    bar.finish_and_clear();
    done
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
    fn nothing_is_shown_if_nobody_wants_to_see_it() {
        assert!(bar(12, true).is_hidden());
    }
}
