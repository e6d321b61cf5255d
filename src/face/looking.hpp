// What is asked about who holds a lock, step by step, and what the replies mean. Pure.
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

/// Sets who has it, as its server says; `remaining` is what is left of the key's time to live.
void set_holders(LockInfo& info, std::vector<wire::Held> holders, std::optional<std::chrono::milliseconds> remaining);

/// Sets who waits, as its server says.
void set_queue(LockInfo& info, wire::Line line);

/// Who the holders of some locks, and those who wait, are: INFO, if the detail depends on it, and CLIENT LIST. Nothing
/// for locks that are free. What the server refuses is not told.
class AskHolders {
 public:
  /// `some`: there are other servers to which a holder may be connected, so that none here says nothing.
  AskHolders(Detail detail, bool some) : detail_(detail), some_(some) {}

  /// False: there is nothing to ask about these, as nobody has them or waits for them.
  bool begin(std::span<const LockInfo> locks) const;
  std::vector<base::Command> commands() const;
  /// Takes the replies to those, errors among them. False: that was all.
  bool on_replies(const std::vector<base::Reply>& replies, std::span<LockInfo> locks);

 private:
  Detail detail_;
  bool some_;
};

/// One lock: its key, then its holder.
class Looking {
 public:
  Looking(const engine::KeyTarget& target, Detail detail);

  std::vector<base::Command> commands() const;
  /// Connections are those of the server that has the key.
  redis::Shard* where() const;
  bool on_replies(const std::vector<base::Reply>& replies);
  /// Who listens, the latest token, and who holds it, may be refused.
  engine::Errors errors() const;
  LockInfo take() { return std::move(info_); }

 private:
  bool asks_who_listens() const { return detail_ != Detail::owner && !channel_.empty(); }
  bool asks_for_token() const { return detail_ != Detail::owner && plan_.questions.latest_token != nullptr; }
  bool asks_who_waits() const { return detail_ != Detail::owner && plan_.questions.line != nullptr; }

  redis::Router& router_;  // of whoever asks
  const engine::Plan& plan_;
  const std::string key_;
  const std::string channel_;  // on which all who wait listen; empty: there is none
  const bool sharded_;
  const Detail detail_;
  AskHolders holders_;
  bool key_known_ = false;
  LockInfo info_;
};

}  // namespace holdfast::face
