//! The commands, one module each.

pub(crate) mod advise;
pub(crate) mod blame;
pub(crate) mod calibrate;
pub(crate) mod catalog;
pub(crate) mod cgroup;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod ctl;
mod daemon;
pub(crate) mod demo;
pub(crate) mod explain;
pub(crate) mod kernel;
mod limits;
pub(crate) mod man;
pub(crate) mod memory;
pub(crate) mod mount;
pub(crate) mod record;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod sweep;
pub(crate) mod top;
pub(crate) mod trace;
pub(crate) mod validate;

use crate::cli::Command;
use crate::failure::Failure;

pub(crate) use completions::answer as answer_shell;

/// Executes a command.
///
/// # Errors
/// The reason why the command failed.
pub(crate) fn execute(command: Command) -> Result<(), Failure> {
    match command {
        Command::Demo(args) => demo::execute(&args),
        Command::Run(args) => run::execute(&args),
        Command::Compare(args) => compare::execute(&args),
        Command::Sweep(args) => sweep::execute(&args),
        Command::Advise(args) => advise::execute(&args),
        Command::Memory(args) => memory::execute(&args),
        Command::Calibrate(args) => calibrate::execute(&args),
        Command::Mount(args) => mount::execute(&args),
        Command::Ctl(args) => ctl::execute(&args),
        Command::Top(args) => top::execute(&args),
        Command::Cgroup(args) => cgroup::execute(&args),
        Command::Catalog(args) => catalog::execute(&args),
        Command::Explain(args) => explain::execute(&args),
        Command::Blame(args) => blame::execute(&args),
        Command::Kernel(args) => kernel::execute(&args),
        Command::Record(args) => record::execute(&args),
        Command::Trace(args) => trace::execute(&args),
        Command::Validate(args) => validate::execute(&args),
        Command::Schema(args) => schema::execute(&args),
        Command::Completions(args) => completions::execute(&args),
        Command::Man(args) => man::execute(&args),
    }
}
