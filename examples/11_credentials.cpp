// SPDX-License-Identifier: Apache-2.0
// A password that changes: asked for at each login, and again before it ends.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;

namespace {

/// What an agent of a vault writes anew now and then.
std::string from_file(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  if (!std::getline(file, text)) throw std::runtime_error("no password in the file");  // it is asked again
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const char* url = argc > 1 ? argv[1] : std::getenv("HOLDFAST_URL");
  const char* path = std::getenv("SECRET_FILE");
  holdfast::Config config = holdfast::Config::from_url(url ? url : "redis://127.0.0.1:6379");
  if (path != nullptr) {
    // In a thread of its own, which may wait: no hold and no other call waits for it.
    config.credentials = [file = std::string(path)] {
      return holdfast::Credentials{.username = "app", .password = from_file(file), .valid_for = 15min};
    };
  }
  const holdfast::Client client{config};
  const holdfast::Hold hold = client.lock("example:credentials").acquire();
  std::cout << "held, whatever the password is by now\n";
}
