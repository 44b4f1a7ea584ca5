//! The family `token-bucket`: table `[token_bucket]`.

use super::{File, MOST, demand, need};
use crate::catalog::error::CatalogError;
use crate::catalog::source::Source;
use fairdisk_core::Span;
use fairdisk_sched::token_bucket::TokenBucketParams;
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TokenBucketFile {
    /// The length of a slice in ms; 0 for no slices.
    slice_ms: u32,
}

impl File {
    pub(super) fn token_bucket(
        &self,
        source: Source<'_>,
    ) -> Result<TokenBucketParams, CatalogError> {
        let file = need(self.token_bucket.as_ref(), "token_bucket", source)?;
        demand(source, 0..=MOST, &[("token_bucket.slice_ms", file.slice_ms)])?;
        let slice = (file.slice_ms > 0).then(|| Span::from_ms(file.slice_ms.into()));
        Ok(TokenBucketParams { slice })
    }
}
