//! File data on its way between the kernel and the disk: through the gate, in pieces.

pub(crate) mod appends;
pub(crate) mod buffers;
pub(crate) mod dirty;
pub(crate) mod extents;
pub(crate) mod gate;
pub(crate) mod held;
pub(crate) mod jobs;
pub(crate) mod landed;
pub(crate) mod scheduled;
