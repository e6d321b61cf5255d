#include "cli/connect.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* kDefaultUrl = "redis://127.0.0.1:6379";

/// Unset and empty are the same.
std::optional<std::string> from_environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

/// The file's text without the newline that editors put at the end.
std::string from_file(const std::string& path, const char* what) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) throw UsageError(fmt::format("cannot read the {} from {}", what, printable(path)));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

/// An empty text is one bad URL, not none.
std::vector<std::string> split(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> urls{std::istream_iterator<std::string>(stream), {}};
  return urls.empty() ? std::vector<std::string>{""} : urls;
}

std::vector<std::string> find_urls(const CommonOptions& options) {
  if (!options.urls.empty()) return options.urls;
  if (options.url_file) return split(from_file(*options.url_file, "URL"));
  if (const auto urls = from_environment("HOLDFAST_URL")) return split(*urls);
  if (const auto path = from_environment("HOLDFAST_URL_FILE")) return split(from_file(*path, "URL"));
  return {kDefaultUrl};
}

void add_password(Config& config, const CommonOptions& options) {
  if (options.password_file) {
    config.password = from_file(*options.password_file, "password");
  } else if (config.password.empty()) {
    if (const auto password = from_environment("HOLDFAST_PASSWORD")) {
      config.password = *password;
    } else if (const auto path = from_environment("HOLDFAST_PASSWORD_FILE")) {
      config.password = from_file(*path, "password");
    }
  }
}

}  // namespace

std::vector<Config> make_configs(const CommonOptions& options) {
  std::vector<Config> configs;
  std::set<std::string> nodes;
  for (const std::string& url : find_urls(options)) {
    configs.push_back(Config::from_url(url));
    add_password(configs.back(), options);
    const std::string node = configs.back().node();
    if (!nodes.insert(node).second) throw UsageError(fmt::format("{} is given twice: a server has one vote", node));
  }
  return configs;
}

Config make_config(const CommonOptions& options) {
  std::vector<Config> configs = make_configs(options);
  if (configs.size() > 1) {
    throw UsageError(
        fmt::format("{} servers are given, but only run uses several: choose one with --url", configs.size()));
  }
  return std::move(configs.front());
}

KeyLock key_lock(Client& client, const std::string& name, LockKind kind) {
  if (kind == LockKind::simple) return client.simple_lock(name);
  return client.lock(name);
}

bool shows_password(const CommonOptions& options) {
  return std::ranges::any_of(options.urls, [](const std::string& url) {
    try {
      return !Config::from_url(url).password.empty();
    } catch (const Error&) {
      return false;
    }
  });
}

}  // namespace holdfast::cli
