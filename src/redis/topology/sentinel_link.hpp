// One connection to one Sentinel: questions, and its announcements.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <holdfast/config.hpp>

#include "redis/connection/lane.hpp"
#include "redis/connection/subscriptions.hpp"
#include "redis/sentinel/words.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// It never reconnects: when its connection ends, `ended` is called, and the link is useless. On the loop.
class SentinelLink : public std::enable_shared_from_this<SentinelLink> {
 public:
  struct Events {
    std::function<void()> ended;
    std::function<void(const NodeAddress& primary)> switched;  ///< Our primary has moved there.
    std::function<void(std::size_t bytes)> to_be_flushed;
  };

  /// `config`: of the client. Throws Error(tls).
  SentinelLink(timing::Schedule& schedule, const Config& config, const NodeAddress& address, Events events);

  /// Connects. Handlers keep this link alive, and `client` until it is closed.
  void start(std::shared_ptr<void> client);
  /// Asks where the primary is, and subscribes to announcements. The handler runs once, within the client's connect
  /// timeout, possibly at once.
  void ask(std::function<void(const sentinel::Answer&)> handler);
  void flush() { lane_.flush(); }
  /// After this it calls only the handlers of pending questions.
  void close();
  /// The loop is gone.
  void drop_all();

 private:
  timing::Schedule& schedule_;
  const base::Duration limit_;
  const std::string name_;
  Events events_;
  std::shared_ptr<void> client_;
  Subscriptions subscriptions_;
  Lane lane_;
};

}  // namespace holdfast::redis
