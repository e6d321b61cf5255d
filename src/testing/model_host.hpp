// SPDX-License-Identifier: Apache-2.0
// The model of a server, in this process, but behind a unix socket like a separate one.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <poll.h>
#include <string>
#include <vector>

#include "base/entropy.hpp"
#include "sim/model/model_server.hpp"
#include "testing/server_start.hpp"

namespace holdfast {

/// The model's timers, on the library's clock.
class ModelTime final : public test::Time {
 public:
  base::TimePoint now() const override { return base::Clock::now(); }
  Id at(base::TimePoint time, Event event) override;
  bool cancel(const Id& id) override { return events_.erase(id) > 0; }
  base::Duration between(base::Duration least, base::Duration) override { return least; }
  /// By chance, so that the servers of several kits are not taken for one.
  std::size_t digit() override { return base::entropy() % 16; }
  /// max(): nothing.
  base::TimePoint next() const;
  /// False: nothing was due.
  bool run_what_is_due();

 private:
  std::map<Id, Event> events_;
  std::uint64_t last_ = 0;
};

/// For one thread at a time.
class ModelHost {
 public:
  /// Listens there. Throws Error(unreachable).
  explicit ModelHost(const private_server::Files& files);
  ModelHost(const ModelHost&) = delete;
  ModelHost& operator=(const ModelHost&) = delete;
  ~ModelHost();

  test::ModelServer& server() { return server_; }
  ModelTime& time() { return time_; }
  /// Does all pending work without waiting. False: there was none.
  bool serve();
  /// The descriptors to wait for.
  std::vector<pollfd> waits_for() const;

 private:
  struct Link {
    explicit Link(int number) : socket(number) {}
    /// Keeps what the kernel does not accept yet.
    void flush();
    private_server::Descriptor socket;
    test::ModelServer::SessionPtr session;
    std::string unsent;
    bool over = false;
  };

  bool accept_all();
  bool hear(const std::shared_ptr<Link>& link);

  private_server::Descriptor listener_;
  ModelTime time_;
  test::ModelServer server_{time_};
  std::list<std::shared_ptr<Link>> links_;
};

}  // namespace holdfast
