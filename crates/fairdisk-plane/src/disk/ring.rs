//! The thread that has the kernel do transfers through an `io_uring`.
//!
//! It handles many transfers at once and waits for no single one. Completions and new requests are
//! passed to the scheduler under one lock, and what it issues goes to the kernel with one system
//! call, before anybody is answered.

use super::inbox::{Inbox, Letters};
use super::state::{Issued, Jobs};
use super::unheard::Which;
use super::{Shared, Todo, Transfer, Way};
use crate::backend::Ring;
use fairdisk_core::RequestId;
use io_uring::{opcode, squeue, types};
use rustix::event::PollFlags;
use rustix::fd::AsRawFd;
use std::io;

/// The size of the submission queue. Further entries need another system call.
pub(super) const ENTRIES: u32 = 64;

/// The user data of the poll request for the bell, which distinguishes it from transfers.
const BELL: u64 = u64::MAX;
/// The number of low bits of the user data that hold the index of a job in its request.
const JOB_BITS: u32 = 16;

/// A request at the kernel.
struct Flight {
    request: RequestId,
    jobs: Jobs,
    /// The number of transfers that the kernel has not completed.
    left: usize,
    /// Whether a transfer failed to happen, so that the jobs must be performed by a thread.
    again: bool,
}

/// The state of the ring's thread.
pub(super) struct Performer<'a> {
    shared: &'a Shared,
    inbox: &'a Inbox,
    ring: Ring,
    flights: Vec<Option<Flight>>,
    free: Vec<usize>,
    /// Whether the kernel polls the bell.
    listening: bool,
    landed: Vec<(RequestId, Jobs)>,
}

impl<'a> Performer<'a> {
    pub(super) const fn new(shared: &'a Shared, inbox: &'a Inbox, ring: Ring) -> Self {
        Self {
            shared,
            inbox,
            ring,
            flights: Vec::new(),
            free: Vec::new(),
            listening: false,
            landed: Vec::new(),
        }
    }

    /// Runs until the inbox is closed and no work is left.
    pub(super) fn run(mut self) {
        let mut letters = Letters::default();
        loop {
            self.reap();
            let idle = self.landed.is_empty();
            let closed = self.inbox.take(&mut letters, idle);
            if !idle || !letters.is_empty() {
                self.see_to(&mut letters);
            } else if closed && self.free.len() == self.flights.len() {
                return;
            } else {
                self.wait();
            }
        }
    }

    fn see_to(&mut self, letters: &mut Letters) {
        let todo = if self.landed.is_empty() && letters.orders.is_empty() {
            Todo::default()
        } else {
            self.shared.with(|state, now| {
                for (request, jobs) in self.landed.drain(..) {
                    state.performed(now, Which::Issued(request), jobs);
                }
                for (order, job) in letters.orders.drain(..) {
                    state.submit(now, &order, job);
                }
            })
        };
        todo.issued.each(|issued| self.start(issued));
        letters.issued.drain(..).for_each(|issued| self.start(issued));
        go_on(&self.ring.flush());
        todo.finished.each(|(job, result)| job.finish(result));
    }

    /// Has the kernel perform a request.
    fn start(&mut self, issued: Issued) {
        if !issued.is_transfer() {
            return self.shared.start(issued);
        }
        let at = self.free.pop().unwrap_or_else(|| {
            self.flights.push(None);
            self.flights.len() - 1
        });
        let left = issued.jobs.len();
        let flight = Flight { request: issued.request, jobs: issued.jobs, left, again: false };
        let flight = self.flights[at].insert(flight);
        for (number, (job, _)) in flight.jobs.iter_mut().enumerate() {
            let transfer = job.transfer();
            let name = (at as u64) << JOB_BITS | number as u64;
            let entry = transfer.map(|transfer| entry(transfer).user_data(name));
            // SAFETY: the entry points to memory that the job lends and that nobody touches: the
            // job stays in `flights` until its completion has been reaped. `run` returns only when
            // no flight is left, and `drop` leaks any that are.
            let pushed = entry.map(|entry| unsafe { self.ring.push(&entry) });
            if !matches!(pushed, Some(Ok(()))) {
                flight.again = true;
                flight.left -= 1;
            }
        }
        self.land(at);
    }

    /// Processes the completions.
    fn reap(&mut self) {
        while let Some(completion) = self.ring.next() {
            let name = completion.user_data();
            if name == BELL {
                self.inbox.silence();
                self.listening = false;
                continue;
            }
            let (at, number) = ((name >> JOB_BITS) as usize, name & ((1 << JOB_BITS) - 1));
            let Some(Some(flight)) = self.flights.get_mut(at) else { continue };
            let Some((job, result)) = flight.jobs.get_mut(number as usize) else { continue };
            match job.transferred(moved(completion.result())) {
                Some(done) => *result = done,
                None => flight.again = true,
            }
            flight.left -= 1;
            self.land(at);
        }
    }

    /// Completes a request once all of its transfers have completed.
    fn land(&mut self, at: usize) {
        let Some(Flight { request, jobs, again, .. }) =
            self.flights[at].take_if(|flight| flight.left == 0)
        else {
            return;
        };
        self.free.push(at);
        if again {
            self.shared.perform_elsewhere(Issued { request, jobs });
        } else {
            self.landed.push((request, jobs));
        }
    }

    /// Waits for a completion or the bell.
    fn wait(&mut self) {
        if !self.listening {
            let bell = types::Fd(self.inbox.bell().as_raw_fd());
            let readable = u32::from(PollFlags::IN.bits());
            let entry = opcode::PollAdd::new(bell, readable).build().user_data(BELL);
            // SAFETY: the entry points to no memory, and the bell outlives the ring.
            self.listening = unsafe { self.ring.push(&entry) }.is_ok();
        }
        go_on(&self.ring.enter(1, None));
    }
}

impl Drop for Performer<'_> {
    fn drop(&mut self) {
        // Reached with flights only after a panic. The kernel may still write to the borrowed
        // memory, so it is leaked.
        std::mem::forget(std::mem::take(&mut self.flights));
    }
}

/// Ignores errors of the ring: nothing can be done about them here, and requests at the kernel
/// complete all the same.
fn go_on(entered: &io::Result<()>) {
    if entered.is_err() {
        std::thread::yield_now();
    }
}

fn entry(transfer: Transfer<'_>) -> squeue::Entry {
    let fd = types::Fd(transfer.file.as_raw_fd());
    match transfer.way {
        Way::In(bytes) => {
            let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            opcode::Read::new(fd, bytes.as_mut_ptr(), len).offset(transfer.at).build()
        }
    }
}

/// The kernel's result of a transfer: a number of bytes, or a negative error number.
fn moved(result: i32) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(result.saturating_neg()))
}
