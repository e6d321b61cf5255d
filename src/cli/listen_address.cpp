#include "cli/listen_address.hpp"

#include <charconv>

#include <fmt/format.h>

#include "cli/output.hpp"
#include "cli/secrets.hpp"

namespace holdfast::cli {

ListenAddress listen_address(const std::string& option, const std::string& text) {
  ListenAddress listen;
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.rfind(':');
  const bool has_port = colon != text.npos && (bracket == text.npos || colon > bracket);
  std::string host = text.substr(0, has_port ? colon : text.size());
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (!host.empty()) listen.host = std::move(host);
  if (!has_port) return listen;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, listen.port);
  if (error != std::errc{} || stop != end) {
    throw UsageError(fmt::format("{}: {} is not of the form ADDRESS:PORT", option, shown(text)));
  }
  return listen;
}

}  // namespace holdfast::cli
