//! A stream of requests.

use crate::about::About;
use crate::error::TraceError;
use crate::origins::Origins;
use crate::request::Request;

/// A trace that is being read.
pub trait Source {
    /// The next request, or `None` at the end.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or something in it is not as it should be; the
    /// next call goes on behind that.
    fn next(&mut self) -> Result<Option<Request>, TraceError>;

    /// The origins of the requests so far.
    fn origins(&self) -> &Origins;

    /// What the trace says about itself.
    fn about(&self) -> About {
        About::default()
    }

    /// The requests that the trace says, or shows, to be missing so far.
    fn lost(&self) -> u64 {
        0
    }
}

impl<S: Source + ?Sized> Source for Box<S> {
    fn next(&mut self) -> Result<Option<Request>, TraceError> {
        (**self).next()
    }

    fn origins(&self) -> &Origins {
        (**self).origins()
    }

    fn about(&self) -> About {
        (**self).about()
    }

    fn lost(&self) -> u64 {
        (**self).lost()
    }
}
