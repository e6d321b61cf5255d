// SPDX-License-Identifier: Apache-2.0
#include "redis/connection/resolver.hpp"

#include <cerrno>
#include <netdb.h>
#include <system_error>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

namespace holdfast::redis {

namespace asio = boost::asio;

namespace {

using Names = Aside<Resolver::Located>;

constinit AsideCount lookups_in_process(Resolver::kMostInProcess);

/// Returns what is wrong, or nothing.
std::string apply(const AddressMap& map, NodeAddress& where) {
  if (std::string thrown = thrown_by("map_address", [&] { where = map(where); }); !thrown.empty()) return thrown;
  return where.host.empty() || where.port == 0 ? "map_address returned no host or no port" : "";
}

Names::Reply ask(const AddressMap& map, NodeAddress where) {
  Names::Reply reply;
  if (map) reply.problem = apply(map, where);
  if (!reply.problem.empty()) return reply;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &list);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> freed(list, &freeaddrinfo);
  if (error != 0) reply.problem = error == EAI_SYSTEM ? std::generic_category().message(errno) : gai_strerror(error);
  for (const addrinfo* each = list; each != nullptr && reply.answer.endpoints.size() < Resolver::kMostAddresses;
       each = each->ai_next) {
    reply.answer.endpoints.emplace_back(each->ai_addr, each->ai_addrlen);
  }
  if (reply.problem.empty() && reply.answer.endpoints.empty()) reply.problem = "it has no addresses";
  reply.answer.at = std::move(where);
  return reply;
}

}  // namespace

std::string to_string(const Endpoint& endpoint) {
  const auto copy_to = [&](auto other) {
    std::copy_n(reinterpret_cast<const char*>(endpoint.data()), endpoint.size(), reinterpret_cast<char*>(other.data()));
    other.resize(endpoint.size());  // after the copy: for a path it removes a trailing zero, if there is one
    return other;
  };
  if (endpoint.protocol().family() == AF_UNIX) return copy_to(asio::local::stream_protocol::endpoint()).path();
  const auto tcp = copy_to(asio::ip::tcp::endpoint());
  const std::string address = tcp.address().to_string();
  return (tcp.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(tcp.port());
}

Resolver::Resolver(const asio::any_io_executor& executor) : names_(executor, lookups_in_process, "name look-ups") {}

void Resolver::look_up(const AddressMap& map, NodeAddress where, Found found) {
  names_.ask([map, where = std::move(where)] { return ask(map, where); }, std::move(found));
}

}  // namespace holdfast::redis
