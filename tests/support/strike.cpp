#include "support/strike.hpp"

#include <vector>

#include "support/raw.hpp"
#include "support/taker_rounds.hpp"

namespace holdfast::test {

const char* to_string(Fault fault) {
  switch (fault) {
    case Fault::forced:
      return "forced";
    case Fault::killed:
      return "killed";
    case Fault::cut_off:
      break;
  }
  return "cut off, killed";
}

void PrintTo(Fault fault, std::ostream* out) { *out << to_string(fault); }

Struck strike(Deployment& deployment, Fault fault, const std::function<void()>& meanwhile) {
  deployment.wait_until_settled();
  if (fault == Fault::forced) {
    const Microseconds begun = shared_clock();
    deployment.failover();
    return {fault, begun, shared_clock()};
  }
  RedisServer& primary = deployment.primary();
  const std::vector<RedisServer*> replicas = deployment.replicas();
  if (fault == Fault::cut_off) {
    // What was sent to them before that, they still read when they go on.
    for (RedisServer* each : replicas) each->freeze();
    Raw(primary).command("CLIENT", "KILL", "TYPE", "replica");
    if (meanwhile) meanwhile();
  }
  const Microseconds killed = shared_clock();
  primary.kill();
  if (fault == Fault::cut_off) {
    for (RedisServer* each : replicas) each->thaw();
  }
  deployment.wait_for_failover_from(primary);
  const Microseconds served = shared_clock();
  primary.restart(Data::lose);
  return {fault, killed, served};
}

}  // namespace holdfast::test
