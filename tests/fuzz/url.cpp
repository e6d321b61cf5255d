// SPDX-License-Identifier: Apache-2.0
// Any text as a URL: it is refused without its secrets, or understood and written anew as the same.
#include <string>
#include <string_view>

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>

#include "base/text.hpp"
#include "fuzz/fuzz.hpp"

namespace holdfast::fuzz {
namespace {

/// What stands for a password in an input, and what is shown of it nowhere.
constexpr std::string_view kSecret = "s3cr3tW0rd";

/// Behind a scheme, and before the '@' that ends a login, however much of it is wrong.
bool is_in_login(std::string_view url) {
  const std::size_t secret = url.find(kSecret);
  const std::size_t colon = url.find(':');
  return secret != url.npos && colon < secret && url.find('@', secret) != url.npos &&
         url.find(kSecret, url.rfind('@')) == url.npos;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    out.append({'%', kDigits[byte >> 4U], kDigits[byte & 0xFU]});
  }
  return out;
}

std::string in_url(const NodeAddress& node) {
  const bool v6 = node.host.find(':') != std::string::npos;
  return (v6 ? "[" + escaped(node.host) + "]" : escaped(node.host)) + ":" + std::to_string(node.port);
}
std::string in_url(const std::vector<NodeAddress>& nodes) {
  std::string out;
  for (const NodeAddress& node : nodes) out += (out.empty() ? "" : ",") + in_url(node);
  return out;
}

struct InUrl {
  std::string operator()(const NodeAddress& node) const { return in_url(node); }
  std::string operator()(const Servers& servers) const { return in_url(servers.addresses); }
  std::string operator()(const UnixSocket& socket) const { return "/" + escaped(socket.path.substr(1)); }
  std::string operator()(const SentinelConfig& sentinels) const {
    return in_url(sentinels.addresses) + "/" + escaped(sentinels.primary);
  }
  std::string operator()(const ClusterConfig& cluster) const { return in_url(cluster.addresses); }
  std::string operator()(const LocalServer&) const { return {}; }
};

/// The URL that says the same, with everything escaped that may be.
std::string written(const Config& config) {
  std::string scheme = config.tls.enabled ? "rediss" : "redis";
  if (std::holds_alternative<SentinelConfig>(config.server)) scheme += "+sentinel";
  if (std::holds_alternative<ClusterConfig>(config.server)) scheme += "+cluster";
  if (std::holds_alternative<UnixSocket>(config.server)) scheme = "unix";
  std::string out = scheme + "://" + escaped(config.username) + ":" + escaped(config.password) + "@" +
                    std::visit(InUrl{}, config.server);
  out += "?db=" + std::to_string(config.database) + "&label=" + escaped(config.label) +
         "&client_name=" + escaped(config.client_name) + "&name_prefix=" + escaped(config.name_prefix) +
         "&lease=" + std::to_string(config.lease.count()) +
         "ms&patience=" + std::to_string(config.timing.patience.count()) + "ms";
  return out;
}

void compare(const Config& first, const Config& again, const std::string& url) {
  const auto same = [&](bool is, std::string_view what) { require(is, what, url); };
  same(first.node() == again.node(), "a URL written anew means the same servers");
  same(first.username == again.username && first.password == again.password, "... the same login");
  same(first.database == again.database, "... the same database");
  same(first.label == again.label && first.client_name == again.client_name && first.name_prefix == again.name_prefix,
       "... the same texts");
  same(first.lease == again.lease && first.timing.patience == again.timing.patience, "... the same times");
}

}  // namespace
}  // namespace holdfast::fuzz

FUZZ_TARGET(url, text) {
  using namespace holdfast;
  using namespace holdfast::fuzz;
  for (const char* file : {"sentinel_password", "map_file"}) {
    if (text.find(file) != text.npos) return;  // of this machine
  }
  const bool secret = is_in_login(text);
  Config config;
  try {
    config = Config::from_url(text);
  } catch (const Error& error) {
    require(error.code() == Errc::invalid_argument, "a URL is refused as an invalid argument", error.what());
    const std::string_view what = error.what();
    require(!secret || what.find(kSecret) == what.npos, "no error repeats a login", what);
    return;
  }
  config.validate();
  require(!secret || config.node().find(kSecret) == std::string::npos, "node() shows no login", config.node());
  if (std::holds_alternative<LocalServer>(config.server)) return;
  const std::string url = written(config);
  compare(config, Config::from_url(url), url);
}
