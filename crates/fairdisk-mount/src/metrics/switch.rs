//! Whether somebody is answered, and where: turned on and off while mounts run.

use super::address::{Address, Listener};
use super::page::Page;
use super::server::MetricsServer;
use std::fmt;
use std::io;
use std::sync::{Mutex, PoisonError};

/// The metrics of a disk, which are served at an address or not at all.
#[derive(Debug)]
pub struct Switch {
    page: Page,
    served: Mutex<Option<(String, MetricsServer)>>,
}

/// Why metrics cannot be served at an address.
#[derive(Debug)]
pub enum SwitchError {
    /// The address cannot be listened at.
    Listen(io::Error),
    /// The system refuses to start threads.
    Threads(io::Error),
}

impl fmt::Display for SwitchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(error) => write!(f, "cannot listen there: {error}"),
            Self::Threads(error) => write!(f, "cannot start threads: {error}"),
        }
    }
}

impl std::error::Error for SwitchError {}

impl Switch {
    /// The metrics of `page`, which nobody is told yet.
    #[must_use]
    pub const fn new(page: Page) -> Self {
        Self { page, served: Mutex::new(None) }
    }

    /// Serves them at `address` from now on, instead of where they were served.
    ///
    /// # Errors
    /// That is not possible. They are served where they were.
    pub fn turn_on(&self, address: &Address) -> Result<(), SwitchError> {
        if self.address().is_some_and(|at| at == address.to_string()) {
            return Ok(());
        }
        self.serve(address, address.listen().map_err(SwitchError::Listen)?)
    }

    /// Serves them from now on to those who come to `listener`, which listens at `address`.
    ///
    /// # Errors
    /// The system refuses to start threads.
    pub fn serve(&self, address: &Address, listener: Listener) -> Result<(), SwitchError> {
        let server = MetricsServer::start(listener, self.page.clone());
        let server = server.map_err(SwitchError::Threads)?;
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        *served = Some((address.to_string(), server));
        Ok(())
    }

    /// Serves them no longer.
    pub fn turn_off(&self) {
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((address, server)) = served.take() {
            drop(server);
            tracing::info!(address, "metrics down");
        }
    }

    /// The address at which they are served.
    #[must_use]
    pub fn address(&self) -> Option<String> {
        let served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        served.as_ref().map(|(address, _)| address.clone())
    }
}
