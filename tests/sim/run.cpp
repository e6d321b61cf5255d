// SPDX-License-Identifier: Apache-2.0
#include "sim/run.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "kinds/fair_lock.hpp"
#include "kinds/leased_semaphore.hpp"
#include "kinds/read_write_lock.hpp"
#include "sim/servers.hpp"

namespace holdfast::test::sim {
namespace {

using namespace std::chrono_literals;

/// How long all of the callers' work may take, beside waits that end by their limits: whoever has not ended by then
/// hangs.
constexpr base::Duration kLongest = 20min;
/// Beyond the longest lease, until the server has nothing left.
constexpr base::Duration kAfterwards = 1s;
/// Of a client that is closed: what was under way ends.
constexpr base::Duration kLingering = 1s;
/// Of permits: what was given up comes back.
constexpr base::Duration kQuiet = 30s;

std::vector<std::vector<std::string>> keys_of(const Plan& plan) {
  std::vector<std::vector<std::string>> keys;
  for (int lock = 0; lock < plan.locks; ++lock) keys.push_back(plan.keys(lock));
  return keys;
}

/// Of the caller who may wait longest. Permits of a semaphore that a killed process had are never there again.
base::Duration longest_waits(const Plan& plan) {
  std::map<std::pair<int, int>, base::Duration> waits;
  base::Duration longest{};
  for (const Action& action : plan.actions) {
    longest = std::max(longest, waits[{action.client, action.caller}] += action.wait.value_or(0ms));
  }
  return longest;
}

class Run {
 public:
  Run(const Plan& plan, const Trace& trace) : plan_(plan), trace_(trace) {
    if (trace_) {
      stage_.trace = [this](const std::string& what) { trace_(world_.now(), what); };
      network_.watch([this](const Process& process, char direction, int link, std::string_view bytes) {
        say(process, direction, link, bytes);
      });
    }
    if (plan.kind >= LockKind::permits) set_counts();
    world_.watch([this] { judge_.look(); });
    for (std::size_t i = 0; i < plan.clients.size(); ++i) {
      members_.push_back(std::make_unique<Member>(stage_, static_cast<int>(i)));
    }
  }

  Outcome go() {
    const base::TimePoint began = world_.now();
    for (const auto& member : members_) member->start();
    for (const Fault& fault : plan_.faults) {
      faults_.push_back(world_.at(began + fault.at, [this, &fault] { strike(fault); }));
      if (fault.kind == Fault::Kind::older_data)
        world_.at(began + fault.at - fault.amount, [this] { servers_->save(); });
    }
    sabotage();
    const auto all_done = [this] { return all(&Member::done); };
    // For a semaphore that a server has forgotten they wait until somebody sets it again.
    const base::Duration limit = kLongest + longest_waits(plan_);
    bool ended = play(all_done, limit);
    if (!ended && plan_.forgets() && plan_.kind >= LockKind::permits) {
      set_counts();
      ended = play(all_done, limit);
    }
    if (!ended) judge_.violated("hang", "a caller has not ended");
    calm_down();
    if (plan_.kind == LockKind::semaphore) rest();
    for (const auto& member : members_) member->close();
    if (!play([this] { return all(&Member::closed); }, kLongest)) judge_.violated("hang", "a client does not close");
    if (!play([this] { return nothing_is_left(); }, longest_lease() + kAfterwards)) {
      judge_.violated("left", "the server still has a lock");
    }
    world_.run(kLingering);
    for (const auto& member : members_) member->end();
    return account(began);
  }

 private:
  /// False: it took too long. True as well if something is violated, which ends the run.
  bool play(const std::function<bool()>& over, base::Duration limit) {
    return judge_.violation() || world_.run_until(limit, [&] { return judge_.violation() || over(); });
  }
  bool all(bool (Member::*what)() const) const {
    return std::all_of(members_.begin(), members_.end(), [what](const auto& each) { return (*each.*what)(); });
  }

  void set_counts() {
    for (int lock = 0; lock < plan_.locks; ++lock) servers_->put(key_of(lock), std::to_string(plan_.total(lock)));
  }

  void rest() {
    play([] { return false; }, kQuiet);
    ledger_.look_at_rest();
    judge_.look();
  }

  const std::string& key_of(int lock) const { return keys_[static_cast<std::size_t>(lock)].front(); }

  /// Of a leased semaphore: as they are shown, those whose lease is not over.
  std::vector<std::string> permits(int lock) {
    std::vector<std::string> held;
    const std::string expiries = wire::permits::expiries(key_of(lock));
    Keyspace& all = servers_->keyspace_of(expiries);
    for (const auto& [end, id] : all.scores(expiries)) {
      if (end > all.now()) held.push_back(wire::permits::shown(id));
    }
    return held;
  }
  std::int64_t leased(int lock) {
    const std::string expiries = wire::permits::expiries(key_of(lock));
    return static_cast<std::int64_t>(servers_->keyspace_of(expiries).scores(expiries).size());
  }
  std::int64_t number(int lock) {
    const std::string* const text = servers_->keyspace_of(key_of(lock)).text(key_of(lock));
    return text == nullptr ? 0 : to_number(*text).value_or(0);
  }

  std::vector<std::string> owners_of_any(int lock) {
    std::vector<std::string> owners;
    for (const std::string& key : keys_[static_cast<std::size_t>(lock)]) {
      for (const std::string& owner : servers_->owners(key)) owners.push_back(key + " " + owner);
    }
    return owners;
  }

  /// Those that have all its keys.
  std::vector<std::string> owners(int lock) {
    if (plan_.kind == LockKind::permits) return permits(lock);
    if (plan_.kind == LockKind::any) return owners_of_any(lock);
    const std::vector<std::string>& keys = keys_[static_cast<std::size_t>(lock)];
    std::vector<std::string> owners = servers_->owners(keys.front());
    if (plan_.kind == LockKind::read_write) leave_out_the_ended(keys.front(), owners);
    for (std::size_t i = 1; i < keys.size(); ++i) {
      const std::vector<std::string> there = servers_->owners(keys[i]);
      std::erase_if(owners,
                    [&there](const std::string& each) { return std::ranges::find(there, each) == there.end(); });
    }
    return owners;
  }
  /// A reader's hold is a key of its own, which ends with its lease.
  void leave_out_the_ended(const std::string& key, std::vector<std::string>& owners) {
    std::erase_if(owners, [&](const std::string& owner) {
      if (owner == "mode" || owner.ends_with(":write")) return owner == "mode";
      return servers_->owners(wire::read_write::hold_key(key, owner)).empty();
    });
  }
  /// Whose turn is over has lost its place, though it is in the queue until somebody sweeps that.
  Judge::Queued waiting(int lock) {
    const std::string& key = keys_[static_cast<std::size_t>(lock)].front();
    Keyspace& at = servers_->keyspace_of(key);
    const std::string deadlines = wire::fair::deadlines(key);
    Judge::Queued waiting;
    for (std::string& each : servers_->waiting(wire::fair::queue(key))) {
      const std::optional<Keyspace::Score> deadline = at.score(deadlines, each);
      const base::TimePoint until =
          deadline ? world_.now() + milliseconds(*deadline - at.now()) : base::TimePoint::max();
      if (until > world_.now()) waiting.emplace_back(std::move(each), until);
    }
    return waiting;
  }
  /// Nobody needs to wait for it.
  bool is_free(int lock) {
    const std::vector<std::string>& keys = keys_[static_cast<std::size_t>(lock)];
    const std::int64_t wanted = plan_.most_wanted();
    switch (plan_.kind) {
      case LockKind::any:
        return std::ranges::any_of(keys, [this](const std::string& key) { return servers_->is_free(key); });
      case LockKind::permits:
        return number(lock) + leased(lock) - static_cast<std::int64_t>(permits(lock).size()) >= wanted;
      case LockKind::semaphore:
        return number(lock) >= wanted;
      case LockKind::latch:
        return number(lock) == 0;
      default:
        break;
    }
    return std::ranges::all_of(keys, [this](const std::string& key) { return servers_->is_free(key); });
  }
  bool nothing_is_left() {
    for (int lock = 0; lock < plan_.locks; ++lock) {
      if (plan_.kind < LockKind::semaphore && !owners(lock).empty()) return false;
      if (plan_.kind < LockKind::any && !is_free(lock)) return false;
    }
    return true;
  }
  base::Duration longest_lease() const {
    milliseconds longest{};
    for (const ClientPlan& client : plan_.clients) longest = std::max(longest, client.lease);
    for (const Action& action : plan_.actions) longest = std::max({longest, action.lease, action.extended_to});
    for (const Fault& fault : plan_.faults) {
      if (fault.kind == Fault::Kind::clock_back) longest += fault.amount;
    }
    return longest;
  }

  void strike(const Fault& fault) {
    if (!fault.of_server() && fault.client >= static_cast<int>(members_.size())) return;
    Member& member = *members_[fault.of_server() ? 0 : static_cast<std::size_t>(fault.client)];
    ++struck_[static_cast<std::size_t>(fault.kind)];
    say_of(fault, "begins");
    judge_.trouble_begins();
    if (plan_.forgets(fault)) judge_.forgetting_begins();
    auto heal = begin(fault, member);
    heals_.emplace_back(world_.after(fault.lasts, [this, number = heals_.size()] { end(number); }),
                        [this, &fault, heal = std::move(heal)] {
                          if (heal) heal();
                          if (plan_.forgets(fault)) forget_until_later(fault);
                          judge_.trouble_ends();
                          say_of(fault, "is over");
                        });
  }

  /// Elections take their time; all else is over.
  void forget_until_later(const Fault& fault) {
    world_.after(fault.fails_over() ? base::Duration(20s) : base::Duration{}, [this] { judge_.forgetting_ends(); });
  }

  void end(std::size_t number) {
    if (auto heal = std::exchange(heals_[number].second, {})) heal();
  }

  /// What ends it.
  std::function<void()> begin(const Fault& fault, Member& member) {
    using Kind = Fault::Kind;
    // Those that are about a process outlive their end: a member keeps its dead ones.
    Process* const process =
        fault.of_server() || fault.kind == Kind::kill || member.gone() ? nullptr : &member.process();
    if (process == nullptr && !fault.of_server() && fault.kind != Kind::kill) return {};
    switch (fault.kind) {
      case Kind::slow:
        network_.slow_down(*process, {}, fault.amount);
        return [this, process] { network_.slow_down(*process, {}, {}); };
      case Kind::cut:
        network_.cut(*process);
        return {};
      case Kind::held_back:
        network_.hold_back(*process, true);
        return [this, process] { network_.hold_back(*process, false); };
      case Kind::swallow_to_server:
        network_.swallow(*process, Network::Way::to_server);
        return {};
      case Kind::swallow_to_client:
        network_.swallow(*process, Network::Way::to_client);
        return {};
      case Kind::lose_reply:
        network_.lose_next_reply(*process);
        return {};
      case Kind::refuse:
        network_.refuse(*process, true);
        network_.cut(*process);
        return [this, process] { network_.refuse(*process, false); };
      case Kind::pause:
        process->pause();
        return [process] { process->resume(); };
      case Kind::reopen:
        member.reopen();
        return {};
      case Kind::kill:
        member.kill();
        return [&member] { member.come_back(); };
      case Kind::force:
        member.force();
        return {};
      case Kind::hide_node:
        return servers_->hide_from(network_, *process, fault);
      default:
        return servers_->strike(fault);
    }
  }

  /// No fault lasts beyond this.
  void calm_down() {
    for (const World::Id& fault : faults_) world_.cancel(fault);
    for (std::size_t i = 0; i < heals_.size(); ++i) {
      world_.cancel(heals_[i].first);
      end(i);
    }
    world_.run({});
  }

  void sabotage() {
    if (plan_.sabotage == Sabotage::silent_losses) {
      world_.after(300ms, [this] {
        servers_->lose_all();
        sabotage();
      });
    }
    servers_->spoil(plan_.sabotage);
    if (plan_.sabotage == Sabotage::dead_server) world_.after(300ms, [this] { servers_->freeze(); });
  }

  void say(const Process& process, char direction, int link, std::string_view bytes) const {
    std::string shown;
    for (const char c : bytes.substr(0, 300)) shown += c == '\r' ? ' ' : c == '\n' ? '\0' : c;
    std::erase(shown, '\0');
    trace_(world_.now(), "client " + std::to_string(process.number() % 100) + " " + direction + std::to_string(link) +
                             " " + shown + (bytes.size() > 300 ? "..." : ""));
  }
  void say_of(const Fault& fault, const char* what) const {
    if (!trace_) return;
    std::string who = fault.of_server() ? "" : " of client " + std::to_string(fault.client);
    trace_(world_.now(), std::string("FAULT ") + to_string(fault.kind) + who + " " + what);
  }

  Outcome account(base::TimePoint began) {
    Outcome outcome;
    outcome.violation = judge_.violation();
    outcome.digest = network_.digest();
    outcome.bytes = network_.bytes();
    outcome.length = world_.now() - began;
    outcome.deeds = stage_.deeds;
    outcome.tally = judge_.tally();
    outcome.faults = struck_;
    for (const auto& member : members_) add(outcome.counters, member->counters());
    return outcome;
  }

  static void add(Counters& to, const Counters& more) {
    for (const auto field : {&Counters::granted, &Counters::contended, &Counters::renewals, &Counters::safety_polls,
                             &Counters::safety_poll_wakes, &Counters::connections, &Counters::commands,
                             &Counters::suspect, &Counters::unknown, &Counters::notices}) {
      to.*field += more.*field;
    }
  }

  const Plan& plan_;
  const Trace& trace_;
  World world_{plan_.seed};
  Network network_{world_};
  const std::vector<std::vector<std::string>> keys_ = keys_of(plan_);
  const std::unique_ptr<Servers> servers_ = Servers::make(world_, network_, plan_);
  Ledger ledger_{world_, plan_, {[this](int lock) { return number(lock); }, [this](int lock) { return leased(lock); }}};
  Judge judge_{world_,
               plan_,
               [this](int lock) { return owners(lock); },
               [this](int lock) { return is_free(lock); },
               [this](int lock) { return waiting(lock); },
               ledger_};
  Stage stage_{.world = world_,
               .plan = plan_,
               .servers = *servers_,
               .judge = judge_,
               .ledger = ledger_,
               .registers = std::vector<Register>(keys_.size() * keys_.front().size())};
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<World::Id> faults_;
  std::vector<std::pair<World::Id, std::function<void()>>> heals_;
  std::array<std::uint64_t, kFaultKinds> struck_{};
};

}  // namespace

Outcome run(const Plan& plan, const Trace& trace) { return Run(plan, trace).go(); }

}  // namespace holdfast::test::sim
