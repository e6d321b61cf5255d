// SPDX-License-Identifier: Apache-2.0
// The kinds of locks as data for the engine: a file for each.
#pragma once

#include "kinds/plan.hpp"

namespace holdfast::kinds {

/// Redisson's RLock (docs/wire.md section 2).
extern const engine::Plan kLock;
/// Any one of several of those. The grant is of a plain lock, under its own name.
extern const engine::Plan kAnyLock;
/// Redisson's RFairLock: the plain lock with a queue of waiters (docs/wire.md section 10).
extern const engine::Plan kFairLock;
/// Redisson's RFencedLock: the plain lock, and a number that grows with each grant (docs/wire.md section 2).
extern const engine::Plan kFencedLock;
/// Redisson's RSpinLock: the plain lock without messages (docs/wire.md section 2).
extern const engine::Plan kSpinLock;
/// Redisson's RReadWriteLock: one owner alone, or several who share it (docs/wire.md section 2).
extern const engine::Plan kReadWriteLock;
/// SET NX PX and compare-and-delete (docs/wire.md section 2).
extern const engine::Plan kSimpleLock;
/// Redisson's RSemaphore: a number that callers take from, and that nobody holds (docs/wire.md section 11).
extern const engine::Plan kSemaphore;
/// Redisson's RPermitExpirableSemaphore: several owners at the same time, each with one or more permits
/// (docs/wire.md section 12).
extern const engine::Plan kLeasedSemaphore;
/// Redisson's RCountDownLatch: acquiring it means finding it open, and changes nothing (docs/wire.md section 13).
extern const engine::Plan kLatch;

}  // namespace holdfast::kinds
