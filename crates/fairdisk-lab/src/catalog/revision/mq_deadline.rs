//! The family `mq-deadline`: tables `[deadline]`, for each class, and `[mq_deadline]`.

use super::{File, MOST, demand, need};
use crate::catalog::error::CatalogError;
use crate::catalog::source::Source;
use fairdisk_core::Span;
use fairdisk_sched::mq_deadline::MqDeadlineParams;
use serde::Deserialize;

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MqDeadlineFile {
    prio_aging_expire_ms: u32,
}

impl File {
    pub(super) fn mq_deadline(&self, source: Source<'_>) -> Result<MqDeadlineParams, CatalogError> {
        let file = need(self.mq_deadline, "mq_deadline", source)?;
        let expire = file.prio_aging_expire_ms;
        demand(source, 1..=MOST, &[("mq_deadline.prio_aging_expire_ms", expire)])?;
        let prio_aging_expire = Span::from_ms(u64::from(expire));
        Ok(MqDeadlineParams { deadline: self.deadline(source)?, prio_aging_expire })
    }
}
