//! The ends of mounts and of the process that serves them, be it told to end, killed, or at fault.

pub(crate) mod ends;
pub(crate) mod guardian;
pub(crate) mod panics;
