// SPDX-License-Identifier: Apache-2.0
// The embedded scripts, one for each file below src/kinds/lua; the head of each file says what it does.
#pragma once

#include "base/resp.hpp"

namespace holdfast::wire::scripts {

extern const base::Script lock_acquire;
extern const base::Script lock_acquire_all;
extern const base::Script lock_acquire_any;
extern const base::Script lock_release;
extern const base::Script lock_release_all;
extern const base::Script lock_release_any;
extern const base::Script lock_force_release;
extern const base::Script lock_look;
extern const base::Script lock_renew;

extern const base::Script fair_acquire;
extern const base::Script fair_force_release;
extern const base::Script fair_leave;
extern const base::Script fair_look;
extern const base::Script fair_release;

extern const base::Script read_write_acquire_read;
extern const base::Script read_write_acquire_write;
extern const base::Script read_write_downgrade;
extern const base::Script read_write_release_read;
extern const base::Script read_write_release_write;
extern const base::Script read_write_force_release;
extern const base::Script read_write_look;
extern const base::Script read_write_renew;

extern const base::Script latch_count_down;
extern const base::Script latch_remove;
extern const base::Script latch_set;

extern const base::Script permits_acquire;
extern const base::Script permits_add;
extern const base::Script permits_force_release;
extern const base::Script permits_look;
extern const base::Script permits_release;
extern const base::Script permits_remove;
extern const base::Script permits_renew;
extern const base::Script permits_set;
extern const base::Script permits_set_total;

extern const base::Script semaphore_acquire;
extern const base::Script semaphore_add;
extern const base::Script semaphore_drain;
extern const base::Script semaphore_release;
extern const base::Script semaphore_set;

extern const base::Script simple_acquire;
extern const base::Script simple_acquire_all;
extern const base::Script simple_release;
extern const base::Script simple_release_all;
extern const base::Script simple_force_release;
extern const base::Script simple_renew;

extern const base::Script spin_force_release;
extern const base::Script spin_release;

}  // namespace holdfast::wire::scripts
