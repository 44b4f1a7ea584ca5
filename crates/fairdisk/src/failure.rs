//! Failures of commands: one message and an exit status.

use crate::output::Unwritten;
use fairdisk_lab::catalog::error::CatalogError;
use fairdisk_lab::plan::Obstacle;
use fairdisk_lab::spec::SpecError;
use fairdisk_mount::MountError;
use fairdisk_mount::cgroups::CgroupError;
use std::process::ExitCode;

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The arguments make no sense, or a file is wrong. Exit status 2.
    BadInput(String),
    /// A run failed. Exit status 1.
    Run(String),
    /// The command was interrupted, after partial results were printed. Exit status 130.
    Interrupted(String),
    /// The results could not be written.
    Output(Unwritten),
}

/// The exit status that shells report for a program ended by SIGINT.
pub(crate) const INTERRUPTED: u8 = 130;

impl Failure {
    /// A permanent failure, which persists as long as the same is asked for, or one that may pass.
    /// A service manager restarts a service only after the latter.
    fn of(error: &impl std::fmt::Display, is_bad_input: bool) -> Self {
        let failure = if is_bad_input { Self::BadInput } else { Self::Run };
        failure(error.to_string())
    }

    /// The message, without the prefix.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::BadInput(message) | Self::Run(message) | Self::Interrupted(message) => {
                message.clone()
            }
            Self::Output(error) => error.to_string(),
        }
    }

    /// Prints the message, if appropriate, and returns the exit status.
    pub(crate) fn report(&self) -> ExitCode {
        let code = match self {
            Self::BadInput(_) => 2,
            Self::Run(_) => 1,
            Self::Interrupted(_) => INTERRUPTED,
            // The reader of the results has seen enough and closed the pipe.
            Self::Output(error) if error.has_no_reader() => return ExitCode::SUCCESS,
            Self::Output(_) => 1,
        };
        let word = if code == INTERRUPTED { "interrupted" } else { "error" };
        crate::output::diagnose(&format!("{word}: {}", self.message()));
        ExitCode::from(code)
    }
}

impl From<CatalogError> for Failure {
    fn from(error: CatalogError) -> Self {
        Self::BadInput(error.to_string())
    }
}

impl From<SpecError> for Failure {
    fn from(error: SpecError) -> Self {
        Self::BadInput(error.message)
    }
}

impl From<MountError> for Failure {
    fn from(error: MountError) -> Self {
        Self::of(&error, error.is_bad_input())
    }
}

impl From<CgroupError> for Failure {
    fn from(error: CgroupError) -> Self {
        Self::of(&error, error.is_bad_input())
    }
}

impl From<Obstacle> for Failure {
    /// A load that cannot be run is bad input, but a scheduler's refusal is not, since another
    /// scheduler may accept the load.
    fn from(obstacle: Obstacle) -> Self {
        match obstacle {
            Obstacle::Load(why) => Self::BadInput(why),
            Obstacle::Refusal { reason, .. } => Self::Run(reason),
        }
    }
}

impl From<Unwritten> for Failure {
    fn from(error: Unwritten) -> Self {
        Self::Output(error)
    }
}
