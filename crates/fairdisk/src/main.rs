//! The `fairdisk` program.
fn main() {}
