//! The lab: runs experiments and job files in the simulator, and reports the results. It also
//! contains the catalogue of devices, hosts and schedulers.
#![forbid(unsafe_code)]

pub mod advise;
pub mod blame;
pub mod byte_rate;
pub mod calibrate;
pub mod catalog;
pub mod columns;
pub mod compare;
mod digits;
pub mod explain;
pub mod iozone;
pub mod jobfile;
mod letter;
pub mod looks;
pub mod memory;
pub mod metric;
pub mod nearest;
pub mod outcome;
pub mod page;
pub mod plan;
mod plots;
pub mod printed;
pub mod results;
pub mod run;
mod seconds;
pub mod spec;
pub mod sweep;
pub mod text_file;
pub mod threads;
pub mod time_text;
pub mod validate;
pub mod watched;
