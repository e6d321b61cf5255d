// A primary monitored by Sentinels: one shard, whose server they name.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <holdfast/config.hpp>

#include "redis/topology/router.hpp"
#include "redis/topology/sentinels.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// It serves every key.
class SentinelServers final : public Router {
 public:
  SentinelServers(timing::Schedule& schedule, const Config& config, std::shared_ptr<Listeners> listeners,
                  ServerEvents& events)
      : events_(events),
        sentinels_(std::make_shared<Sentinels>(
            schedule, config,
            Sentinels::Events{.to_be_flushed = [this](std::size_t bytes) { events_.to_be_flushed(shard_, bytes); },
                              .counted = [this](int replicas) { shard_.set_configured_replicas(replicas); }})),
        shard_(
            schedule, config, [sentinels = sentinels_] { return std::make_shared<SentinelSource>(sentinels); },
            std::move(listeners), events_) {}

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
  ServerEvents& events_;
  const std::shared_ptr<Sentinels> sentinels_;
  Shard shard_;
  Shard* const all_[1] = {&shard_};
};

}  // namespace holdfast::redis
