#include "engine/runtime/asking.hpp"

#include <holdfast/error.hpp>

#include "engine/loop/own_loop.hpp"
#include "engine/runtime/runtime.hpp"
#include "redis/failures/errors.hpp"

namespace holdfast::engine {
namespace {

class Asking final : public Loop::Task, public std::enable_shared_from_this<Asking> {
 public:
  Asking(Runtime& runtime, std::vector<base::Command> commands, std::vector<std::string> tells)
      : runtime_(runtime), commands_(std::move(commands)), tells_(std::move(tells)) {}
  void run() override {
    runtime_.send(
        {.commands = std::move(commands_), .timeout = runtime_.config().command_timeout, .tells = std::move(tells_)},
        [self = shared_from_this()](redis::Result reply) {
          self->result = std::move(reply);
          self->runtime_.own_loop()->set(self->answer);
        });
  }
  void broken() noexcept override {
    result.error = Errc::exhausted;
    runtime_.own_loop()->set(answer);
  }

  Answer answer;
  redis::Result result;

 private:
  Runtime& runtime_;
  std::vector<base::Command> commands_;
  std::vector<std::string> tells_;
};

}  // namespace

std::vector<base::Reply> ask(Runtime& runtime, std::vector<base::Command> commands, const std::string& name,
                             Errors errors, std::vector<std::string> tells) {
  runtime.require_usable(name);
  runtime.require_waiting(name);
  const auto asking = std::make_shared<Asking>(runtime, std::move(commands), std::move(tells));
  // The lane answers within the command's time limit; the slack is for a machine that stands still.
  const TimePoint until = base::Clock::now() + runtime.config().command_timeout * 2 + std::chrono::seconds(5);
  runtime.own_loop()->call(asking, asking->answer, until);
  if (!asking->answer.is_there()) {
    throw Error(runtime.closed() ? Errc::closed : Errc::unknown_outcome, name, runtime.node(), "no reply");
  }
  return replies(runtime, std::move(asking->result), name, errors);
}

std::vector<base::Reply> replies(const Runtime& runtime, redis::Result result, const std::string& name, Errors errors) {
  if (result.delivery != redis::Delivery::answered) {
    throw Error(static_cast<Errc>(result.error.value()), name, runtime.node(), result.cause);
  }
  for (const base::Reply& reply : result.replies) {
    if (errors == Errors::keep || !reply.is_error()) continue;
    throw Error(redis::classify(reply.text).code, name, runtime.node(), redis::explain(reply.text));
  }
  return std::move(result.replies);
}

}  // namespace holdfast::engine
