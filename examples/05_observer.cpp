// SPDX-License-Identifier: Apache-2.0
// What a client does, as events while it happens and as counters at the end.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <thread>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;

namespace {

long long in_ms(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

/// Called on the client's notifier thread, one event after another, so that it needs no lock of its own.
class Log : public holdfast::Observer {
 public:
  void on_connection(const holdfast::ConnectionEvent& event) override {
    std::cout << (event.connected ? "connected to " : "no connection to ") << event.node << '\n';
  }
  void on_granted(const holdfast::GrantedEvent& event) override {
    std::cout << "granted " << event.name << (event.contended ? " after a wait" : " at once") << '\n';
  }
  void on_released(const holdfast::ReleasedEvent& event) override {
    std::cout << "released " << event.name << ": " << to_string(event.outcome) << ", held " << in_ms(event.held)
              << " ms\n";
  }
  void on_suspect(const holdfast::SuspectEvent& event) override {
    std::cout << "cannot renew " << event.name << ": " << event.cause << '\n';
  }
  void on_lost(const holdfast::LostEvent& event) override {
    std::cout << "lost " << event.name << ": " << to_string(event.reason) << '\n';
  }
};

}  // namespace

int main(int argc, char** argv) {
  const char* url = argc > 1 ? argv[1] : std::getenv("HOLDFAST_URL");
  holdfast::Config config = holdfast::Config::from_url(url ? url : "redis://127.0.0.1:6379");
  config.observer = std::make_shared<Log>();
  holdfast::Client client{config};
  holdfast::Lock lock = client.lock("example:observed");

  holdfast::Hold first = lock.acquire({.lease = holdfast::renewed(600ms)});
  std::jthread second([&] { static_cast<void>(lock.acquire().release()); });
  std::this_thread::sleep_for(700ms);
  first.release();
  second.join();
  holdfast::Hold third = lock.acquire({.lease = holdfast::fixed(200ms)});
  while (third.valid_for() > 0ms) std::this_thread::sleep_for(10ms);
  third.release();
  client.close();  // every event has been told when it returns

  const holdfast::Counters counters = client.counters();
  std::cout << "granted " << counters.granted << ", of them after a wait " << counters.contended << ", lost "
            << counters.lost << ", renewed " << (counters.renewals > 0 ? "yes" : "no") << ", unknown "
            << counters.unknown << '\n';
}
