// The search for locks on servers, page by page: what to ask next, and what the replies mean.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <holdfast/lock_info.hpp>

#include "base/resp.hpp"
#include "face/in_turn.hpp"
#include "face/looking.hpp"
#include "wire/server_calls.hpp"

namespace holdfast::face {

/// SCAN for a page of keys; the sizes of those that are hashes; who holds those that have one field: other people's
/// hashes, which may be large, are not read. At the end, who the holders of all are. In a cluster one primary after
/// another; a key that moves meanwhile may be missed, and is not told twice.
class Listing {
 public:
  Listing(engine::Runtime& runtime, const std::string& pattern, Detail detail)
      : prefix_(runtime.config().name_prefix),
        pattern_(wire::literal_pattern(prefix_) + pattern),
        detail_(detail),
        router_(runtime.router()),
        servers_(runtime),
        ask_holders_(detail, servers_.several()) {}

  std::vector<base::Command> commands() const;
  redis::Shard* where() const { return servers_.where(); }
  /// Takes the replies to those, errors among them. False: that was all.
  bool on_replies(const std::vector<base::Reply>& replies);
  /// The commands' errors are about single keys, and to be kept.
  engine::Errors errors() const {
    return servers_.begins() || step_ == Step::scan ? engine::Errors::raise : engine::Errors::keep;
  }
  std::vector<LockInfo> take() { return std::move(all_found_); }

 private:
  enum class Step { scan, sizes, owners, holders };
  base::Command ask_listeners() const;
  bool next_page();
  bool next_server();

  const std::string prefix_, pattern_;
  const Detail detail_;
  redis::Router& router_;
  InTurn servers_;
  Step step_ = Step::scan;
  std::string cursor_ = "0";
  std::vector<std::string> keys_;  // of this page
  std::vector<LockInfo> found_;    // on this server
  AskHolders ask_holders_;
  std::vector<LockInfo> all_found_;
  std::set<std::string> names_;  // of those, where there are several servers
};

}  // namespace holdfast::face
