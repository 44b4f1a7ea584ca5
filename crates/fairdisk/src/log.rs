//! The event log of a mount, for those who operate it: one line per event.
//!
//! Serving a request logs nothing: a healthy mount is silent from its start to its end.

mod line;
mod sink;

use crate::failure::Failure;
use clap::ValueEnum;
use line::{Fields, Line};
use sink::{SYSTEM, Sink};
use std::io::ErrorKind;
use std::path::PathBuf;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Options that choose the format, the level and the destination of the event log.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Log")]
pub(crate) struct LogArgs {
    /// How events are written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    log_format: Format,
    /// What is left out is less urgent than this
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t)]
    log_level: Level,
    /// Append events to this file [default: standard error in the foreground, else the system's
    /// log, /dev/log, if there is one]
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// key=value, as most tools read
    #[default]
    Logfmt,
    /// A JSON object
    Json,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Level {
    Error,
    Warn,
    #[default]
    Info,
    Debug,
}

impl LogArgs {
    /// Installs the event log. To be called once per process.
    ///
    /// # Errors
    /// The log file cannot be opened.
    pub(crate) fn start(&self, background: bool) -> Result<(), Failure> {
        let sink = match (&self.log_file, background) {
            (Some(path), _) => Sink::file(path).map_err(|error| {
                let path = path.display();
                let text = format!("--log-file {path}: cannot append to it: {error}");
                match error.kind() {
                    ErrorKind::NotFound
                    | ErrorKind::IsADirectory
                    | ErrorKind::NotADirectory
                    | ErrorKind::PermissionDenied => Failure::BadInput(text),
                    // A shortage or a faulty disk may pass.
                    _ => Failure::Run(text),
                }
            })?,
            (None, false) => Sink::Stderr,
            (None, true) => Sink::system(),
        };
        let level = match self.log_level {
            Level::Error => LevelFilter::ERROR,
            Level::Warn => LevelFilter::WARN,
            Level::Info => LevelFilter::INFO,
            Level::Debug => LevelFilter::DEBUG,
        };
        let log = Log { level, format: self.log_format, sink };
        // If another subscriber is already installed, it receives the events.
        let _ = tracing::subscriber::set_global_default(log);
        Ok(())
    }

    /// If a mount in the background has nowhere to log to at the moment, a note that says why.
    pub(crate) fn goes_nowhere(&self) -> Option<String> {
        let why = self.log_file.is_none().then(Sink::lacks_system)??;
        Some(format!(
            "there is no system log ({SYSTEM}: {why}), and what the mount has to say goes nowhere \
             until there is one; --log-file FILE keeps it"
        ))
    }
}

struct Log {
    level: LevelFilter,
    format: Format,
    sink: Sink,
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event()
            && metadata.target().starts_with("fairdisk")
            && *metadata.level() <= self.level
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::new(*event.metadata().level(), fairdisk_plane::wall_time());
        event.record(&mut line.fields);
        self.sink.write(&line, |line| match self.format {
            Format::Logfmt => line.logfmt(),
            Format::Json => line.json(),
        });
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.add(field.name(), format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field.name(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field.name(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field.name(), value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field.name(), value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field.name(), value.into());
    }
}
