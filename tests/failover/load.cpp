// SPDX-License-Identifier: Apache-2.0
#include "failover/load.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>

#include "judges/judge.hpp"
#include "support/paths.hpp"
#include "support/raw.hpp"
#include "support/taker_rounds.hpp"

namespace holdfast::test {

using namespace std::chrono_literals;

namespace {

/// After a failover, that a lock was forgotten by it.
constexpr Microseconds kTold = 2'000'000;

}  // namespace

Load::Load(std::string title, const std::string& name)
    : title_(std::move(title) + ", acks=" + GetParam()), name_(name + "acks-" + GetParam()) {}

int Load::failovers() {
  const char* const number = std::getenv("HOLDFAST_FAILOVERS");
  return number == nullptr ? 1 : std::max(1, std::atoi(number));
}

/// What a failover can leave taken is free when its lease is over: in the short form, soon.
std::chrono::milliseconds Load::lease() { return failovers() > 1 ? 10s : 3s; }

void Load::begin(const std::string& url, const Peer* redisson) {
  stage_ = std::make_unique<Stage>(url);
  const std::string lease = "lease_ms=" + std::to_string(Load::lease().count());
  constexpr Stage::Milliseconds kPause = 1ms;
  std::vector<std::string> settings{lease};
  if (durable()) settings.push_back("acks=" + GetParam());
  for (int i = 0; i < kProcesses; ++i) {
    stage_->add(holdfast(i), std::make_unique<Taker>(Taker::Place::own_process), settings);
    for (int thread = 1; thread < kThreads; ++thread) stage_->begin(holdfast(i), thread, kCounter, kCounter, kPause);
    const std::string shared_by_two = "other" + std::to_string(i % (kProcesses / 2));
    stage_->begin(holdfast(i), kThreads, shared_by_two, shared_by_two, kPause);
  }
  ASSERT_TRUE(stage_->grows(kCounter, 100));
  if (redisson == nullptr || !redisson->why_not().empty()) return;
  redisson_ = redisson;
  for (const std::string client : {"redisson0", "redisson1"}) {
    stage_->add(client, redisson_->start(), {lease});
    for (int thread = 1; thread <= kThreads; ++thread) stage_->begin(client, thread, kRedisson, kRedisson, kPause);
  }
  ASSERT_TRUE(stage_->grows(kRedisson, 10));
}

void Load::keep_what_will_be_forgotten(RedisServer& primary) {
  std::array<long, kProcesses> before{};
  for (int i = 0; i < kProcesses; ++i) {
    before[static_cast<std::size_t>(i)] = grants_kept(i);
    stage_->keep(holdfast(i), kKeeper, kept_by(i));
  }
  Raw raw = ask(primary);
  for (int i = 0; i < kProcesses; ++i) {
    EXPECT_TRUE(eventually([&] { return raw.exists(kept_by(i)); }));
    // Whose reply is lost asks again, and has it of the next primary. Under acks nobody is granted one that no replica
    // has.
    const auto granted = [&] { return grants_kept(i) > before[static_cast<std::size_t>(i)]; };
    EXPECT_TRUE(durable() || eventually(granted));
  }
}

long Load::grants_kept(int process) const {
  std::ifstream record(stage_->records() / (holdfast(process) + "." + std::to_string(kKeeper) + ".record"));
  long grants = 0;
  for (std::string line; std::getline(record, line);) grants += line.starts_with("grant ") ? 1 : 0;
  return grants;
}

void Load::strike_and_look(const std::function<Struck()>& strike) {
  wait_until_settled();
  look_for_unasked();
  struck_.push_back(strike());
  known_ = primaries();
  known_at_ = struck_.back().served;
  look_after(struck_.back().fault);
}

/// Where the machine is busy, replicas take over by themselves, some time since the last look.
void Load::look_for_unasked() {
  const std::vector<RedisServer*> known = std::exchange(known_, primaries());
  const Microseconds before = std::exchange(known_at_, shared_clock());
  if (known.empty() || known == known_) return;
  unasked_.push_back({.kind = "failover that nobody asked for",
                      .began = before,
                      .ended = known_at_,
                      .exclusion_promised = durable(),
                      .counted_until = known_at_ + kTold,
                      .told_within = kTold});
}

void Load::look_after(Fault fault) {
  ASSERT_TRUE(stage_->grows(kCounter, 50)) << to_string(fault);
  for (int i = 0; i < kProcesses / 2; ++i)
    ASSERT_TRUE(stage_->grows("other" + std::to_string(i), 5)) << to_string(fault);
  if (with_redisson()) stage_->grows(kRedisson, 5, 30s);
  if (fault == Fault::cut_off && !durable()) {
    EXPECT_TRUE(stage_->all_kept_ended(15s)) << "a holder of a forgotten lock was not told";
  }
  stage_->all_kept_ended(0ms);
  const std::uint64_t polls = stage_->counter("safety_poll_wakes", "holdfast");
  struck_.back().polls = static_cast<long long>(polls - std::exchange(polls_, polls));
  if (!durable()) return;
  wait_until_settled();
  struck_.back().settled = shared_clock();
}

long Load::times(Fault fault) const {
  return std::ranges::count_if(struck_, [&](const Struck& each) { return each.fault == fault; });
}

/// Under acks nothing is forgotten, and slots take their locks along; otherwise a new primary may know nothing of what
/// the old one granted, until whoever had that is told.
std::vector<StruckFault> Load::faults() const {
  std::vector<StruckFault> faults = unasked_;
  for (const Struck& each : struck_) {
    const bool moves =
        each.fault == Fault::resharded || each.fault == Fault::moved_at_once || each.fault == Fault::grown;
    faults.push_back({.kind = to_string(each.fault),
                      .began = each.at,
                      .ended = durable() ? each.settled : each.served,  // without its replicas it grants nothing
                      .exclusion_promised = durable() || moves,
                      .counted_until = each.served + kTold,
                      .told_within = kTold});
  }
  return faults;
}

/// The verdict of all judges; the records stay in the stage's folder.
void Load::judge_promises(const History& history) {
  Story story;
  story.history = history;
  story.faults = faults();
  story.settings.lease = lease().count() * 1000;
  story.settings.wait = Stage::kWait.count() * 1000;
  story.settings.allowance = 5'000'000;  // the machine may be very busy
  story.settings.others = {"redisson"};
  for (const std::string name : {kCounter, "other0", "other1", "other2", "other3"}) {
    story.numbers[name] = stage_->number(name);
  }
  story.safety_poll_wakes = static_cast<long long>(polls_);
  write_story(story, stage_->records().string());
  Verdict verdict = holdfast::test::judge(story);
  if (why_no_porcupine().empty()) judge_outcomes(story, verdict);
  std::cout << verdict.text();
  std::ofstream(results() / (name_ + ".json")) << verdict.json() << "\n";
  EXPECT_TRUE(verdict.good()) << verdict.text();
}

void Load::judge() {
  look_for_unasked();
  const History everything = stage_->finish();
  const Microseconds end = shared_clock();
  judge_promises(everything);

  ours_.title = title_;
  ours_.counts_polls = true;
  Part theirs{redisson_ != nullptr ? redisson_->version() : "", {}};
  for (const HeldOnce& hold : everything.holds) {
    (hold.client.starts_with("holdfast") ? ours_ : theirs).history.holds.push_back(hold);
  }
  for (const FailedCall& call : everything.failures) {
    if (call.word == "cancelled") continue;  // at the end
    (call.client.starts_with("holdfast") ? ours_ : theirs).history.failures.push_back(call);
  }
  ours_.history.connections = everything.connections;
  for (const std::string name : {kCounter, "other0", "other1", "other2", "other3"}) {
    ours_.lost_updates += lost_updates(ours_.history.holds_of(name), stage_->number(name));
  }
  theirs.lost_updates = lost_updates(theirs.history.holds, stage_->number(kRedisson));
  std::ostringstream text;
  write_report(text, ours_, kCounter, struck_, end);
  if (with_redisson()) write_report(text, theirs, kRedisson, struck_, end);
  std::cout << text.str();
  std::ofstream(results() / (name_ + ".txt")) << text.str();

  const LongestCalls longest = longest_calls(ours_.history);
  EXPECT_LT(longest.acquire, 1000 * (Stage::kWait + 5s).count());
  EXPECT_LT(longest.release, 8'000'000);  // release_timeout is 3 s
  if (durable()) {
    EXPECT_EQ(overlaps(ours_.history.holds).size(), 0U);
    EXPECT_EQ(forgotten(ours_.history.holds).size(), 0U);
    EXPECT_EQ(ours_.lost_updates, 0);
  } else {
    // Forgotten, or over before anybody was there to ask.
    const auto kept_and_lost = [](const HeldOnce& hold) { return hold.name.starts_with("kept") && hold.reason != "-"; };
    EXPECT_EQ(std::ranges::count_if(ours_.history.holds, kept_and_lost), kProcesses * times(Fault::cut_off));
  }
}

/// The records of a run that failed, and what the servers have logged, are for whoever looks for the reason.
void Load::TearDown() {
  if (stage_ && HasFailure()) {
    const auto copy = results() / (name_ + ".records");
    std::filesystem::remove_all(copy);
    std::filesystem::copy(stage_->records(), copy);
    for (const RedisServer* const server : all_servers()) {
      std::ofstream(copy / ("server-" + std::to_string(server->port()) + ".log")) << server->log();
    }
    std::cout << "the records are in " << copy << "\n";
  }
  stage_.reset();  // before the servers go
}

std::filesystem::path Load::results() {
  const std::filesystem::path folder = build_path("results/failover");
  std::filesystem::create_directories(folder);
  return folder;
}

}  // namespace holdfast::test
