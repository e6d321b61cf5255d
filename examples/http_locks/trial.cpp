// SPDX-License-Identifier: Apache-2.0
#include "http_locks/trial.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <signal.h>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include <holdfast/holdfast.hpp>

#include "support/process.hpp"

namespace http_locks {
namespace {

using namespace std::chrono_literals;

constexpr int kRequests = 400;
constexpr int kClients = 16;
constexpr auto kLongest = 60s;  // for anything to happen; only a failure takes so long

struct Answer {
  int status = 0;
  int retry_after = 0;
  std::string body;
};

/// One connection of an HTTP client that knows no more than what this trial needs.
class Connection {
 public:
  explicit Connection(const std::string& port) {
    stream_.expires_after(kLongest);
    stream_.connect("127.0.0.1", port);
  }

  /// `fields` are further header fields, each with its end of line.
  void send(std::string_view method, const std::string& target, const std::string& fields = "",
            const std::string& body = "") {
    stream_.expires_after(kLongest);
    stream_ << method << ' ' << target << " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: " << body.size() << "\r\n"
            << fields << "\r\n"
            << body << std::flush;
  }

  Answer receive() {
    Answer answer;
    std::string word;
    std::string line;
    std::size_t length = 0;
    stream_ >> word >> answer.status;
    std::getline(stream_, line);
    while (std::getline(stream_, line) && line != "\r") {
      std::istringstream field(line);
      field >> word;
      if (word == "Content-Length:") field >> length;
      if (word == "Retry-After:") field >> answer.retry_after;
    }
    answer.body.resize(length);
    stream_.read(answer.body.data(), static_cast<std::streamsize>(length));
    if (!stream_) throw std::runtime_error("no answer: " + stream_.error().message());
    return answer;
  }

  Answer ask(std::string_view method, const std::string& target, const std::string& fields = "",
             const std::string& body = "") {
    send(method, target, fields, body);
    return receive();
  }

 private:
  boost::asio::ip::tcp::iostream stream_;
};

class Instance {
 public:
  Instance(const std::string& url, const std::filesystem::path& folder)
      : process_(support::start_worker({url, "0", folder})) {
    const std::string line = process_.read_line();
    port_ = line.substr(line.rfind(':') + 1);
  }

  Connection connect() const { return Connection(port_); }
  /// Waits until the service's status has this line.
  void await(const std::string& line) const {
    Connection connection(port_);
    const auto end = std::chrono::steady_clock::now() + kLongest;
    while (("\n" + connection.ask("GET", "/status").body).find("\n" + line + "\n") == std::string::npos) {
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error("the status never was: " + line);
      std::this_thread::sleep_for(5ms);
    }
  }
  void terminate() { process_.send(SIGTERM); }
  bool ended_well() { return process_.wait(); }

 private:
  support::Process process_;
  std::string port_;
};

struct Trial {
  holdfast::Client client;
  Instance one;
  Instance two;
  bool all_held = true;

  void claim(const std::string& text, bool held, const std::string& seen) {
    std::cout << (held ? "held    " : "FAILED  ") << text << ": " << seen << std::endl;
    all_held = all_held && held;
  }
};

std::string words(const Answer& answer) {
  return std::to_string(answer.status) + ", " + answer.body.substr(0, answer.body.find('\n'));
}

/// Adds to a counter as often as told, and again when told to come again. Returns how often that was.
int add(const Instance& instance, int times) {
  Connection connection = instance.connect();
  int again = 0;
  for (int done = 0; done < times;) {
    const Answer answer = connection.ask("POST", "/counters/orders?work=1");
    if (answer.status == 200) {
      ++done;
    } else if (answer.status == 503 && answer.retry_after > 0) {
      ++again;
      std::this_thread::sleep_for(std::chrono::seconds(answer.retry_after));
    } else {
      throw std::runtime_error("POST was answered with " + words(answer));
    }
  }
  return again;
}

void nothing_is_lost(Trial& trial) {
  std::vector<std::future<int>> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(
        std::async(std::launch::async, add, std::cref(i % 2 == 0 ? trial.one : trial.two), kRequests / kClients));
  }
  int again = 0;
  for (std::future<int>& client : clients) again += client.get();
  const Answer one = trial.one.connect().ask("GET", "/counters/orders");
  const Answer two = trial.two.connect().ask("GET", "/counters/orders");
  const std::string expected = std::to_string(kRequests) + "\n";
  trial.claim("two instances add to one counter, and nothing is lost", one.body == expected && two.body == expected,
              words(one) + " of " + std::to_string(kRequests) + "; asked to come again: " + std::to_string(again));
}

void waiting_has_a_limit(Trial& trial) {
  holdfast::Hold hold = trial.client.lock("counter:busy").acquire();
  const Answer answer = trial.one.connect().ask("POST", "/counters/busy");
  trial.claim("a client that waits too long is asked to come again", answer.status == 503 && answer.retry_after > 0,
              words(answer));
}

void nobody_waits_for_a_client_that_left(Trial& trial) {
  holdfast::Hold hold = trial.client.lock("counter:left").acquire();
  {
    Connection connection = trial.one.connect();
    connection.send("POST", "/counters/left");
    trial.one.await("waiting 1");
  }
  trial.one.await("left 1");
  trial.one.await("waiting 0");
  hold.release();
  const Answer answer = trial.one.connect().ask("POST", "/counters/left");
  trial.claim("a client that leaves gives up its place in line", answer.body == "1\n", words(answer));
}

void loss_stops_the_work(Trial& trial) {
  Connection connection = trial.one.connect();
  connection.send("POST", "/counters/broken?work=60000");
  trial.one.await("working 1");
  const bool broken = trial.client.lock("counter:broken").force_release();
  const Answer answer = connection.receive();
  const Answer value = trial.one.connect().ask("GET", "/counters/broken");
  trial.claim("a request whose lock is broken is stopped before it writes",
              broken && answer.status == 503 && value.status == 404, words(answer));
}

/// Two holders, of whom the first one does not know yet that it has lost the lock.
void old_holders_are_refused(Trial& trial) {
  const holdfast::FencedLock lock = trial.client.fenced_lock("document:plan");
  const auto put = [](const Instance& instance, const holdfast::Hold& hold, const std::string& body) {
    const std::string field = "X-Fencing-Token: " + std::to_string(hold.token().value()) + "\r\n";
    return instance.connect().ask("PUT", "/documents/plan", field, body).status;
  };
  const holdfast::Hold first = lock.acquire();
  const int written = put(trial.one, first, "first");
  lock.force_release();
  const holdfast::Hold second = lock.acquire();
  const int next = put(trial.two, second, "second");
  const int late = put(trial.one, first, "late");
  const int without = trial.one.connect().ask("PUT", "/documents/plan", "", "anybody's").status;
  const Answer read = trial.two.connect().ask("GET", "/documents/plan");
  trial.claim("a write of an old holder is refused, and so is one without a token",
              written == 204 && next == 204 && late == 409 && without == 428 && read.body == "second\n",
              std::to_string(late) + " and " + std::to_string(without) + "; it says " + words(read));
}

void requests_under_way_are_finished(Trial& trial) {
  Connection idle = trial.one.connect();
  idle.ask("GET", "/status");
  Connection connection = trial.one.connect();
  connection.send("POST", "/counters/last?work=500");
  trial.one.await("working 1");
  trial.one.terminate();
  trial.two.terminate();
  const Answer answer = connection.receive();
  const bool ended_well = trial.one.ended_well() && trial.two.ended_well();
  trial.claim("told to stop, an instance finishes what is under way and ends",
              answer.status == 200 && answer.body == "1\n" && ended_well,
              words(answer) + (ended_well ? "; both ended with status 0" : "; not both ended with status 0"));
}

}  // namespace

bool try_out(const std::string& url) {
  support::end_waits_on_interrupt();
  const support::TempFolder folder;
  Trial trial{holdfast::Client(url), Instance(url, folder.path()), Instance(url, folder.path())};
  nothing_is_lost(trial);
  waiting_has_a_limit(trial);
  nobody_waits_for_a_client_that_left(trial);
  loss_stops_the_work(trial);
  old_holders_are_refused(trial);
  requests_under_way_are_finished(trial);
  return trial.all_held;
}

}  // namespace http_locks
