//! The same loads in the lab, where no disk is real.

use super::figures::{Figures, Measure, Percentiles};
use super::fio;
use super::loads::{Job, Load, Work};
use super::settings::{Lengths, Scheduler};
use super::turns::{Ground, Run};
use crate::host::{fairdisk, text};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

/// One device of the catalogue.
pub(super) struct Lab {
    device: &'static str,
    lengths: Lengths,
    scheduler: Scheduler,
    directory: TempDir,
}

impl Lab {
    pub(super) fn new(device: &'static str, lengths: Lengths) -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { device, lengths, scheduler: Scheduler::NOOP, directory }
    }
}

impl Ground for Lab {
    fn takes(&self, scheduler: &Scheduler, load: &Load) -> bool {
        !scheduler.is_bare()
            && scheduler.without.is_none()
            && load.jobs.iter().all(|job| job.work.fits_a_job_file())
    }

    fn open(&mut self, scheduler: &Scheduler, _: &Load) -> Result<(), String> {
        self.scheduler = *scheduler;
        Ok(())
    }

    fn run(&mut self, jobs: &[&Job]) -> Result<Run, String> {
        let mut text_of_jobs = format!("[global]\ntime_based\nruntime={}\n", self.lengths.seconds);
        for job in jobs {
            let Work::Fio(fio) = &job.work else { return Err("not a job of fio".to_owned()) };
            text_of_jobs += &fio::section(job, fio, &self.lengths);
        }
        let file = self.directory.path().join("load.fio");
        fs::write(&file, text_of_jobs).map_err(|error| error.to_string())?;
        let tells = format!("host.queue.tells_costs={}", self.scheduler.costs);
        let output = fairdisk(&[
            "run",
            file.to_str().unwrap(),
            "--json",
            "--quiet",
            "--seeds=1",
            "--device",
            self.device,
            "--scheduler",
            self.scheduler.mounts.unwrap(),
            "--set",
            &tells,
        ]);
        let value = serde_json::from_slice::<Value>(&output.stdout);
        let value = value.map_err(|_| text(&output))?;
        let row = &value["rows"][0];
        let figures = jobs.iter().map(|job| figures(row, job.group, job.work.measure()));
        Ok(Run { figures: figures.collect::<Option<_>>().ok_or("no such group")?, cpu_s: None })
    }

    fn close(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn others_percent(&self) -> Option<f64> {
        None
    }
}

/// Of a row of results, what a group did.
fn figures(row: &Value, group: &str, measure: Measure) -> Option<Figures> {
    let seconds = row["duration_s"].as_f64()?;
    let name = format!("/{group}");
    let group = row["groups"].as_array()?.iter().find(|group| group["name"] == *name)?;
    let ios_per_s = group["ios"].as_f64()? / seconds;
    Some(Figures {
        rate: measure.rate(ios_per_s, group["bytes"].as_f64()? / seconds),
        ios_per_s,
        latency: percentiles(&group["latency_ms"]),
        fsync: percentiles(&group["flush"]["latency_ms"]),
    })
}

fn percentiles(latency_ms: &Value) -> Option<Percentiles> {
    Some([latency_ms["p50"].as_f64()?, latency_ms["p99"].as_f64()?])
}
