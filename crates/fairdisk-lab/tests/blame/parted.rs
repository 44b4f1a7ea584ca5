//! At the divergence of two revisions, each side says what it chose or what it waits for, and why.

use fairdisk_lab::blame::{Between, Difference, FactorSet, Metric, MoveKind, Side, divergence};
use fairdisk_lab::plan::{Options, Plan};
use std::sync::atomic::AtomicBool;

fn moves(good: &str, bad: &str, spec: &str, arm: &str) -> Option<[MoveKind; 2]> {
    let stop = AtomicBool::new(false);
    let arms = vec![arm.to_owned()];
    let rows = if spec == "two-groups" { Vec::new() } else { vec!["#1".to_owned()] };
    let options = Options { arms, rows, ..Options::default() };
    let [good, bad] =
        [good, bad].map(|name| Side { scheduler: format!("cfq-{name}"), overrides: Vec::new() });
    let difference = Difference::between(&good, &bad, &[]).unwrap();
    let all = FactorSet::first(difference.factors.len());
    let planner = |options: &Options| Plan::experiment(spec, options);
    let between = Between::new(difference, Metric::Ios, &planner, options, &stop).unwrap();
    let parted = divergence(&between, all, 0, &stop).unwrap()?;
    Some([parted.good.what, parted.bad.what])
}

#[test]
fn who_chooses_nothing_says_what_it_waits_for() {
    let mut parted = 0;
    for (spec, arm) in [("two-groups", "flat"), ("satoshi-2008-05-27-test1", "native")] {
        for [good, bad] in [
            ["2.6.25", "2.6.32"],
            ["2.6.30", "2.6.32"],
            ["2.6.32", "2.6.33-rc1"],
            ["2.6.25", "2.6.34"],
            ["2.6.33-rc1", "2.6.34"],
        ] {
            let Some(sides) = moves(good, bad, spec, arm) else { continue };
            for side in &sides {
                let is_decision = !matches!(side, MoveKind::Else(_) | MoveKind::Nothing);
                assert!(is_decision, "{good} to {bad}, {spec}: {sides:?}");
            }
            parted += 1;
        }
    }
    assert!(parted >= 8, "{parted}");
}
