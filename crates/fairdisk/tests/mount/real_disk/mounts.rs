//! Loads on a directory, through a mount of it or without.

use super::calm::Calm;
use super::database::Database;
use super::figures::{Figures, Measure};
use super::fio::{self, FILES_EACH};
use super::loads::{Files, Job, Load, Work};
use super::settings::{Lengths, Scheduler, Settings, Storage};
use super::turns::{Ground, Run};
use crate::host::{Host, ended, fairdisk, text, wait_until};
use crate::loop_disk::LoopDisk;
use crate::process::{cpu_seconds, is_alive, process};
use std::path::PathBuf;
use std::process::{Child, Command};

/// What `dd` writes before it waits for the disk, in MiB.
const DD_MIB: u32 = 256;

pub(super) struct Mounts {
    // What lies on the host's directory goes before the host.
    _disk: Option<LoopDisk>,
    host: Host,
    storage: Storage,
    lengths: Lengths,
    /// The file of costs, where they are told.
    costs: Option<PathBuf>,
    database: Option<Database>,
    calm: Calm,
    /// Under whom the directory is mounted now, and the process that serves it.
    scheduler: Scheduler,
    server: Option<i32>,
}

impl Mounts {
    pub(super) fn new(storage: Storage, settings: &Settings) -> Result<Self, String> {
        let host = Host::on(&settings.scratch);
        host.open_to_all();
        let lengths = settings.lengths;
        let disk = (storage == Storage::Loop).then(|| {
            let bytes = u64::from(4 * lengths.file_mib + 1024) << 20;
            LoopDisk::with_file_system(&host.scratch().join("disk"), bytes, &host.source(""))
        });
        let disk = disk.transpose()?;
        let calm = Calm::new(&host.source("probe")).map_err(|error| error.to_string())?;
        let mut made = Self {
            _disk: disk,
            host,
            storage,
            lengths,
            costs: None,
            database: None,
            calm,
            scheduler: Scheduler::NOOP,
            server: None,
        };
        let costs = settings.schedulers.iter().any(|scheduler| scheduler.costs);
        if costs && made.pace().is_none() {
            made.costs = Some(made.calibrated()?);
        }
        made.lay_files(&settings.loads)?;
        if settings.loads.iter().any(|load| load.has(&Work::Pgbench)) {
            made.database = Database::new(&made.host, lengths)?;
        }
        Ok(made)
    }

    /// The device whose pace mounts keep to.
    const fn pace(&self) -> Option<&'static str> {
        if let Storage::Paced(device) = self.storage { Some(device) } else { None }
    }

    fn calibrated(&self) -> Result<PathBuf, String> {
        let (costs, source) = (self.host.scratch().join("costs.toml"), self.host.source(""));
        let size = format!("{}M", self.lengths.file_mib / 2);
        let time = format!("{}ms", 250 * self.lengths.seconds);
        let [costs_path, source] = [&costs, &source].map(|path| path.to_str().unwrap());
        let options = ["--quiet", "--size", &size, "--time", &time, "--output", costs_path];
        let output = fairdisk(&[&["calibrate", source], &options[..]].concat());
        if output.status.success() { Ok(costs) } else { Err(text(&output)) }
    }

    /// The files of the jobs, before anybody waits for them.
    fn lay_files(&self, loads: &[Load]) -> Result<(), String> {
        let is_each = |job: &Job| matches!(&job.work, Work::Fio(fio) if fio.files == Files::Each);
        let each = loads.iter().flat_map(|load| &load.jobs).any(is_each);
        let of_groups = ["first", "second"].map(|name| (name.to_owned(), self.lengths.file_mib));
        let of_each =
            (0..FILES_EACH).map(|at| (format!("each.{at}"), fio::each_mib(&self.lengths)));
        for (name, mib) in of_groups.into_iter().chain(of_each.filter(|_| each)) {
            let output = Command::new("fio")
                .args(["--name=lay", "--rw=write", "--bs=1m", "--direct=1", "--end_fsync=1"])
                .arg(format!("--filename={}", self.host.source(&name).display()))
                .arg(format!("--size={mib}m"))
                .output()
                .map_err(|error| error.to_string())?;
            if !output.status.success() {
                return Err(format!("no direct I/O there: {}", text(&output)));
            }
        }
        Ok(())
    }

    /// Where programs find their files.
    fn directory(&self) -> PathBuf {
        if self.scheduler.is_bare() { self.host.source("") } else { self.host.at() }
    }

    /// How long a job lasts in all.
    const fn whole_seconds(&self) -> u32 {
        self.lengths.seconds + self.lengths.ramp_seconds
    }

    fn start(&self, job: &Job) -> Result<Child, String> {
        let (directory, seconds) = (self.directory(), self.whole_seconds());
        let command = match &job.work {
            Work::Fio(fio) => fio::command(job, fio, &directory, &self.lengths),
            Work::Dd => format!(
                "timeout -s INT {seconds} sh -c 'while dd if=/dev/zero of={} bs=1M \
                 count={DD_MIB} conv=fsync,notrunc; do :; done'",
                directory.join(job.group).display()
            ),
            Work::Pgbench => self.database()?.client(seconds),
        };
        Ok(self.host.start(&self.host.path_of(job.group), &command))
    }

    fn database(&self) -> Result<&Database, String> {
        self.database.as_ref().ok_or_else(|| "no database".to_owned())
    }

    fn figures(&self, job: &Job, child: Child) -> Result<Figures, String> {
        let seconds = f64::from(self.whole_seconds());
        match &job.work {
            Work::Fio(fio) => fio::figures(&ended(child)?, fio.measure),
            Work::Dd => {
                let output = child.wait_with_output().map_err(|error| error.to_string())?;
                dd(&text(&output), seconds, job.work.measure())
            }
            Work::Pgbench => self.database()?.figures(&ended(child)?),
        }
    }

    fn mount(&mut self, scheduler: &str) -> Result<(), String> {
        let mut options = vec!["--allow-other", "--scheduler", scheduler];
        if let Some(device) = self.pace() {
            options.extend(["--device-model", device]);
        }
        let costs = self.costs.clone().filter(|_| self.scheduler.costs);
        if let Some(costs) = &costs {
            options.extend(["--costs", costs.to_str().unwrap()]);
        }
        let said = self.host.mount(&options);
        if !said.status.success() {
            return Err(text(&said));
        }
        self.server = Some(process(&text(&said)));
        Ok(())
    }

    /// Waits until nothing of an earlier run is left to be written.
    fn settle(&mut self, jobs: &[&Job]) -> Result<(), String> {
        if jobs.iter().any(|job| job.work == Work::Pgbench) {
            self.database()?.settle(&self.host)?;
        }
        let synced = Command::new("sync").arg("-f").arg(self.host.source("")).status();
        synced.and_then(|_| self.calm.wait()).map_err(|error| error.to_string())
    }
}

/// What `dd` says of each file that it wrote.
fn dd(said: &str, seconds: f64, measure: Measure) -> Result<Figures, String> {
    let copied = said.lines().filter(|line| line.contains(" bytes ") && line.contains(" copied"));
    let bytes = copied.filter_map(|line| line.split(' ').next()?.parse::<f64>().ok());
    let bytes_per_s = bytes.sum::<f64>() / seconds;
    if bytes_per_s == 0.0 {
        return Err(format!("dd: {said}"));
    }
    let ios_per_s = bytes_per_s / f64::from(1 << 20);
    let rate = measure.rate(ios_per_s, bytes_per_s);
    Ok(Figures { rate, ios_per_s, ..Figures::default() })
}

impl Ground for Mounts {
    fn takes(&self, scheduler: &Scheduler, load: &Load) -> bool {
        let paced = self.pace().is_some();
        // The pace is the mount's, and with it come the costs.
        let known = !paced || !(scheduler.is_bare() || scheduler.costs);
        known && (self.database.is_some() || !load.has(&Work::Pgbench))
    }

    fn open(&mut self, scheduler: &Scheduler, load: &Load) -> Result<(), String> {
        self.scheduler = *scheduler;
        if let Some(name) = scheduler.mounts {
            self.mount(name)?;
        }
        if let Some(rule) = scheduler.without {
            let said = self.host.ctl(&["scheduler", "fair", &format!("rules.{rule}=false")]);
            if !said.status.success() {
                return Err(text(&said));
            }
        }
        for job in &load.jobs {
            self.host.make_group(job.group);
            if scheduler.mounts.is_some_and(|name| name != "noop") {
                self.host.group(job.group, &format!("weight={}", job.weight));
            }
        }
        let of_database = load.jobs.iter().find(|job| job.work == Work::Pgbench);
        if let (Some(job), Some(database)) = (of_database, &mut self.database) {
            let directory = if scheduler.is_bare() { self.host.source("") } else { self.host.at() };
            database.start(&self.host, job.group, &directory)?;
        }
        Ok(())
    }

    fn run(&mut self, jobs: &[&Job]) -> Result<Run, String> {
        self.settle(jobs)?;
        let before = self.server.map(cpu_seconds);
        let children: Result<Vec<Child>, String> = jobs.iter().map(|job| self.start(job)).collect();
        let figures = jobs.iter().zip(children?).map(|(job, child)| self.figures(job, child));
        let figures = figures.collect::<Vec<_>>().into_iter().collect::<Result<_, _>>()?;
        let after = self.server.map(cpu_seconds);
        let spent = before.zip(after).map(|(before, after)| after - before);
        Ok(Run { figures, cpu_s: spent.map(|cpu| cpu / f64::from(self.whole_seconds())) })
    }

    fn close(&mut self) -> Result<(), String> {
        let stopped = self.database.as_mut().map_or(Ok(()), |database| database.stop(&self.host));
        if let Some(server) = self.server.take() {
            self.host.unmount();
            // It may still be writing what it has, which is nothing to begin the next run with.
            wait_until(|| !is_alive(server));
        }
        stopped
    }

    fn others_percent(&self) -> Option<f64> {
        Some(self.calm.others_percent())
    }
}

#[test]
fn what_dd_says_is_added_up() {
    let said = "256+0 records in\n2000000 bytes (2.0 MB, 1.9 MiB) copied, 1 s, 2 MB/s\n\
                1000000 bytes (1.0 MB, 977 KiB) copied, 0.5 s, 2 MB/s\n";
    let figures = dd(said, 2.0, Measure::Megabytes).unwrap();
    assert_eq!(figures.rate, 1.5);
    assert!(dd("dd: no space", 2.0, Measure::Megabytes).is_err());
}
