// What is asked about who holds a lock, step by step, and what the replies mean. Pure.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/lock_info.hpp>

#include "base/resp.hpp"
#include "engine/hold/key_target.hpp"

namespace holdfast::face {

/// Who the holders of some locks are: INFO, if the detail depends on it, and CLIENT LIST. Nothing for locks that are
/// free. What the server refuses is not told.
class AskHolders {
 public:
  explicit AskHolders(Detail detail) : detail_(detail) {}

  /// False: there is nothing to ask about these.
  bool begin(std::span<const LockInfo> locks) const;
  std::vector<base::Command> commands() const;
  /// Takes the replies to those, errors among them. False: that was all.
  bool on_replies(const std::vector<base::Reply>& replies, std::span<LockInfo> locks);

 private:
  Detail detail_;
};

/// One lock: its key, then its holder.
class Looking {
 public:
  Looking(const engine::KeyTarget& target, Detail detail);

  std::vector<base::Command> commands() const;
  bool on_replies(const std::vector<base::Reply>& replies);
  /// The replies to come may be errors, and are wanted.
  bool keeps_errors() const { return key_known_; }
  LockInfo take() { return std::move(info_); }

 private:
  const engine::Plan& plan_;
  const std::string key_;
  AskHolders holders_;
  bool key_known_ = false;
  LockInfo info_;
};

}  // namespace holdfast::face
