#include "cli/connect.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <optional>
#include <ranges>
#include <set>
#include <sstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "cli/fd.hpp"
#include "cli/secrets.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* kDefaultUrl = "redis://127.0.0.1:6379";
constexpr std::uint16_t kDefaultPort = 6379;
constexpr const char* kPassword = "password";
constexpr std::size_t kLargestFile = std::size_t{64} * 1024;

/// Empty: unset. A variable with an empty value is a mistake, and no reason to use another server.
std::optional<std::string> from_environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  if (*value == '\0') throw UsageError(fmt::format("{} is set, but empty", name));
  return value;
}

bool everybody_reads(const struct stat& file) { return S_ISREG(file.st_mode) && (file.st_mode & S_IROTH) != 0; }

void warn_of_readers(const std::string& path, const char* what, const Console& console) {
  console.note(fmt::format("every user of this machine may read the {} in {}; chmod o-r it", what, shown(path)));
}

/// The file's text without the newline that editors put at the end. Empty: there is no such file.
std::optional<std::string> read_file(const std::string& path, const char* what, const Console& console) {
  const auto refused = [&](const std::string& why) {
    return UsageError(fmt::format("cannot read the {} from {}: {}", what, shown(path), why));
  };
  const auto failed = [&] { return refused(std::generic_category().message(errno)); };
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (file.get() < 0 && errno == ENOENT) return std::nullopt;
  if (file.get() < 0) throw failed();
  std::string text(kLargestFile + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw failed();
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > kLargestFile) throw refused(fmt::format("it is larger than {} KiB", kLargestFile / 1024));
  text.resize(size);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  if (text.empty()) throw refused("it is empty");
  if (text.find('\0') != text.npos) throw refused("there is a NUL in it");
  struct stat found{};
  const bool is_secret = std::string_view(what) == kPassword || has_login(text);
  if (is_secret && fstat(file.get(), &found) == 0 && everybody_reads(found)) warn_of_readers(path, kPassword, console);
  return text;
}

std::string from_file(const std::string& path, const char* what, const Console& console) {
  if (std::optional<std::string> text = read_file(path, what, console)) return std::move(*text);
  throw UsageError(
      fmt::format("cannot read the {} from {}: {}", what, shown(path), std::generic_category().message(ENOENT)));
}

/// Never none: a text of white space alone is one bad URL.
std::vector<std::string> split(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> urls{std::istream_iterator<std::string>(stream), {}};
  return urls.empty() ? std::vector<std::string>{""} : urls;
}

/// The file in which the machine's administrator names the server.
std::string site_file() {
  const char* folder = std::getenv("HOLDFAST_ETC");
  return std::string(folder == nullptr ? "/etc/holdfast" : folder) + "/url";
}

/// A dangling link is a mistake by somebody who meant a server.
void refuse_dangling(const std::string& path) {
  const auto dangles = [](const std::filesystem::path& link) {
    std::error_code ignored;
    return std::filesystem::is_symlink(link, ignored) && !std::filesystem::exists(link, ignored);
  };
  const std::filesystem::path file(path);
  if (!dangles(file) && !dangles(file.parent_path())) return;
  throw UsageError(fmt::format("cannot read the URL from {}: the link leads to nothing", shown(path)));
}

/// Whoever may change the file decides which server gets the password.
void warn_of_writers(const std::string& path, const Console& console) {
  struct stat file{};
  if (stat(path.c_str(), &file) != 0) return;
  const bool is_trusted = file.st_uid == 0 || file.st_uid == geteuid();
  if (is_trusted && (file.st_mode & S_IWOTH) == 0) return;
  console.note(fmt::format("another user than root and you may change {}, which names the server", shown(path)));
}

/// Its URLs: the first line that is neither empty nor a comment.
std::optional<std::vector<std::string>> site_urls(const Console& console) {
  const std::optional<std::string> text = read_file(site_file(), "URL", console);
  if (!text) {
    refuse_dangling(site_file());
    return std::nullopt;
  }
  warn_of_writers(site_file(), console);
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin != line.npos && line[begin] != '#') return split(line);
  }
  throw UsageError(fmt::format("there is no URL in {}", shown(site_file())));
}

/// The servers given for this use of the tool; empty: none.
std::optional<std::vector<std::string>> told_urls(const CommonOptions& options, const Console& console) {
  if (!options.urls.empty()) return options.urls;
  if (options.url_file) return split(from_file(*options.url_file, "URL", console));
  if (const auto urls = from_environment("HOLDFAST_URL")) return split(*urls);
  if (const auto path = from_environment("HOLDFAST_URL_FILE")) return split(from_file(*path, "URL", console));
  return std::nullopt;
}

/// Whether anything listens where the default URL leads. Of this machine, so there is an answer at once.
bool default_listens() {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval limit{.tv_sec = 0, .tv_usec = 200'000};
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kDefaultPort);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int result = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return result == 0 || errno != ECONNREFUSED;
}

std::vector<std::string> find_urls(const CommonOptions& options, const Console& console) {
  if (auto urls = told_urls(options, console)) return std::move(*urls);
  if (auto urls = site_urls(console)) {
    console.detail(fmt::format("the server is the one in {}", shown(site_file())));
    return std::move(*urls);
  }
  const std::string assumed = fmt::format("no server was given: {} is assumed", kDefaultUrl);
  if (default_listens()) {
    console.detail(assumed);
  } else {
    console.note(assumed + ", and nothing listens there; --url, HOLDFAST_URL or /etc/holdfast/url names another");
  }
  return {kDefaultUrl};
}

/// Refuses a second URL after a comma: commas separate the addresses of one server.
void refuse_list(const std::string& url) {
  for (std::size_t comma = url.find(','); comma != url.npos; comma = url.find(',', comma + 1)) {
    const std::size_t scheme_end = url.find_first_not_of("abcdefghijklmnopqrstuvwxyz+", comma + 1);
    if (scheme_end == url.npos || url.compare(scheme_end, 3, "://") != 0) continue;
    throw UsageError("there are commas between URLs: separate several servers by a space, or repeat --url");
  }
}

/// For URLs without one. Having no password is not a mistake, so an empty variable means none.
std::string environment_password(const Console& console) {
  if (const char* password = std::getenv("HOLDFAST_PASSWORD"); password != nullptr && *password != '\0')
    return password;
  const auto path = from_environment("HOLDFAST_PASSWORD_FILE");
  return path ? from_file(*path, kPassword, console) : "";
}

/// Files are read once: they may be pipes.
void add_passwords(std::vector<Config>& configs, const CommonOptions& options, const Console& console) {
  const auto lacks_one = [](const Config& config) { return config.password.empty(); };
  if (options.password_file) {
    const std::string password = from_file(*options.password_file, kPassword, console);
    for (Config& config : configs) config.password = password;
  } else if (std::ranges::any_of(configs, lacks_one)) {
    const std::string password = environment_password(console);
    for (Config& config : configs | std::views::filter(lacks_one)) config.password = password;
  }
}

/// Of what makes TLS worth little.
void warn_of_tls(const std::vector<Config>& configs, const Console& console) {
  const auto trusts_any = [](const Config& config) {
    return config.tls.enabled && config.tls.verify == TlsConfig::Verify::none;
  };
  if (std::ranges::any_of(configs, trusts_any)) {
    console.note("verify=none: any server is trusted, so whoever stands between gets the password and the locks");
  }
  std::set<std::string> keys;
  for (const Config& config : configs) keys.insert(config.tls.key_file);
  for (const std::string& key : keys) {
    struct stat file{};
    if (stat(key.c_str(), &file) == 0 && everybody_reads(file)) warn_of_readers(key, "private key", console);
  }
}

}  // namespace

std::vector<Config> make_configs(const CommonOptions& options, const Console& console) {
  std::vector<Config> configs;
  std::set<std::string> nodes;
  for (const std::string& url : find_urls(options, console)) {
    refuse_list(url);
    configs.push_back(Config::from_url(url));
    const std::string node = configs.back().node();
    if (!nodes.insert(node).second) throw UsageError(fmt::format("{} is given twice: a server has one vote", node));
  }
  add_passwords(configs, options, console);
  warn_of_tls(configs, console);
  return configs;
}

KeyLock key_lock(const Client& client, const std::string& name, LockKind kind) {
  if (kind == LockKind::fenced) return client.fenced_lock(name);
  if (kind == LockKind::fair) return client.fair_lock(name);
  if (kind == LockKind::simple) return client.simple_lock(name);
  if (kind == LockKind::spin) return client.spin_lock(name);
  if (kind == LockKind::permit) return client.leased_semaphore(name);
  if (kind == LockKind::read) return client.read_write_lock(name).reader();
  if (kind == LockKind::write) {
    const ReadWriteLock lock = client.read_write_lock(name);
    const KeyLock& writer = lock;
    return writer;
  }
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
