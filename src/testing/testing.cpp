#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <holdfast/testing.hpp>

#include "redis/local/local_url.hpp"
#include "testing/local_server.hpp"
#include "testing/server_start.hpp"

namespace holdfast {
namespace {

using private_server::Child;
using private_server::Files;

/// A folder of this user's alone, for as long as this lives.
class Folder {
 public:
  Folder() {
    const char* temporary = std::getenv("TMPDIR");
    path_ = std::string(temporary && *temporary == '/' ? temporary : "/tmp") + "/holdfast-test-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) {
      throw private_server::denied(files(),
                                   "cannot create the folder " + path_ + ": " + std::generic_category().message(errno));
    }
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Files files() const { return private_server::files_in(path_); }

 private:
  std::string path_;
};

Child start_in(const Folder& folder) {
  private_server::require_short_path(folder.files());
  return private_server::start(folder.files(), private_server::Stays::with_us);
}

/// What a URL takes for itself is escaped.
std::string url_of(const std::string& socket) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string url = "unix://";
  for (const char character : socket) {
    const auto byte = static_cast<unsigned char>(character);
    if (std::isalnum(byte) != 0 || std::string_view("/._-").find(character) != std::string_view::npos) {
      url += character;
    } else {
      url.append({'%', kDigits[byte / 16], kDigits[byte % 16]});
    }
  }
  return url;
}

}  // namespace

struct TestServer::Running {
  Folder folder;
  Child server{start_in(folder)};
  std::string url{url_of(folder.files().socket)};
  pid_t process = getpid();
};

TestServer::TestServer() : running_(std::make_unique<Running>()) {}
TestServer::TestServer(TestServer&&) noexcept = default;

TestServer& TestServer::operator=(TestServer&& other) noexcept {
  if (this != &other) {
    const TestServer old(std::move(*this));
    running_ = std::move(other.running_);
  }
  return *this;
}

TestServer::~TestServer() {
  if (running_ && running_->process != getpid()) running_.release();  // NOLINT(bugprone-unused-return-value)
}

const std::string& TestServer::url() const noexcept { return running_->url; }

void enable_local_urls() noexcept { detail::set_local_server(&private_server::ensure_local_server); }

}  // namespace holdfast
