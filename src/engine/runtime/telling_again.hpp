// Releases that have to be told twice: while a slot is under way from one server of a cluster to another.
#pragma once

#include <string>
#include <utility>

#include "redis/topology/router.hpp"

namespace holdfast::engine {

/// A handler for this request, which tells of a release on the channels that it `tells`. Where it went behind an
/// ASKING, that was said at the slot's next server, and those who have subscribed at the present one have heard
/// nothing: they are told as well, and nobody waits for that. Those who hear it twice ask once more than they need.
inline redis::Lane::Handler telling_again(redis::Router& router, const redis::Request& request,
                                          redis::Lane::Handler handler) {
  redis::Request again;
  again.timeout = request.timeout;
  for (const std::string& channel : request.tells) again.commands.push_back({{"SPUBLISH", channel, "0"}});
  return [&router, again = std::move(again), handler = std::move(handler)](redis::Result result) mutable {
    if (result.asked && result.delivery != redis::Delivery::not_sent) {
      router.send(std::move(again), [](const redis::Result&) {});
    }
    handler(std::move(result));
  };
}

}  // namespace holdfast::engine
