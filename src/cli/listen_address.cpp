#include "cli/listen_address.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
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
  const auto port = base::to_number<decltype(listen.port)>(std::string_view(text).substr(colon + 1));
  if (!port) throw UsageError(fmt::format("{}: {} is not of the form ADDRESS:PORT", option, shown(text)));
  listen.port = *port;
  return listen;
}

}  // namespace holdfast::cli
