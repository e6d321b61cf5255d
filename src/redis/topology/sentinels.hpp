// SPDX-License-Identifier: Apache-2.0
// What a client knows about its Sentinels: the links to them, the pending question, and who waits for the answer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/config.hpp>

#include "loop/alarm.hpp"
#include "redis/connection/endpoint_source.hpp"
#include "redis/connection/lane.hpp"
#include "redis/connection/request.hpp"
#include "redis/connection/subscriptions.hpp"
#include "redis/decide/discovery.hpp"
#include "redis/topology/router.hpp"

namespace holdfast::redis {

class Sentinels;
class SentinelSource;

/// One connection to one Sentinel: questions, and its announcements. It never reconnects: when its connection ends, the
/// link is useless, and Sentinels hears that. On the loop.
class SentinelLink : public std::enable_shared_from_this<SentinelLink>, private LaneEvents {
 public:
  /// `config`: of the client. Throws Error(tls).
  SentinelLink(timing::Schedule& schedule, const Config& config, NodeAddress address,
               std::weak_ptr<Sentinels> sentinels);

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
  void disconnected(const std::string& cause) override;
  void to_be_flushed(std::size_t bytes) override;
  void said(const std::string& channel, const std::string& text) override;

  timing::Schedule& schedule_;
  const base::Duration limit_;
  const std::string name_;
  const NodeAddress address_;
  std::weak_ptr<Sentinels> sentinels_;  // until it is closed: a link may outlive them
  std::shared_ptr<void> client_;
  Subscriptions subscriptions_;
  Lane lane_;
};

/// One per client, used by all its lanes. Requests made while a question is pending share its answer; each lane checks
/// it by ROLE. On the loop.
class Sentinels : public std::enable_shared_from_this<Sentinels> {
 public:
  /// How many Sentinels stay connected for their announcements, and how often they are checked, to replace silent ones
  /// and to find missed announcements. The first check comes soon after the first answer, but does not delay a short
  /// program.
  static constexpr std::size_t kWatched = 3;
  static constexpr std::chrono::seconds kLookEvery{5};
  static constexpr std::chrono::seconds kFirstLook{1};

  /// `shard`: of the primary. It may be constructed later; it and the events live until close() or drop_all().
  Sentinels(timing::Schedule& schedule, const Config& config, ServerEvents& events, Shard& shard);

  void start(std::weak_ptr<void> owner) { owner_ = std::move(owner); }
  void flush();
  void recover();
  void close();
  void drop_all();

  // For the sources.
  void add(SentinelSource& source) { sources_.push_back(&source); }
  void remove(SentinelSource& source) { std::erase(sources_, &source); }
  /// A source waits for an answer.
  void begin();
  /// A source no longer waits.
  void forget();
  /// There was no primary at this address: the Sentinel that named it is asked last.
  void doubt(const NodeAddress& primary);
  std::string missing() const { return round_ ? round_->missing() : "answer from a Sentinel"; }

  // For the links.
  void to_be_flushed(std::size_t bytes) { events_.to_be_flushed(shard_, bytes); }
  /// Our primary has moved there.
  void on_switched(const NodeAddress& from, const NodeAddress& primary);
  void on_link_ended(const NodeAddress& address);

 private:
  std::shared_ptr<Sentinels> self();
  SentinelLink& link_to(const NodeAddress& address);
  void close_links();

  void take(const sentinel::Discovery::Step& step);
  void ask(std::size_t index);
  void on_answer(std::uint64_t round, std::size_t index, const NodeAddress& from, const sentinel::Answer& answer);
  void finish(const std::optional<NodeAddress>& primary, const std::string& problem);

  void look_in(base::Duration pause) noexcept;
  void on_round_alarm();
  void on_look_alarm();
  void look();
  void count(const sentinel::Answer& answer);
  void on_looked(const NodeAddress& from, const sentinel::Answer& answer);
  void move_to(const NodeAddress& primary, const std::string& why);

  timing::Schedule& schedule_;
  const Config config_;
  ServerEvents& events_;
  Shard& shard_;
  std::weak_ptr<void> owner_;
  std::vector<SentinelSource*> sources_;
  sentinel::KnownSentinels known_;
  std::vector<std::pair<NodeAddress, std::shared_ptr<SentinelLink>>> links_;
  bool closed_ = false;

  std::optional<sentinel::Discovery> round_;  // the pending question
  std::uint64_t number_ = 0;                  // of the latest round
  timing::Alarm round_alarm_;
  std::optional<std::pair<NodeAddress, NodeAddress>> told_;  // by whom, and what, most recently

  timing::Alarm look_alarm_;
  std::minstd_rand random_;
  std::vector<std::pair<NodeAddress, NodeAddress>> said_;  // at the latest check: by whom, and what
  std::optional<NodeAddress> disputed_;                    // an address they named that is not the connected one
  int replicas_ = 0;                                       // of the primary, as far as known
  int looked_replicas_ = 0;                                // the highest number reported since the latest check
};

/// Asks the Sentinels on behalf of one lane.
class SentinelSource final : public EndpointSource {
 public:
  explicit SentinelSource(std::shared_ptr<Sentinels> sentinels);
  ~SentinelSource() override;

  void find(Found found) override;
  void forget() override;
  std::string missing() const override { return sentinels_->missing(); }
  Prospect on_end(bool served) override;
  void watch(const Moved& moved) override { moved_ = moved; }

  // For the Sentinels.
  bool waits() const { return static_cast<bool>(found_); }
  void answer(const std::optional<NodeAddress>& primary, const std::string& problem);
  /// The latest address that it has found; none while it asks.
  const std::optional<NodeAddress>& address() const { return address_; }
  void move_to(const NodeAddress& primary, const std::string& why);

 private:
  const std::shared_ptr<Sentinels> sentinels_;
  Found found_;
  Moved moved_;
  std::optional<NodeAddress> address_;
};

/// A primary monitored by Sentinels: one shard, whose server they name. It serves every key.
class SentinelServers final : public Router {
 public:
  SentinelServers(timing::Schedule& schedule, const Config& config, std::shared_ptr<Listeners> listeners,
                  ServerEvents& events)
      : sentinels_(std::make_shared<Sentinels>(schedule, config, events, shard_)),
        shard_(
            schedule, config, [sentinels = sentinels_] { return std::make_shared<SentinelSource>(sentinels); },
            std::move(listeners), events) {}

  Shard& shard_of(std::string_view) override { return shard_; }
  Shard* only_shard() const override { return all_[0]; }
  std::span<Shard* const> shards() const override { return all_; }

  void start(const std::weak_ptr<void>& owner) override {
    sentinels_->start(owner);
    Router::start(owner);
  }
  void flush() override {
    Router::flush();
    sentinels_->flush();
  }
  void recover() override {
    Router::recover();
    sentinels_->recover();
  }
  void close() override {
    Router::close();
    sentinels_->close();
  }
  void drop_all() override {
    Router::drop_all();
    sentinels_->drop_all();
  }

 private:
  const std::shared_ptr<Sentinels> sentinels_;
  Shard shard_;
  Shard* const all_[1] = {&shard_};
};

}  // namespace holdfast::redis
