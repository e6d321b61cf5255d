// SPDX-License-Identifier: Apache-2.0
#include "interop.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>

namespace holdfast::test {
namespace {

std::string after_slash(const std::string& text) { return text.substr(text.find('/') + 1); }
std::string before_slash(const std::string& text) { return text.substr(0, text.find('/')); }

/// What a test says first about its failure, or why it was skipped.
std::string first_message(const ::testing::TestResult& result) {
  for (int i = 0; i < result.total_part_count(); ++i) {
    const ::testing::TestPartResult& part = result.GetTestPartResult(i);
    if (!part.passed()) return part.message();
  }
  return {};
}

std::string server_version(Raw& raw) {
  const std::string valkey = raw.info("server", "valkey_version");
  return valkey.empty() ? "Redis " + raw.info("server", "redis_version") : "Valkey " + valkey;
}

}  // namespace

std::string word(Pairing::First first) {
  if (first == Pairing::First::either) return {};
  return first == Pairing::First::peer ? "peer" : "holdfast";
}

void PrintTo(const Pairing& pairing, std::ostream* out) { *out << pairing.peer << ' ' << word(pairing.first); }

std::string pairing_name(const ::testing::TestParamInfo<Pairing>& info) {
  std::string name = info.param.peer;
  std::ranges::replace_if(name, [](char c) { return c == '-' || c == '.'; }, '_');
  switch (info.param.first) {
    case Pairing::First::peer:
      return name + "_PeerFirst";
    case Pairing::First::holdfast:
      return name + "_HoldfastFirst";
    case Pairing::First::either:
      break;
  }
  return name;
}

std::vector<Pairing> both_ways(const std::vector<std::string>& peers) {
  std::vector<Pairing> pairings;
  for (const std::string& peer : peers) {
    pairings.push_back({peer, Pairing::First::peer});
    pairings.push_back({peer, Pairing::First::holdfast});
  }
  return pairings;
}

std::vector<Pairing> once(const std::vector<std::string>& peers) {
  std::vector<Pairing> pairings;
  for (const std::string& peer : peers) pairings.push_back({peer, Pairing::First::either});
  return pairings;
}

// Redisson and others speak TCP only.
Interop::Interop() : server({.listen = ServerOptions::Listen::tcp}) {}

void Interop::SetUp() {
  const ::testing::TestInfo& info = *::testing::UnitTest::GetInstance()->current_test_info();
  record_.suite = after_slash(info.test_suite_name());
  record_.test = before_slash(info.name());
  record_.first = word(GetParam().first);
  record_.peer = peer.id();
  record_.version = peer.version();
  record_.server = server_version(raw);
  record_.verdict = "crashed";
  write_record(record_);
  const std::string why_not = peer.why_not();
  if (why_not.empty()) {
    for (const auto& [ability, what] : needed_) {
      if (lacks(ability, what)) return;
    }
    return;
  }
  if (Peer::required() && !peer.on_request()) {
    FAIL() << why_not;
  } else {
    GTEST_SKIP() << why_not;
  }
}

void Interop::TearDown() {
  for (const auto& taker : takers_) {
    const ExitStatus status = taker->finish();
    if (std::ranges::find(killed_, taker.get()) != killed_.end()) continue;
    EXPECT_EQ(status, ExitStatus{}) << taker->errors();
  }
  const ::testing::TestResult& result = *::testing::UnitTest::GetInstance()->current_test_info()->result();
  if (record_.verdict == "crashed") record_.verdict = "passed";
  if (result.Skipped() && record_.verdict != "absent") record_.verdict = "skipped";
  if (result.Failed()) record_.verdict = "failed";
  record_.reason = first_message(result);
  write_record(record_);
}

void Interop::absent(const std::string& reason) {
  record_.verdict = "absent";
  GTEST_SKIP() << reason;
}

bool Interop::lacks(const std::string& ability, const std::string& what) {
  if (peer.can(ability)) return false;
  [&] { absent(peer.version() + " has no " + what); }();
  return true;
}

void Interop::figure_shares(long long of_peer, long long of_holdfast) {
  const long long sum = of_peer + of_holdfast;
  char share[32];
  std::snprintf(share, sizeof share, "%.1f %%", 100.0 * static_cast<double>(of_peer) / static_cast<double>(sum));
  figure("the peer's acquisitions, of all", std::to_string(of_peer) + " of " + std::to_string(sum) + ", " + share);
}

std::unique_ptr<Taker> Interop::make(Side side) const {
  return side == Side::peer ? peer.start() : std::make_unique<Taker>(Taker::Place::own_process);
}

Taker& Interop::start(Side side) { return *start({side}).front(); }

std::vector<Taker*> Interop::start(std::initializer_list<Side> sides) {
  std::vector<std::string> command{"connect", url_};
  for (const auto& [key, value] : settings_) command.push_back(key + "=" + value);
  std::vector<Taker*> started;
  std::vector<Pending> connecting;
  for (const Side side : sides) {
    takers_.push_back(make(side));
    started.push_back(takers_.back().get());
    std::vector<std::string> its_command = command;
    if (side == Side::holdfast) {
      its_command.push_back("face=" + face_);
    } else {
      for (const auto& [key, value] : settings_of_peer_) its_command.push_back(key + "=" + value);
    }
    connecting.push_back(started.back()->start(its_command));
  }
  for (std::size_t i = 0; i < started.size(); ++i) {
    const Answer answer = connecting[i].get(kBusyMachine);  // it starts first, which may take a peer long
    if (!answer.ok) throw std::runtime_error("connect: " + answer.error + ": " + answer.text);
    ids_[started[i]] = answer.value;
  }
  return started;
}

Party& Interop::holder() {
  start_pair();
  return pair_[0];
}

Party& Interop::other() {
  start_pair();
  return pair_[1];
}

void Interop::start_pair() {
  if (!pair_.empty()) return;
  for (Taker* taker : start({first_side(), second_side()})) {
    Party& party = pair_.emplace_back(*taker, 1);
    party.lock("warm");
    party.unlock("warm");
  }
}

void Interop::kill(Taker& taker) {
  killed_.push_back(&taker);
  taker.signal(SIGKILL);
}

bool Interop::listening(const std::string& channel, long long count) {
  return eventually([&] {
    const auto reply = raw.command("PUBSUB", "NUMSUB", channel);
    return reply.elements.size() == 2 && reply.elements[1].integer == count;
  });
}

bool Interop::about_to_sleep(long long threads, long long before) {
  // One attempt before a thread listens, and one behind that.
  return second_side() == Side::holdfast || eventually([&] { return scripts_run() >= before + 2 * threads; });
}

}  // namespace holdfast::test
