//! A limited supply from which users take, none of them what others need.
//!
//! What is taken cannot be taken back. So a user has no fixed limit: it may have as much as is left
//! for all others (a dynamic threshold with factor 1, as Choudhury and Hahne proposed for the
//! memory of switches in 1998). One user alone gets half, two get a third each, and whoever comes
//! next finds as much as any of them has. A part is reserved for the privileged user.

use crate::requests::caller::User;
use rustix::process::geteuid;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The part of the total that is reserved for the privileged user.
const RESERVED_PART: u64 = 8;

/// A limited supply.
#[derive(Debug)]
pub(crate) struct FairPool {
    total: u64,
    /// The user who is not limited by what others may need: the one who runs the mount.
    privileged: u32,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: u64,
    by_user: BTreeMap<u32, u64>,
}

/// What a user has taken from a pool, given back when dropped.
#[derive(Debug)]
pub(crate) struct Share {
    pool: &'static FairPool,
    user: User,
    amount: u64,
}

/// A request that is more than a user may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// What the user has.
    pub(crate) has: u64,
    /// What nobody has.
    pub(crate) left: u64,
}

impl FairPool {
    /// A pool of which nothing is taken. Root, and the user who runs this process, are privileged.
    pub(crate) fn new(total: u64) -> Self {
        Self { total, privileged: geteuid().as_raw(), taken: Mutex::default() }
    }

    /// The amount of the whole supply.
    #[cfg(test)]
    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes `amount` for a user.
    pub(crate) fn take(&'static self, user: User, amount: u64) -> Result<Share, Refused> {
        let mut taken = self.taken();
        let has = taken.by_user.get(&user.uid).copied().unwrap_or(0);
        let left = self.total - taken.all;
        let is_privileged = user.is_root() || user.uid == self.privileged;
        let kept = match is_privileged {
            true => 0,
            // As much as the user then has, besides what is reserved.
            false => self.total / RESERVED_PART + has + amount,
        };
        if left < amount + kept {
            return Err(Refused { has, left });
        }
        taken.all += amount;
        taken.by_user.insert(user.uid, has + amount);
        Ok(Share { pool: self, user, amount })
    }
}

impl Share {
    /// The user.
    pub(crate) const fn user(&self) -> User {
        self.user
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.pool.taken();
        taken.all -= self.amount;
        let has = taken.by_user.get_mut(&self.user.uid).expect("who gives back has taken");
        *has -= self.amount;
        if *has == 0 {
            taken.by_user.remove(&self.user.uid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn user(uid: u32) -> User {
        User { uid, gid: 0 }
    }

    /// What a user gets who takes whatever there is.
    fn hoard(pool: &'static FairPool, uid: u32) -> Vec<Share> {
        std::iter::from_fn(|| pool.take(user(uid), 1).ok()).collect()
    }

    fn pool(total: u64) -> &'static FairPool {
        Box::leak(Box::new(FairPool { privileged: 7, ..FairPool::new(total) }))
    }

    #[test]
    fn whoever_comes_finds_as_much_as_others_have() {
        let pool = pool(800);
        let first = hoard(pool, 1000);
        assert_eq!(first.len(), 350, "half of what is not reserved");
        let second = hoard(pool, 1001);
        assert_eq!(second.len(), 175);
        assert_eq!(pool.take(user(1000), 1).unwrap_err(), Refused { has: 350, left: 275 });
        drop(first);
        assert!(pool.take(user(1000), 1).is_ok());
        let more = hoard(pool, 1001);
        assert_eq!(second.len() + more.len(), 350);
    }

    #[test]
    fn root_and_who_runs_the_mount_get_what_is_left_to_the_last() {
        let pool = pool(80);
        let taken: Vec<_> = (1000..1020).map(|uid| hoard(pool, uid)).collect();
        let sum: usize = taken.iter().map(Vec::len).sum();
        assert!((60..=70).contains(&sum), "{sum}");
        let [root, owner] = [0, 7].map(|uid| pool.take(user(uid), 5).is_ok());
        assert!(root && owner);
        assert_eq!(hoard(pool, 0).len(), 80 - sum);
        assert_eq!(pool.taken().all, sum as u64, "all is given back");
    }

    #[test]
    fn an_amount_that_is_too_much_at_once_is_refused_as_a_whole() {
        let pool = pool(800);
        let first = pool.take(user(1000), 300).unwrap();
        assert!(pool.take(user(1000), 100).is_err());
        assert!(pool.take(user(1000), 50).is_ok());
        drop(first);
    }
}
