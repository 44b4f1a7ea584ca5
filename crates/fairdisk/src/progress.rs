//! A progress bar on standard error; silent unless that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal as _};

/// A bar of `length` steps.
pub(crate) fn bar(length: u64, quiet: bool) -> ProgressBar {
    let visible = !quiet && io::stderr().is_terminal();
    let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(length), target);
    let style = ProgressStyle::with_template("[{bar:24}] {pos}/{len}  {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("=> "));
    bar
}
