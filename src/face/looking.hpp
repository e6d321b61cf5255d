// The queries about who holds a lock, step by step, and what the replies mean. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/lock_info.hpp>

#include "base/resp.hpp"
#include "engine/hold/key_target.hpp"
#include "engine/runtime/asking.hpp"
#include "engine/runtime/runtime.hpp"

namespace holdfast::face {

/// Sets the holders as reported by the server; `remaining` is the key's time to live.
void set_holders(LockInfo& info, std::vector<wire::Held> holders, std::optional<std::chrono::milliseconds> remaining);

/// Sets the waiters as reported by the server.
void set_queue(LockInfo& info, wire::Line line);

/// Identifies the holders and waiters of some locks: INFO, if the detail depends on it, and CLIENT LIST. Nothing for
/// free locks. What the server refuses stays unknown.
class AskHolders {
 public:
  /// `some`: a holder may be connected to other servers, so having no connection here proves nothing.
  AskHolders(Detail detail, bool some) : detail_(detail), some_(some) {}

  /// False: there is nothing to ask, since nobody has these locks or waits for them.
  bool begin(std::span<const LockInfo> locks) const;
  std::vector<base::Command> commands() const;
  /// Takes the replies to those commands, including errors. False: finished.
  bool on_replies(const std::vector<base::Reply>& replies, std::span<LockInfo> locks);

 private:
  Detail detail_;
  bool some_;
};

/// One lock: its key, then its holder.
class Looking {
 public:
  Looking(const engine::KeyTarget& target, Detail detail);

  engine::Inquiry inquiry() const { return {commands(), where()}; }
  bool on_replies(const std::vector<base::Reply>& replies);
  /// The listeners, the latest token and the holder's connection may be refused.
  engine::Errors errors() const;
  LockInfo take() { return std::move(info_); }

 private:
  std::vector<base::Command> commands() const;
  /// Connections are listed on the server that has the key.
  redis::Shard* where() const;
  bool asks_who_listens() const { return detail_ != Detail::owner && !channel_.empty(); }
  bool asks_for_token() const { return detail_ != Detail::owner && plan_.questions.latest_token != nullptr; }
  bool asks_who_waits() const { return detail_ != Detail::owner && plan_.questions.line != nullptr; }

  redis::Router& router_;  // the asking client's
  const engine::Plan& plan_;
  const std::string key_;
  const std::string channel_;  // on which all waiters listen; empty: there is none
  const bool sharded_;
  const Detail detail_;
  AskHolders holders_;
  bool key_known_ = false;
  LockInfo info_;
};

}  // namespace holdfast::face
