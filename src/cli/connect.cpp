#include "cli/connect.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

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

std::string find_url(const CommonOptions& options) {
  if (options.url) return *options.url;
  if (options.url_file) return from_file(*options.url_file, "URL");
  if (const auto url = from_environment("HOLDFAST_URL")) return *url;
  if (const auto path = from_environment("HOLDFAST_URL_FILE")) return from_file(*path, "URL");
  return kDefaultUrl;
}

}  // namespace

Config make_config(const CommonOptions& options) {
  Config config = Config::from_url(find_url(options));
  if (options.password_file) {
    config.password = from_file(*options.password_file, "password");
  } else if (config.password.empty()) {
    if (const auto password = from_environment("HOLDFAST_PASSWORD")) {
      config.password = *password;
    } else if (const auto path = from_environment("HOLDFAST_PASSWORD_FILE")) {
      config.password = from_file(*path, "password");
    }
  }
  return config;
}

bool shows_password(const CommonOptions& options) {
  try {
    return options.url && !Config::from_url(*options.url).password.empty();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace holdfast::cli
