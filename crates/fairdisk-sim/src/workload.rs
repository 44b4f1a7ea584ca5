//! What tasks do: a stream of I/Os.

mod stream;

pub use stream::{Direction, IoOrder, Limits, StreamSpec, TaskSpec};
pub(crate) use stream::{FileIo, Next, Stream};
