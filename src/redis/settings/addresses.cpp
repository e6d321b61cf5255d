// SPDX-License-Identifier: Apache-2.0
#include "redis/settings/addresses.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "base/location.hpp"
#include "base/small_file.hpp"
#include "base/text.hpp"

namespace holdfast::redis {
namespace {

constexpr std::string_view kSchemes =
    "redis://, rediss://, unix://, redis+sentinel://, rediss+sentinel://, redis+cluster://, rediss+cluster:// and "
    "local:";
constexpr std::size_t kMostServers = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The URL cut at its delimiters; nothing is decoded or judged yet.
struct Pieces {
  std::string scheme;  ///< Lower case; empty: the text does not start with one.
  std::optional<std::string_view> authority;
  std::string_view tail;  ///< Path, query and fragment.
};

Pieces cut(std::string_view text) {
  const auto may_follow = [](char c) { return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.'; };
  const std::size_t colon = text.find(':');
  const std::string_view scheme = text.substr(0, colon == text.npos ? 0 : colon);
  if (scheme.empty() || !is_letter(scheme.front()) || !std::ranges::all_of(scheme, may_follow)) return {};
  Pieces pieces{std::string(scheme), std::nullopt, text.substr(colon + 1)};
  for (char& c : pieces.scheme) c = is_letter(c) ? static_cast<char>(c | 0x20) : c;
  if (pieces.tail.starts_with("//")) {
    pieces.tail.remove_prefix(2);
    pieces.authority = pieces.tail.substr(0, pieces.tail.find_first_of("/?#"));
    pieces.tail.remove_prefix(pieces.authority->size());
  }
  return pieces;
}

using base::percent_decoded;

/// Reads `host`, `host:port` or `[address]:port`. Returns what is wrong, or nothing.
std::string read_server(std::string_view text, Url::Server& server) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == text.npos) return "the ']' after the IPv6 address is missing";
    const std::optional<std::string> address = percent_decoded(text.substr(1, end - 1));
    in6_addr parsed{};
    if (!address || inet_pton(AF_INET6, address->substr(0, address->find('%')).c_str(), &parsed) != 1) {
      return "what stands in brackets is not an IPv6 address";
    }
    server.host = *address;
    text.remove_prefix(end + 1);
    if (!text.empty() && text.front() != ':') return "an IPv6 address in brackets is followed by ':' and a port only";
  } else {
    const std::size_t colon = text.find(':');
    const std::optional<std::string> host = percent_decoded(text.substr(0, colon));
    const auto in_names = [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_'; };
    if (!host || !std::ranges::all_of(*host, in_names)) return "the host has a character that host names do not have";
    server.host = *host;
    text.remove_prefix(colon == text.npos ? text.size() : colon);
    if (std::ranges::count(text, ':') > 1) return "an IPv6 address must be in brackets, as in [::1]:6379";
  }
  if (text.empty() || text == ":") return {};
  text.remove_prefix(1);
  server.port = base::to_number<std::uint16_t>(text);
  return server.port.value_or(0) == 0 ? "the port must be a number from 1 to 65535" : "";
}

/// Reads one server, or several separated by commas.
std::string read_servers(std::string_view text, Url& url) {
  url.servers.clear();
  const bool several = text.find(',') != text.npos;
  while (true) {
    const std::string_view one = text.substr(0, text.find(','));
    Url::Server server;
    if (std::string problem = read_server(one, server); !problem.empty()) return problem;
    if (several && server.host.empty()) return "between commas there is no host";
    url.servers.push_back(std::move(server));
    if (url.servers.size() > kMostServers) return "there are more than " + std::to_string(kMostServers) + " addresses";
    if (one.size() == text.size()) return {};
    text.remove_prefix(one.size() + 1);
  }
}

std::string read_authority(std::string_view text, Url& url) {
  const std::size_t at = text.rfind('@');
  if (at != text.npos) {
    const std::string_view login = text.substr(0, at);
    const std::size_t colon = login.find(':');
    const std::optional<std::string> user = percent_decoded(login.substr(0, colon));
    const std::optional<std::string> password = percent_decoded(colon == login.npos ? "" : login.substr(colon + 1));
    if (login.find('@') != login.npos) return "an '@' in a user or password must be written %40";
    if (!user || !password) {
      return "a '%' in the user or password is not followed by two hexadecimal digits; '%' itself is written %25";
    }
    url.user = *user;
    url.password = *password;
    text.remove_prefix(at + 1);
  }
  return read_servers(text, url);
}

std::string read_query(std::string_view text, Url& url) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    const std::optional<std::string> name = percent_decoded(pair.substr(0, equals));
    const std::optional<std::string> value = percent_decoded(equals == pair.npos ? "" : pair.substr(equals + 1));
    if (!name || !value) {
      return "a '%' in the query is not followed by two hexadecimal digits; '%' itself is written %25";
    }
    if (equals == pair.npos) return "the query parameter " + base::quote(*name) + " has no value";
    if (std::ranges::find(url.query, *name, &Url::Parameter::name) != url.query.end()) {
      return "the query parameter " + base::quote(*name) + " is given twice";
    }
    url.query.push_back({*name, *value});
  }
  return {};
}

std::string_view without_shape(std::string_view scheme, Url::Shape& shape) {
  constexpr std::pair<std::string_view, Url::Shape> kShapes[] = {{"+sentinel", Url::Shape::sentinels},
                                                                 {"+cluster", Url::Shape::cluster}};
  for (const auto& [suffix, meant] : kShapes) {
    if (!scheme.ends_with(suffix)) continue;
    shape = meant;
    scheme.remove_suffix(suffix.size());
    break;
  }
  return scheme;
}

/// For what stands there in place of a URL; empty: it is no server.
std::string meant_server(std::string_view text) {
  Url::Server server;
  const bool number = text.find_first_not_of("0123456789") == text.npos;
  const bool plain = !number && !text.ends_with(':') && read_server(text, server).empty();
  const bool named = plain && !server.host.empty() && (text.find(':') != text.npos || text.find('.') != text.npos);
  return named || text == "localhost" ? "; did you mean redis://" + std::string(text) + "?" : "";
}

std::string read_scheme(std::string_view text, const Pieces& pieces, Url& url) {
  const bool slashes = pieces.authority.has_value();
  if (pieces.scheme == "local") {
    url.scheme = Url::Scheme::local;
    if (slashes || pieces.tail.starts_with('/')) return "local: takes query parameters only, as in local:?lease=10s";
    return {};
  }
  const std::string_view scheme = without_shape(pieces.scheme, url.shape);
  if (scheme == "redis") {
    url.scheme = Url::Scheme::redis;
  } else if (scheme == "rediss") {
    url.scheme = Url::Scheme::rediss;
  } else if (pieces.scheme == "unix") {
    url.scheme = Url::Scheme::unix_socket;
  } else if (slashes) {
    return "the scheme " + base::quote(pieces.scheme) + " is unknown; known are " + std::string(kSchemes);
  } else {
    // Without "//" this need not be a scheme at all: it may be a user with a password, so it is not repeated.
    return "a URL starts with a scheme; known are " + std::string(kSchemes) + meant_server(text);
  }
  if (!slashes) {
    return "two slashes follow after " + pieces.scheme +
           (url.scheme == Url::Scheme::unix_socket ? ":, as in unix:///run/redis.sock" : ":, as in redis://127.0.0.1");
  }
  return {};
}

/// Fills `url` and returns what is wrong, or nothing.
std::string read(std::string_view text, Url& url) {
  if (text.empty()) return "it is empty; a URL is such as redis://127.0.0.1:6379";
  const Pieces pieces = cut(text);
  if (std::string problem = read_scheme(text, pieces, url); !problem.empty()) return problem;
  const auto unprintable = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; };
  if (std::ranges::any_of(text, unprintable)) {
    return "there is a space or a control character in it; a space is written %20";
  }
  // Only a login ends with '@'. One that comes later shows that the login was cut short by one of its own characters.
  if (pieces.tail.find('@') != pieces.tail.npos) {
    return "there is an '@' after the host; write '@' as %40, and in a user or password '/' as %2F, '?' as %3F, "
           "'#' as %23";
  }
  if (pieces.authority) {
    if (std::string problem = read_authority(*pieces.authority, url); !problem.empty()) return problem;
  }
  const std::string_view tail = pieces.tail;
  if (tail.find('#') != tail.npos) return "a '#fragment' has no meaning here; '#' itself is written %23";
  const std::size_t question = tail.find('?');
  const std::optional<std::string> path = percent_decoded(tail.substr(0, question));
  if (!path) return "a '%' in the path is not followed by two hexadecimal digits; '%' itself is written %25";
  url.path = *path;
  if (url.scheme == Url::Scheme::local && !url.path.empty()) {
    return "local: takes query parameters only, as in local:?lease=10s";
  }
  return question == tail.npos ? std::string() : read_query(tail.substr(question + 1), url);
}

/// `host:` of a place whose port is wrong; empty: what stands there is no host.
std::string host_alone(std::string_view place) {
  const std::size_t colon = place.find(':');
  Url::Server server;
  const bool is_host = colon != place.npos && colon > 0 && read_server(place.substr(0, colon), server).empty();
  return is_host ? std::string(place.substr(0, colon + 1)) : "";
}

/// The part of a URL that can be shown to anybody; empty if nothing can.
std::string shown(std::string_view text) {
  const Pieces pieces = cut(text);
  Url url;
  const bool known = read_scheme(text, pieces, url).empty();
  if (!known && !pieces.authority) return {};
  std::string out = pieces.scheme + (pieces.authority ? "://" : ":");
  if (pieces.tail.find('@') != pieces.tail.npos) return out + "***";
  if (pieces.authority) {
    std::string_view host = *pieces.authority;
    if (const std::size_t at = host.rfind('@'); at != host.npos) {
      out += "***@";
      host.remove_prefix(at + 1);
    } else if (!read_servers(host, url).empty()) {
      return out + host_alone(host) + "***";  // Perhaps a login whose "@host" was forgotten.
    }
    out += host;
  } else if (!pieces.tail.empty() && !pieces.tail.starts_with('?')) {
    return out + "***";
  }
  const std::size_t path_end = pieces.tail.find_first_of("?#");
  out += pieces.tail.substr(0, path_end);
  if (path_end != pieces.tail.npos) out += std::string(1, pieces.tail[path_end]) + "...";
  return out;
}

}  // namespace

Url parse_url(std::string_view text) {
  Url url;
  if (const std::string problem = read(text, url); !problem.empty()) throw bad_url(text, problem);
  return url;
}

Error bad_url(std::string_view text, const std::string& problem) {
  const std::string safe = shown(text);
  return {Errc::invalid_argument, "", "", (safe.empty() ? "the URL" : "the URL " + base::quote(safe)) + ": " + problem};
}

namespace {

constexpr std::uint16_t kSentinelPort = 26379;

// --- out of a URL ---

std::string_view behind_slash(std::string_view path) { return path.substr(path.empty() ? 0 : 1); }

NodeAddress address_of(const Url::Server& server, std::uint16_t default_port) {
  return {server.host, server.port.value_or(default_port)};
}

std::string read_sentinels(const Url& url, Config& config) {
  SentinelConfig& sentinel = config.server.emplace<SentinelConfig>();
  for (const Url::Server& server : url.servers) {
    if (server.host.empty()) return "the address of a Sentinel is missing, as in redis+sentinel://host/mymaster";
    sentinel.addresses.push_back(address_of(server, kSentinelPort));
  }
  const std::string_view path = behind_slash(url.path);
  sentinel.primary = path.substr(0, path.find('/'));
  if (sentinel.primary.empty()) {
    return "the name by which the Sentinels know the primary is missing, as in redis+sentinel://host/mymaster";
  }
  return {};
}

std::string read_cluster(const Url& url, Config& config) {
  ClusterConfig& cluster = config.server.emplace<ClusterConfig>();
  for (const Url::Server& server : url.servers) {
    if (server.host.empty()) return "the address of a node is missing, as in redis+cluster://host:7000,host:7001";
    cluster.addresses.push_back(address_of(server, NodeAddress{}.port));
  }
  return {};
}

// --- the map of addresses ---

using Mapped = std::pair<NodeAddress, NodeAddress>;

/// `host:port`; none: it is something else.
std::optional<NodeAddress> read_mapped(std::string_view text) {
  Url::Server server;
  if (!read_server(text, server).empty() || server.host.empty() || !server.port) return std::nullopt;
  return NodeAddress{server.host, *server.port};
}

/// Adds `FROM=TO`. Returns what is wrong with it, or nothing.
std::string read_pair(std::string_view text, std::vector<Mapped>& table) {
  const std::size_t equals = text.find('=');
  const auto from = read_mapped(text.substr(0, equals));
  const auto to = equals == text.npos ? std::nullopt : read_mapped(text.substr(equals + 1));
  if (!from || !to) {
    return "a mapped address is written HOST:PORT=HOST:PORT, as in 10.0.0.5:6379=localhost:7001, not " +
           base::quote(text);
  }
  if (std::ranges::find(table, *from, &Mapped::first) != table.end()) {
    return base::host_and_port(from->host, from->port) + " is mapped twice";
  }
  table.emplace_back(*from, *to);
  return {};
}

/// Of a file: a pair in each line, with comments after '#'.
std::string without_comments(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    std::erase_if(line, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
    if (!line.empty()) out += (out.empty() ? "" : ",") + line;
  }
  return out;
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

std::string check(const SentinelConfig& sentinel) {
  if (sentinel.addresses.empty()) return "sentinel.addresses is empty";
  if (sentinel.primary.empty()) return "sentinel.primary is empty";
  // Sentinels announce the name between spaces.
  const auto odd = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == '\x7f'; };
  if (std::ranges::any_of(sentinel.primary, odd)) {
    return "the primary's name must be without spaces and control characters, not " + base::quote(sentinel.primary);
  }
  if (std::string problem = check_all(sentinel.addresses, "sentinel.addresses: "); !problem.empty()) return problem;
  return check_distinct(sentinel.addresses);
}

std::string check(const ClusterConfig& cluster) {
  if (cluster.addresses.empty()) return "cluster.addresses is empty";
  if (std::string problem = check_all(cluster.addresses, "cluster.addresses: "); !problem.empty()) return problem;
  return check_distinct(cluster.addresses);
}

std::string check(const Servers& servers) {
  if (servers.addresses.empty()) return "servers.addresses is empty";
  if (std::string problem = check_all(servers.addresses, "servers.addresses: "); !problem.empty()) return problem;
  return check_distinct(servers.addresses);
}

std::string check(const UnixSocket& socket) { return socket.path.empty() ? "the path of the socket is empty" : ""; }
std::string check(const LocalServer&) { return {}; }
std::string check(const NodeAddress& address) { return check_address(address, {}); }

}  // namespace

std::string read_addresses(const Url& url, Config& config) {
  const Url::Server& first = url.servers.front();
  if (url.scheme == Url::Scheme::unix_socket) {
    if (!first.host.empty() || first.port) return "the socket's path must be absolute, as in unix:///run/redis.sock";
    if (url.path.size() < 2) return "the socket's path is missing, as in unix:///run/redis.sock";
    config.server = UnixSocket{url.path};
    return {};
  }
  if (url.shape == Url::Shape::sentinels) return read_sentinels(url, config);
  if (url.shape == Url::Shape::cluster) return read_cluster(url, config);
  if (url.scheme == Url::Scheme::local) {
    config.server = LocalServer{};
    return {};
  }
  NodeAddress one = address_of(first, NodeAddress{}.port);
  if (one.host.empty()) one.host = "127.0.0.1";
  if (url.servers.size() == 1) {
    config.server = std::move(one);
    return {};
  }
  Servers several{{std::move(one)}};
  for (std::size_t i = 1; i < url.servers.size(); ++i) {
    several.addresses.push_back(address_of(url.servers[i], NodeAddress{}.port));
  }
  config.server = std::move(several);
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
  auto& sentinel = std::get<SentinelConfig>(config.server);
  if (parameter.name == "sentinel_user") {
    sentinel.username = parameter.value;
    return {};
  }
  std::string problem = base::read_file(parameter.value, "password of the Sentinels", sentinel.password);
  std::error_code ignored;  // a pipe can be read only once
  if (problem.empty() && std::filesystem::is_regular_file(parameter.value, ignored)) {
    sentinel.password.clear();
    sentinel.password_file = parameter.value;
  }
  return problem;
}

std::string read_map(const Url::Parameter& parameter, Config& config) {
  if (config.map_address) return "addresses are mapped twice, by map and by map_file";
  std::string text = parameter.value;
  if (parameter.name == "map_file") {
    if (std::string problem = base::read_file(parameter.value, "map of addresses", text); !problem.empty())
      return problem;
    text = without_comments(text);
  }
  std::vector<Mapped> table;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (std::string problem = read_pair(std::string_view(text).substr(begin, end - begin), table); !problem.empty()) {
      return problem;
    }
    begin = end + 1;
  }
  config.map_address = [table = std::move(table)](const NodeAddress& announced) {
    const auto found = std::ranges::find(table, announced, &Mapped::first);
    return found == table.end() ? announced : found->second;
  };
  return {};
}

std::string check_addresses(const Config& config) {
  if (base::cluster_of(config) == nullptr && (config.publish == Publish::spublish || config.publish == Publish::both)) {
    return "publish may be auto or publish only: without a cluster everybody uses PUBLISH";
  }
  if (const std::string& name = config.tls.server_name; !name.empty()) {
    if (std::string problem = check_address({name, 1}, "server_name: "); !problem.empty()) return problem;
  }
  return std::visit([](const auto& location) { return check(location); }, config.server);
}

std::string in_words(const std::vector<NodeAddress>& addresses) {
  std::string out;
  for (const NodeAddress& each : addresses) {
    out.append(out.empty() ? "" : ",").append(base::host_and_port(each.host, each.port));
  }
  return out;
}

}  // namespace holdfast::redis
