//! Requests of the kernel: who carries them out, on what, in whose name, how they are answered, and
//! what the kernel is told without having asked.

pub(crate) mod answers;
pub(crate) mod attributes;
pub(crate) mod caller;
pub(crate) mod filesystem;
pub(crate) mod notices;
pub(crate) mod ops;
pub(crate) mod readers;
pub(crate) mod tree;
pub(crate) mod wanted;
