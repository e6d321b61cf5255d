// SPDX-License-Identifier: Apache-2.0
//! What a NAME is, as `kind=` says: the crate's locks behind one interface.

use std::time::Duration;

use redisson::{RFairLock, RLock, RMultiLock, RReadLock, RRedLock, RWriteLock, RedissonResult};

pub trait Lock: Send {
    fn lock(&self, lease: Option<Duration>) -> RedissonResult<()>;
    fn try_lock(&self, wait: Duration) -> RedissonResult<bool>;
    /// What the crate answers: false when it has released an ordinary lock, as well as when it has not.
    fn unlock(&self) -> RedissonResult<bool>;
    /// What this object believes.
    fn mine(&self) -> bool;
}

/// Those of one holder that the crate gives a lease for each acquisition.
macro_rules! with_lease {
    ($type:ty) => {
        impl Lock for $type {
            fn lock(&self, lease: Option<Duration>) -> RedissonResult<()> {
                match lease {
                    Some(lease) => self.lock_with_lease_time(lease),
                    None => <$type>::lock(self),
                }
            }
            fn try_lock(&self, wait: Duration) -> RedissonResult<bool> {
                self.try_lock_with_timeout(wait)
            }
            fn unlock(&self) -> RedissonResult<bool> {
                <$type>::unlock(self)
            }
            fn mine(&self) -> bool {
                self.is_held_by_current_thread()
            }
        }
    };
}
with_lease!(RLock);
with_lease!(RReadLock);
with_lease!(RWriteLock);

impl Lock for RFairLock {
    fn lock(&self, lease: Option<Duration>) -> RedissonResult<()> {
        match lease {
            Some(lease) => self.lock_with_lease_time(lease),
            None => RFairLock::lock(self),
        }
    }
    fn try_lock(&self, wait: Duration) -> RedissonResult<bool> {
        self.try_lock_with_timeout(wait)
    }
    fn unlock(&self) -> RedissonResult<bool> {
        RFairLock::unlock(self)
    }
    fn mine(&self) -> bool {
        false // it does not say
    }
}

impl Lock for RMultiLock {
    fn lock(&self, _: Option<Duration>) -> RedissonResult<()> {
        RMultiLock::lock(self)
    }
    fn try_lock(&self, _: Duration) -> RedissonResult<bool> {
        RMultiLock::try_lock(self)
    }
    fn unlock(&self) -> RedissonResult<bool> {
        RMultiLock::unlock(self).map(|()| true)
    }
    fn mine(&self) -> bool {
        false // it does not say
    }
}

impl Lock for RRedLock {
    fn lock(&self, _: Option<Duration>) -> RedissonResult<()> {
        RRedLock::lock(self)
    }
    fn try_lock(&self, _: Duration) -> RedissonResult<bool> {
        RRedLock::try_lock(self)
    }
    fn unlock(&self) -> RedissonResult<bool> {
        RRedLock::unlock(self)
    }
    fn mine(&self) -> bool {
        self.is_held_by_current_thread()
    }
}
