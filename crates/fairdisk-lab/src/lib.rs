//! The lab: catalogue, experiments and job files in, results and reports out.
#![forbid(unsafe_code)]

pub mod advise;
pub mod blame;
pub mod calibrate;
pub mod catalog;
pub mod compare;
pub mod jobfile;
mod letter;
mod limits;
pub mod looks;
pub mod nearest;
pub mod outcome;
mod page;
pub mod plan;
pub mod run;
mod seconds;
pub mod text_file;
