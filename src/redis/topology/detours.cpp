#include "redis/topology/detours.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <holdfast/error.hpp>

#include "redis/cluster/redirect.hpp"
#include "redis/cluster/whereabouts.hpp"
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

bool goes_on(const base::Command& command, const base::Reply& reply, const NodeAddress& asked) {
  return reply.is_error() &&
         (cluster::are_apart(command, reply) || cluster::read_redirect(reply.text, asked).has_value());
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
  const base::Reply& reply = misdirected.result.replies.front();
  if (cluster::are_apart(misdirected.request.commands.front(), reply))
    return find_keys(std::move(misdirected), asked, now);
  const std::optional<Redirect> redirect = cluster::read_redirect(reply.text, asked);
  if (!redirect) return misdirected.handler(std::move(misdirected.result));
  const bool ask = redirect->kind == Redirect::Kind::ask;
  send_again(std::move(misdirected), ask ? std::optional(redirect->to) : std::nullopt, now);
}

/// To this node, behind an ASKING; or to the one that serves the key.
void Detours::send_again(Misdirected&& misdirected, const std::optional<NodeAddress>& to, base::TimePoint now) {
  Request& request = misdirected.request;
  request.asking = to.has_value();
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
    if (!goes_on(misdirected.request.commands[i], reply, asked)) continue;
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

/// The node that serves the slot says which of them it has.
void Detours::find_keys(Misdirected&& misdirected, const NodeAddress& asked, base::TimePoint now) {
  Request question;
  question.commands = cluster::ask_for_keys(misdirected.request.commands.front());
  question.timeout = misdirected.deadline - now;
  question.here = true;
  if (question.timeout <= base::Duration::zero()) return misdirected.handler(std::move(misdirected.result));
  const auto waiting = std::make_shared<Misdirected>(std::move(misdirected));
  ways_.by_key(std::move(question), [this, waiting, asked](const Result& found) {
    if (closed_) return waiting->handler(failure(Delivery::not_sent, Errc::closed, {}, true));
    const bool answered = found.delivery == Delivery::answered;
    on_found(std::move(*waiting), answered ? cluster::read_whereabouts(found.replies, asked) : cluster::Whereabouts{},
             Clock::now());
  });
}

void Detours::on_found(Misdirected&& misdirected, const cluster::Whereabouts& where, base::TimePoint now) {
  using Kind = cluster::Whereabouts::Kind;
  base::Command& command = misdirected.request.commands.front();
  if (where.kind == Kind::together) return send_again(std::move(misdirected), {}, now);
  if (where.kind == Kind::left && command.script->of_first_key != nullptr) {
    command = cluster::of_first_key(command);
    return send_again(std::move(misdirected), where.next, now);
  }
  if (where.kind == Kind::apart && command.pieces != nullptr) {
    std::vector<base::Command> pieces = command.pieces(command);
    return send_pieces(std::move(misdirected), std::move(pieces), 0, now);
  }
  misdirected.handler(std::move(misdirected.result));
}

/// Each to where its key is. A lease counts from the first one.
void Detours::send_pieces(Misdirected&& misdirected, std::vector<base::Command> pieces, std::size_t next,
                          base::TimePoint now) {
  const bool last = next + 1 == pieces.size();
  Request piece = last ? misdirected.request : Request{};
  piece.commands = {std::move(pieces[next])};
  piece.operation = misdirected.request.operation;
  piece.timeout = misdirected.deadline - now;
  piece.asking = false;
  if (piece.timeout <= base::Duration::zero()) return misdirected.handler(std::move(misdirected.result));
  const auto waiting = std::make_shared<Misdirected>(std::move(misdirected));
  ways_.by_key(std::move(piece), [this, waiting, last, next, rest = std::move(pieces)](Result result) mutable {
    const bool done = result.delivery == Delivery::answered && !result.replies.front().is_error();
    if (next == 0) waiting->result.sent_at = result.sent_at;
    result.sent_at = waiting->result.sent_at;
    if (last || !done || closed_) return waiting->handler(std::move(result));
    send_pieces(std::move(*waiting), std::move(rest), next + 1, Clock::now());
  });
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
