// What a client knows of its Sentinels: the links to them, the question that is under way, and who waits for it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/config.hpp>

#include "redis/connection/endpoint_source.hpp"
#include "redis/sentinel/discovery.hpp"
#include "redis/sentinel/known_sentinels.hpp"
#include "redis/topology/sentinel_link.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

class SentinelSource;

/// One for each client; all its lanes ask it. What is asked while a question is under way shares its answer: a lane
/// checks by ROLE what it is told. On the loop.
class Sentinels : public std::enable_shared_from_this<Sentinels> {
 public:
  /// So many are connected to for their announcements, and looked at so often, to find those that answer and what was
  /// announced while nobody listened. The first time comes soon after the first answer, which a short program has no
  /// need to wait for.
  static constexpr std::size_t kWatched = 3;
  static constexpr std::chrono::seconds kLookEvery{5};
  static constexpr std::chrono::seconds kFirstLook{1};

  struct Events {
    std::function<void(std::size_t bytes)> to_be_flushed;
    std::function<void(int replicas)> counted;  ///< So many replicas of the primary are on record.
  };
  Sentinels(timing::Schedule& schedule, const Config& config, Events events);

  void start(std::weak_ptr<void> owner) { owner_ = std::move(owner); }
  void flush();
  void recover();
  void close();
  void drop_all();

  // For the sources.
  void add(SentinelSource& source) { sources_.push_back(&source); }
  void remove(SentinelSource& source) { std::erase(sources_, &source); }
  /// One of them waits for an answer.
  void begin();
  /// One of them does not wait any more.
  void forget();
  /// There was no primary at this address: whoever has said so is asked last.
  void doubt(const NodeAddress& primary);
  std::string missing() const { return round_ ? round_->missing() : "answer from a Sentinel"; }

 private:
  using Link = std::shared_ptr<SentinelLink>;

  std::shared_ptr<Sentinels> self();
  SentinelLink& link_to(const NodeAddress& address);
  void on_link_ended(const NodeAddress& address);
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
  void on_switched(const NodeAddress& from, const NodeAddress& primary);
  void move_to(const NodeAddress& primary, const std::string& why);

  timing::Schedule& schedule_;
  const Config config_;
  const Events events_;
  std::weak_ptr<void> owner_;
  std::vector<SentinelSource*> sources_;
  sentinel::KnownSentinels known_;
  std::vector<std::pair<NodeAddress, Link>> links_;
  bool closed_ = false;

  std::optional<sentinel::Discovery> round_;  // the question under way
  std::uint64_t number_ = 0;                  // of the latest round
  timing::Alarm round_alarm_;
  std::optional<std::pair<NodeAddress, NodeAddress>> told_;  // by whom, and what, of late

  timing::Alarm look_alarm_;
  std::minstd_rand random_;
  std::vector<std::pair<NodeAddress, NodeAddress>> said_;  // at the latest look: by whom, and what
  std::optional<NodeAddress> disputed_;                    // what they said that was not what is connected
  int replicas_ = 0;                                       // of the primary, as far as they know
  int looked_replicas_ = 0;                                // the most that one of them has said since the latest look
};

/// Asks the Sentinels, for one lane.
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

}  // namespace holdfast::redis
