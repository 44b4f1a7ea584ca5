//! The header of a table: `key = value` for the engine, `set key = value` for the scheduler, `group
//! …` and `task …` for what exists from the start.

use fairdisk_core::{
    Apart, Cost, CostModel, EngineConfig, GroupId, IoClass, IoPrio, PlugConfig, PlugFlash,
    PoolConfig, PoolLayout, Qos, Share, Span, TaskId, Ticks, Weight, WeightMap,
};
use fairdisk_sched::SchedulerSpec;
use fairdisk_sched::bfq::{self, BfqParams};
use fairdisk_sched::cfq::{CfqParams, Switches};
use fairdisk_sched::group_cfq::GroupCfqParams;
use fairdisk_sched::mclock::AtLimit;
use fairdisk_sched::noop::NoopParams;
use std::str::FromStr;

/// Everything that is fixed before the first step.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) spec: SchedulerSpec,
    pub(crate) config: EngineConfig,
    pub(crate) groups: Vec<(GroupId, Share, Qos)>,
    pub(crate) tasks: Vec<(TaskId, GroupId, IoPrio)>,
}

impl Default for Settings {
    fn default() -> Self {
        let (groups, tasks) = (Vec::new(), Vec::new());
        Self {
            spec: SchedulerSpec::Noop(NoopParams),
            config: EngineConfig::default(),
            groups,
            tasks,
        }
    }
}

impl Settings {
    /// Timer ticks per second, for times written in jiffies.
    pub(crate) fn hz(&self) -> u64 {
        match self.spec {
            SchedulerSpec::Cfq(params) => u64::from(params.hz),
            SchedulerSpec::TwoLayerCfq(params) => u64::from(params.cfq.hz),
            SchedulerSpec::GroupCfq(params) => u64::from(params.cfq.hz),
            _ => 1000,
        }
    }

    /// Parses one line of the header.
    pub(crate) fn set(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words.as_slice() {
            ["scheduler", "=", name] => {
                self.spec = scheduler(name)?;
                Ok(())
            }
            ["depth", "=", depth] => put(&mut self.config.depth, depth),
            ["peek", "=", peek] => put(&mut self.config.peek, peek),
            ["merge", "=", sectors] => put(&mut self.config.merge_sectors_max, sectors),
            ["pool", "=", ref words @ ..] => self.set_pool(words),
            ["plug", "=", requests, delay, flash] => self.set_plug(requests, delay, flash),
            ["set", key, "=", value] => set_scheduler(&mut self.spec, key, value),
            ["group", id, share, ref asks @ ..] => {
                self.groups.push((GroupId(number(id)?), self::share(share)?, qos(asks)?));
                Ok(())
            }
            ["task", id, ref words @ ..] => self.add_task(id, words),
            _ => Err(format!("not a setting: {line}")),
        }
    }

    /// Parses `unlimited`, or `per-direction`, `per-group` or `per-group-sync` followed by how many
    /// slots there are, and how many of a batch.
    fn set_pool(&mut self, words: &[&str]) -> Result<(), String> {
        let (layout, slots, batch) = match *words {
            ["unlimited"] => (PoolLayout::Unlimited, "1", "0"),
            ["per-direction", slots, batch] => (PoolLayout::Shared(Apart::Direction), slots, batch),
            ["per-group", slots, batch] => (PoolLayout::PerGroup(Apart::Direction), slots, batch),
            ["per-group-sync", slots, batch] => (PoolLayout::PerGroup(Apart::Sync), slots, batch),
            _ => return Err(format!("not a pool: {words:?}")),
        };
        let (requests, batch_requests) = (number(slots)?, number(batch)?);
        self.config.pool = PoolConfig { layout, requests, batch_requests };
        Ok(())
    }

    /// Parses the requests, the milliseconds, and which devices without a moving head are plugged:
    /// `all`, `one-at-a-time`, `never-deep`. The timer ticks 1000 times per second.
    fn set_plug(&mut self, requests: &str, delay: &str, flash: &str) -> Result<(), String> {
        let flash = match flash {
            "all" => PlugFlash::All,
            "one-at-a-time" => PlugFlash::OneAtATime,
            "never-deep" => PlugFlash::NeverDeep,
            _ => return Err(format!("no rule for flash: {flash}")),
        };
        let (requests, delay) = (number(requests)?, Span::from_ms(number(delay)?));
        self.config.plug = Some(PlugConfig { requests, delay, flash });
        self.config.ticks = Ticks::new(1000, Span::ZERO);
        Ok(())
    }

    fn add_task(&mut self, id: &str, words: &[&str]) -> Result<(), String> {
        let (mut group, mut ioprio) = (GroupId::ROOT, IoPrio::UNSET);
        for word in words {
            match word.split_once('=') {
                Some(("group", value)) => group = GroupId(number(value)?),
                Some(("ioprio", value)) => ioprio = self::ioprio(value)?,
                _ => return Err(format!("a task has group= and ioprio=, not {word}")),
            }
        }
        self.tasks.push((TaskId(number(id)?), group, ioprio));
        Ok(())
    }
}

pub(crate) fn scheduler(name: &str) -> Result<SchedulerSpec, String> {
    SchedulerSpec::named(name).ok_or_else(|| format!("no scheduler is called {name}"))
}

pub(crate) fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("not a number (or true, false): {text:?}"))
}

fn put<T: FromStr>(place: &mut T, text: &str) -> Result<(), String> {
    *place = number(text)?;
    Ok(())
}

/// Parses `prio:3` or `weight:250`.
pub(crate) fn share(text: &str) -> Result<Share, String> {
    match text.split_once(':') {
        Some(("prio", level)) => Ok(Share::Priority(number(level)?)),
        Some(("weight", weight)) => {
            Weight::new(number(weight)?).map(Share::Weight).ok_or_else(|| "1 to 10000".to_owned())
        }
        _ => Err(format!("prio:N or weight:N, not {text}")),
    }
}

/// Parses `min_iops=N`, `min_bps=N`, `max_iops=N`, `max_bps=N`, `burst_ms=N`, `latency_ms=N`, or
/// none of them.
pub(crate) fn qos(words: &[&str]) -> Result<Qos, String> {
    let mut qos = Qos::NONE;
    for word in words {
        let (key, value) = word.split_once('=').ok_or_else(|| format!("no value: {word}"))?;
        match key {
            "min_iops" => qos.floor.iops = Some(number(value)?),
            "min_bps" => qos.floor.bytes_per_s = Some(number(value)?),
            "max_iops" => qos.ceiling.iops = Some(number(value)?),
            "max_bps" => qos.ceiling.bytes_per_s = Some(number(value)?),
            "burst_ms" => qos.burst = Span::from_ms(number(value)?),
            "latency_ms" => qos.latency_p99 = Some(Span::from_ms(number(value)?)),
            _ => return Err(format!("no group asks for {key}")),
        }
    }
    Ok(qos)
}

/// Costs of `us` microseconds per request and `ps` picoseconds per byte, in both directions. `more`
/// may set `sequential_us=`, the fixed cost of sequential requests, `saturation_us=`, the amount of
/// work that saturates the device, and `depth=`.
pub(crate) fn costs(us: &str, ps: &str, more: &[&str]) -> Result<CostModel, String> {
    let fixed = Span::from_us(number(us)?);
    let byte_ps = number(ps)?;
    let mut cost = Cost { sequential: fixed, random: fixed, byte_ps, random_byte_ps: byte_ps };
    let (mut saturation, mut alone, mut depth) = (Span::ZERO, Span::ZERO, 1);
    for word in more {
        match word.split_once('=') {
            Some(("sequential_us", value)) => cost.sequential = Span::from_us(number(value)?),
            Some(("saturation_us", value)) => saturation = Span::from_us(number(value)?),
            Some(("alone_us", value)) => alone = Span::from_us(number(value)?),
            Some(("depth", value)) => depth = number(value)?,
            _ => return Err(format!("no device has {word}")),
        }
    }
    Ok(CostModel { depth, saturation, alone, read: cost, write: cost })
}

/// Parses `rt:0`, `be:4`, `idle`, or `none:4`, a level derived from `nice`.
pub(crate) fn ioprio(text: &str) -> Result<IoPrio, String> {
    let (class, level) = text.split_once(':').unwrap_or((text, "0"));
    let class = match class {
        "rt" => IoClass::RealTime,
        "be" => IoClass::BestEffort,
        "idle" => IoClass::Idle,
        "none" => IoClass::None,
        _ => return Err(format!("rt:N, be:N, none:N or idle, not {text}")),
    };
    Ok(IoPrio { class, level: number(level)? })
}

fn set_scheduler(spec: &mut SchedulerSpec, key: &str, value: &str) -> Result<(), String> {
    match spec {
        SchedulerSpec::Deadline(params) => match key {
            "read_expire_ms" => params.read_expire = Span::from_ms(number(value)?),
            "write_expire_ms" => params.write_expire = Span::from_ms(number(value)?),
            "writes_starved_batches" => return put(&mut params.writes_starved_batches, value),
            "fifo_batch_requests" => return put(&mut params.fifo_batch_requests, value),
            "front_merges" => return put(&mut params.front_merges, value),
            _ => return Err(format!("deadline has no {key}")),
        },
        SchedulerSpec::Cfq(params) => return set_cfq(params, key, value),
        SchedulerSpec::TwoLayerCfq(params) => match key {
            "group_slice_ms" => return put(&mut params.group_slice_ms, value),
            "d1_stale_group_records" => return put(&mut params.d1_stale_group_records, value),
            "d3_unbounded_wait" => return put(&mut params.d3_unbounded_wait, value),
            "group_idle" => return put(&mut params.group_idle, value),
            "inner_turn_resumes" => return put(&mut params.inner_turn_resumes, value),
            "d4_nominal_turns" => return put(&mut params.d4_nominal_turns, value),
            _ => return set_cfq(&mut params.cfq, key, value),
        },
        SchedulerSpec::Bfq(params) => return set_bfq(params, key, value),
        SchedulerSpec::GroupCfq(params) => return set_group_cfq(params, key, value),
        SchedulerSpec::TokenBucket(params) => match key {
            "slice_ms" => params.slice = Some(Span::from_ms(number(value)?)),
            _ => return Err(format!("token-bucket has no {key}")),
        },
        SchedulerSpec::Iocost(params) => match key {
            "period_ms" => params.period = Span::from_ms(number(value)?),
            "rate_min_percent" => return put(&mut params.rate_min_percent, value),
            "rate_max_percent" => return put(&mut params.rate_max_percent, value),
            "saved_percent" => return put(&mut params.saved_percent, value),
            _ => return Err(format!("iocost has no {key}")),
        },
        SchedulerSpec::Iolatency(params) => match key {
            "window_ms" => params.window = Span::from_ms(number(value)?),
            "recovery_requests" => return put(&mut params.recovery_requests, value),
            "depth_max" => return put(&mut params.depth_max, value),
            _ => return Err(format!("iolatency has no {key}")),
        },
        SchedulerSpec::Shares(params) => match key {
            "latency_goal_ms" => params.latency_goal = Span::from_ms(number(value)?),
            "forgiven_ms" => params.forgiven = Span::from_ms(number(value)?),
            _ => return Err(format!("shares has no {key}")),
        },
        SchedulerSpec::Mclock(params) => match (key, value) {
            ("at_limit", "wait") => params.at_limit = AtLimit::Wait,
            ("at_limit", "allow") => params.at_limit = AtLimit::Allow,
            ("anticipation_ms", _) => params.anticipation = Span::from_ms(number(value)?),
            ("io_bytes", _) => return put(&mut params.io_bytes, value),
            _ => return Err(format!("mclock has no {key} = {value}")),
        },
        _ => return Err(format!("{} has nothing to set", spec.name())),
    }
    Ok(())
}

fn set_bfq(params: &mut BfqParams, key: &str, value: &str) -> Result<(), String> {
    match key {
        "slice_idle_ms" => params.slice_idle = Span::from_ms(number(value)?),
        "timeout_ms" => params.timeout = Span::from_ms(number(value)?),
        "max_budget_sectors" => return put(&mut params.max_budget_sectors, value),
        "strict_guarantees" => return put(&mut params.strict_guarantees, value),
        "low_latency" => return put(&mut params.low_latency, value),
        "seeky_idle_ms" => params.seeky_idle = Span::from_ms(number(value)?),
        "revision" => {
            let switches = bfq::Switches::of_revision(value);
            params.switches = switches.ok_or_else(|| format!("no revision is called {value}"))?;
        }
        _ if params.switches.set(key, false) => {
            params.switches.set(key, number(value)?);
        }
        _ => return Err(format!("bfq has no {key}")),
    }
    Ok(())
}

fn set_group_cfq(params: &mut GroupCfqParams, key: &str, value: &str) -> Result<(), String> {
    match key {
        "group_slice_ms" => put(&mut params.group_slice_ms, value),
        "weight_map" => {
            let map = WeightMap::named(value);
            params.weight_map = map.ok_or_else(|| format!("no map is called {value}"))?;
            Ok(())
        }
        "reads_of_group" => put(&mut params.reads_of_group, value),
        "writes_of_group" => put(&mut params.writes_of_group, value),
        "turn_ends_when_empty" => put(&mut params.turn_ends_when_empty, value),
        "device_wide_busy_count" => put(&mut params.device_wide_busy_count, value),
        "foreign_preemption" => put(&mut params.foreign_preemption, value),
        "d3_unbounded_wait" => put(&mut params.d3_unbounded_wait, value),
        _ => set_cfq(&mut params.cfq, key, value),
    }
}

fn set_cfq(params: &mut CfqParams, key: &str, value: &str) -> Result<(), String> {
    let quirks = &mut params.quirks;
    match key {
        "hz" => put(&mut params.hz, value),
        "tick_phase_us" => {
            params.tick_phase = Span::from_us(number(value)?);
            Ok(())
        }
        "quantum" => put(&mut params.quantum, value),
        "fifo_expire_sync_ms" => put(&mut params.fifo_expire_sync_ms, value),
        "fifo_expire_async_ms" => put(&mut params.fifo_expire_async_ms, value),
        "back_seek_max_kib" => put(&mut params.back_seek_max_kib, value),
        "back_seek_penalty" => put(&mut params.back_seek_penalty, value),
        "slice_sync_ms" => put(&mut params.slice_sync_ms, value),
        "slice_async_ms" => put(&mut params.slice_async_ms, value),
        "slice_async_rq" => put(&mut params.slice_async_rq, value),
        "slice_idle_ms" => put(&mut params.slice_idle_ms, value),
        "serve_together" => put(&mut params.serve_together, value),
        "key_offset" => put(&mut params.key_offset, value),
        "slice_from_completion" => put(&mut params.slice_from_completion, value),
        "q1_residual_sign" => put(&mut quirks.q1_residual_sign, value),
        "q2_unsigned_keys" => put(&mut quirks.q2_unsigned_keys, value),
        "q3_async_budget_per_round" => put(&mut quirks.q3_async_budget_per_round, value),
        "q4_no_fifo_inheritance" => put(&mut quirks.q4_no_fifo_inheritance, value),
        "q5_first_request_seeks" => put(&mut quirks.q5_first_request_seeks, value),
        "q6_queueing_latched" => put(&mut quirks.q6_queueing_latched, value),
        "q7_reference_is_driver" => put(&mut quirks.q7_reference_is_driver, value),
        "q8_idle_while_busy" => put(&mut quirks.q8_idle_while_busy, value),
        "group_isolation" => put(&mut params.group_isolation, value),
        "low_latency" => put(&mut params.low_latency, value),
        "queueing_seen" => put(&mut params.queueing_seen, value),
        "revision" => {
            let switches = Switches::of_revision(value);
            params.switches = switches.ok_or_else(|| format!("no revision is called {value}"))?;
            Ok(())
        }
        _ if params.switches.set(key, false) => {
            params.switches.set(key, number(value)?);
            Ok(())
        }
        _ => Err(format!("CFQ has no {key}")),
    }
}
