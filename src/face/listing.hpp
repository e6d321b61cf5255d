// The search for locks on servers, page by page: what to ask next, and what the replies mean.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/lock_info.hpp>

#include "base/resp.hpp"
#include "face/in_turn.hpp"
#include "face/looking.hpp"
#include "wire/calls.hpp"
#include "wire/names.hpp"
#include "wire/server_calls.hpp"

namespace holdfast::face {

/// How what is looked for is told from other keys.
struct Search {
  std::string_view type;                                                   ///< Of the keys that have the names.
  base::Command (*sift)(const std::string& key);                           ///< Something cheap, of each such key.
  bool (*passes)(const base::Reply&);                                      ///< It may be one, by the reply to that.
  base::Command (*look)(const std::string& key);                           ///< Of those.
  wire::LockNames (*names)(std::string raw_name);                          ///< For the channel.
  std::vector<wire::Held> (*holders)(const base::Reply&) = nullptr;        ///< Null: nobody can tell.
  std::optional<std::int64_t> (*available)(const base::Reply&) = nullptr;  ///< Null: nothing is counted.
  bool has_end = false;                                                    ///< What has no expiry is something else.
};
const Search& search_for(Listed what);

/// SCAN for a page of keys; something cheap of each that tells most others apart, as other people's keys, which may be
/// large, are not read; what the rest are. At the end, who the holders of all are. In a cluster one primary after
/// another; a key that moves meanwhile may be missed, and is not told twice.
class Listing {
 public:
  Listing(engine::Runtime& runtime, const std::string& pattern, Detail detail, Listed what)
      : search_(search_for(what)),
        prefix_(runtime.config().name_prefix),
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
  enum class Step { scan, sift, look, holders };
  base::Command ask_listeners() const;
  void read_looks(const std::vector<base::Reply>& replies);
  bool next_page();
  bool next_server();

  const Search& search_;
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
