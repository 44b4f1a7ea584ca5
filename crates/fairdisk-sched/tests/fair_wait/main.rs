//! No group waits longer for its turn than docs/fair.md says, in storms of groups that want the
//! disk: `FAIRDISK_FAIR_STORMS` of them, or a few. In half of the storms nothing else happens. In
//! the others weights and settings change, groups are created and removed, tasks pause, exit and
//! cancel, requests fail, and other schedulers take over for a while.

#[path = "../support/reads.rs"]
mod reads;

mod bound;
mod disk;
mod events;
mod storm;

use fairdisk_core::{Instant, Span};
use std::env;
use storm::{Kind, Storm};

fn weather(kind: Kind) {
    let storms =
        env::var("FAIRDISK_FAIR_STORMS").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    for seed in 0..storms {
        let run = || {
            let mut storm = Storm::new(kind, seed);
            (0..600).for_each(|_| storm.serve_one());
            // Rounds become longer after 2 s, and are four times as long after 8.
            let longest = storm.now.max(Instant::ZERO + Span::from_s(10));
            for _ in 0..3000 {
                if storm.now < longest {
                    storm.serve_one();
                }
            }
        };
        std::panic::catch_unwind(run).unwrap_or_else(|_| panic!("seed {seed}"));
    }
}

#[test]
fn no_group_waits_longer_than_stated() {
    weather(Kind::Steady);
}

#[test]
fn no_group_waits_longer_than_stated_whatever_changes() {
    weather(Kind::Restless);
}
