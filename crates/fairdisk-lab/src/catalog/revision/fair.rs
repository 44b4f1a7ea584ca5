//! The family `fair`: tables `[fair]` and `[rules]`.

use super::{File, MOST, demand, need};
use crate::catalog::error::{CatalogError, unknown};
use crate::catalog::source::Source;
use fairdisk_core::Span;
use fairdisk_sched::fair::{FairParams, RULES, Rules};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FairFile {
    round_ms: u32,
    idle_max_ms: u32,
    credit_ms: u32,
    expire_ms: u32,
}

impl File {
    pub(super) fn fair(&self, source: Source<'_>) -> Result<FairParams, CatalogError> {
        let file = need(self.fair.as_ref(), "fair", source)?;
        let values = [("fair.round_ms", file.round_ms), ("fair.expire_ms", file.expire_ms)];
        demand(source, 1..=MOST, &values)?;
        let values = [("fair.idle_max_ms", file.idle_max_ms), ("fair.credit_ms", file.credit_ms)];
        demand(source, 0..=MOST, &values)?;
        Ok(FairParams {
            round: Span::from_ms(file.round_ms.into()),
            idle_max: Span::from_ms(file.idle_max_ms.into()),
            credit: Span::from_ms(file.credit_ms.into()),
            expire: Span::from_ms(file.expire_ms.into()),
            rules: self.rules(source)?,
        })
    }

    /// Every rule is on that the file does not turn off.
    fn rules(&self, source: Source<'_>) -> Result<Rules, CatalogError> {
        let mut rules = Rules::ALL;
        for (name, on) in &self.rules {
            if !rules.set(name, *on) {
                let known: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
                let message = unknown("rule", name, &known);
                return Err(source.error_at_key(&format!("rules.{name}"), message));
            }
        }
        Ok(rules)
    }
}
