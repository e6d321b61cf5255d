// SPDX-License-Identifier: Apache-2.0
#include "lock/runtime/asking.hpp"

#include <algorithm>
#include <memory>

#include <holdfast/error.hpp>

#include "lock/runtime/job.hpp"
#include "lock/runtime/runtime.hpp"
#include "loop/alarm.hpp"
#include "redis/decide/errors.hpp"

namespace holdfast::engine {
namespace {

struct Replied {
  redis::Result result;
  std::string node;
};

class Asking final : public Job<Replied>, public std::enable_shared_from_this<Asking> {
 public:
  Asking(Runtime& runtime, Inquiry inquiry) : runtime_(runtime), inquiry_(std::move(inquiry)) {}
  void run() override {
    send(runtime_, std::move(inquiry_), [self = shared_from_this()](redis::Result result, const std::string& node) {
      self->tell({std::move(result), node});
    });
  }
  void broken() noexcept override {
    Replied none;
    none.result.error = Errc::exhausted;
    tell(std::move(none));  // without a node: there is no memory
  }

 private:
  Runtime& runtime_;
  Inquiry inquiry_;
};

/// How long a command is repeated that the server refuses for now, as while its slot moves: as long as the release of a
/// hold, since what is not given back is gone.
Duration refused_for(const Runtime& runtime, Duration repeated) {
  return std::max<Duration>(repeated, runtime.config().lease);
}

/// Resends a command until its outcome is known. Keeps itself alive meanwhile.
class Repeating : public std::enable_shared_from_this<Repeating> {
 public:
  Repeating(Runtime& runtime, redis::Request request, Duration repeated, Answered answered)
      : runtime_(runtime),
        keep_(runtime.keep_alive()),
        request_(std::move(request)),
        until_(base::Clock::now() + repeated),
        until_refused_(base::Clock::now() + refused_for(runtime, repeated)),
        answered_(std::move(answered)) {}

  void send() {
    runtime_.send(redis::Request(request_),
                  [self = shared_from_this()](redis::Result result) { self->on_result(std::move(result)); });
  }

 private:
  /// A retry makes sense.
  static bool is_open(const redis::Result& result) {
    if (result.delivery == redis::Delivery::unknown) return true;
    if (result.delivery == redis::Delivery::not_sent) return !result.pointless && result.error != Errc::closed;
    const base::Reply& reply = result.replies.front();
    return reply.is_error() && redis::classify(reply.text).fate == redis::Fate::transient;
  }

  void on_result(redis::Result result) {
    const bool refused = result.delivery == redis::Delivery::answered && result.replies.front().is_error();
    const bool answered = result.delivery == redis::Delivery::answered && !refused;
    // What a server may have done, it remembers for no longer than the usual time.
    const TimePoint until = refused && !unknown_ ? until_refused_ : until_;
    if (!answered && is_open(result) && base::Clock::now() < until && runtime_.loop().inside()) {
      unknown_ = unknown_ || result.delivery == redis::Delivery::unknown;
      const Duration pause = std::min<Duration>(milliseconds(5) * (1 << std::min(pauses_++, 8)), milliseconds(500));
      return alarm_.set_after(pause, shared_from_this());
    }
    if (!answered && unknown_) {  // the last failure says nothing about earlier sends
      if (result.delivery == redis::Delivery::answered) result.cause = redis::explain(result.replies.front().text);
      result.delivery = redis::Delivery::unknown;
      result.error = Errc::unknown_outcome;
    }
    answered_(std::move(result), runtime_.node());
  }

  Runtime& runtime_;  // outlives the thread that runs this
  const std::shared_ptr<void> keep_;
  const redis::Request request_;
  const TimePoint until_;
  const TimePoint until_refused_;
  const Answered answered_;
  bool unknown_ = false;  // an earlier send may have been carried out
  int pauses_ = 0;
  timing::Alarm alarm_{runtime_.loop().schedule(), [this] { send(); }, timing::Alarm::AtClose::rings};
};

}  // namespace

std::vector<base::Reply> ask(Runtime& runtime, Inquiry inquiry, const std::string& name, Errors errors) {
  runtime.require_usable(name);
  runtime.require_waiting(name);
  const Duration repeated = inquiry.repeated;
  const auto asking = std::make_shared<Asking>(runtime, std::move(inquiry));
  // The lane answers within the command's time limit; the slack is for a machine that freezes.
  const TimePoint until = base::Clock::now() + (repeated > Duration{} ? refused_for(runtime, repeated) : repeated) +
                          runtime.config().timing.command_timeout * 2 + std::chrono::seconds(5);
  std::optional<Replied> replied = Asking::wait(*runtime.own_loop(), asking, until);
  if (!replied) {
    throw Error(runtime.closed() ? Errc::closed : Errc::unknown_outcome, name, runtime.node(), "no reply");
  }
  const std::string& node = replied->node.empty() ? runtime.node() : replied->node;
  return replies(runtime, std::move(replied->result), name, node, errors);
}

void send(Runtime& runtime, Inquiry inquiry, Answered answered) {
  redis::Shard* const where = inquiry.where;
  redis::Request request{.commands = std::move(inquiry.commands),
                         .timeout = runtime.config().timing.command_timeout,
                         .tells = std::move(inquiry.tells),
                         .most = inquiry.most};
  if (inquiry.repeated > Duration{}) {
    return std::make_shared<Repeating>(runtime, std::move(request), inquiry.repeated, std::move(answered))->send();
  }
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

std::vector<base::Reply> replies(const Runtime& runtime, redis::Result result, const std::string& name,
                                 const std::string& node, Errors errors) {
  if (result.delivery != redis::Delivery::answered) {
    throw Error(static_cast<Errc>(result.error.value()), name, node, result.cause, runtime.may_pass(result));
  }
  constexpr std::ptrdiff_t kFirst = 2;
  for (const base::Reply& reply : result.replies) {
    const bool rest = &reply - result.replies.data() >= kFirst;
    if (!reply.is_error() || errors == Errors::keep || (errors == Errors::keep_rest && rest)) continue;
    const redis::Meaning meaning = redis::classify(reply.text);
    throw Error(meaning.code, name, node, redis::explain(reply.text), meaning.may_pass());
  }
  return std::move(result.replies);
}

}  // namespace holdfast::engine
