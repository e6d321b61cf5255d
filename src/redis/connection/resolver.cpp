#include "redis/connection/resolver.hpp"

#include <cerrno>
#include <netdb.h>
#include <system_error>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

namespace holdfast::redis {

namespace asio = boost::asio;

namespace {

using Names = Aside<std::vector<Endpoint>>;

constinit AsideCount lookups_in_process(Resolver::kMostInProcess);

Names::Reply ask(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> freed(list, &freeaddrinfo);
  Names::Reply reply;
  if (error != 0) reply.problem = error == EAI_SYSTEM ? std::generic_category().message(errno) : gai_strerror(error);
  for (const addrinfo* each = list; each != nullptr && reply.answer.size() < Resolver::kMostAddresses;
       each = each->ai_next) {
    reply.answer.emplace_back(each->ai_addr, each->ai_addrlen);
  }
  if (reply.problem.empty() && reply.answer.empty()) reply.problem = "it has no addresses";
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

void Resolver::look_up(const std::string& host, std::uint16_t port, Found found) {
  names_.ask([host, port = std::to_string(port)] { return ask(host, port); }, std::move(found));
}

}  // namespace holdfast::redis
