// SPDX-License-Identifier: Apache-2.0
// The driver of Holdfast itself. Usage: holdfast lock|pipelined|simple|async|async-pipelined URL [lease_ms=30000]
// [clients=1]   Defaults throughout; `pipelined` switches the pipelined release on, `async` is the face for Boost.Asio.
// All but `simple` and `async` have the other kinds of lock, too.
#include <chrono>
#include <exception>
#include <iostream>
#include <optional>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "coroutines.hpp"
#include "threads.hpp"

namespace {

/// What `try_within` says. An answer that is still missing at the end, as on a machine with too much to do, is a wait in
/// vain: the client undoes what it may have taken.
template <class Try>
bool taken_by(bench::Clock::time_point end, Try try_within) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - bench::Clock::now());
  if (left.count() <= 0) return false;
  try {
    return try_within(left);
  } catch (const holdfast::Error& error) {
    if (error.code() != holdfast::Errc::unknown_outcome || bench::Clock::now() < end) throw;
    return false;
  }
}

template <class Kind>
class KindLocker final : public bench::Locker {
 public:
  explicit KindLocker(Kind lock) : lock_(std::move(lock)) {}
  void take() override { hold_ = lock_.acquire(); }
  bool take_until(bench::Clock::time_point end) override {
    return taken_by(end, [this](std::chrono::milliseconds wait) {
      hold_ = lock_.try_acquire({.wait = wait});
      return hold_.has_value();
    });
  }
  void release() override { hold_.reset(); }

 private:
  Kind lock_;
  std::optional<holdfast::Hold> hold_;
};

template <class Kind>
std::unique_ptr<bench::Locker> by(Kind lock) {
  return std::make_unique<KindLocker<Kind>>(std::move(lock));
}

/// Permits that nobody has a hold of.
class SemaphoreLocker final : public bench::Locker {
 public:
  explicit SemaphoreLocker(holdfast::Semaphore semaphore) : semaphore_(std::move(semaphore)) {}
  void take() override { semaphore_.acquire(); }
  bool take_until(bench::Clock::time_point end) override {
    return taken_by(end, [this](std::chrono::milliseconds wait) { return semaphore_.try_acquire_for(wait); });
  }
  void release() override { semaphore_.release(); }

 private:
  const holdfast::Semaphore semaphore_;
};

/// Reads 19 times of 20, and writes once; callers begin at different times of these.
class MixedLocker final : public bench::Locker {
 public:
  MixedLocker(const holdfast::ReadWriteLock& lock, int caller)
      : reader_(lock.reader()), writer_(lock.writer()), turn_(static_cast<unsigned>(caller)) {}
  void take() override { next().take(); }
  bool take_until(bench::Clock::time_point end) override { return next().take_until(end); }
  void release() override { current_->release(); }

 private:
  bench::Locker& next() {
    current_ = ++turn_ % 20 == 0 ? static_cast<bench::Locker*>(&writer_) : &reader_;
    return *current_;
  }

  KindLocker<holdfast::ReadLock> reader_;
  KindLocker<holdfast::WriteLock> writer_;
  unsigned turn_;
  bench::Locker* current_ = nullptr;
};

std::unique_ptr<bench::Locker> locker_of(const holdfast::Client& client, int caller, const bench::Thing& thing) {
  const std::string& kind = thing.kind;
  if (kind == "lock") return by(client.lock(thing.key));
  if (kind == "fenced") return by(client.fenced_lock(thing.key));
  if (kind == "fair") return by(client.fair_lock(thing.key));
  if (kind == "spin") return by(client.spin_lock(thing.key));
  if (kind == "write") return by(client.read_write_lock(thing.key).writer());
  if (kind == "read") return by(client.read_write_lock(thing.key).reader());
  if (kind == "mixed") return std::make_unique<MixedLocker>(client.read_write_lock(thing.key), caller);
  if (kind == "semaphore") {
    std::ignore = client.semaphore(thing.key).init(thing.of);
    return std::make_unique<SemaphoreLocker>(client.semaphore(thing.key));
  }
  if (kind == "leased") {
    std::ignore = client.leased_semaphore(thing.key).init(thing.of);
    return by(client.leased_semaphore(thing.key));
  }
  if (kind != "any") throw std::invalid_argument("no such kind: " + kind);
  std::vector<std::string> names;
  for (long i = 0; i < thing.of; ++i) names.push_back(bench::numbered(thing.key, i));
  return by(client.any_lock(names));
}

class Holdfast final : public bench::Contestant {
 public:
  Holdfast(const holdfast::Config& config, bool simple, int clients) : simple_(simple) {
    for (int i = 0; i < clients; ++i) clients_.emplace_back(config);
  }
  std::unique_ptr<bench::Locker> locker(int caller, const bench::Thing& thing) override {
    holdfast::Client& client = clients_[static_cast<std::size_t>(caller) % clients_.size()];
    return simple_ ? by(client.simple_lock(thing.key)) : locker_of(client, caller, thing);
  }
  bool has(const std::string& kind) const override { return !simple_ || kind == "lock"; }

  void reserve(std::size_t count) override {
    held_.clear();
    held_.resize(count);
  }
  void hold(int caller, std::size_t place, const std::string& key) override {
    holdfast::Client& client = clients_[static_cast<std::size_t>(caller) % clients_.size()];
    held_[place] = simple_ ? client.simple_lock(key).acquire() : client.lock(key).acquire();
  }

 private:
  const bool simple_;
  std::vector<holdfast::Client> clients_;
  std::vector<holdfast::Hold> held_;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) throw std::invalid_argument("usage: holdfast KIND URL [lease_ms=..] [clients=..]");
  const std::string kind = argv[1];
  std::string words = "start";
  for (int i = 3; i < argc; ++i) words += std::string(" ") + argv[i];
  const bench::Arguments settings(words);
  holdfast::Config config = holdfast::Config::from_url(argv[2]);
  config.lease = std::chrono::milliseconds(settings.number("lease_ms", 30000));
  config.pipelined_release = kind.ends_with("pipelined");
  const int clients = static_cast<int>(settings.number("clients", 1));
  if (kind.starts_with("async")) bench::serve(*bench::as_coroutines(config, clients));
  Holdfast contestant(config, kind == "simple", clients);
  bench::serve(*bench::on_threads(contestant));
} catch (const std::exception& error) {
  std::cerr << "driver: " << error.what() << '\n';
  return 1;
}
