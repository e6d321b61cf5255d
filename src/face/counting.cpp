#include "face/change.hpp"

#include <stdexcept>

#include <holdfast/error.hpp>

#include "face/outcome.hpp"
#include "wire/permits_calls.hpp"
#include "wire/semaphore_calls.hpp"

namespace holdfast::face {
namespace {

using Replies = std::vector<base::Reply>;

/// The operation's own name, and for how long the server keeps it: as long as it may be sent again.
wire::Once once(engine::Runtime& runtime, const char* operation) {
  const Config& config = runtime.config();
  return {runtime.make_owner().text + ":" + operation, engine::repeated_for(config.patience, config.command_timeout)};
}

std::int64_t number(const base::Reply& reply) {
  const std::optional<std::int64_t> number = wire::semaphore::decode_number(reply);
  if (!number) throw std::runtime_error("it is no number");
  return *number;
}

template <class Result>
Question<Result> change(const engine::KeyTarget& target, base::Command command,
                        std::function<Result(const Replies&)> decode) {
  return {.name = target.name(),
          .commands = {std::move(command)},
          .decode = std::move(decode),
          .tells = target.sharded_channels(),
          .repeated = target.runtime().config().patience};
}

}  // namespace

void require_number(const engine::KeyTarget& target, std::int64_t number, std::int64_t least, const char* what) {
  if (number >= least && number <= kMostPermits) return;
  throw error_about(target, Errc::invalid_argument,
                    std::to_string(number) + " " + what + "; it must be from " + std::to_string(least) + " to " +
                        std::to_string(kMostPermits));
}

Question<bool> set_permits(const engine::KeyTarget& target, std::int64_t permits,
                           std::optional<std::chrono::milliseconds> lives) {
  require_number(target, permits, 0, "permits");
  const wire::LockNames names = target.names();
  base::Command command =
      wire::semaphore::set({names, permits, once(target.runtime(), "set"), target.publish()}, lives);
  return change<bool>(target, std::move(command), [](const Replies& replies) { return number(replies.front()) == 1; });
}

Question<std::int64_t> add_permits(const engine::KeyTarget& target, std::int64_t permits) {
  require_number(target, permits, -kMostPermits, "permits more");
  const wire::LockNames names = target.names();
  base::Command command = wire::semaphore::add({names, permits, once(target.runtime(), "add"), target.publish()});
  return change<std::int64_t>(target, std::move(command),
                              [](const Replies& replies) { return number(replies.front()); });
}

Question<std::int64_t> set_total(const engine::KeyTarget& target, std::int64_t permits) {
  require_number(target, permits, 0, "permits in all");
  return change<std::int64_t>(target, wire::permits::set_total(target.names(), permits, target.publish()),
                              [](const Replies& replies) { return number(replies.front()); });
}

Question<std::int64_t> available_leased(const engine::KeyTarget& target) {
  return {target.name(), {wire::permits::look(target.names(), 0, target.publish())}, [](const Replies& replies) {
            const std::optional<wire::permits::Seen> seen = wire::permits::decode_look(replies.front());
            return seen ? seen->available : 0;
          }};
}

}  // namespace holdfast::face
