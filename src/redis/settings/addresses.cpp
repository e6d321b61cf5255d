#include "redis/settings/addresses.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "base/text.hpp"

namespace holdfast::redis {
namespace {

constexpr std::uint16_t kSentinelPort = 26379;
constexpr std::size_t kLargestPassword = std::size_t{64} * 1024;

// --- out of a URL ---

std::string_view behind_slash(std::string_view path) { return path.substr(path.empty() ? 0 : 1); }

NodeAddress address_of(const Url::Server& server, std::uint16_t default_port) {
  return {server.host, server.port.value_or(default_port)};
}

std::string read_sentinels(const Url& url, Config& config) {
  for (const Url::Server& server : url.servers) {
    if (server.host.empty()) return "the address of a Sentinel is missing, as in redis+sentinel://host/mymaster";
    config.sentinel.addresses.push_back(address_of(server, kSentinelPort));
  }
  const std::string_view path = behind_slash(url.path);
  config.sentinel.primary = path.substr(0, path.find('/'));
  if (config.sentinel.primary.empty()) {
    return "the name by which the Sentinels know the primary is missing, as in redis+sentinel://host/mymaster";
  }
  return {};
}

std::string read_cluster(const Url& url, Config& config) {
  for (const Url::Server& server : url.servers) {
    if (server.host.empty()) return "the address of a node is missing, as in redis+cluster://host:7000,host:7001";
    config.cluster.addresses.push_back(address_of(server, NodeAddress{}.port));
  }
  return {};
}

/// Without the newline that editors put at the end.
std::string read_sentinel_password(const std::string& path, Config& config) {
  const auto refused = [&](const std::string& why) {
    return "cannot read the password of the Sentinels from " + base::quote(path) + ": " + why;
  };
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return refused(std::generic_category().message(errno));
  std::string text(kLargestPassword + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return refused(std::generic_category().message(errno));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargestPassword) return refused("it is larger than 64 KiB");
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  if (text.empty()) return refused("it is empty");
  config.sentinel.password = text;
  return {};
}

// --- out of a Config ---

std::string check_address(const NodeAddress& address, const std::string& prefix) {
  // An invalid host is not repeated, since it may be a URL with a password.
  const auto odd = [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || std::string_view("[]/@?#,\x7f").find(c) != std::string_view::npos;
  };
  if (address.host.empty()) return prefix + "host is empty";
  if (std::ranges::any_of(address.host, odd)) return prefix + "host must be a bare name or address";
  if (address.port == 0) return prefix + "port must be from 1 to 65535";
  return {};
}

std::string check_all(const std::vector<NodeAddress>& addresses, const std::string& prefix) {
  for (const NodeAddress& each : addresses) {
    if (std::string problem = check_address(each, prefix); !problem.empty()) return problem;
  }
  return {};
}

std::string check_distinct(const std::vector<NodeAddress>& addresses) {
  for (auto each = addresses.begin(); each != addresses.end(); ++each) {
    if (std::find(addresses.begin(), each, *each) != each)
      return base::host_and_port(each->host, each->port) + " is given twice";
  }
  return {};
}

std::string check_sentinel(const Config& config) {
  const SentinelConfig& sentinel = config.sentinel;
  if (!config.unix_socket.empty() || config.local) return "sentinel excludes unix_socket and local";
  if (sentinel.primary.empty()) return "sentinel.primary is empty";
  // Sentinels announce the name between spaces.
  const auto odd = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == '\x7f'; };
  if (std::ranges::any_of(sentinel.primary, odd)) {
    return "the primary's name must be without spaces and control characters, not " + base::quote(sentinel.primary);
  }
  if (std::string problem = check_all(sentinel.addresses, "sentinel.addresses: "); !problem.empty()) return problem;
  return check_distinct(sentinel.addresses);
}

std::string check_cluster(const Config& config) {
  if (!config.unix_socket.empty() || config.local) return "cluster excludes unix_socket and local";
  if (!config.sentinel.addresses.empty()) return "cluster excludes sentinel";
  if (!config.alternatives.empty()) return "cluster excludes alternatives: its nodes tell of the others";
  if (std::string problem = check_all(config.cluster.addresses, "cluster.addresses: "); !problem.empty())
    return problem;
  return check_distinct(config.cluster.addresses);
}

}  // namespace

std::string read_addresses(const Url& url, Config& config) {
  const Url::Server& first = url.servers.front();
  if (url.scheme == Url::Scheme::unix_socket) {
    if (!first.host.empty() || first.port) return "the socket's path must be absolute, as in unix:///run/redis.sock";
    if (url.path.size() < 2) return "the socket's path is missing, as in unix:///run/redis.sock";
    config.unix_socket = url.path;
    return {};
  }
  if (url.shape == Url::Shape::sentinels) return read_sentinels(url, config);
  if (url.shape == Url::Shape::cluster) return read_cluster(url, config);
  if (!first.host.empty()) config.host = first.host;
  config.port = first.port.value_or(config.port);
  for (std::size_t i = 1; i < url.servers.size(); ++i) {
    config.alternatives.push_back(address_of(url.servers[i], NodeAddress{}.port));
  }
  return {};
}

std::string_view database_in_path(const Url& url) {
  if (url.scheme == Url::Scheme::unix_socket) return {};
  const std::string_view path = behind_slash(url.path);
  if (url.shape != Url::Shape::sentinels) return path;
  const std::size_t slash = path.find('/');
  return slash == path.npos ? std::string_view() : path.substr(slash + 1);
}

std::string read_sentinel_parameter(const Url& url, const Url::Parameter& parameter, Config& config) {
  if (parameter.name == "sentinel_password") {
    return "a password does not belong in the query; name a file in sentinel_password_file, or set "
           "SentinelConfig::password";
  }
  if (url.shape != Url::Shape::sentinels)
    return parameter.name + " is about Sentinels, so it needs a redis+sentinel:// URL";
  if (parameter.name == "sentinel_password_file") return read_sentinel_password(parameter.value, config);
  config.sentinel.username = parameter.value;
  return {};
}

std::string check_addresses(const Config& config) {
  if (!config.cluster.addresses.empty()) return check_cluster(config);
  if (config.publish == Publish::spublish || config.publish == Publish::both) {
    return "publish may be auto or publish only: without a cluster everybody uses PUBLISH";
  }
  if (!config.sentinel.addresses.empty()) return check_sentinel(config);
  if (!config.sentinel.primary.empty()) return "sentinel.primary needs sentinel.addresses";
  if (!config.unix_socket.empty() || config.local) {
    return config.alternatives.empty() ? "" : "alternatives exclude unix_socket and local";
  }
  if (std::string problem = check_address({config.host, config.port}, {}); !problem.empty()) return problem;
  if (std::string problem = check_all(config.alternatives, "alternatives: "); !problem.empty()) return problem;
  return check_distinct(all_addresses(config));
}

std::string in_words(const std::vector<NodeAddress>& addresses) {
  std::string out;
  for (const NodeAddress& each : addresses) {
    out.append(out.empty() ? "" : ",").append(base::host_and_port(each.host, each.port));
  }
  return out;
}

std::vector<NodeAddress> all_addresses(const Config& config) {
  std::vector<NodeAddress> all{{config.host, config.port}};
  all.insert(all.end(), config.alternatives.begin(), config.alternatives.end());
  return all;
}

}  // namespace holdfast::redis
