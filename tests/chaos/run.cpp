// SPDX-License-Identifier: Apache-2.0
#include "chaos/run.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>
#include <tuple>
#include <utility>

#include <holdfast/holdfast.hpp>

#include "chaos/heartbeat.hpp"
#include "support/shared_clock.hpp"

namespace holdfast::test::chaos {
namespace {

using SteadyClock = std::chrono::steady_clock;

std::string in_seconds(Microseconds time) {
  std::ostringstream out;
  out.precision(2);
  out << std::fixed << static_cast<double>(time) / 1e6 << " s";
  return out.str();
}

/// What a judge has to know of a fault.
StruckFault struck_fault(Fault fault, const Struck& struck, bool all_acks) {
  StruckFault told{.kind = std::string(to_string(fault)),
                   .began = struck.began,
                   .ended = struck.ended,
                   .names = struck.names,
                   .clients = struck.clients,
                   .kills = struck.kills};
  const auto in_us = [](Milliseconds time) { return std::chrono::microseconds(time).count(); };
  const Promise without_acks = promise(fault, kLease, false);
  told.counts_promised = without_acks.exclusion;
  if (!told.counts_promised) told.counts_until = struck.ended + in_us(without_acks.counted_for);
  const Promise promised = promise(fault, kLease, all_acks);
  if (promised.exclusion) return told;
  told.exclusion_promised = false;
  told.counted_until = struck.ended + in_us(promised.counted_for);
  told.told_within = in_us(promised.told_within);
  told.tokens_promised = promised.tokens;
  return told;
}

/// Every second one, but not all, and no latch: of those one client does what the others wait for.
void leave_out_some(std::vector<Work>& works, Dice& dice) {
  for (auto each = works.begin(); each != works.end() && works.size() > 1;) {
    each = each->kind != "latch" && dice.between(0, 1) == 0 ? works.erase(each) : std::next(each);
  }
}

/// One run, while it lasts.
class Running {
 public:
  Running(const Shape& shape, const RunOptions& options)
      : options_(options), seed_(seed_of(options.seed, shape.name)), ground_(shape.make()), crew_(options.folder) {
    std::string who;
    Dice dice(seed_);
    for (Member& each : shape.crew(*ground_)) {
      if (options_.swarm) leave_out_some(each.works, dice);
      who += " " + each.client;
      languages_[each.client] = each.language;
      for (const Work& work : each.works) {
        if (work.kind == "semaphore") plain_[work.name] = work.permits;
        if (work.kind == "semaphore" || work.kind == "latch") continue;
        for (const std::string& name : work.locks()) {
          kinds_[name] = work.kind;
          if (work.permits > 0) story_.permits[name].all = work.permits;
        }
      }
      if (!each.ours) others_.push_back(each.client);
      if (!options_.locks && each.ours) each.settings.push_back("name_prefix=" + each.client + ":");
      crew_.hire(std::move(each), ground_->access());
    }
    options_.say("with" + who);
  }

  RunResult result() {
    const std::vector<Planned> plan = schedule(faults(), seed_, options_.length, kLease);
    for (const std::string& each : ground_->left_out()) options_.say("left out: " + each);
    crew_.begin();
    began_ = SteadyClock::now();
    Heartbeat heartbeat;
    {
      const std::jthread clients([&] { carry_out(plan, Track::clients); });
      const std::jthread servers([&] { carry_out(plan, Track::servers); });
    }
    std::this_thread::sleep_until(began_ + options_.length);
    const CrewEnd end = crew_.finish();
    note(Fault::failed_over, ground_->unasked());
    result_.seconds = std::chrono::duration<double>(SteadyClock::now() - began_).count();
    result_.hangs.insert(result_.hangs.end(), end.hangs.begin(), end.hangs.end());
    look_for_what_is_taken();
    story_.standstills = heartbeat.stop();
    say_standstills();
    judge_it(end);
    return std::move(result_);
  }

 private:
  std::vector<Fault> faults() const {
    std::vector<Fault> all = ground_->faults();
    if (options_.old) std::erase(all, Fault::process_killed);
    return options_.swarm ? few_of(all, seed_) : all;
  }

  void carry_out(const std::vector<Planned>& plan, Track track) {
    for (const Planned& each : plan) {
      if (traits(each.fault).track != track) continue;
      std::this_thread::sleep_until(began_ + each.at);
      if (options_.old && track == Track::clients) look_at_processes();
      // What the servers had to do took longer than planned.
      const Milliseconds lasts = expected(each.fault, each.duration, kLease);
      if (SteadyClock::now() + lasts > began_ + options_.length) return;
      carry_out(each, track);
    }
  }

  void carry_out(const Planned& planned, Track track) {
    const std::string name(to_string(planned.fault));
    try {
      std::vector<Named> names;
      for (const auto& [lock, kind] : kinds_) names.push_back({lock, kind});
      if (track == Track::clients) return note(planned.fault, crew_.strike(planned));
      note(Fault::failed_over, ground_->unasked());
      note(planned.fault, ground_->strike(planned, names));
    } catch (const std::exception& error) {
      options_.say(name + ": not done: " + error.what());
      const std::lock_guard guard(mutex_);
      result_.not_done.push_back(name + ": " + error.what());
    }
  }

  void say_standstills() const {
    Microseconds longest = 0;
    for (const Standstill& each : story_.standstills) longest = std::max(longest, each.ended - each.began);
    options_.say("a processor of the machine stood still " + std::to_string(story_.standstills.size()) +
                 " times, at most " + in_seconds(longest));
  }

  /// Of the clients' track, which is the only one to use the crew.
  void look_at_processes() {
    const auto now = SteadyClock::now();
    if (now < next_look_) return;
    next_look_ = now + options_.length / kLooks;
    for (const auto& [client, used] : crew_.used()) used_[client].push_back(used);
  }

  void note(Fault fault, const std::optional<Struck>& struck) {
    if (!struck) return;
    const std::string name(to_string(fault));
    std::string who;
    for (const Text each : struck->clients) who += " " + each.str();
    for (const Text each : struck->names) who += " " + each.str();
    const auto since = std::chrono::duration_cast<std::chrono::microseconds>(SteadyClock::now() - began_);
    options_.say(in_seconds(since.count()) + " " + name + who + ", " + in_seconds(struck->ended - struck->began));
    const std::lock_guard guard(mutex_);
    ++result_.faults[name];
    story_.faults.push_back(struck_fault(fault, *struck, ground_->all_acks()));
  }

  /// What was held by processes that were killed ends with its lease; a clock that was moved makes that longer.
  void look_for_what_is_taken() {
    for (const auto& [name, kind] : kinds_) {
      try {
        const auto permits = story_.permits.find(name);
        if (permits != story_.permits.end()) {
          count_permits(name, permits->second);
          continue;
        }
        if (eventually([&] { return !ground_->taken(name); }, kOver)) continue;
        result_.hangs.push_back(name + " is still taken when its lease is long over");
      } catch (const std::runtime_error& error) {
        result_.not_done.push_back("to see whether " + name + " is free: " + error.what());
      }
    }
  }

  /// Until all have come back, or no lease can stand any more. The semaphore is made if the servers have lost it.
  void count_permits(const std::string& name, Permits& permits) {
    const Client client(Config::from_url(ground_->url()));
    const LeasedSemaphore semaphore = client.leased_semaphore(name);
    std::ignore = semaphore.init(permits.all);  // unless one of the crew was faster
    eventually([&] { return (permits.left = semaphore.available()) == permits.all; }, kOver);
  }

  /// The semaphores of each name, which only the records know.
  void note_plain_permits() {
    for (const HeldOnce& hold : story_.history.holds) {
      const std::string name = hold.name.str();
      const auto plain = plain_.find(name.substr(0, name.rfind('.')));
      if (plain != plain_.end()) story_.permits[name] = {.all = plain->second, .plain = true};
    }
  }

  void judge_it(const CrewEnd& end) {
    const auto in_us = [](Milliseconds time) { return std::chrono::microseconds(time).count(); };
    story_.history = History::read(options_.folder);
    note_plain_permits();
    story_.settings = {.lease = in_us(kLease),
                       .safety_poll = in_us(Milliseconds(1000)),
                       .command_timeout = in_us(Milliseconds(1500)),
                       .release_timeout = in_us(Milliseconds(1000)),
                       .patience = in_us(Milliseconds(4000)),
                       .wait = 0,
                       .allowance = in_us(Milliseconds(2000)),
                       .split_votes = ground_->splits_votes(),
                       .others = others_};
    story_.safety_poll_wakes = end.safety_poll_wakes;
    write_story(story_, options_.folder);
    result_.verdict = judge(story_);
    for (const auto& [client, samples] : used_) {
      if (const std::optional<Ageing> aged = ageing(samples)) result_.aged[client] = *aged;
    }
    result_.others = others_;
    result_.operations_by = operations_by_language();
    result_.locks = options_.locks;
    result_.swarm = options_.swarm;
    if (options_.locks && why_no_porcupine().empty()) judge_outcomes(story_, result_.verdict);
  }

  /// Those that were killed have a number behind their names.
  std::map<std::string, long long> operations_by_language() const {
    std::map<std::string, long long> counted;
    for (const auto& [client, language] : languages_) counted[language] = 0;
    const auto of = [&](Text client) -> long long& {
      const std::string name = client.str();
      return counted[languages_.at(name.substr(0, name.find('+')))];
    };
    for (const HeldOnce& each : story_.history.holds) of(each.client) += 2;
    for (const FailedCall& each : story_.history.failures) ++of(each.client);
    return counted;
  }

  static constexpr int kLooks = 100;
  /// After which no lease stands any more.
  static constexpr Milliseconds kOver = 2 * kLease + Milliseconds(4000);

  const RunOptions& options_;
  const std::uint64_t seed_;
  std::unique_ptr<Ground> ground_;
  Crew crew_;
  std::map<std::string, std::string> kinds_;  // of each name
  std::map<std::string, long long> plain_;    // plain semaphores, and their permits
  std::vector<std::string> others_;
  std::map<std::string, std::string> languages_;  // of each client
  SteadyClock::time_point began_, next_look_;
  std::map<std::string, std::vector<Used>> used_;  // by each client
  std::mutex mutex_;                               // guards what follows, while the tracks run
  Story story_;
  RunResult result_;
};

}  // namespace

std::vector<std::string> RunResult::grown() const {
  std::vector<std::string> all;
  for (const auto& [client, ageing] : aged) {
    if (const std::string what = growth(ageing); !what.empty()) all.push_back(client + ": " + what);
  }
  return all;
}

RunResult run(const Shape& shape, const RunOptions& options) {
  std::filesystem::remove_all(options.folder);
  std::filesystem::create_directories(options.folder);
  return Running(shape, options).result();
}

}  // namespace holdfast::test::chaos
