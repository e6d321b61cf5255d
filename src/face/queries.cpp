// SPDX-License-Identifier: Apache-2.0
#include "face/queries.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "kinds/connection_name.hpp"
#include "kinds/server_calls.hpp"
#include "lock/queue/holder.hpp"

namespace holdfast::face {

using Replies = std::vector<base::Reply>;

Question<bool> is_locked(const engine::KeyTarget& target) {
  return {target.name(),
          {target.plan().questions.holder(target.names().key)},
          [&plan = target.plan()](const Replies& replies) {
            return !engine::decode_holders(plan.questions, replies.front()).empty();
          }};
}

Question<bool> is_held_by(const engine::KeyTarget& target, const wire::Owner& owner) {
  const engine::Questions& questions = target.plan().questions;
  return {target.name(),
          {questions.ask_owner(engine::owners_key(questions, target.names().key), owner)},
          [&plan = target.plan(), owner](const Replies& replies) {
            const std::optional<bool> is_owner = plan.questions.is_owner(replies.front(), owner);
            if (!is_owner) throw std::runtime_error("it says neither yes nor no");
            return *is_owner;
          }};
}

Question<std::optional<std::chrono::milliseconds>> remaining(const engine::KeyTarget& target) {
  return {target.name(), {wire::remaining(target.names().key)}, [](const Replies& replies) {
            return wire::time_left(replies.front());
          }};
}

Question<std::size_t> ask_release(const engine::KeyTarget& target) {
  return {target.name(), wire::ask_release(target.names().key), wire::decode_asked};
}

Question<std::int64_t> latest_token(const engine::KeyTarget& target) {
  const engine::Questions& questions = target.plan().questions;
  return {target.name(), {questions.latest_token(target.names().key)}, [&questions](const Replies& replies) {
            const std::optional<std::int64_t> token = questions.decode_latest_token(replies.front());
            if (!token) throw std::runtime_error("the token is no number");
            return *token;
          }};
}

Question<bool> force_release(const engine::KeyTarget& target, const std::optional<wire::Owner>& owner) {
  return {target.name(),
          {target.plan().transitions.force_release(target.names(), owner, target.publish())},
          [](const Replies& replies) {
            if (!replies.front().is_integer()) throw std::runtime_error("it says neither yes nor no");
            return replies.front().integer == 1;
          },
          target.sharded_channels()};
}

Error error_in_reading(const engine::Runtime& runtime, const std::string& name) {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {Errc::exhausted, name, runtime.node(), {}};
  } catch (const std::exception& error) {
    return {Errc::server_error, name, runtime.node(), std::string("its reply makes no sense: ") + error.what()};
  } catch (...) {
    return {Errc::server_error, name, runtime.node(), "its reply makes no sense"};
  }
}

void AsyncAsk::start() {
  engine::Runtime::Admission admission = runtime_->admit();  // until it is sent
  if (admission.refused) {
    return failed(Error(static_cast<Errc>(admission.refused.value()), name_, runtime_->node(), {}));
  }
  pending_ = std::move(admission.token);
  attended_ = engine::Loop::Attended(runtime_->loop());
  runtime_->loop().post(shared_from_this());
}

void AsyncAsk::run() {
  engine::send(*runtime_, inquiry(), [self = shared_from_this()](redis::Result result, const std::string& node) {
    try {
      if (self->answered(engine::replies(*self->runtime_, std::move(result), self->name_, node, self->errors()))) {
        return self->run();
      }
    } catch (...) {
      self->failed(error_in_reading(*self->runtime_, self->name_));
    }
    self->attended_ = {};
  });
  pending_ = {};
}

void AsyncAsk::broken() noexcept {
  try {
    failed(Error(Errc::exhausted, name_, runtime_->node(), {}));
  } catch (...) {
    // Out of memory: the receiver is dropped.
  }
  attended_ = {};
  pending_ = {};
}

namespace {

/// For human readers; the server lists them in one step.
constexpr std::size_t kMostWaiters = 100;

}  // namespace

void set_holders(LockInfo& info, std::vector<wire::Held> holders, std::optional<std::chrono::milliseconds> remaining) {
  if (holders.empty()) return;
  info.owner = holders.front().owner;
  info.holds = holders.front().count;
  info.remaining = remaining;
  const auto ends = [](const wire::Held& held) { return held.left.has_value(); };
  if (!remaining && std::ranges::all_of(holders, ends)) {
    info.remaining = std::ranges::max(holders, {}, [](const wire::Held& held) { return *held.left; }).left;
  }
  for (wire::Held& held : holders) {
    const bool shared = held.mode == wire::Mode::shared;
    info.holders.push_back({.owner = std::move(held.owner),
                            .mode = shared ? LockHolder::Mode::shared : LockHolder::Mode::exclusive,
                            .count = held.count,
                            .remaining = held.left ? held.left : remaining});
  }
}

void set_queue(LockInfo& info, wire::Line line) {
  info.queued = line.waiting;
  for (wire::Line::Waiter& each : line.first) {
    info.queue.push_back({.owner = std::move(each.owner), .keeps_place = each.left});
  }
}

bool AskHolders::begin(std::span<const LockInfo> locks) const {
  const bool any =
      std::ranges::any_of(locks, [](const LockInfo& lock) { return !lock.owner.empty() || !lock.queue.empty(); });
  return any && detail_ != InfoDetail::owner;
}

std::vector<base::Command> AskHolders::commands() const {
  return {detail_ == InfoDetail::holder_if_cheap ? wire::count_connections() : wire::list_connections()};
}

bool AskHolders::on_replies(const std::vector<base::Reply>& replies, std::span<LockInfo> locks) {
  std::optional<wire::Connections> connections;
  if (detail_ == InfoDetail::holder_if_cheap) {
    detail_ = InfoDetail::holder;
    if (wire::are_few_connections(replies.front())) return true;
  } else {
    connections = wire::decode_connections(replies.front());
  }
  const auto find = [&](auto& each) {
    each.holder = engine::holder_of(each.owner, connections ? &*connections : nullptr);
    const bool none = each.holder->connection == Holder::Connection::none;
    if (none && some_) each.holder->connection = Holder::Connection::unknown;
  };
  for (LockInfo& lock : locks) {
    std::ranges::for_each(lock.holders, find);
    std::ranges::for_each(lock.queue, find);
    if (!lock.holders.empty()) lock.holder = lock.holders.front().holder;
  }
  return false;
}

Looking::Looking(const engine::KeyTarget& target, InfoDetail detail)
    : router_(target.runtime().router()),
      plan_(target.plan()),
      key_(target.names().key),
      channel_(target.announces() && plan_.transitions.wake_channel == nullptr ? target.names().channel
                                                                               : std::string()),
      sharded_(target.publish() != Publish::publish),
      detail_(detail),
      holders_(detail, router_.only_shard() == nullptr),
      info_{.name = target.name(), .owner = {}} {}

redis::Shard* Looking::where() const {
  return key_known_ && router_.only_shard() == nullptr ? &router_.shard_of(key_) : nullptr;
}

std::vector<base::Command> Looking::commands() const {
  if (key_known_) return holders_.commands();
  std::vector<base::Command> commands{
      asks_who_waits() ? plan_.questions.line(key_, kMostWaiters) : plan_.questions.holder(key_),
      wire::remaining(key_)};
  if (asks_who_listens()) commands.push_back(wire::listeners({channel_}, sharded_));
  if (asks_for_token()) commands.push_back(plan_.questions.latest_token(key_));
  return commands;
}

engine::Errors Looking::errors() const { return key_known_ ? engine::Errors::keep : engine::Errors::keep_rest; }

bool Looking::on_replies(const std::vector<base::Reply>& replies) {
  if (key_known_) return holders_.on_replies(replies, {&info_, 1});
  key_known_ = true;
  if (asks_who_waits()) {
    wire::Line line = plan_.questions.decode_line(replies[0]);
    const bool somebody = !line.holder.owner.empty() || line.waiting > 0;
    if (!somebody && !replies[0].is_null()) throw std::runtime_error("it names no holder and no waiter");
    if (!line.holder.owner.empty()) set_holders(info_, {line.holder}, wire::time_left(replies[1]));
    set_queue(info_, std::move(line));
  } else {
    set_holders(info_, engine::decode_holders(plan_.questions, replies[0]), wire::time_left(replies[1]));
    if (plan_.questions.decode_available != nullptr) info_.available = plan_.questions.decode_available(replies[0]);
  }
  if (asks_who_listens()) info_.listeners = wire::decode_listeners(replies[2], 0);
  if (asks_for_token() && !replies.back().is_error() && !replies.back().is_null()) {
    info_.token = plan_.questions.decode_latest_token(replies.back());
    if (!info_.token) throw std::runtime_error("the token is no number");
  }
  return holders_.begin({&info_, 1});
}

}  // namespace holdfast::face
