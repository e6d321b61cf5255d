// SPDX-License-Identifier: Apache-2.0
// What happens to the primary of a deployment, or to one of a cluster.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "support/cluster.hpp"
#include "support/deployment.hpp"
#include "support/shared_clock.hpp"

namespace holdfast::test {

enum class Fault {
  forced,         ///< SENTINEL FAILOVER, CLUSTER FAILOVER FORCE: it lives on, and becomes a replica in the end.
  killed,         ///< SIGKILL. It is started again, without data, when another one serves.
  cut_off,        ///< As killed; but what it did in the time before that has reached no replica.
  takeover,       ///< A cluster: a replica takes its place and asks nobody (CLUSTER FAILOVER TAKEOVER).
  frozen,         ///< A cluster: SIGSTOP. It goes on when another one serves.
  resharded,      ///< A cluster: slots go to another primary, key by key.
  moved_at_once,  ///< A cluster: slots go to another primary with all their keys (see Cluster::moves_atomically).
  grown,          ///< A cluster: a new primary gets slots, gives them back, and is gone.
};
const char* to_string(Fault fault);
void PrintTo(Fault fault, std::ostream* out);

struct Struck {
  Fault fault;
  Microseconds at;      ///< The failover was asked for; the primary was killed or frozen; the first slot was to move.
  Microseconds served;  ///< Another primary serves, and all Sentinels or nodes name it.
  Microseconds settled = 0;  ///< All replicas follow it; 0: not looked at.
  long long polls = 0;       ///< So many locks were found free by a safety poll, until the next fault.
};

/// Waits until the deployment has settled, strikes, and waits until another primary serves. `meanwhile` is called while
/// the primary is cut off.
Struck strike(Deployment& deployment, Fault fault, const std::function<void()>& meanwhile = {});

/// The same for the primary that serves this key. Of its slots those around the key's are moved.
Struck strike(Cluster& cluster, Fault fault, const std::string& key, const std::function<void()>& meanwhile = {});

}  // namespace holdfast::test
