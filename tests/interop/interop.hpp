// SPDX-License-Identifier: Apache-2.0
// The stage of the interop cases: a server, takers of a peer and of Holdfast, each in a process of its own.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "peer.hpp"
#include "record.hpp"
#include "support/listen.hpp"
#include "support/raw.hpp"
#include "support/redis_server.hpp"
#include "support/taker.hpp"
#include "support/temp_dir.hpp"
#include "support/wait.hpp"

namespace holdfast::test {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::Le;
using ::testing::Lt;
using ::testing::Ne;

enum class Side { peer, holdfast };

/// Which peer a case runs with, and which side acts first: as the holder, while the other one waits or looks on.
struct Pairing {
  enum class First { peer, holdfast, either };
  std::string peer;
  First first = First::either;
};
std::string word(Pairing::First first);
void PrintTo(const Pairing& pairing, std::ostream* out);
std::string pairing_name(const ::testing::TestParamInfo<Pairing>& info);

/// For cases that are run twice with each peer, once with each side as the holder.
std::vector<Pairing> both_ways(const std::vector<std::string>& peers);
/// For cases in which the sides do the same.
std::vector<Pairing> once(const std::vector<std::string>& peers);

/// Instantiates the cases of one suite: HOLDFAST_INTEROP(WakeUps, both_ways(kRedissons)). The suite's name and the
/// tests' names are headings and rows of docs/records/interop.md, as words.
#define HOLDFAST_INTEROP(suite, pairings) \
  INSTANTIATE_TEST_SUITE_P(With, suite, ::testing::ValuesIn(pairings), pairing_name)

/// Skips when the peer cannot run (or fails, where it must), and records how the test ended.
/// Leases are lowered to one second, as far as a case does not say otherwise. The safety poll is put off to a minute,
/// so that a wake-up that gets lost is seen as a test that takes too long.
class Interop : public ::testing::TestWithParam<Pairing> {
 protected:
  static constexpr milliseconds kLease{1000};
  /// Far from any time that a wake-up takes, far below the safety poll.
  static constexpr milliseconds kPrompt{5000};

  Interop();
  void SetUp() override;
  /// Processes must end cleanly, those that were killed excepted.
  void TearDown() override;

  /// For constructors: ends the case before it begins if the peer has no such thing. `ability` as for Peer::can; `what`
  /// says it to readers: `a fenced lock`.
  void needs(const std::string& ability, const std::string& what) { needed_[ability] = what; }

  /// A setting for clients that are made after this; the last word on a key counts.
  void set(const std::string& key, const std::string& value) { settings_[key] = value; }
  void set(const std::string& key, milliseconds value) { set(key, std::to_string(value.count())); }
  /// A setting of the peer's alone, for its clients that are made after this.
  void set_of_peer(const std::string& key, const std::string& value) { settings_of_peer_[key] = value; }

  /// Where clients that are made after this connect to, as the command `connect` wants it; first, to `server`.
  void set_url(const std::string& url) { url_ = url; }

  /// Which face of the library takers of Holdfast use that are made after this; first, the std face.
  void set_face(const std::string& face) { face_ = face; }

  Side first_side() const { return GetParam().first == Pairing::First::holdfast ? Side::holdfast : Side::peer; }
  Side second_side() const { return first_side() == Side::peer ? Side::holdfast : Side::peer; }
  /// Starts and connects one more process of a side. Each is on its own client.
  Taker& start(Side side);
  /// Starts several at the same time, which is faster: a peer may need a second to start.
  std::vector<Taker*> start(std::initializer_list<Side> sides);
  /// Thread 1 of a process of the side that acts first, and of the other side. Started on first use; the lock `warm`
  /// was taken and given back on both, so that no side still loads code when times are measured.
  void start_pair();
  Party& holder();
  Party& other();
  /// Kills with SIGKILL, and returns when it was sent.
  void kill(Taker& taker);

  /// Something that was measured, for docs/records/interop.md: figure("the peer's share", "48 %").
  void figure(const std::string& what, const std::string& value) { record_.figures.emplace_back(what, value); }
  /// How often each side got in while both wanted to.
  void figure_shares(long long of_peer, long long of_holdfast);
  /// Ends the test without a verdict on the peer: it has no such thing, and need not. `return absent("...")`.
  void absent(const std::string& reason);
  /// The same, if the peer cannot do this: `if (lacks("name_prefix", "NameMapper")) return;`
  bool lacks(const std::string& ability, const std::string& what);

  /// What `connect` has answered.
  const std::string& client_id(const Taker& taker) const { return ids_.at(&taker); }

  /// Waits until this many connections listen on the channel of a lock whose name has no braces, or on any channel.
  bool listeners(const std::string& name, long long count) {
    return listening("redisson_lock__channel:{" + name + "}", count);
  }
  bool listening(const std::string& channel, long long count);
  /// Waits until so many of the second side's threads, which wait and listen, have made the attempt after which they
  /// sleep, if that side is Redisson. One that has not yet may take a lock although its call is cancelled, and misses
  /// the message that lets readers in. `before`: scripts_run() before they began.
  bool about_to_sleep(long long threads, long long before);
  long long scripts_run() { return raw.calls("eval") + raw.calls("evalsha"); }
  /// True if the key stays away for this long.
  bool stays_free(const std::string& name, milliseconds time) {
    return !eventually([&] { return raw.exists(name); }, time);
  }

  RedisServer server;
  Raw raw{server};
  const Peer peer{GetParam().peer};

 private:
  std::unique_ptr<Taker> make(Side side) const;

  std::map<std::string, std::string> settings_{{"lease_ms", std::to_string(kLease.count())},
                                               {"safety_poll_ms", "60000"}};
  std::map<std::string, std::string> settings_of_peer_;
  std::map<std::string, std::string> needed_;
  std::string url_ = server.url();
  std::string face_ = "std";
  std::vector<std::unique_ptr<Taker>> takers_;
  std::vector<const Taker*> killed_;
  std::map<const Taker*, std::string> ids_;
  std::deque<Party> pair_;
  Record record_;
};

}  // namespace holdfast::test
