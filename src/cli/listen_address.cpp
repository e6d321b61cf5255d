#include "cli/listen_address.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/output.hpp"
#include "cli/secrets.hpp"

namespace holdfast::cli {
namespace {

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> parsed{};
  return inet_pton(AF_INET, host.c_str(), parsed.data()) == 1 || inet_pton(AF_INET6, host.c_str(), parsed.data()) == 1;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

ListenAddress listen_address(const std::string& option, const std::string& text) {
  ListenAddress listen;
  const bool bare = is_address(text);  // such as ::1, whose last colon precedes no port
  const bool only_port = is_number(text);
  const std::size_t colon = bare || text.ends_with(']') ? text.npos : text.rfind(':');
  const std::string_view port = only_port            ? std::string_view(text)
                                : colon == text.npos ? std::string_view()
                                                     : std::string_view(text).substr(colon + 1);
  const auto refused = [&] {
    return UsageError(
        fmt::format("{}: {} is not of the form ADDRESS:PORT, such as 127.0.0.1:9743 or [::1]:9743; an address is a "
                    "number, localhost, or * for all of this machine",
                    option, shown(text)));
  };
  if (only_port || colon != text.npos) {
    const auto number = base::to_number<decltype(listen.port)>(port);
    if (!number) throw refused();
    listen.port = *number;
  }
  if (only_port) return listen;
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (host == "localhost") return listen;
  if (!host.empty() && host != "*" && !is_address(host)) throw refused();
  listen.host = host == "*" ? "" : host;
  return listen;
}

}  // namespace holdfast::cli
