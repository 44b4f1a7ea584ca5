//! The program from the point of view of its users: what it prints, where, and how it exits.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod advised;
mod bad_files;
mod bad_input;
mod bad_parts;
mod blamed;
mod blamed_command;
mod blamed_git;
mod calibrated;
mod cgroup;
mod cgroup2;
mod compared;
mod explained;
mod going_round;
mod interrupted;
mod job_file;
mod kernel;
mod lab;
mod listed;
mod needed;
mod posted;
mod program;
mod real_file;
mod real_time;
mod refused;
mod remedies;
#[path = "../schema/mod.rs"]
mod schema;
mod schemas;
mod sweeps;
mod swept;
mod traced;
