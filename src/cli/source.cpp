// SPDX-License-Identifier: Apache-2.0
#include "cli/source.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <poll.h>
#include <set>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "cli/fd.hpp"

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

/// The file's text without the newline that editors put at the end. Empty: there is no such file. From any thread.
std::optional<std::string> read_file(const std::string& path, const char* what, struct stat& found) {
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
  if (fstat(file.get(), &found) != 0) throw failed();
  return text;
}

std::optional<std::string> read_file(const std::string& path, const char* what, const Console& console) {
  struct stat found{};
  std::optional<std::string> text = read_file(path, what, found);
  const bool is_secret = text && (std::string_view(what) == kPassword || has_login(*text));
  if (is_secret && everybody_reads(found)) warn_of_readers(path, kPassword, console);
  return text;
}

std::string must_be_there(std::optional<std::string> text, const std::string& path, const char* what) {
  if (text) return std::move(*text);
  throw UsageError(
      fmt::format("cannot read the {} from {}: {}", what, shown(path), std::generic_category().message(ENOENT)));
}

std::string from_file(const std::string& path, const char* what, const Console& console) {
  return must_be_there(read_file(path, what, console), path, what);
}

/// As it is now. From any thread.
std::string again_from_file(const std::string& path, const char* what) {
  struct stat ignored{};
  return must_be_there(read_file(path, what, ignored), path, what);
}

/// A pipe can be read only once.
bool is_regular(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

/// What a shell command prints, without the newlines at the end; the command and its output are never shown. Whoever
/// reaps the command, its own end of the output says whether it has succeeded. Killed with all that it has started
/// after `limit`. From any thread.
class PasswordCommand {
 public:
  PasswordCommand(std::string command, std::chrono::milliseconds limit) : command_(std::move(command)), limit_(limit) {}

  std::string run() const {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    const Fd read_end(ends[0]);
    pid_t pid = 0;
    {
      const Fd write_end(ends[1]);
      pid = start(write_end.get());
    }
    std::string text;
    const bool ended = read_all(read_end.get(), text);
    if (!ended) kill(-pid, SIGKILL);
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (!ended) {
      throw UsageError(
          fmt::format("--password-command: it has not ended within {} ms, or prints too much", limit_.count()));
    }
    if (!text.ends_with(kSucceeded)) throw UsageError("--password-command: the command failed");
    text.resize(text.size() - kSucceeded.size());
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    if (text.empty()) throw UsageError("--password-command: the command printed nothing");
    if (text.find('\0') != text.npos)
      throw UsageError("--password-command: there is a NUL in what the command printed");
    return text;
  }

 private:
  static constexpr std::string_view kSucceeded = "\nsucceeded";

  pid_t start(int output) const {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    sigset_t set;
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attributes, &set);
    sigfillset(&set);
    posix_spawnattr_setsigdefault(&attributes, &set);
    std::string words[] = {"sh", "-c", R"((eval "$1") && printf '\nsucceeded')", "sh", command_};
    char* const argv[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), words[4].data(), nullptr};
    pid_t pid = 0;
    const int error = posix_spawn(&pid, "/bin/sh", &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start /bin/sh");
    return pid;
  }

  /// False: it went on for too long.
  bool read_all(int from, std::string& text) const {
    const auto until = std::chrono::steady_clock::now() + limit_;
    while (text.size() <= kLargestFile) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
      pollfd ready{.fd = from, .events = POLLIN, .revents = 0};
      const int found = left <= 0 ? 0 : poll(&ready, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
      if (left <= 0) return false;
      if (found == 0 || (found < 0 && errno == EINTR)) continue;
      std::array<char, 4096> piece{};
      const ssize_t got = found < 0 ? -1 : read(from, piece.data(), piece.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return got == 0;
      text.append(piece.data(), static_cast<std::size_t>(got));
    }
    return false;
  }

  const std::string command_;
  const std::chrono::milliseconds limit_;
};

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

/// The first line that is neither empty nor a comment.
std::vector<std::string> urls_of_site(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin != line.npos && line[begin] != '#') return split(line);
  }
  throw UsageError(fmt::format("there is no URL in {}", shown(site_file())));
}

/// Where URLs were found; `again`, if they can be read again, does so from any thread.
struct Urls {
  std::vector<std::string> urls;
  std::function<std::vector<std::string>()> again{};
};

Urls urls_in_file(const std::string& path, const Console& console) {
  Urls found{split(from_file(path, "URL", console))};
  if (is_regular(path)) found.again = [path] { return split(again_from_file(path, "URL")); };
  return found;
}

std::optional<Urls> site_urls(const Console& console) {
  const std::optional<std::string> text = read_file(site_file(), "URL", console);
  if (!text) {
    refuse_dangling(site_file());
    return std::nullopt;
  }
  warn_of_writers(site_file(), console);
  Urls found{urls_of_site(*text)};
  if (is_regular(site_file())) {
    found.again = [path = site_file()] { return urls_of_site(again_from_file(path, "URL")); };
  }
  return found;
}

/// The servers given for this use of the tool; empty: none.
std::optional<Urls> told_urls(const Console& console) {
  const CommonOptions& options = console.options();
  if (!options.urls.empty()) return Urls{options.urls};
  if (options.url_file) return urls_in_file(*options.url_file, console);
  if (const auto urls = from_environment("HOLDFAST_URL")) return Urls{split(*urls)};
  if (const auto path = from_environment("HOLDFAST_URL_FILE")) return urls_in_file(*path, console);
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

Urls find_urls(const Console& console) {
  if (auto urls = told_urls(console)) return std::move(*urls);
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
  return {{kDefaultUrl}};
}

/// Refuses a second URL after a comma: commas separate the addresses of one server.
void refuse_list(const std::string& url) {
  for (std::size_t comma = url.find(','); comma != url.npos; comma = url.find(',', comma + 1)) {
    const std::size_t scheme_end = url.find_first_not_of("abcdefghijklmnopqrstuvwxyz+", comma + 1);
    if (scheme_end == url.npos || url.compare(scheme_end, 3, "://") != 0) continue;
    throw UsageError("there are commas between URLs: separate several servers by a space, or repeat --url");
  }
}

/// The first login uses what was read already; `again`, if there is one, gives what later ones use.
void set_login(Config& config, const Credentials& first, const std::function<Credentials()>& again) {
  config.username = first.username;
  config.password = first.password;
  if (!again) return;
  config.credentials = [first, again, is_first = std::make_shared<std::atomic<bool>>(true)] {
    return is_first->exchange(false) ? first : again();
  };
}

/// A password, and where it is found again.
struct Password {
  std::string text{};
  std::function<std::string()> again{};
};

void set_password(Config& config, const Password& password) {
  std::function<Credentials()> again;
  if (password.again) {
    again = [user = config.username, read = password.again] { return Credentials{user, read()}; };
  }
  set_login(config, {config.username, password.text}, again);
}

Password password_in_file(const std::string& path, const Console& console) {
  Password found{from_file(path, kPassword, console)};
  if (is_regular(path)) found.again = [path] { return again_from_file(path, kPassword); };
  return found;
}

/// For URLs without one. Having no password is not a mistake, so an empty variable means none.
Password environment_password(const Console& console) {
  if (const char* password = std::getenv("HOLDFAST_PASSWORD"); password != nullptr && *password != '\0')
    return {password};
  const auto path = from_environment("HOLDFAST_PASSWORD_FILE");
  return path ? password_in_file(*path, console) : Password{};
}

/// For all servers; none: each has that of its URL.
std::optional<Password> told_password(const std::vector<Config>& configs, const Console& console) {
  const CommonOptions& options = console.options();
  if (options.password_file && options.password_command) {
    throw UsageError("--password-file and --password-command exclude each other");
  }
  if (options.password_file) return password_in_file(*options.password_file, console);
  if (!options.password_command) return std::nullopt;
  const PasswordCommand command(*options.password_command, configs.front().timing.connect_timeout);
  return Password{command.run(), [command] { return command.run(); }};
}

void add_passwords(std::vector<Config>& configs, const Urls& urls, const Console& console) {
  if (const std::optional<Password> password = told_password(configs, console)) {
    for (Config& config : configs) set_password(config, *password);
    return;
  }
  std::optional<Password> shared;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    Config& config = configs[i];
    if (config.password.empty()) {
      if (!shared) shared = environment_password(console);
      set_password(config, *shared);
    } else if (urls.again) {
      set_login(config, {config.username, config.password}, [again = urls.again, i] {
        const std::vector<std::string> now = again();
        if (i >= now.size()) throw std::runtime_error("the URL is no longer in its file");
        const Config read = Config::from_url(now[i]);
        return Credentials{read.username, read.password};
      });
    }
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

std::vector<Config> make_configs(const Console& console) {
  std::vector<Config> configs;
  std::set<std::string> nodes;
  const Urls urls = find_urls(console);
  for (const std::string& url : urls.urls) {
    refuse_list(url);
    configs.push_back(Config::from_url(url));
    const std::string node = configs.back().node();
    if (!nodes.insert(node).second) throw UsageError(fmt::format("{} is given twice: a server has one vote", node));
  }
  add_passwords(configs, urls, console);
  warn_of_tls(configs, console);
  return configs;
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
