#include "engine/runtime/asking.hpp"

#include <holdfast/error.hpp>

#include "engine/loop/own_loop.hpp"
#include "engine/runtime/runtime.hpp"
#include "redis/failures/errors.hpp"

namespace holdfast::engine {
namespace {

class Asking final : public Loop::Task, public std::enable_shared_from_this<Asking> {
 public:
  Asking(Runtime& runtime, Inquiry inquiry) : node(runtime.node()), runtime_(runtime), inquiry_(std::move(inquiry)) {}
  void run() override {
    send(runtime_, std::move(inquiry_), [self = shared_from_this()](redis::Result reply, const std::string& its_node) {
      self->result = std::move(reply);
      self->node = its_node;
      self->runtime_.own_loop()->set(self->answer);
    });
  }
  void broken() noexcept override {
    result.error = Errc::exhausted;
    runtime_.own_loop()->set(answer);
  }

  Answer answer;
  redis::Result result;
  std::string node;

 private:
  Runtime& runtime_;
  Inquiry inquiry_;
};

}  // namespace

std::vector<base::Reply> ask(Runtime& runtime, Inquiry inquiry, const std::string& name, Errors errors) {
  runtime.require_usable(name);
  runtime.require_waiting(name);
  const auto asking = std::make_shared<Asking>(runtime, std::move(inquiry));
  // The lane answers within the command's time limit; the slack is for a machine that stands still.
  const TimePoint until = base::Clock::now() + runtime.config().command_timeout * 2 + std::chrono::seconds(5);
  runtime.own_loop()->call(asking, asking->answer, until);
  if (!asking->answer.is_there()) {
    throw Error(runtime.closed() ? Errc::closed : Errc::unknown_outcome, name, runtime.node(), "no reply");
  }
  return replies(std::move(asking->result), name, asking->node, errors);
}

void send(Runtime& runtime, Inquiry inquiry, Answered answered) {
  redis::Shard* const where = inquiry.where;
  redis::Request request{.commands = std::move(inquiry.commands),
                         .timeout = runtime.config().command_timeout,
                         .tells = std::move(inquiry.tells)};
  if (where == nullptr) {
    return runtime.send(std::move(request), [&runtime, answered = std::move(answered)](redis::Result result) {
      answered(std::move(result), runtime.node());
    });
  }
  request.here = true;
  where->send(std::move(request), [&runtime, where, answered = std::move(answered)](redis::Result result) {
    const std::string address = where->address();
    answered(std::move(result), address.empty() ? runtime.node() : address);
  });
}

std::vector<base::Reply> replies(redis::Result result, const std::string& name, const std::string& node,
                                 Errors errors) {
  if (result.delivery != redis::Delivery::answered) {
    throw Error(static_cast<Errc>(result.error.value()), name, node, result.cause);
  }
  for (const base::Reply& reply : result.replies) {
    const bool kept = errors == Errors::keep || (errors == Errors::keep_last && &reply == &result.replies.back());
    if (kept || !reply.is_error()) continue;
    throw Error(redis::classify(reply.text).code, name, node, redis::explain(reply.text));
  }
  return std::move(result.replies);
}

}  // namespace holdfast::engine
