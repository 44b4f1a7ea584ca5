//! `fairdisk explain`: tells why a request of a lab run had to wait.

mod tracks;

use crate::failure::Failure;
use crate::number_arg::within;
use crate::own_file::OwnFile;
use crate::results::with_provenance;
use crate::selection::Changes;
use crate::{interrupt, output, progress, replay_args};
use clap::ValueHint;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use fairdisk_core::OpKind;
use fairdisk_lab::explain::{Answer, Retold, Untold, split};
use fairdisk_lab::spec;
use std::path::PathBuf;
use tracks::Tracks;

/// Explain why a request of a run in the lab waited
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
#[command(override_usage = "fairdisk explain [OPTIONS] <RUN> <REQUEST>\n       \
    fairdisk explain [OPTIONS] <RUN> --slowest <N>\n       \
    fairdisk explain [OPTIONS] <RUN> --perfetto <FILE.pftrace>")]
#[command(after_help = "Examples:\n  \
    fairdisk explain two-groups/two-layer --slowest 5\n  \
    fairdisk explain two-groups/two-layer 117\n  \
    fairdisk explain two-groups/two-layer --perfetto run.pftrace\n  \
    fairdisk explain 'satoshi-2008-05-27-test1/two-layer/#1/0' --slowest 10 --duration 20s")]
pub(crate) struct Args {
    /// The run: SPEC[/ARM[/ROW[/SEED]]]; the first arm and row and seed 0 if not given. ARM may be
    /// that of --scheduler
    #[arg(index = 1)]
    run: String,
    /// The request's number, as --slowest shows it
    #[arg(
        index = 2, group = "what", value_parser = within::<u64>(1..=u64::MAX),
        allow_negative_numbers = true
    )]
    request: Option<u64>,
    /// List the N requests that took longest
    #[arg(
        long, value_name = "N", group = "what", value_parser = within::<u32>(1..=u32::MAX.into()),
        allow_negative_numbers = true
    )]
    slowest: Option<u32>,
    /// Write tracks of groups and tasks, with each decision's reason, for the Perfetto UI
    #[arg(
        long, value_name = "FILE.pftrace", group = "what", conflicts_with = "json",
        value_hint = ValueHint::FilePath
    )]
    perfetto: Option<PathBuf>,
    /// List operations of this kind only
    #[arg(long, value_name = "OP", requires = "slowest", value_parser = op())]
    op: Option<OpKind>,
    /// Of a device with several disks, the one whose requests are meant, counted from 0
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    disk: Option<u32>,
    #[command(flatten)]
    changes: Changes,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
}

/// Parses a kind of operation.
fn op() -> impl TypedValueParser<Value = OpKind> {
    let named = |name: String| {
        let kind = OpKind::ALL.into_iter().find(|kind| kind.name() == name);
        kind.expect("it is one of the possible values")
    };
    PossibleValuesParser::new(OpKind::ALL.map(OpKind::name)).map(named)
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let options = args.changes.options()?;
    let (spec, _) = split(&args.run);
    if !spec::is_trace(spec) {
        replay_args::demand_none(spec, &options.replay)?;
    }
    let run = Retold::named(&args.run, options, args.disk)?;
    let stop = interrupt::stop_flag()?;
    let bar = progress::bar(0, args.quiet);
    bar.set_message("s simulated");
    let tell = |done, all| progress::show(&bar, done, all);
    let answer = match (args.slowest, &args.perfetto) {
        (Some(count), _) => run.slowest(count as usize, args.op, &tell, &stop)?,
        (None, Some(path)) => {
            OwnFile::TRACKS.demand_place(path)?;
            let mut tracks = Tracks::default();
            let story = run.retell(&tell, &stop, &mut tracks)?;
            bar.finish_and_clear();
            return tracks.write(&story, path);
        }
        (None, None) => run.life(args.request.unwrap_or(1), &tell, &stop)?,
    };
    bar.finish_and_clear();
    let Answer { text, json } = answer;
    Ok(if args.json { output::print_json(&with_provenance(json)) } else { output::print(&text) }?)
}

impl From<Untold> for Failure {
    fn from(untold: Untold) -> Self {
        match untold {
            Untold::Wrong(error) => error.into(),
            Untold::Refused(reason) => Self::Run(reason),
            Untold::Stopped(why) => Self::Interrupted(why),
        }
    }
}
