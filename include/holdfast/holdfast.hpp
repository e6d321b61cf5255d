// Everything that a user of Holdfast needs to include. Contains no Boost.
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/config.hpp>
#include <holdfast/error.hpp>
#include <holdfast/fair_lock.hpp>
#include <holdfast/fence.hpp>
#include <holdfast/fenced_lock.hpp>
#include <holdfast/hold.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/leader.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/maybe_hold.hpp>
#include <holdfast/metrics.hpp>
#include <holdfast/multi_lock.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/options.hpp>
#include <holdfast/outcome.hpp>
#include <holdfast/read_write_lock.hpp>
#include <holdfast/red_lock.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/simple_lock.hpp>
#include <holdfast/spin_lock.hpp>
#include <holdfast/this_thread.hpp>
#include <holdfast/version.hpp>
