//! Tunables of the kernel's schedulers, as those of the lab are called.

/// A tunable of the kernel, what the lab calls it, and by what its number is divided for that.
struct Tunable {
    scheduler: &'static str,
    kernel: &'static str,
    lab: &'static str,
    kind: Kind,
}

/// What its number is.
#[derive(Clone, Copy)]
enum Kind {
    /// As many of the lab's units.
    Number,
    /// A thousand of them are one of the lab's units. What is no whole number of these is left out.
    Thousandths,
    /// 0 or 1.
    Switch,
}

const fn of(
    scheduler: &'static str,
    kernel: &'static str,
    lab: &'static str,
    kind: Kind,
) -> Tunable {
    Tunable { scheduler, kernel, lab, kind }
}

/// Those that both have. Names and units of the kernel's are those of Documentation/block
/// (bfq-iosched.rst, deadline-iosched.rst, kyber-iosched.rst).
const TUNABLES: [Tunable; 17] = [
    of("bfq", "slice_idle_us", "bfq.slice_idle_ms", Kind::Thousandths),
    of("bfq", "timeout_sync", "bfq.timeout_ms", Kind::Number),
    of("bfq", "max_budget", "bfq.max_budget_sectors", Kind::Number),
    of("bfq", "back_seek_max", "bfq.back_seek_max_kib", Kind::Number),
    of("bfq", "back_seek_penalty", "bfq.back_seek_penalty", Kind::Number),
    of("bfq", "fifo_expire_sync", "bfq.fifo_expire_sync_ms", Kind::Number),
    of("bfq", "fifo_expire_async", "bfq.fifo_expire_async_ms", Kind::Number),
    of("bfq", "strict_guarantees", "bfq.strict_guarantees", Kind::Switch),
    of("bfq", "low_latency", "bfq.low_latency", Kind::Switch),
    of("mq-deadline", "read_expire", "deadline.read_expire_ms", Kind::Number),
    of("mq-deadline", "write_expire", "deadline.write_expire_ms", Kind::Number),
    of("mq-deadline", "writes_starved", "deadline.writes_starved", Kind::Number),
    of("mq-deadline", "fifo_batch", "deadline.fifo_batch", Kind::Number),
    of("mq-deadline", "front_merges", "deadline.front_merges", Kind::Switch),
    of("mq-deadline", "prio_aging_expire", "mq_deadline.prio_aging_expire_ms", Kind::Number),
    of("kyber", "read_lat_nsec", "kyber.read_target_us", Kind::Thousandths),
    of("kyber", "write_lat_nsec", "kyber.write_target_us", Kind::Thousandths),
];

/// The tunables of a scheduler as `KEY=VALUE`, from its files in sysfs.
pub(super) fn tunables(scheduler: &str, read: impl Fn(&str) -> String) -> Vec<String> {
    let of_scheduler = TUNABLES.iter().filter(|it| it.scheduler == scheduler);
    let text = |it: &Tunable| {
        let number: u64 = read(it.kernel).parse().ok()?;
        let value = match it.kind {
            Kind::Number => number.to_string(),
            Kind::Thousandths if !number.is_multiple_of(1000) => return None,
            Kind::Thousandths => (number / 1000).to_string(),
            Kind::Switch => (number != 0).to_string(),
        };
        Some(format!("{}={value}", it.lab))
    };
    of_scheduler.filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_lab::catalog::overrides::Override;
    use fairdisk_lab::catalog::revision::load;

    #[test]
    fn the_lab_has_every_tunable_that_is_recorded() {
        for scheduler in ["bfq", "mq-deadline", "kyber"] {
            let found = tunables(scheduler, |_| "1000".to_owned());
            assert!(found.len() > 1, "{scheduler}");
            for tunable in found {
                let change = Override::parse(&format!("scheduler.{tunable}")).unwrap();
                load(scheduler, &[change]).unwrap_or_else(|error| panic!("{tunable}: {error}"));
            }
        }
        assert_eq!(tunables("none", |_| "1".to_owned()), Vec::<String>::new());
    }

    #[test]
    fn units_are_those_of_the_lab() {
        let read = |name: &str| match name {
            "low_latency" => "0".to_owned(),
            "slice_idle_us" => "8000".to_owned(),
            _ => String::new(),
        };
        assert_eq!(tunables("bfq", read), ["bfq.slice_idle_ms=8", "bfq.low_latency=false"]);
        let half = |name: &str| if name == "slice_idle_us" { "500" } else { "" }.to_owned();
        assert_eq!(tunables("bfq", half), Vec::<String>::new());
        let read = |name: &str| if name == "read_lat_nsec" { "2000000" } else { "" }.to_owned();
        assert_eq!(tunables("kyber", read), ["kyber.read_target_us=2000"]);
    }
}
