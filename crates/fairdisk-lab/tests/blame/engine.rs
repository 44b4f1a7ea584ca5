//! Blame names the planted changes, all of them and nothing else.

use crate::planted::{BASE, Interrupter, Log, Planted, blame, design};
use fairdisk_core::Prng;
use fairdisk_lab::blame::{
    Design, FactorSet, Findings, Halt, Measure, Method, Sample, blame as investigate,
};
use std::sync::atomic::AtomicBool;

/// A fraction of the base between 10 and 25 %.
fn part(prng: &mut Prng) -> f64 {
    prng.between(100, 250) as f64 / 1000.0
}

/// This many distinct changes.
fn changes(prng: &mut Prng, factors: usize, count: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..factors).collect();
    prng.shuffle(&mut all);
    all.truncate(count);
    all
}

fn set(changes: &[usize]) -> FactorSet {
    changes.iter().copied().collect()
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Single,
    Several,
    Paired,
    PairAndSingle,
    Cancelling,
    CancellingAndSingle,
    Masked,
    Together,
}

const KINDS: [Kind; 8] = [
    Kind::Single,
    Kind::Several,
    Kind::Paired,
    Kind::PairAndSingle,
    Kind::Cancelling,
    Kind::CancellingAndSingle,
    Kind::Masked,
    Kind::Together,
];

/// A regression of the given kind, with 1 % noise.
fn plant(kind: Kind, prng: &mut Prng) -> Planted {
    let factors = prng.between(6, 60) as usize;
    let at = changes(prng, factors, 6);
    let (one, other) = (part(prng), part(prng));
    let terms = match kind {
        Kind::Single => vec![(set(&at[..1]), -one)],
        Kind::Several => (0..4).map(|n| (set(&at[n..=n]), -0.5 * part(prng) - 0.05)).collect(),
        Kind::Paired => vec![(set(&at[..2]), -one)],
        Kind::PairAndSingle => vec![(set(&at[..2]), -one), (set(&at[2..3]), -other)],
        Kind::Cancelling => vec![(set(&at[..1]), -one), (set(&at[1..2]), one)],
        Kind::CancellingAndSingle => {
            vec![(set(&at[..1]), -one), (set(&at[1..2]), one), (set(&at[2..3]), -other)]
        }
        // The second term takes away what the first one adds; the third remains.
        Kind::Masked => {
            vec![(set(&at[..1]), -one), (set(&at[..2]), one), (set(&at[2..3]), -other)]
        }
        // Undoing any of them restores everything, and an order shows the last of them.
        Kind::Together => vec![(set(&at[..prng.between(3, 6) as usize]), -one - other)],
    };
    let traced = prng.chance(1, 2);
    Planted { factors, terms, noise: 0.01, traced, needs: Vec::new() }
}

fn demand_whole(findings: &Findings) {
    let parts: f64 = findings.effects.iter().map(|effect| effect.part.mean).sum();
    let rest = findings.rest.map_or(0.0, |rest| rest.part.mean);
    let whole = findings.ends.as_ref().unwrap().whole();
    assert!((parts + rest - whole).abs() < 1e-6 * BASE, "{parts} + {rest} is not {whole}");
}

#[test]
fn what_was_planted_is_named_and_bisection_is_wrong_about_pairs() {
    let (mut paired, mut most) = (0, 0);
    for case in 0..400_u64 {
        let kind = KINDS[case as usize % KINDS.len()];
        let planted = plant(kind, &mut Prng::new(case));
        let design = Design { seed: case, ..design(planted.factors) };
        let findings = blame(&planted, &design);
        let causes = planted.causes();
        assert_eq!(findings.culprits(), causes, "{kind:?}, case {case}: {planted:?}");
        assert_eq!(findings.halt, None, "{kind:?}, case {case}");
        assert!(findings.runs <= design.runs);
        most = most.max(findings.runs);
        demand_whole(&findings);
        let Some(bisection) = &findings.bisection else {
            assert_eq!(kind, Kind::Cancelling, "case {case}");
            continue;
        };
        let answers = &bisection.answers;
        let is_right = |answer: &usize| set(&[*answer]) == causes;
        if matches!(kind, Kind::Paired | Kind::PairAndSingle | Kind::Together) {
            paired += 1;
            assert!(!answers.iter().any(is_right), "case {case}");
        }
        assert!(kind != Kind::Single || answers.iter().all(is_right), "case {case}: {answers:?}");
    }
    println!("at most {most} runs");
    assert!(paired >= 100, "{paired}");
}

#[test]
fn pairs_are_named_as_pairs_and_one_of_them_is_enough_to_undo() {
    for case in 0..30 {
        let planted = plant(Kind::Paired, &mut Prng::new(1000 + case));
        let findings = blame(&planted, &design(planted.factors));
        let pair = findings.pairs[0];
        assert!(!pair.is_noise);
        assert_eq!(set(&pair.factors), planted.causes(), "case {case}");
        let undo = findings.undo.unwrap();
        assert!(undo.is_enough && undo.is_smallest && undo.factors.len() == 1, "{undo:?}");
        assert!((undo.recovers - 1.0).abs() < 0.2, "{undo:?}");
    }
}

#[test]
fn of_several_causes_all_must_be_undone() {
    for case in 0..20 {
        let planted = plant(Kind::Several, &mut Prng::new(2000 + case));
        let findings = blame(&planted, &design(planted.factors));
        let undo = findings.undo.unwrap();
        assert_eq!(undo.factors, planted.causes(), "case {case}: {planted:?}");
        assert!(undo.is_enough && undo.is_smallest);
    }
}

/// Several changes together give something back, and one more takes it away again. Most orders do
/// not show that one, but undoing it alone in the bad end does.
#[test]
fn what_undoing_one_change_brings_is_seen() {
    for case in 0..60 {
        let mut prng = Prng::new(3000 + case);
        let at = changes(&mut prng, 45, 9);
        let terms = vec![(set(&at[..1]), -0.4), (set(&at[..8]), 0.1), (set(&at), -0.1)];
        let planted =
            Planted { factors: 45, terms, noise: 0.002, traced: true, ..Planted::default() };
        let findings = blame(&planted, &Design { seed: case, ..design(45) });
        let taken = findings.effects.iter().find(|effect| effect.factor == at[8]);
        let undone = taken.and_then(|effect| effect.last);
        let is_seen = undone.is_some_and(|last| (last / BASE + 0.1).abs() < 0.02);
        assert!(is_seen && findings.culprits().contains(at[8]), "case {case}: {taken:?}");
        demand_whole(&findings);
    }
}

#[test]
fn shapley_values_are_exact() {
    let terms =
        vec![(set(&[3]), -0.1), (set(&[5]), -0.2), (set(&[3, 5]), 0.06), (set(&[1, 3, 7]), -0.3)];
    let planted = Planted { factors: 20, terms, ..Planted::default() };
    let findings = blame(&planted, &design(20));
    let value = |factor| findings.effects.iter().find(|e| e.factor == factor).unwrap().part.mean;
    let near = |value: f64, expected: f64| (value - expected).abs() < 1e-9;
    assert!(near(value(3), BASE * (-0.1 + 0.03 - 0.1)), "{}", value(3));
    assert!(near(value(5), BASE * (-0.2 + 0.03)), "{}", value(5));
    assert!(near(value(1), BASE * -0.1) && near(value(7), BASE * -0.1));
    assert_eq!(findings.method, Some(Method::Exact { mixtures: 16 }));
    let of = |a, b| findings.pairs.iter().find(|pair| pair.factors == [a, b]).unwrap();
    assert!(near(of(3, 5).interaction.mean, BASE * 0.06));
    // On average, half of a term of three appears when its third change is not considered.
    assert!(near(of(1, 7).interaction.mean, BASE * -0.15));
    assert!(of(1, 5).is_noise);
}

#[test]
fn many_causes_are_sampled_and_still_sum_to_the_whole() {
    let mut prng = Prng::new(7);
    let at = changes(&mut prng, 40, 16);
    let mut terms: Vec<_> = at.iter().map(|factor| (set(&[*factor]), -0.04)).collect();
    terms.push((set(&at[..2]), -0.2));
    let planted = Planted { factors: 40, terms, noise: 0.002, ..Planted::default() };
    let findings = blame(&planted, &Design { runs: 2000, ..design(40) });
    assert!(matches!(findings.method, Some(Method::Sampled { .. })), "{:?}", findings.method);
    demand_whole(&findings);
    assert_eq!(findings.culprits(), planted.causes());
    assert_eq!(set(&findings.pairs[0].factors), set(&at[..2]));
    let both = findings.effects.iter().filter(|effect| at[..2].contains(&effect.factor));
    for effect in both {
        assert!((effect.part.mean / BASE + 0.14).abs() < 0.04, "{effect:?}");
    }
}

#[test]
fn prerequisites_save_runs_and_change_nothing() {
    let mut planted = Planted {
        factors: 30,
        terms: vec![(set(&[4, 12]), -0.2), (set(&[20]), -0.1)],
        noise: 0.01,
        ..Planted::default()
    };
    let without = blame(&planted, &design(30));
    planted.needs = vec![(4, 12), (4, 13), (4, 14), (4, 15), (4, 16)];
    let with = blame(&planted, &design(30));
    assert_eq!(with.culprits(), planted.causes());
    assert_eq!(without.culprits(), planted.causes());
    assert!(with.runs < without.runs, "{} and {}", with.runs, without.runs);
}

#[test]
fn nothing_is_claimed_where_there_is_only_noise() {
    for case in 0..20 {
        let planted = Planted { factors: 25, noise: 0.05, ..Planted::default() };
        let findings = blame(&planted, &Design { seed: case, ..design(25) });
        assert!(findings.culprits().is_empty(), "case {case}: {:?}", findings.effects);
        assert!(!findings.ends.as_ref().unwrap().differ);
        assert!(findings.undo.is_none() && findings.bisection.is_none());
        demand_whole(&findings);
    }
}

/// The measured value and its spread, by number of changes made.
struct Uneven {
    noise: Planted,
    levels: Vec<(f64, f64)>,
}

impl Measure for Uneven {
    fn measure(&self, set: FactorSet, seed: u32) -> Result<Sample, String> {
        let Sample { value: noise, trace } = self.noise.measure(set, seed)?;
        let (value, spread) = self.levels[set.len()];
        Ok(Sample { value: value + spread * (noise - BASE), trace })
    }
}

/// Two changes make a small figure more than twice as large. One of them alone makes it thirty
/// times as large, with a spread that exceeds the difference between the ends.
#[test]
fn noise_of_other_mixtures_does_not_hide_what_the_ends_say() {
    for case in 0..20 {
        let planted = Planted { factors: 2, noise: 0.1, ..Planted::default() };
        let stop = AtomicBool::new(false);
        let design = Design { seed: case, ..design(2) };
        let levels = vec![(20.0, 0.01), (600.0, 1.0), (50.0, 0.02)];
        let (uneven, log) = (Uneven { noise: planted, levels }, Log::default());
        let findings = investigate(&uneven, &design, Vec::new(), &log, &stop).unwrap();
        assert!(findings.ends.as_ref().unwrap().differ, "case {case}");
        assert_eq!(findings.culprits(), set(&[0, 1]), "case {case}: {:?}", findings.effects);
    }
}

/// A loss between ends that hardly scatter, while what lies between them does.
#[test]
fn a_set_that_only_chance_brings_near_is_not_enough_to_undo() {
    for case in 0..40 {
        let noise = Planted { factors: 3, noise: 0.005, ..Planted::default() };
        let levels = vec![(100.0, 0.01), (90.0, 1.6), (90.0, 1.6), (90.0, 0.01)];
        let scattered = Uneven { noise, levels };
        let stop = AtomicBool::new(false);
        let design =
            Design { seed: case, seeds: 6, seeds_max: 6, is_real: true, runs: 60, ..design(3) };
        let found = investigate(&scattered, &design, Vec::new(), &Log::default(), &stop).unwrap();
        assert!(found.ends.as_ref().unwrap().differ, "case {case}");
        let near = found.undo.as_ref().is_none_or(|undo| !undo.is_enough || undo.recovers >= 0.9);
        assert!(near, "case {case}: {:?}", found.undo);
    }
}

/// Too many changes for every mixture to fit the budget of a command.
#[test]
fn changes_that_add_up_are_named_from_one_pair_of_orders() {
    for factors in [6, 8, 14] {
        let terms = (0..factors).map(|factor| (set(&[factor]), -0.02)).collect();
        let planted = Planted { factors, terms, noise: 0.0001, ..Planted::default() };
        let runs = if factors > 8 { 220 } else { 100 };
        let design = Design { seeds: 3, seeds_max: 3, runs, is_real: true, ..design(factors) };
        let findings = blame(&planted, &design);
        assert_eq!(findings.culprits(), planted.causes(), "{factors}: {:?}", findings.method);
        demand_whole(&findings);
    }
}

#[test]
fn from_one_run_of_each_nothing_is_claimed() {
    for case in 0..20 {
        let planted = Planted { factors: 3, noise: 0.05, ..Planted::default() };
        let findings = blame(&planted, &Design { seed: case, seeds: 1, seeds_max: 1, ..design(3) });
        assert!(findings.culprits().is_empty(), "case {case}: {:?}", findings.effects);
        assert!(!findings.ends.as_ref().unwrap().differ && findings.undo.is_none());
    }
}

#[test]
fn each_mixture_is_run_as_often_as_chance_demands() {
    let changes = Planted {
        factors: 30,
        terms: vec![(set(&[4, 12]), -0.2), (set(&[20]), -0.1)],
        ..Planted::default()
    };
    for (noise, seeds) in [(0.001, 2..=2), (0.006, 3..=4), (0.03, 5..=5)] {
        let planted = Planted { noise, ..changes.clone() };
        let findings = blame(&planted, &design(30));
        assert_eq!(findings.culprits(), planted.causes(), "{noise}");
        assert!(seeds.contains(&findings.seeds), "{noise}: {}", findings.seeds);
        demand_whole(&findings);
    }
}

#[test]
fn what_does_nothing_is_run_once() {
    let traced = Planted {
        factors: 40,
        terms: vec![(set(&[20]), -0.2)],
        noise: 0.0001,
        traced: true,
        ..Planted::default()
    };
    let untraced = blame(&Planted { traced: false, ..traced.clone() }, &design(40));
    let findings = blame(&traced, &design(40));
    assert_eq!(findings.culprits(), traced.causes());
    assert_eq!(untraced.culprits(), traced.causes());
    assert!(5 * findings.runs < 4 * untraced.runs, "{} {}", findings.runs, untraced.runs);
}

#[test]
fn nothing_depends_on_the_number_of_threads_or_on_being_interrupted() {
    let planted = plant(Kind::PairAndSingle, &mut Prng::new(3));
    let design = Design { threads: 4, ..design(planted.factors) };
    let whole = blame(&planted, &design);
    let again = blame(&planted, &Design { threads: 1, ..design.clone() });
    assert_eq!(format!("{whole:?}"), format!("{again:?}"));
    let stop = AtomicBool::new(false);
    let watch = Interrupter(100, &stop, Log::default());
    let part = investigate(&planted, &design, Vec::new(), &watch, &stop).unwrap();
    assert_eq!(part.halt, Some(Halt::Interrupted));
    assert!(part.ends.is_some() && part.effects.is_empty());
    let prior = watch.2.0.into_inner().unwrap();
    assert!(prior.len() >= 100);
    let (log, go) = (Log::default(), AtomicBool::new(false));
    let resumed = investigate(&planted, &design, prior.clone(), &log, &go).unwrap();
    assert_eq!(format!("{whole:?}"), format!("{resumed:?}"));
    assert_eq!(log.0.into_inner().unwrap().len() + prior.len(), whole.runs);
}

#[test]
fn a_budget_is_kept_and_what_is_known_is_said() {
    let planted = plant(Kind::Several, &mut Prng::new(5));
    for runs in [4, 8, 60, 120, 200, 400] {
        let findings = blame(&planted, &Design { runs, ..design(planted.factors) });
        assert!(findings.runs <= runs, "{} of {runs}", findings.runs);
        let is_short = findings.halt == Some(Halt::Budget) || !findings.is_searched;
        assert!(is_short || findings.culprits() == planted.causes(), "{runs}: {findings:?}");
        if !findings.effects.is_empty() {
            demand_whole(&findings);
        }
    }
}

#[test]
fn real_runs_are_repeated_while_the_budget_lasts() {
    let planted = Planted {
        factors: 3,
        terms: vec![(set(&[0]), -0.2), (set(&[0, 2]), -0.1)],
        noise: 0.05,
        ..Planted::default()
    };
    let design = Design { seeds: 3, runs: 300, is_real: true, ..design(3) };
    let findings = blame(&planted, &design);
    assert_eq!(findings.culprits(), planted.causes());
    assert!(findings.seeds > 30 && findings.runs > 290, "{} {}", findings.seeds, findings.runs);
    assert!(findings.effects.iter().all(|effect| effect.is_noise == (effect.factor == 1)));
    demand_whole(&findings);
}

#[test]
fn a_run_that_fails_ends_all() {
    struct Failing;
    impl Measure for Failing {
        fn measure(&self, set: FactorSet, _: u32) -> Result<Sample, String> {
            let value = if set.len() > 3 { None } else { Some(1.0) };
            let value = value.ok_or_else(|| format!("{} changes are too many", set.len()))?;
            Ok(Sample { value, trace: None })
        }
    }
    let stop = AtomicBool::new(false);
    let failed = investigate(&Failing, &design(9), Vec::new(), &Log::default(), &stop);
    assert_eq!(failed.unwrap_err(), "9 changes are too many");
}
