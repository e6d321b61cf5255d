// SPDX-License-Identifier: Apache-2.0
// hf_options as the options of C++.
#pragma once

#include <holdfast.h>

#include <holdfast/options.hpp>

namespace holdfast::c {

/// All throw Error(invalid_argument) that names the member. NULL: the defaults.
LockOptions lock_options(const hf_options* options);
AcquireOptions acquire_options(const hf_options* options);
AdoptOptions adopt_options(const hf_options* options);
/// Of a leased semaphore's handle.
std::int64_t permits_of(const hf_options* options);

}  // namespace holdfast::c
