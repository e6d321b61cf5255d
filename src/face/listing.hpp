// SPDX-License-Identifier: Apache-2.0
// The search for locks on servers, page by page: what to send next, and what the replies mean.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/lock_info.hpp>

#include "base/resp.hpp"
#include "face/queries.hpp"
#include "kinds/calls.hpp"
#include "kinds/server_calls.hpp"

namespace holdfast::face {

/// How to recognise the keys of a form.
struct Search {
  KeyForm form = KeyForm::locks;
  base::Command (*sift)(const std::string& key) = nullptr;                 ///< A cheap query of each such key.
  bool (*passes)(const base::Reply&) = nullptr;                            ///< By that reply, the key may be one.
  base::Command (*look)(const std::string& key) = nullptr;                 ///< The query of those.
  bool (*answers)(const base::Reply&) = nullptr;                           ///< The reply is one to that query.
  wire::LockNames (*names)(std::string raw_name) = nullptr;                ///< For the channel.
  std::vector<wire::Held> (*holders)(const base::Reply&) = nullptr;        ///< Null: unknown.
  std::optional<std::int64_t> (*available)(const base::Reply&) = nullptr;  ///< Null: nothing is counted.
  bool has_end = false;                                                    ///< A key without expiry is something else.
};

/// Goes through the keys of a server that match and have this type.
struct Walk {
  std::string match;
  std::string_view type;
  std::vector<const Search*> searches{};  ///< A key is of the first that it passes.
  /// The keys of the locks that this key is about. Null: itself.
  std::vector<std::string> (*keys)(std::string_view found) = nullptr;
};
std::vector<Walk> walks_for(KeyForm what, const std::string& pattern);

/// The most bytes that a list may come to: some 300,000 locks. A server that goes on and on must not fill the memory.
inline constexpr std::size_t kMostKept = 128U << 20U;

/// For each page of keys from SCAN, some hundreds at a time: first a cheap query that excludes most other keys, so that
/// large keys of others are not read; then the contents of the rest. At the end, who the holders of all are. In a
/// cluster one primary after another, each with all walks; a key that moves meanwhile may be missed, but is not listed
/// twice.
class Listing {
 public:
  Listing(engine::Runtime& runtime, const std::string& pattern, InfoDetail detail, KeyForm what)
      : prefix_(runtime.config().name_prefix),
        walks_(walks_for(what, wire::literal_pattern(prefix_) + pattern)),
        detail_(detail),
        router_(runtime.router()),
        servers_(runtime),
        ask_holders_(detail, servers_.several()) {}

  /// Only these names, of which there is one at least, without a search; of one server. Holders are told by the form of
  /// their owners, also where only these are wanted.
  Listing(engine::Runtime& runtime, const std::vector<std::string>& names, InfoDetail detail, KeyForm what);

  engine::Inquiry inquiry() const { return {commands(), servers_.where()}; }
  /// Takes the replies to those commands, including errors. False: finished.
  bool on_replies(const std::vector<base::Reply>& replies);
  /// Error replies are about single keys and must be kept.
  engine::Errors errors() const {
    return servers_.begins() || step_ == Step::scan ? engine::Errors::raise : engine::Errors::keep;
  }
  std::vector<LockInfo> take() { return std::move(all_found_); }

 private:
  enum class Step { scan, sift, look, holders };
  struct Candidate {
    std::string key;
    const Search* search = nullptr;  // null: of all of the walk
  };
  std::vector<base::Command> commands() const;
  base::Command ask_listeners() const;
  void keep_for_later(const std::string& found);
  void sift(const std::vector<base::Reply>& replies);
  void read_looks(const std::vector<base::Reply>& replies);
  bool next_page();
  bool next_keys();
  void keep(LockInfo info);
  bool next_server();

  const std::string prefix_;
  const std::vector<Walk> walks_;
  std::vector<std::string> only_;  // the keys of the names; empty: it searches
  const InfoDetail detail_;
  redis::Router& router_;
  InTurn servers_;
  Step step_ = Step::scan;
  std::size_t walk_ = 0;
  std::string cursor_ = "0";
  std::deque<std::string> page_;  // keys of this page, still to be looked at
  std::vector<Candidate> keys_;   // those of them that are looked at now
  std::vector<LockInfo> found_;   // on this server
  AskHolders ask_holders_;
  std::vector<LockInfo> all_found_;
  std::set<std::string> names_;  // names found, if there are several servers
  std::size_t kept_ = 0;         // bytes
};

}  // namespace holdfast::face
