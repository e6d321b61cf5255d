// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <cerrno>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <holdfast/testing.hpp>

#include "redis/settings/local_url.hpp"
#include "testing/folder.hpp"
#include "testing/server_start.hpp"

namespace holdfast {
namespace {

using private_server::Child;
using private_server::Folder;

Child start_in(const Folder& folder) {
  private_server::require_short_path(folder.files());
  return private_server::start(folder.files(), private_server::Stays::with_us);
}

/// Escapes the characters that are special in a URL.
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

const std::string& TestServer::url() const noexcept {
  static const std::string none;
  return running_ ? running_->url : none;
}

void enable_local_urls() noexcept { detail::set_local_server(&private_server::ensure_local_server); }

}  // namespace holdfast
