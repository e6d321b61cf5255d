// Publishes releases a second time while a slot is moving from one cluster node to another.
#pragma once

#include <string>
#include <utility>

#include "redis/topology/router.hpp"

namespace holdfast::engine {

/// A handler for this request, which publishes a release on the channels that it `tells`. If it went after an ASKING,
/// the message was sent at the slot's next server, and subscribers at the present one have not received it: so it is
/// published there too, without waiting. A client that gets it twice asks once more than needed.
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
