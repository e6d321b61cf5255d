// The model of a server as a process would be one: behind a unix socket, in this process.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <poll.h>
#include <string>
#include <vector>

#include "sim/model/model_server.hpp"
#include "testing/server_start.hpp"

namespace holdfast {

/// What the model waits for, by the library's clock.
class ModelTime final : public test::Time {
 public:
  base::TimePoint now() const override { return base::Clock::now(); }
  Id at(base::TimePoint time, Event event) override;
  bool cancel(const Id& id) override { return events_.erase(id) > 0; }
  base::Duration between(base::Duration least, base::Duration) override { return least; }
  /// max(): nothing.
  base::TimePoint next() const;
  /// False: nothing was due.
  bool run_what_is_due();

 private:
  std::map<Id, Event> events_;
  std::uint64_t last_ = 0;
};

/// One thread at a time.
class ModelHost {
 public:
  /// Listens there. Throws Error(unreachable).
  explicit ModelHost(const private_server::Files& files);
  ModelHost(const ModelHost&) = delete;
  ModelHost& operator=(const ModelHost&) = delete;
  ~ModelHost();

  test::ModelServer& server() { return server_; }
  ModelTime& time() { return time_; }
  /// Does what there is to be done, without waiting. False: there was nothing.
  bool serve();
  /// What has to be waited for.
  std::vector<pollfd> waits_for() const;

 private:
  struct Link {
    explicit Link(int number) : socket(number) {}
    /// What the kernel does not take yet is kept.
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
