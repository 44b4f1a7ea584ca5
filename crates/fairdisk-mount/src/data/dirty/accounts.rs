//! Dirty bytes per account, and the writers that are held back by the limit.

use super::Then;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The interval of log messages while waiting for all data to be written out.
const SAID_EVERY: Duration = Duration::from_secs(10);

/// The accounts of one mount.
pub(crate) struct Accounts {
    limit: u64,
    state: Mutex<State>,
    clean: Condvar,
}

#[derive(Default)]
struct State {
    accounts: HashMap<u32, Account>,
    /// Dirty bytes of all accounts.
    bytes: u64,
    /// The number of threads that wait until no bytes are dirty.
    waiting: u32,
}

#[derive(Default)]
struct Account {
    bytes: u64,
    held_back: VecDeque<Then>,
}

impl std::fmt::Debug for Accounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Accounts({} bytes dirty)", self.lock().bytes)
    }
}

impl Accounts {
    /// Accounts without dirty bytes, each of which is limited to `limit` bytes.
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, state: Mutex::default(), clean: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Dirty bytes that are not yet on the disk, in all accounts.
    pub(crate) fn bytes(&self) -> u64 {
        self.lock().bytes
    }

    /// Dirty bytes of each account that has any.
    pub(crate) fn all(&self) -> BTreeMap<u32, u64> {
        self.lock().accounts.iter().map(|(account, found)| (*account, found.bytes)).collect()
    }

    /// Charges dirty bytes to an account.
    pub(crate) fn charge(&self, account: u32, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let mut state = self.lock();
        state.bytes += bytes;
        state.accounts.entry(account).or_default().bytes += bytes;
    }

    /// Runs `then`: immediately if the account is within its limit, otherwise once it is again.
    /// Returns whether the writer is held back.
    pub(crate) fn admit(&self, account: u32, then: Then) -> bool {
        let mut state = self.lock();
        match state.accounts.get_mut(&account) {
            Some(found) if found.bytes > self.limit => {
                found.held_back.push_back(then);
                true
            }
            _ => {
                drop(state);
                then();
                false
            }
        }
    }

    /// Credits bytes that have reached the disk, and runs the continuations that are free to
    /// proceed.
    pub(crate) fn settle(&self, account: u32, bytes: u64) {
        let mut state = self.lock();
        state.bytes = state.bytes.saturating_sub(bytes);
        let all_clean = state.bytes == 0 && state.waiting > 0;
        let mut free = VecDeque::new();
        if let Some(found) = state.accounts.get_mut(&account) {
            found.bytes = found.bytes.saturating_sub(bytes);
            if found.bytes <= self.limit {
                free = std::mem::take(&mut found.held_back);
            }
            if found.bytes == 0 {
                state.accounts.remove(&account);
            }
        }
        drop(state);
        if all_clean {
            self.clean.notify_all();
        }
        free.into_iter().for_each(|then| then());
    }

    /// Waits until no bytes are dirty, and logs now and then how many are left.
    pub(crate) fn wait_until_clean(&self) {
        let mut state = self.lock();
        state.waiting += 1;
        while state.bytes > 0 {
            let waited = self.clean.wait_timeout(state, SAID_EVERY);
            let (now, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = now;
            if timeout.timed_out() {
                tracing::warn!(bytes = state.bytes, "still being written out");
            }
        }
        state.waiting -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_writer_above_its_limit_goes_on_when_enough_is_on_the_disk() {
        let accounts = Accounts::new(100);
        let (tell, told) = mpsc::channel();
        let then = |number: u32| -> Then {
            let tell = tell.clone();
            Box::new(move || tell.send(number).unwrap())
        };
        accounts.charge(1, 100);
        assert!(!accounts.admit(1, then(1)));
        accounts.charge(1, 50);
        assert!(accounts.admit(1, then(2)) && accounts.admit(1, then(3)));
        assert!(!accounts.admit(2, then(4)), "another account is not held back");
        accounts.settle(1, 40);
        assert_eq!(told.try_iter().collect::<Vec<_>>(), [1, 4]);
        accounts.settle(1, 10);
        assert_eq!(told.try_iter().collect::<Vec<_>>(), [2, 3]);
        accounts.settle(1, 100);
        accounts.wait_until_clean();
        assert_eq!(accounts.bytes(), 0);
    }
}
