//! Journal records in the words of a table.

use crate::cast::Cast;
use fairdisk_core::{Instant, Record, RequestId, Why};

/// The records in words, without what the left side says already.
pub(crate) fn tell(records: &[Record], cast: &mut Cast) -> String {
    let mut said = Vec::new();
    for (at, record) in records.iter().enumerate() {
        match *record {
            Record::Queued(first, id) => cast.name_request(id, first),
            Record::Issued(id) => cast.issued(id),
            _ => {}
        }
        said.extend(word(record, &records[..at], &records[at + 1..], cast));
    }
    if said.is_empty() { "nothing".to_owned() } else { said.join(", ") }
}

/// A record in words; `None` if it is told with another one, or follows from one.
fn word(record: &Record, before: &[Record], after: &[Record], cast: &Cast) -> Option<String> {
    let (bio, request) = (|id| cast.bio_name(id), |id| cast.request_name(id));
    Some(match *record {
        Record::Queued(_, id) if after.iter().any(|next| moves(next, id)) => return None,
        Record::Queued(first, _) => format!("queue {}", bio(first)),
        Record::Dispatched(id, why) if after.contains(&Record::Issued(id)) => {
            format!("issue {} why={why:?}", request(id))
        }
        Record::Dispatched(id, why) => format!("dispatch {} why={why:?}", request(id)),
        Record::Issued(id) if before.iter().any(|past| is_dispatch(past, id)) => return None,
        Record::Issued(id) => format!("issue {}", request(id)),
        Record::Held(id) => format!("hold {}", bio(id)),
        Record::Sleeps(id) => format!("{} sleeps", bio(id)),
        Record::Woken(id) => format!("wake {}", bio(id)),
        Record::Merged(id, into) => format!("merge {} into {}", bio(id), request(into)),
        Record::TooManySegments(id, into) => {
            format!("{} has too many segments for {}", bio(id), request(into))
        }
        Record::Absorbed(id, gone) => format!("{} absorbs {}", request(id), request(gone)),
        Record::Finished(id, true) => format!("finish {}", bio(id)),
        Record::Finished(id, false) => format!("error {}", bio(id)),
        Record::Waits(until, why) => format!("wait until {} why={why:?}", short(until)),
        Record::WaitsCompletion(Why::NothingQueued) => return None,
        Record::WaitsCompletion(why) => format!("wait for a completion why={why:?}"),
        Record::Cancelled(id) => format!("cancelled {}", bio(id)),
        Record::Submitted(_)
        | Record::Hurried(_)
        | Record::Completed(..)
        | Record::Configured(_)
        | Record::Switched(_) => return None,
    })
}

fn is_dispatch(record: &Record, id: RequestId) -> bool {
    matches!(*record, Record::Dispatched(other, _) if other == id)
}

fn moves(record: &Record, id: RequestId) -> bool {
    is_dispatch(record, id) || *record == Record::Issued(id)
}

/// Milliseconds without trailing zeros.
fn short(at: Instant) -> String {
    let text = at.to_string();
    let number = text.trim_end_matches("ms").trim_end_matches('0').trim_end_matches('.');
    format!("{number}ms")
}
