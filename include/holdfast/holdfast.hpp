// SPDX-License-Identifier: Apache-2.0
// Everything that a user of Holdfast needs to include. Contains no Boost.
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/config.hpp>
#include <holdfast/error.hpp>
#include <holdfast/fence.hpp>
#include <holdfast/hold.hpp>
#include <holdfast/leader.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/options.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/version.hpp>
