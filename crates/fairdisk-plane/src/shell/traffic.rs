//! Requests on their way to a backend and back: their buffers, and what they carry.

use crate::backend::{Backend, Done};
use crate::buffer::{Buffers, payload_bytes};
use crate::failure::{FailedRequest, Failure};
use crate::payload::Payload;
use fairdisk_core::{Instant, Op, Request, RequestId, dense};

/// The requests at a backend, and a pool of buffers for them.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Buffers for reads. They are kept apart from those for writes, because what a disk returned
    /// may not be noise.
    read_buffers: Buffers,
    write_buffers: Buffers,
    /// Requests at the backend, indexed by their ids.
    at_backend: Vec<Option<Request>>,
}

impl Traffic {
    /// Submits a request, with what `payload` provides if it is a write.
    ///
    /// # Panics
    /// A request with its id is at the backend.
    pub fn submit(
        &mut self,
        now: Instant,
        request: &Request,
        payload: &mut impl Payload,
        backend: &mut impl Backend,
    ) {
        let slot = dense::entry(&mut self.at_backend, request.id.0, || None);
        let before = slot.replace(*request);
        assert!(before.is_none(), "{:?} is issued twice", request.id);
        let mut data = self.buffers(request.op).take(payload_bytes(request));
        if request.op == Op::Write {
            payload.fill(request, &mut data);
        }
        backend.submit(now, request, data);
    }

    /// Has `payload` check a completed request, and takes its buffer back.
    ///
    /// # Errors
    /// The request failed, or what it read is wrong.
    pub fn settle(
        &mut self,
        now: Instant,
        done: Done,
        payload: &mut impl Payload,
    ) -> Result<Request, FailedRequest> {
        let request = self.take(done.id);
        let corrupt = payload.check(&request, &done.data, done.result.is_ok());
        self.buffers(request.op).give_back(done.data);
        let result = match corrupt {
            Some(lba) if done.result.is_ok() => Err(Failure::Corrupt(lba)),
            _ => done.result,
        };
        result.map(|()| request).map_err(|failure| FailedRequest { at: now, request, failure })
    }

    fn buffers(&mut self, op: Op) -> &mut Buffers {
        if op == Op::Write { &mut self.write_buffers } else { &mut self.read_buffers }
    }

    fn take(&mut self, id: RequestId) -> Request {
        let slot = self.at_backend.get_mut(id.0 as usize);
        match slot.and_then(Option::take) {
            Some(request) => request,
            None => panic!("{id:?} is done but was not at the backend"),
        }
    }
}
