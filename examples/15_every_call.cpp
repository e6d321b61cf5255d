// SPDX-License-Identifier: Apache-2.0
// The calls that no other example makes, once each: with 12_every_type.cpp, something to copy for every public name.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>
#include <holdfast/leader.hpp>
#include <holdfast/probe.hpp>
#include <holdfast/testing.hpp>

using namespace std::chrono_literals;

namespace {

/// Fails, unlike an assertion, in a release build too.
void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

std::chrono::steady_clock::time_point soon() { return std::chrono::steady_clock::now() + 1s; }

void options() {
  const holdfast::Lease lease = holdfast::fixed(5s);
  expect(lease.kind() == holdfast::Lease::Kind::fixed && lease.length() == 5s, "as it was made");
  const holdfast::Acks two = holdfast::Acks::replicas(2);
  expect(two.wanted() && two.level() == holdfast::Acks::Level::replicas && two.number() == 2, "so many of them");
  expect(holdfast::Acks::majority() != holdfast::Acks::all(), "most of them, or each that there is");
  expect(holdfast::Acks::aof().wanted(), "on the primary's disk");
}

/// As std::unique_lock and std::shared_lock call them.
void thread_face(const holdfast::Client& client) {
  const holdfast::FencedLock lock = client.fenced_lock("calls:thread");
  lock.lock();
  const holdfast::ThisThread ours = lock.with({.wait = 1s}).this_thread();  // of another handle of the same lock
  expect(ours.token() == lock.latest_token() && ours.valid_for() > 0ms, "the newest grant");
  expect(!ours.is_lost() && !ours.lost_token().stop_requested(), "and it stands");
  lock.unlock();
  expect(lock.try_lock() && lock.try_lock_for(1s) && lock.try_lock_until(soon()), "again by the same thread");
  expect(ours.release() == holdfast::UnlockOutcome::still_held, "one level of three");
  lock.unlock();
  lock.unlock();

  const holdfast::ReadWriteLock shared = client.read_write_lock("calls:shared");
  shared.lock_shared();
  expect(shared.try_lock_shared() && shared.try_lock_shared_for(1s) && shared.try_lock_shared_until(soon()), "readers");
  for (int i = 0; i < 4; ++i) shared.unlock_shared();
}

void hold(const holdfast::Client& client) {
  const holdfast::Lock lock = client.lock("calls:hold");
  holdfast::Hold hold = lock.acquire({.lease = holdfast::fixed(5s)});
  hold.extend(20s);
  hold.throw_if_lost();
  expect(hold.valid_for() > 10s && hold.durable_for() == 0ms, "longer; and without acks nothing is durable");
  expect(lock.is_held_by(hold.owner()) && lock.remaining() > 10s, "the server says so too");
  const auto asked = std::make_shared<std::atomic<bool>>(false);  // it may be called while the hold ends
  hold.on_asked([asked] { *asked = true; });
  while (lock.ask_release() == 0) std::this_thread::sleep_for(1ms);  // nobody waits until it listens
  while (!*asked) std::this_thread::sleep_for(1ms);
  expect(lock.force_release(hold.owner()), "taken from this owner, and from nobody who came later");
  expect(hold.release() == holdfast::ReleaseOutcome::was_lost, "which it finds out here");

  holdfast::Hold job = lock.acquire();
  expect(job.leave(10ms) == holdfast::ReleaseOutcome::left, "taken a little longer, and free by itself then");

  holdfast::MaybeHold maybe = lock.try_acquire({.wait = 5s});
  expect(maybe.has_value() && maybe.value().name() == "calls:hold", "it is free again");
  maybe.reset();

  const holdfast::ReadWriteLock shared = client.read_write_lock("calls:downgrade");
  holdfast::Hold writer = shared.writer().acquire();
  shared.downgrade(writer);
  const holdfast::MaybeHold reader = shared.reader().try_acquire();
  expect(reader.has_value(), "beside the one that wrote");
}

void counting(const holdfast::Client& client) {
  const holdfast::Semaphore semaphore = client.semaphore("calls:semaphore");
  expect(semaphore.init(1, 1min), "nobody has set it");
  expect(semaphore.add(2) == 3 && semaphore.available() == 3, "two more");
  expect(semaphore.try_acquire_for(1s, 2) && !semaphore.try_acquire_until(std::chrono::steady_clock::now(), 2),
         "of three");
  expect(semaphore.drain() == 1, "the last one");

  const holdfast::LeasedSemaphore gpus = client.leased_semaphore("calls:gpus");
  expect(gpus.set_total(4) == 4 && gpus.add(-1) == 3, "those that are held count too");

  const holdfast::Latch latch = client.latch("calls:latch");
  expect(latch.init(3), "it was open");
  expect(latch.count_down(2) == 1 && latch.count() == 1 && !latch.try_wait(), "one is missing");
  latch.arrive_and_wait();
  expect(latch.wait_for(1s) && latch.wait_until(soon()), "it is open");
  expect(latch.init(1) && latch.remove(), "it was closed");

  const holdfast::Fence fence{7};
  expect(fence.highest() == 7, "as a store has kept it");
}

void client_calls(const std::string& url) {
  holdfast::Client client{url};
  client.ping();
  const holdfast::Hold hold = client.lock("calls:client").acquire();
  expect(hold.owner().starts_with(client.id()) && !client.node().empty(), "who, and where");
  std::ostringstream text;
  client.metrics().write_prometheus(text);
  expect(text.str().find("holdfast_holds 1\n") != std::string::npos, "the older format");
  expect(holdfast::lock_class("order:4711") == "order:*", "a class of locks, for Config::lock_class");
  const std::vector<holdfast::ProbeReport> servers{holdfast::probe(client), holdfast::probe(client)};
  expect(servers[0].worst() < holdfast::Severity::danger, "fit for locks");
  expect(!holdfast::compare(servers).empty(), "but one and the same, and so none for a RedLock");
  expect(client.release_all(1min) == 0, "before a restart: docs/operations.md");
  expect(hold.loss_reason() == holdfast::LossReason::closed, "the holder is told");
}

void errors(const holdfast::Client& client) {
  try {
    client.lock("");
  } catch (const holdfast::Error& error) {
    const std::error_code code = make_error_code(holdfast::Errc::invalid_argument);
    expect(error.code() == code && code.category() == holdfast::error_category(), "a value of the standard's");
    expect(!error.may_pass(), "what is wrong with a call stays wrong");
    std::cout << error.node() << ": " << error.cause() << '\n';
    expect(error.key().empty(), "which lock it is about");
  }
}

void leader(const holdfast::Client& client) {
  holdfast::Leader leader{client.fenced_lock("calls:leader")};
  const holdfast::TermEnd end = leader.lead([&](const holdfast::Term& term) {
    expect(leader.leads() && term.token() == leader.lock().latest_token() && term.valid_for() > 0ms, "this term");
    leader.step_down();  // from any thread
    expect(term.stop_token().stop_requested(), "so the body should end");
  });
  expect(end == holdfast::TermEnd::stepped_down, "on request");
}

void tests() {
  holdfast::enable_local_urls();  // from now on a client of local: starts a server
  holdfast::TestKit kit;
  const holdfast::Client client{kit.config()};
  client.ping();
  kit.cut();
  const holdfast::Hold hold = client.lock("calls:cut").acquire();
  expect(kit.is_locked("calls:cut"), "connected again");
  kit.lose("calls:cut");
  expect(!kit.is_locked("calls:cut"), "as after a restart of the server");
}

}  // namespace

int main(int argc, char** argv) {
  const char* from_environment = std::getenv("HOLDFAST_URL");
  const std::string url = argc > 1 ? argv[1] : from_environment ? from_environment : "redis://127.0.0.1:6379";
  try {
    const holdfast::Client client{url};
    options();
    thread_face(client);
    hold(client);
    counting(client);
    client_calls(url);
    errors(client);
    leader(client);
    tests();
  } catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
  }
}
