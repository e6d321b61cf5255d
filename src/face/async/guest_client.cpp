// Clients on the caller's io_context.
#include <holdfast/async.hpp>

#include "engine/client/guests.hpp"
#include "engine/hold/claim.hpp"
#include "face/client_access.hpp"
#include "face/parts.hpp"

// By their full names: they are in a namespace that names Boost's version.

holdfast::Client holdfast::client_on(boost::asio::io_context& context, Config config) {
  return detail::ClientAccess::make(engine::make_guest(std::move(config), context));
}

holdfast::Client holdfast::client_on(boost::asio::io_context& context, std::string_view url) {
  return client_on(context, Config::from_url(url));
}

boost::asio::io_context* holdfast::detail::home(const std::shared_ptr<engine::Core>& core) {
  return core ? core->runtime().host() : nullptr;
}

boost::asio::io_context* holdfast::detail::home(const PartsPtr& parts) {
  return parts ? parts->runtime->host() : nullptr;
}

boost::asio::io_context* holdfast::detail::home(const std::shared_ptr<engine::Claim>& held) {
  return held ? held->runtime()->host() : nullptr;
}
