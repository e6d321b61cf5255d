// SPDX-License-Identifier: Apache-2.0
// The stage of the conformance cases: a server or a cluster, and as many parties as a case needs, in one of three
// settings.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/listen.hpp"
#include "support/site.hpp"
#include "support/taker.hpp"
#include "support/taker_config.hpp"
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

/// How the parties of a case relate to each other, and which face of the library they use.
struct Setting {
  enum class Parties {
    threads,    ///< Threads that share one client.
    clients,    ///< A client each, in the test's process.
    processes,  ///< A process each.
  };
  enum class Face { std, hold, async };
  Parties parties;
  Face face = Face::std;

  std::string name() const {
    static const std::map<Parties, std::string> kParties{
        {Parties::threads, "Threads"}, {Parties::clients, "Clients"}, {Parties::processes, "Processes"}};
    static const std::map<Face, std::string> kFaces{
        {Face::std, "StdFace"}, {Face::hold, "HoldFace"}, {Face::async, "AsyncFace"}};
    return kParties.at(parties) + kFaces.at(face);
  }
  /// As a taker's `connect` wants it.
  std::string taker_face() const {
    static const std::map<Face, std::string> kFaces{
        {Face::std, "face=std"}, {Face::hold, "face=hold"}, {Face::async, "face=async"}};
    return kFaces.at(face);
  }
};
inline void PrintTo(const Setting& setting, std::ostream* out) { *out << setting.name(); }

constexpr Setting kEverySetting[] = {
    {Setting::Parties::threads, Setting::Face::std},     {Setting::Parties::threads, Setting::Face::hold},
    {Setting::Parties::threads, Setting::Face::async},   {Setting::Parties::clients, Setting::Face::std},
    {Setting::Parties::clients, Setting::Face::hold},    {Setting::Parties::clients, Setting::Face::async},
    {Setting::Parties::processes, Setting::Face::std},   {Setting::Parties::processes, Setting::Face::hold},
    {Setting::Parties::processes, Setting::Face::async},
};
/// Re-entry is the std face's alone.
constexpr Setting kStdSettings[] = {
    {Setting::Parties::threads}, {Setting::Parties::clients}, {Setting::Parties::processes}};
/// For cases that take long: every relation, and every face, but not every combination.
constexpr Setting kFewSettings[] = {{Setting::Parties::threads, Setting::Face::std},
                                    {Setting::Parties::threads, Setting::Face::async},
                                    {Setting::Parties::clients, Setting::Face::hold},
                                    {Setting::Parties::processes, Setting::Face::std}};
/// Parties whose clients know nothing of each other.
constexpr Setting kClientSettings[] = {
    {Setting::Parties::clients, Setting::Face::std},    {Setting::Parties::clients, Setting::Face::hold},
    {Setting::Parties::clients, Setting::Face::async},  {Setting::Parties::processes, Setting::Face::std},
    {Setting::Parties::processes, Setting::Face::hold}, {Setting::Parties::processes, Setting::Face::async}};

inline std::string setting_name(const ::testing::TestParamInfo<Setting>& info) { return info.param.name(); }

/// Instantiates the cases of one suite for an array of settings.
#define HOLDFAST_CONFORMANCE(suite, settings) \
  INSTANTIATE_TEST_SUITE_P(In, suite, ::testing::ValuesIn(settings), setting_name)

/// What a counter file says; 0 if there is none.
inline long long read_number(const std::string& file) {
  long long number = 0;
  std::ifstream(file) >> number;
  return number;
}

/// For an attempt that is to find it taken: long enough for a reply on a machine that is busy.
constexpr milliseconds kAWhile{300};

/// What the end of a guard has done is seen at once; with the pipelined release, soon.
template <class Predicate>
bool after_unlock(Predicate&& predicate) {
  return optimisations() == "all" ? eventually(predicate) : static_cast<bool>(predicate());
}

/// Leases are lowered to one second, as far as a case does not say otherwise. The safety poll is put off to a minute,
/// so that a wake-up that gets lost is seen as a test that takes too long. A release waits for its reply as long as a
/// machine may stand still.
class Conformance : public ::testing::TestWithParam<Setting> {
 protected:
  static constexpr milliseconds kLease{1000};
  /// Far from any time that a wake-up takes, far below the safety poll.
  static constexpr milliseconds kPrompt{5000};

  /// The parties' processes end cleanly; a sanitizer that has something to say makes them fail.
  void TearDown() override {
    for (const auto& taker : takers_) EXPECT_EQ(taker->finish(), ExitStatus{}) << taker->errors();
  }

  /// A setting for clients that are made after this; the last word on a key counts.
  void set(const std::string& key, const std::string& value) { settings_[key] = value; }
  void set(const std::string& key, milliseconds value) { set(key, std::to_string(value.count())); }

  /// The i-th participant. Party 0 and 1 are the usual pair.
  Party& party(std::size_t i) {
    while (parties_.size() <= i) {
      const bool shared = GetParam().parties == Setting::Parties::threads;
      if (takers_.empty() || !shared) takers_.push_back(make_taker());
      parties_.emplace_back(*takers_.back(), static_cast<int>(parties_.size()) + 1);
    }
    return parties_[i];
  }
  Party& a() { return party(0); }
  Party& b() { return party(1); }

  std::unique_ptr<Taker> make_taker() {
    const bool apart = GetParam().parties == Setting::Parties::processes;
    auto taker = std::make_unique<Taker>(apart ? Taker::Place::own_process : Taker::Place::this_process);
    std::vector<std::string> settings;
    for (const auto& [key, value] : settings_) settings.push_back(key + "=" + value);
    settings.push_back(GetParam().taker_face());
    taker->connect(site.url(), settings);
    // The limits of some cases are shorter than it takes a busy machine to tell a cluster's map.
    if (in_cluster()) Party(*taker, 1).is_locked("orders");
    return taker;
  }

  /// True if this acquire waits now. Waiters of other clients than the holder's listen on the lock's channel, the first
  /// or the `clients`-th of them; waiters of the holder's own client need not, and are given a moment.
  bool waits(const Pending& pending, const std::string& name, long long clients = 1) {
    if (GetParam().parties != Setting::Parties::threads && !listeners(name, clients)) return false;
    return !pending.answered(50ms);
  }
  /// Waits until this many connections listen on the lock's channel. Of some counts Valkey 9.1 says only that there are
  /// listeners: a number that cannot be.
  bool listeners(const std::string& name, long long count) {
    return eventually([&] {
      const long long found = site.listeners(name);
      return found == count || found > 1'000'000;
    });
  }

  /// The fields of the lock's key: its owner and their count on the wire. Empty: free.
  std::map<std::string, std::string> on_server(const std::string& name) { return site.raw(name).hgetall(name); }

  /// True if the key stays away for this long.
  bool stays_free(const std::string& name, milliseconds time) {
    return !eventually([&] { return site.exists(name); }, time);
  }

  Site site;

 private:
  std::map<std::string, std::string> settings_{
      {"lease_ms", std::to_string(kLease.count())}, {"safety_poll_ms", "60000"}, {"release_timeout_ms", "30000"}};
  std::vector<std::unique_ptr<Taker>> takers_;
  std::deque<Party> parties_;
};

}  // namespace holdfast::test
