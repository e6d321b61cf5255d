// What happens to the primary of a deployment.
#pragma once

#include <functional>
#include <ostream>

#include "support/deployment.hpp"
#include "support/history.hpp"

namespace holdfast::test {

enum class Fault {
  forced,   ///< SENTINEL FAILOVER: it lives on, and becomes a replica in the end.
  killed,   ///< SIGKILL. It is started again, without data, when another one serves.
  cut_off,  ///< As killed; but what it did in the time before that has reached no replica.
};
const char* to_string(Fault fault);
void PrintTo(Fault fault, std::ostream* out);

struct Struck {
  Fault fault;
  Microseconds at;      ///< SENTINEL FAILOVER was sent; the primary was killed.
  Microseconds served;  ///< Another primary serves, and all Sentinels name it.
};

/// Waits until the deployment has settled, strikes, and waits until another primary serves. `meanwhile` is called while
/// the primary is cut off.
Struck strike(Deployment& deployment, Fault fault, const std::function<void()>& meanwhile = {});

}  // namespace holdfast::test
