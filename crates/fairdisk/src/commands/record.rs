//! `fairdisk record`: records what programs do on a mount.

use super::ctl::{At, the_client};
use crate::failure::Failure;
use crate::{interrupt, output, time_arg};
use clap::ValueHint;
use fairdisk_core::Span;
use std::fs::File;
use std::io::{self, Write as _};
use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Record what programs do on a mount: who asked for what, when it was served and done
///
/// The recording has every request that goes to the mount's disk. It costs programs next to
/// nothing; if the file cannot be written fast enough, requests are missing, and counted.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    fairdisk record --for 60s -o load.fdt\n  \
    fairdisk record --at /srv/data --for 10m -o load.fdt\n  \
    fairdisk trace load.fdt")]
pub(crate) struct Args {
    #[command(flatten)]
    at: At,
    /// For how long: 500ms, 30s, 2m [default: until Ctrl-C]
    #[arg(
        long = "for", value_name = "TIME", value_parser = time_arg::parse,
        allow_negative_numbers = true, allow_hyphen_values = true
    )]
    time: Option<Span>,
    /// The file to write, best named .fdt
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: PathBuf,
}

/// Without a time: longer than anybody records.
const FOR_EVER_MS: u64 = 366 * 24 * 3600 * 1000;

/// How often Ctrl-C is looked for.
const LOOK_EACH: Duration = Duration::from_millis(50);

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let client = the_client(&args.at)?;
    let failed = |error: io::Error| Failure::Run(format!("{}: {error}", args.output.display()));
    // Whoever cannot write there is told before anything is recorded.
    let mut file = File::create(&args.output).map_err(failed)?;
    let ms = args.time.map_or(FOR_EVER_MS, |time| time.as_ns().div_ceil(1_000_000));
    let (mut recording, socket) = match client.record(ms) {
        Ok(recording) => recording,
        Err(error) => {
            let _ = std::fs::remove_file(&args.output);
            return Err(Failure::Run(error.to_string()));
        }
    };
    let stop = interrupt::stop_flag()?;
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let listener = std::thread::spawn(move || {
        while !over.load(Ordering::Relaxed) && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK_EACH);
        }
        // The mount then sends what is left, and hangs up.
        let _ = socket.shutdown(Shutdown::Write);
    });
    let copied = io::copy(&mut recording, &mut file).and_then(|_| file.flush());
    is_over.store(true, Ordering::Relaxed);
    let _ = listener.join();
    copied.map_err(failed)?;
    say(&args.output)
}

/// Says what was recorded.
fn say(path: &Path) -> Result<(), Failure> {
    let bad = |error: fairdisk_trace::TraceError| Failure::Run(error.to_string());
    let mut reader = fairdisk_trace::open(path, &fairdisk_trace::Options::default()).map_err(bad)?;
    let mut requests = 0_u64;
    while fairdisk_trace::Source::next(&mut reader).map_err(bad)?.is_some() {
        requests += 1;
    }
    let lost = match fairdisk_trace::Source::lost(&reader) {
        0 => "none lost".to_owned(),
        lost => format!("{lost} lost"),
    };
    let path = path.display();
    output::diagnose(&format!(
        "{requests} requests recorded, {lost}; `fairdisk trace {path}` shows them"
    ));
    Ok(())
}
