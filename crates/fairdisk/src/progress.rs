//! Progress bars on standard error. They are hidden unless that is a terminal that can redraw a
//! line.

use crate::output;
use fairdisk_lab::run::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::env;
use std::io::{self, IsTerminal as _};

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

/// Calls `work` and shows its progress, in runs, until it returns.
pub(crate) fn of_runs<T>(quiet: bool, work: impl FnOnce(Progress<'_>) -> T) -> T {
    let bar = bar(0, quiet);
    bar.set_message("runs");
    let done = work(&|done, all| show(&bar, done as u64, all as u64));
    bar.finish_and_clear();
    done
}
