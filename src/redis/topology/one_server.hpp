// The simplest shape: one server, at the configured address or one of the alternatives.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <holdfast/config.hpp>

#include "redis/connection/endpoint_source.hpp"
#include "redis/topology/router.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// It serves every key.
class OneServer final : public Router {
 public:
  OneServer(timing::Schedule& schedule, const Config& config, std::shared_ptr<Listeners> listeners, ShardEvents events)
      : events_(std::move(events)),
        shard_(
            schedule, config, [config] { return std::make_shared<ConfiguredEndpoint>(config); }, std::move(listeners),
            events_) {}

  Shard& shard_of(std::string_view) override { return shard_; }
  Shard* only_shard() const override { return all_[0]; }
  std::span<Shard* const> shards() const override { return all_; }

 private:
  const ShardEvents events_;
  Shard shard_;
  Shard* const all_[1] = {&shard_};
};

}  // namespace holdfast::redis
