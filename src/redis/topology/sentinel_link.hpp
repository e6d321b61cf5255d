// One connection to one Sentinel: what it is asked, and what it announces.
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

/// There is no second connection after the first: then `ended` is called, and the link is of no use any more. On the
/// loop.
class SentinelLink : public std::enable_shared_from_this<SentinelLink> {
 public:
  struct Events {
    std::function<void()> ended;
    std::function<void(const NodeAddress& primary)> switched;  ///< The primary of our name has moved there.
    std::function<void(std::size_t bytes)> to_be_flushed;
  };

  /// `config`: of the client. Throws Error(tls).
  SentinelLink(timing::Schedule& schedule, const Config& config, const NodeAddress& address, Events events);

  /// Connects. Handlers keep this link alive, and `client` until it is closed.
  void start(std::shared_ptr<void> client);
  /// Asks where the primary is, and subscribes to what is announced. The handler runs once, within the client's time
  /// for connecting, perhaps at once.
  void ask(std::function<void(const sentinel::Answer&)> handler);
  void flush() { lane_.flush(); }
  /// Nothing more is told of it but to those who have asked.
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
