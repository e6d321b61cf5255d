#include "redis/topology/detours.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <holdfast/error.hpp>

#include "redis/cluster/redirect.hpp"
#include "redis/connection/op.hpp"

namespace holdfast::redis {
namespace {

using base::Clock;
using cluster::Redirect;

/// A request whose commands are answered by several nodes.
struct Gathered {
  Result result;
  ResultHandler handler;
  std::size_t missing = 0;
};

/// Replaces a missing reply. Only commands that are safe to resend are sent together with others.
base::Reply no_reply(const Result& result) {
  const std::string& why = result.cause.empty() ? result.error.message() : result.cause;
  return {base::Reply::Kind::error, 0, "TRYAGAIN the node that serves it now has not answered: " + why, {}};
}

base::Duration pause_before(int detour) {
  const int doublings = std::min(detour - Detours::kAtOnce - 1, 10);
  return std::min<base::Duration>(Detours::kFirstPause * (1 << doublings), Detours::kLongestPause);
}

bool redirected(const base::Reply& reply, const NodeAddress& asked) {
  return reply.is_error() && cluster::read_redirect(reply.text, asked).has_value();
}

}  // namespace

Detours::Detours(timing::Schedule& schedule, Ways ways)
    : ways_(std::move(ways)), alarm_(schedule, [this] { on_time(Clock::now()); }) {}

void Detours::take(Misdirected&& misdirected, const NodeAddress& asked, base::TimePoint now) {
  if (closed_) return misdirected.handler(failure(Delivery::not_sent, Errc::closed, {}, true));
  if (misdirected.result.delivery == Delivery::answered && misdirected.request.commands.size() > 1) {
    take_apart(std::move(misdirected), asked, now);
  } else {
    take_one(std::move(misdirected), asked, now);
  }
}

void Detours::take_one(Misdirected&& misdirected, const NodeAddress& asked, base::TimePoint now) {
  if (misdirected.result.delivery != Delivery::answered) return go_on(std::move(misdirected), {}, now);
  const std::optional<Redirect> redirect = cluster::read_redirect(misdirected.result.replies.front().text, asked);
  if (!redirect) return misdirected.handler(std::move(misdirected.result));
  Request& request = misdirected.request;
  request.asking = redirect->kind == Redirect::Kind::ask;
  const std::optional<NodeAddress> to = request.asking ? std::optional(redirect->to) : std::nullopt;
  if (request.detours < UINT8_MAX) ++request.detours;
  if (request.detours <= kAtOnce) return go_on(std::move(misdirected), to, now);
  const base::TimePoint when = now + pause_before(request.detours);
  if (when >= misdirected.deadline) return misdirected.handler(std::move(misdirected.result));
  request.asking = false;  // by then the slot may have moved
  paused_.emplace(when, std::move(misdirected));
  alarm_.set_by(when);
}

void Detours::take_apart(Misdirected&& misdirected, const NodeAddress& asked, base::TimePoint now) {
  auto whole = std::make_shared<Gathered>(Gathered{std::move(misdirected.result), std::move(misdirected.handler)});
  std::vector<Misdirected> parts;
  for (std::size_t i = 0; i < whole->result.replies.size(); ++i) {
    base::Reply& reply = whole->result.replies[i];
    if (!redirected(reply, asked)) continue;
    Misdirected part;
    part.request.commands.push_back(std::move(misdirected.request.commands[i]));
    part.request.detours = misdirected.request.detours;
    part.deadline = misdirected.deadline;
    part.result.delivery = Delivery::answered;
    part.result.replies.push_back(std::move(reply));
    part.handler = [whole, i](Result result) {
      const bool answered = result.delivery == Delivery::answered;
      whole->result.replies[i] = answered ? std::move(result.replies.front()) : no_reply(result);
      if (--whole->missing == 0) whole->handler(std::move(whole->result));
    };
    parts.push_back(std::move(part));
  }
  whole->missing = parts.size();
  if (parts.empty()) return whole->handler(std::move(whole->result));
  for (Misdirected& part : parts) take_one(std::move(part), asked, now);
}

/// To this node, or to the one that serves the key.
void Detours::go_on(Misdirected&& misdirected, const std::optional<NodeAddress>& to, base::TimePoint now) {
  Request& request = misdirected.request;
  request.timeout = misdirected.deadline - now;
  if (request.timeout <= base::Duration::zero()) {
    if (misdirected.result.delivery == Delivery::answered) return misdirected.handler(std::move(misdirected.result));
    request.timeout = std::chrono::milliseconds(1);  // the node that has it then reports best what is missing
  }
  if (to) {
    ways_.to(*to, std::move(request), std::move(misdirected.handler));
  } else {
    ways_.by_key(std::move(request), std::move(misdirected.handler));
  }
}

void Detours::on_time(base::TimePoint now) {
  while (!paused_.empty() && paused_.begin()->first <= now) {
    Misdirected next = std::move(paused_.extract(paused_.begin()).mapped());
    alarm_.set(due());
    go_on(std::move(next), {}, now);
  }
  alarm_.set(due());
}

void Detours::close() {
  closed_ = true;
  alarm_.cancel();
  for (auto& [when, each] : std::exchange(paused_, {})) {
    each.handler(failure(Delivery::not_sent, Errc::closed, {}, true));
  }
}

void Detours::drop_all() {
  closed_ = true;
  const auto dropped = std::exchange(paused_, {});
}

}  // namespace holdfast::redis
