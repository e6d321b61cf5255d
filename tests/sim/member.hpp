// SPDX-License-Identifier: Apache-2.0
// A client of the simulation with its process and its callers, which do what the plan says.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/cancellation_signal.hpp>

#include <holdfast/async.hpp>

#include "sim/judge.hpp"
#include "sim/network.hpp"
#include "sim/plan.hpp"
#include "sim/process.hpp"
#include "sim/servers.hpp"

namespace holdfast::test::sim {

/// What the locks guard: a number that is read, and written back plus one.
struct Register {
  std::uint64_t value = 0;
  std::uint64_t writes = 0;
};

struct Deeds {
  std::uint64_t calls = 0, grants = 0, writes = 0;
  std::array<std::uint64_t, 32> failures{};  // by Errc
  std::array<std::uint64_t, 4> releases{};   // by ReleaseOutcome
  std::array<std::uint64_t, 8> losses{};     // by LossReason
};

/// What all members of a run have in common.
struct Stage {
  World& world;
  const Plan& plan;
  const Servers& servers;
  Judge& judge;
  Ledger& ledger;
  std::vector<Register> registers;  // one for each lock, or for each of several of which any is taken
  Deeds deeds{};
  std::function<void(const std::string&)> trace{};  // empty: none

  void say(const Process& process, const std::string& what) const {
    if (trace) trace("client " + std::to_string(process.number() % 100) + ": " + what);
  }
};

class Member {
 public:
  Member(Stage& stage, int index);
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  void start();
  Process& process() { return *process_; }
  const BasicLock& lock(int number) const { return locks_[static_cast<std::size_t>(number)]; }
  const Semaphore& semaphore(int number) const { return semaphores_[static_cast<std::size_t>(number)]; }
  const Latch& latch(int number) const { return latches_[static_cast<std::size_t>(number)]; }
  /// The readers' side of a read-write lock; of several, one of them alone; two permits of a leased semaphore.
  const BasicLock& reader(int number) const { return readers_[static_cast<std::size_t>(number)]; }
  const ClientPlan& plan() const { return plan_; }
  int index() const { return index_; }
  /// Killed, and not back.
  bool gone() const { return gone_; }
  /// All that its callers were to do is done.
  bool done() const { return callers_done_ == static_cast<int>(callers_.size()) && !gone_; }

  void reopen();
  bool reopened() const { return reopened_; }
  void kill();
  void come_back();
  void force();
  /// For good.
  void close();
  bool closed() const { return closed_ && closing_ == 0; }
  /// After close(): what it still has is destroyed; what must not be left is told.
  void end();
  /// What its clients have counted, those that are closed included.
  const Counters& counters() const { return counters_; }

 private:
  class Caller;
  friend class Caller;
  void open();
  void make(int lock);
  void drop_locks();
  BasicLock make_lock(const std::vector<std::string>& keys) const;
  KeyLock make_key_lock(const std::string& key) const;
  void close_clients();
  void count(const Client& client);

  Stage& stage_;
  const int index_;
  const ClientPlan& plan_;
  int generation_ = 0;
  std::unique_ptr<Process> process_;
  std::vector<std::unique_ptr<Process>> dead_;
  std::vector<std::shared_ptr<Client>> clients_;  // one for each independent server
  std::vector<BasicLock> locks_, readers_;
  std::vector<Semaphore> semaphores_;
  std::vector<Latch> latches_;
  std::vector<std::unique_ptr<Caller>> callers_;
  int callers_done_ = 0;
  int closing_ = 0;  // clients
  bool gone_ = false;
  bool reopened_ = false, closed_ = false;
  Counters counters_;
};

}  // namespace holdfast::test::sim
