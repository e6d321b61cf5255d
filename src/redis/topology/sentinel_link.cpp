#include "redis/topology/sentinel_link.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "redis/failures/errors.hpp"

namespace holdfast::redis {
namespace {

/// The settings for this Sentinel, with the Sentinels' login.
Config link_config(const Config& client, const NodeAddress& address) {
  Config config = client;
  config.host = address.host;
  config.port = address.port;
  config.username = client.sentinel.username;
  config.password = client.sentinel.password;
  config.credentials = client.sentinel.credentials;
  config.database = 0;
  config.alternatives.clear();
  config.sentinel = {};
  return config;
}

sentinel::Answer answer_of(const Result& result) {
  sentinel::Answer answer;
  if (result.delivery == Delivery::answered) {
    answer = sentinel::decode(result.replies);
    answer.problem = explain(answer.problem);
  } else {
    answer.problem = result.cause.empty() ? result.error.message() : result.cause;
  }
  return answer;
}

}  // namespace

SentinelLink::SentinelLink(timing::Schedule& schedule, const Config& config, const NodeAddress& address, Events events)
    : schedule_(schedule),
      limit_(config.connect_timeout),
      name_(config.sentinel.primary),
      events_(std::move(events)),
      subscriptions_(std::make_shared<Listeners>()),
      lane_(schedule, link_config(config, address), std::make_shared<ConfiguredEndpoint>(link_config(config, address)),
            subscriptions_,
            {.connected = [] {},
             .disconnected =
                 [this](const std::string&) {
                   // Pending questions get the cause first.
                   boost::asio::post(schedule_.executor(), [link = shared_from_this()] { link->close(); });
                   if (events_.ended) events_.ended();
                 },
             .message = [] {},
             .command = [] {},
             .to_be_flushed =
                 [this](std::size_t bytes) {
                   if (events_.to_be_flushed) events_.to_be_flushed(bytes);
                 },
             .said =
                 [this](const std::string& channel, const std::string& text) {
                   if (channel != sentinel::kSwitchChannel || !events_.switched) return;
                   if (const auto primary = sentinel::switched_to(text, name_)) events_.switched(*primary);
                 }}) {
  // An unused subscription would be unsubscribed.
  subscriptions_.listeners()->begin_use(std::string(sentinel::kSwitchChannel), [] {});
}

void SentinelLink::start(std::shared_ptr<void> client) {
  client_ = std::move(client);
  lane_.start(weak_from_this());
}

void SentinelLink::ask(std::function<void(const sentinel::Answer&)> handler) {
  lane_.send(Request{sentinel::questions(name_), limit_, {std::string(sentinel::kSwitchChannel)}},
             [handler = std::move(handler)](const Result& result) { handler(answer_of(result)); });
}

void SentinelLink::close() {
  events_ = {};
  lane_.close();
  const std::shared_ptr<void> client = std::exchange(client_, {});
}

void SentinelLink::drop_all() {
  events_ = {};
  lane_.drop_all();
  const std::shared_ptr<void> client = std::exchange(client_, {});
}

}  // namespace holdfast::redis
