// SPDX-License-Identifier: Apache-2.0
#include "chaos/crew.hpp"

#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "chaos/driven.hpp"
#include "support/shared_clock.hpp"
#include "support/taker_config.hpp"
#include "support/taker_locks.hpp"

namespace holdfast::test::chaos {
namespace {

/// Beyond the limits of the calls themselves: a machine under load is late.
constexpr Milliseconds kEnds{20000};
/// Redisson repeats what is not answered several times, in an acquire and in the release behind it: 19 s and 12 s were
/// seen in a cluster under faults, on a machine under load.
constexpr Milliseconds kOthersEnd{90000};

/// Where each thread of a process stands; for a process that does not end.
void write_stacks(pid_t pid, const std::string& file) {
  try {
    Process gdb("gdb", {"-p", std::to_string(pid), "-batch", "-ex", "thread apply all bt"}, {.output_file = file});
    gdb.close_stdin();
    gdb.wait();
  } catch (const std::system_error&) {
    std::ofstream(file) << "gdb is not there\n";
  }
}

/// `program`, behind these words.
std::unique_ptr<Taker> started(std::vector<std::string> words, const std::string& program) {
  words.push_back(program);
  const std::string first = words.front();
  words.erase(words.begin());
  return std::make_unique<Taker>(first, std::move(words));
}

}  // namespace

std::vector<std::string> Work::locks() const { return split_list(TakerLocks::key_of(name)); }

/// One member, and its process: after a kill, the next one.
class Crew::Hand {
 public:
  Hand(Member member, Access access, const std::string& folder)
      : member_(std::move(member)), access_(std::move(access)), folder_(folder), client_(member_.client) {
    taker_ = started(access_.prefix, member_.program);
  }

  const Member& member() const { return member_; }
  const std::string& client() const { return client_; }
  bool has_links() const { return !access_.links.empty(); }
  std::optional<Used> used() const { return used_by(taker_->pid()); }

  void begin() {
    std::vector<std::string> settings = member_.settings;
    if (member_.ours) settings.push_back("events=" + folder_ + "/" + client_ + ".events.record");
    taker_->connect(access_.url, settings);
    for (std::size_t i = 0; i < member_.works.size(); ++i) begin(member_.works[i], std::to_string(i + 1));
  }

  void kill() {
    taker_->signal(SIGKILL);
    pending_.clear();
    taker_ = started(access_.prefix, member_.program);
    client_ = member_.client + "+" + std::to_string(++kills_);
    begin();
  }
  void signal(int number) { taker_->signal(number); }

  /// On one link, or on all.
  void on_links(std::uint32_t target, const std::function<void(Proxy&)>& fault) {
    const std::size_t count = access_.links.size();
    const std::size_t which = target / 7 % (count + 1);
    for (std::size_t i = 0; i < count; ++i) {
      if (which == count || which == i) fault(*access_.links[i]);
    }
  }

  void stop_working() {
    if (driven_) driven_->request_stop();
    for (const Pending& each : pending_) taker_->start({"cancel", each.tag()});
  }
  void end(CrewEnd& end) {
    for (const Pending& each : pending_) {
      try {
        const Answer answer = each.get(member_.ours ? kEnds : kOthersEnd);
        if (!answer.ok) end.hangs.push_back(client_ + ": " + answer.error + ": " + answer.text);
      } catch (const std::runtime_error& hangs_or_has_died) {
        end.hangs.push_back(client_ + ": " + hangs_or_has_died.what());
        write_stacks(taker_->pid(), folder_ + "/" + client_ + ".stacks");
        taker_->signal(SIGKILL);
        return;
      }
    }
    driven_.reset();
    if (member_.ours) end.safety_poll_wakes += static_cast<long long>(taker_->counter("safety_poll_wakes"));
    if (const ExitStatus status = taker_->finish(); status != ExitStatus{}) {
      std::ostringstream words;
      words << client_ << ": " << status << ": " << taker_->errors();
      end.hangs.push_back(words.str());
    }
  }

 private:
  void begin(const Work& work, const std::string& thread) {
    const std::string record = folder_ + "/" + client_ + "." + thread + ".record";
    if (!member_.records) {
      driven_.emplace(*taker_, work, record);
      return;
    }
    constexpr Milliseconds kForEver = std::chrono::hours(10);
    std::vector<std::string> command{"hold_for",
                                     thread,
                                     work.name,
                                     numbers_of(work),
                                     std::to_string(kForEver.count()),
                                     record,
                                     std::to_string(work.pause.count()),
                                     std::to_string(work.wait.count())};
    command.insert(command.end(), work.how.begin(), work.how.end());
    pending_.push_back(taker_->start(command));
  }

  /// A file for each lock.
  std::string numbers_of(const Work& work) const {
    std::string files;
    for (const std::string& name : work.locks()) files += (files.empty() ? "" : ",") + folder_ + "/" + name + ".number";
    return files;
  }

  const Member member_;
  const Access access_;
  const std::string folder_;
  std::string client_;
  int kills_ = 0;
  std::unique_ptr<Taker> taker_;
  std::vector<Pending> pending_;
  std::optional<Driven> driven_;  // if it does not record by itself; ends before the taker
};

Crew::Crew(std::string folder) : folder_(std::move(folder)) {}
Crew::~Crew() = default;

void Crew::hire(Member member, Access access) {
  hands_.push_back(std::make_unique<Hand>(std::move(member), std::move(access), folder_));
}

void Crew::begin() {
  for (const auto& each : hands_) each->begin();
}

Crew::Hand* Crew::one_of(std::uint32_t target, bool (*fits)(const Hand&)) {
  std::vector<Hand*> fitting;
  for (const auto& each : hands_) {
    if (fits(*each)) fitting.push_back(each.get());
  }
  return fitting.empty() ? nullptr : fitting[target % fitting.size()];
}

std::optional<Struck> Crew::strike(const Planned& planned) {
  using enum Fault;
  const bool of_process = planned.fault == process_killed || planned.fault == process_stopped ||
                          planned.fault == process_stopped_past_lease;
  Hand* const hand = planned.fault == process_killed
                         ? one_of(planned.target, [](const Hand& each) { return each.member().ours; })
                     : of_process ? one_of(planned.target, [](const Hand&) { return true; })
                                  : one_of(planned.target, [](const Hand& each) { return each.has_links(); });
  if (hand == nullptr) return std::nullopt;
  Struck struck{.began = shared_clock(), .clients = {hand->client()}};
  const auto on_links = [&](const std::function<void(Proxy&)>& fault) { hand->on_links(planned.target, fault); };
  const auto swallow = [&](bool requests, bool replies) {
    const auto set = [&](bool on) {
      on_links([&](Proxy& link) {
        if (requests) link.drop_requests(on);
        if (replies) link.drop_replies(on);
      });
    };
    set(true);
    last(planned.duration);
    set(false);
  };
  switch (planned.fault) {
    case process_killed:
      struck.kills = true;
      hand->kill();
      break;
    case process_stopped:
    case process_stopped_past_lease:
      hand->signal(SIGSTOP);
      last(planned.duration);
      hand->signal(SIGCONT);
      break;
    case links_cut:
      on_links([](Proxy& link) { link.cut(); });
      break;
    case links_half_open:
      swallow(true, true);
      break;
    case requests_swallowed:
      swallow(true, false);
      break;
    case replies_swallowed:
      swallow(false, true);
      break;
    case links_slow: {
      const auto delay = [&](Milliseconds by) {
        on_links([&](Proxy& link) {
          link.delay(Proxy::Direction::to_server, by);
          link.delay(Proxy::Direction::to_client, by);
        });
      };
      delay(Milliseconds(5 + planned.target % 200));
      last(planned.duration);
      delay(Milliseconds(0));
      break;
    }
    case reply_lost:
      on_links([](Proxy& link) { link.cut_after_next_request("EVAL"); });
      break;
    case request_late:
      on_links([](Proxy& link) { link.hold_next_request("EVAL"); });
      last(planned.duration);
      on_links([](Proxy& link) {
        link.hold_next_request("");
        link.deliver_held();
      });
      break;
    default:
      throw std::logic_error("no fault of a process");
  }
  struck.ended = shared_clock();
  if (!of_process) struck.clients.clear();
  return struck;
}

std::map<std::string, Used> Crew::used() const {
  std::map<std::string, Used> all;
  for (const auto& each : hands_) {
    if (!each->member().ours) continue;
    if (const std::optional<Used> used = each->used()) all[each->client()] = *used;
  }
  return all;
}

CrewEnd Crew::finish() {
  CrewEnd end;
  for (const auto& each : hands_) each->stop_working();
  for (const auto& each : hands_) each->end(end);
  return end;
}

}  // namespace holdfast::test::chaos
