// SPDX-License-Identifier: Apache-2.0
// Any command line of the tool, with any file of URLs and passwords: it is understood or refused as wrong, and no
// refusal repeats a login.
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include <holdfast/error.hpp>

#include "cli/console.hpp"
#include "cli/source.hpp"
#include "cli/verbs.hpp"
#include "fuzz/fuzz.hpp"

namespace holdfast::fuzz {
namespace {

constexpr std::string_view kSecret = "s3cr3tW0rd";

/// A file that has a name as long as it lives.
class File {
 public:
  explicit File(std::string_view text) : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
    require(fd_ >= 0 && write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "there are files");
  }
  ~File() { close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  const int fd_;
};

/// It stands behind a scheme of a server's and before an '@', and so for a login.
bool is_in_login(std::string_view text) {
  const std::size_t secret = text.find(kSecret);
  if (secret == text.npos) return true;
  if (text.find(kSecret, secret + 1) != text.npos) return false;
  const std::size_t begin = text.find_last_of(" \t\r\n\v\f", secret) + 1;
  const std::string_view word = text.substr(begin, text.find_first_of(" \t\r\n\v\f", secret) - begin);
  const std::size_t at = word.find(kSecret);
  return word.find("://") < at && cli::has_login(word) && word.find('@', at) != word.npos;
}

/// What the tool says and ends with.
template <class Work>
cli::Problem problem_of(Work&& work) {
  try {
    work();
  } catch (...) {
    return cli::Problem::from_current_exception();
  }
  return {.code = {}, .message = {}, .key = {}, .node = {}, .exit_code = cli::kExitOk};
}

void check(const cli::Problem& problem, bool secrets_in_logins) {
  if (problem.exit_code == cli::kExitOk) return;
  require(problem.exit_code == cli::kExitUsage, "a wrong command line is refused as one", problem.message);
  const std::string said = base::without_logins(problem.message);
  require(!secrets_in_logins || said.find(kSecret) == said.npos, "no refusal repeats a login", said);
}

}  // namespace
}  // namespace holdfast::fuzz

FUZZ_TARGET(arguments, bytes) {
  using namespace holdfast;
  using namespace holdfast::fuzz;
  Input input(bytes);
  const std::uint8_t how = input.byte();
  const std::string_view listed = input.text();
  const File urls(listed);
  const std::string password(input.text());
  bool in_logins = true;
  std::vector<std::string> args;
  while (!input.empty()) {
    args.emplace_back(input.text());
    args.back().resize(args.back().find('\0') == std::string::npos ? args.back().size() : args.back().find('\0'));
    if (args.back() == "@urls") args.back() = urls.path();
    in_logins = in_logins && is_in_login(args.back());
  }
  cli::glance(args);
  cli::Use use;
  const cli::Problem refused = problem_of([&] { use = cli::parse(args); });
  check(refused, in_logins);
  if (refused.exit_code != cli::kExitOk || !use.verb) return;
  cli::CommonOptions common = use.common;
  if (common.password_command) return;  // it would be run
  for (std::string* file :
       {common.url_file ? &*common.url_file : nullptr, common.password_file ? &*common.password_file : nullptr}) {
    if (file != nullptr && *file != urls.path()) return;  // it would open any file of this machine
  }
  setenv("HOLDFAST_ETC", "/nowhere", 1);
  setenv("HOLDFAST_PASSWORD", password.substr(0, password.find('\0')).c_str(), 1);
  (how & 1U) != 0 ? setenv("HOLDFAST_URL_FILE", urls.path().c_str(), 1) : unsetenv("HOLDFAST_URL_FILE");
  common.verbose = false;
  const cli::Console console(common);
  cli::shows_password(common);
  check(problem_of([&] { cli::make_configs(console); }), in_logins && is_in_login(listed));
}
