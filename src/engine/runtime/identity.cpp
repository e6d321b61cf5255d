#include "engine/runtime/identity.hpp"

#include <functional>
#include <string>
#include <utility>

#include "wire/server_calls.hpp"

namespace holdfast::engine {

bool Identity::want() {
  wanted_.store(true);
  return router_.server() == 0;
}

void Identity::ask(std::shared_ptr<void> client) {
  redis::Shard* const only = router_.only_shard();
  if (only != nullptr && only->server() == 0 && under_way_ == 0) send(*only, std::move(client));
}

void Identity::on_connected(redis::Shard& shard, std::shared_ptr<void> client) {
  if (wanted_.load() && router_.only_shard() != nullptr) send(shard, std::move(client));
}

/// If there is no connection yet, the new connection asks again.
void Identity::send(redis::Shard& shard, std::shared_ptr<void> client) {
  ++under_way_;
  shard.send(redis::Request::of(wire::server_info(), timeout_),
             [this, &shard, client = std::move(client)](const redis::Result& result) {
               --under_way_;
               if (result.delivery != redis::Delivery::answered) return;
               const std::string run_id = wire::decode_run_id(result.replies.front());
               shard.identify(run_id.empty() ? redis::kNameless : std::hash<std::string>()(run_id));
               waited_for();
             });
}

bool Identity::to_be_waited_for() const { return !waited_for_.load() && router_.server() == 0; }

}  // namespace holdfast::engine
