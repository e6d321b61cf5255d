// SPDX-License-Identifier: Apache-2.0
// A holder that is frozen past its lease, between its look at the lock and its write: takes a fenced lock, sees that it
// is valid, stops itself, and writes when it is continued, whoever has the lock by then. Once for each line that it
// reads; it answers `wrote TOKEN` or `refused TOKEN`. `frozen_writer SOCKET NAME LEASE_MS STORE...`: a store is
//   plain FILE          takes anything
//   file FILE           a FencedFile
//   redis KEY SCRIPT    a script of the same server, as docs/fencing.md has it
//   sql SQL PSQL...     a statement, by this psql
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <holdfast/fence.hpp>
#include <holdfast/holdfast.hpp>

#include "support/process.hpp"
#include "support/raw.hpp"

namespace {

using namespace holdfast::test;
using Words = std::vector<std::string>;

class Store {
 public:
  Store(std::string socket, Words how) : how_(std::move(how)) {
    if (how_.at(0) == "redis") raw_ = std::make_unique<Raw>(Endpoint{.socket_path = std::move(socket)});
    if (how_.at(0) == "sql") {
      psql_ = std::make_unique<Process>(how_.at(2), Words(how_.begin() + 3, how_.end()));
    }
  }

  /// False: refused.
  bool write(std::int64_t token, const std::string& text) {
    const std::string& kind = how_.at(0);
    if (kind == "plain") {
      std::ofstream(how_.at(1)) << token << "\n" << text;
      return true;
    }
    if (kind == "file") return holdfast::FencedFile(how_.at(1)).replace(token, text);
    if (kind == "redis") {
      return raw_->command("EVAL", how_.at(2), "2", how_.at(1), how_.at(1) + ":fence", token, text).integer == 1;
    }
    psql_->write_line("\\set token " + std::to_string(token) + "\n" + how_.at(1));
    const std::string said = psql_->read_line().value_or("nothing");
    if (said != "INSERT 0 1" && said != "INSERT 0 0") throw std::runtime_error("psql: " + said + psql_->errors());
    return said == "INSERT 0 1";
  }

 private:
  const Words how_;
  std::unique_ptr<Raw> raw_;
  std::unique_ptr<Process> psql_;
};

void write_once(const holdfast::FencedLock& lock, Store& store) {
  for (;;) {
    holdfast::Hold hold = lock.acquire();
    const std::int64_t token = hold.token().value();
    if (hold.valid_for().count() == 0) continue;
    std::raise(SIGSTOP);
    const bool wrote = store.write(token, "by the frozen one");
    std::cout << (wrote ? "wrote " : "refused ") << token << std::endl;
    return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Words words(argv + 1, argv + argc);
    holdfast::Config config;
    config.server = holdfast::UnixSocket{words.at(0)};
    const holdfast::Client client(config);
    const std::chrono::milliseconds lease(std::stoi(words.at(2)));
    const holdfast::FencedLock lock = client.fenced_lock(words.at(1), {.lease = holdfast::fixed(lease)});
    Store store(words.at(0), Words(words.begin() + 3, words.end()));
    for (std::string line; std::getline(std::cin, line);) write_once(lock, store);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "frozen_writer: %s\n", error.what());
    return 1;
  }
}
