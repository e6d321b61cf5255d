#include "engine/runtime/identity.hpp"

#include <functional>
#include <string>

#include "engine/runtime/runtime.hpp"
#include "wire/server_calls.hpp"

namespace holdfast::engine {

void Identity::ask() {
  wanted_.store(true);
  if (runtime_.router().server() != 0) return;
  runtime_.hand_over([this] {
    redis::Shard* const only = runtime_.router().only_shard();
    if (only != nullptr && only->server() == 0 && under_way_ == 0) ask(*only);
  });
}

void Identity::on_connected(redis::Shard& shard) {
  if (wanted_.load() && runtime_.router().only_shard() != nullptr) ask(shard);
}

/// If there is no connection yet, the new connection asks again.
void Identity::ask(redis::Shard& shard) {
  ++under_way_;
  shard.send(redis::Request::of(wire::server_info(), runtime_.config().command_timeout),
             [this, &shard, keep = runtime_.keep_alive()](const redis::Result& result) {
               --under_way_;
               if (result.delivery != redis::Delivery::answered) return;
               const std::string run_id = wire::decode_run_id(result.replies.front());
               shard.identify(run_id.empty() ? redis::kNameless : std::hash<std::string>()(run_id));
               waited_for();
             });
}

bool Identity::to_be_waited_for() const { return !waited_for_.load() && runtime_.router().server() == 0; }

}  // namespace holdfast::engine
