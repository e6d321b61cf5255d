// SPDX-License-Identifier: Apache-2.0
// Each public type once, in a few lines: the pages of the API show these functions, by the names before the colons.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <holdfast/fence.hpp>
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

// AcquireOptions, LockOptions, Lease, Acks: how to acquire. What a call leaves out is the lock's, then the client's.
void options(const holdfast::Client& client) {
  const holdfast::Acks nobody = holdfast::Acks::none();
  const holdfast::LockOptions usual{.lease = holdfast::renewed(10s), .acks = nobody, .reentrant = false};
  const holdfast::Lock lock = client.lock("types:options", usual);
  std::stop_source shutdown;
  const holdfast::AcquireOptions once{.wait = 2s, .lease = holdfast::fixed(5s), .stop = shutdown.get_token()};
  const holdfast::Hold hold = lock.acquire(once);
  expect(hold.valid_for() <= 5s, "a fixed lease ends");
}

// Lock, LockHandle, KeyLock, BasicLock: the usual kind, and what all kinds have in common, for functions that take any
// of them.
void any_kind(const holdfast::Client& client) {
  const holdfast::Lock usual = client.lock("types:any_kind");
  const holdfast::KeyLock& lock = usual;     // one name on one server
  const holdfast::BasicLock& basic = usual;  // several locks as one, too
  const holdfast::Hold hold = basic.acquire();
  expect(lock.is_locked(), "it is ours");
}

// AnyLock: one of several things that are as good as each other.
void any_of(const holdfast::Client& client) {
  const holdfast::AnyLock gpus = client.any_lock({"types:gpu:0", "types:gpu:1"});
  const holdfast::Hold first = gpus.acquire();
  const holdfast::Hold second = gpus.acquire();
  expect(first.name() != second.name(), "each has its own");
}

// FairLock, SpinLock, SimpleLock: the same in other ways: in the order of asking, without messages, and as SET NX PX.
void kinds(const holdfast::Client& client) {
  const holdfast::FairLock fair = client.fair_lock("types:fair");
  const holdfast::SpinLock spin = client.spin_lock("types:spin");
  const holdfast::SimpleLock simple = client.simple_lock("types:simple");
  const holdfast::Hold a = fair.acquire(), b = spin.acquire(), c = simple.acquire();
  expect(a && b && c, "three locks");
}

// FencedLock, Fence, FencedFile, FencedFile::Contents: a store that refuses the holder of an older grant.
void fencing(const holdfast::Client& client) {
  const holdfast::FencedLock lock = client.fenced_lock("types:fenced");
  const std::int64_t old_token = lock.acquire().token().value();
  const holdfast::Hold hold = lock.acquire();
  holdfast::Fence fence;
  expect(fence.admit(hold.token().value()), "the newest");
  expect(!fence.admit(old_token), "one that came before it");

  const std::filesystem::path path = std::filesystem::temp_directory_path() / ("holdfast-types-" + hold.owner());
  const holdfast::FencedFile file{path};
  expect(file.replace(hold.token().value(), "new"), "the newest writes");
  expect(!file.replace(old_token, "old"), "the old one does not");
  const holdfast::FencedFile::Contents contents = file.read().value();
  expect(contents.text == "new", "so this stands");
  std::filesystem::remove(path);
  std::filesystem::remove(path.string() + ".lock");
}

// Leader, Term, TermEnd, CampaignOptions: one of all candidates runs its body.
void leadership(const holdfast::Client& client) {
  holdfast::Leader leader{client.fenced_lock("types:leader")};
  const holdfast::TermEnd end = leader.lead([](const holdfast::Term& term) { expect(term.leads(), "we do"); });
  expect(end == holdfast::TermEnd::finished, "the body returned by itself");

  std::stop_source shutdown;
  const holdfast::CampaignOptions campaign{.stop = shutdown.get_token(), .rest = 10ms};
  leader.campaign([&](const holdfast::Term&) { shutdown.request_stop(); }, campaign);
}

// Hold, HoldState, LossReason, ReleaseOutcome: one grant, and what becomes of it.
void hold(const holdfast::Client& client) {
  holdfast::Hold hold = client.lock("types:hold").acquire();
  expect(hold.state() == holdfast::HoldState::held && !hold.is_lost(), "ours");
  client.lock("types:hold").force_release();
  for (int i = 0; i < 1000 && hold.valid_for() > 0ms; ++i) std::this_thread::sleep_for(10ms);  // it is told
  const holdfast::ReleaseOutcome outcome = hold.release();
  expect(outcome == holdfast::ReleaseOutcome::was_lost, "somebody broke it");
  expect(hold.loss_reason() == holdfast::LossReason::taken, "on the server");
}

// MaybeHold, NotGranted: a hold, or why there is none.
void maybe(const holdfast::Client& client) {
  const holdfast::Lock lock = client.lock("types:maybe");
  if (const holdfast::MaybeHold hold = lock.try_acquire()) {
    const holdfast::MaybeHold second = lock.try_acquire({.wait = 20ms});
    expect(!second && second.reason() == holdfast::NotGranted::timed_out, "it is taken");
  }
}

// ThisThread, UnlockOutcome: the hold that the calling thread has by a guard of the standard's.
void this_thread(const holdfast::Client& client) {
  const holdfast::Lock lock = client.lock("types:thread");
  lock.lock();
  const holdfast::ThisThread ours = lock.this_thread();
  expect(ours.is_holding() && ours.hold_count() == 1, "once");
  expect(ours.release() == holdfast::UnlockOutcome::released, "as unlock(), which does not say so");
}

// Ticket, AdoptOptions: a hold that goes on in another process.
void ticket(const holdfast::Client& client) {
  const holdfast::Lock lock = client.lock("types:ticket");
  const std::string text = lock.acquire().detach();
  const holdfast::Ticket ticket = holdfast::Ticket::parse(text);
  expect(ticket.name == lock.name(), "for people; the text is what travels");
  const holdfast::AdoptOptions longer{.lease = holdfast::renewed(1min)};
  holdfast::Hold again = lock.adopt(text, longer);
  expect(again.release() == holdfast::ReleaseOutcome::released, "taken up and given back");
}

// ReadWriteLock, ReadLock, WriteLock: many who read, or one who writes.
void read_write(const holdfast::Client& client) {
  const holdfast::ReadWriteLock lock = client.read_write_lock("types:read_write");
  const holdfast::ReadLock& reader = lock.reader();
  const holdfast::Hold one = reader.acquire(), two = lock.reader().acquire();
  const holdfast::WriteLock& side = lock.writer();
  const holdfast::MaybeHold writer = side.try_acquire();
  expect(!writer, "nobody writes beside them");
}

// Semaphore, LeasedSemaphore, Latch: permits that belong to nobody, permits with a lease, and a count of steps.
void counting(const holdfast::Client& client) {
  const holdfast::Semaphore semaphore = client.semaphore("types:semaphore");
  std::ignore = semaphore.init(2);  // unless another process was the first
  semaphore.acquire(2);
  expect(!semaphore.try_acquire(), "no permit is left");
  semaphore.release(2);

  const holdfast::LeasedSemaphore gpus = client.leased_semaphore("types:gpus");
  std::ignore = gpus.init(4);
  const holdfast::Hold three = gpus.with_permits(3).acquire();
  expect(gpus.available() == 1, "of four");

  const holdfast::Latch latch = client.latch("types:latch");
  std::ignore = latch.init(1);
  latch.count_down();
  latch.wait();
}

// MultiLock, RedLock: several locks as one: all of them, or most of them on servers that do not know each other.
void several(const holdfast::Client& client, const std::string& url) {
  const holdfast::MultiLock both = client.multi_lock({"types:from", "types:to"});
  const holdfast::Hold hold = both.acquire();
  const holdfast::Client other{url};  // in earnest another server
  const holdfast::MaybeHold taken = other.lock("types:to").try_acquire();
  expect(!taken, "it is one of both");
  try {
    const holdfast::RedLock quorum{{client.lock("types:quorum"), other.lock("types:quorum")}};
    const holdfast::MaybeHold refused = quorum.try_acquire();
  } catch (const holdfast::Error& error) {
    expect(error.code() == holdfast::Errc::invalid_argument, "they are one and the same server");
  }
}

// Error, Errc: what a call throws.
void errors(const holdfast::Client& client) {
  const holdfast::Lock lock = client.lock("types:error", {.max_waiters = 0});
  const holdfast::Hold hold = lock.acquire();
  try {
    const holdfast::Hold second = lock.acquire();
  } catch (const holdfast::Error& error) {
    expect(error.code() == holdfast::Errc::crowded, error.what());
  }
}

// LockInfo, InfoDetail, KeyForm, Holder, LockHolder, LockWaiter: who holds a lock, and who waits; and which locks there
// are.
void info(const holdfast::Client& client) {
  const holdfast::ReadWriteLock lock = client.read_write_lock("types:info");
  const holdfast::Hold hold = lock.reader().acquire();
  const holdfast::LockInfo info = lock.writer().info(holdfast::InfoDetail::holder);
  for (const holdfast::LockHolder& one : info.holders) {
    const holdfast::Holder who = one.holder.value_or(holdfast::Holder{});
    std::cout << one.owner << ", " << to_string(who) << '\n';
  }
  for (const holdfast::LockWaiter& waiter : info.queue) std::cout << waiter.owner << " waits\n";
  expect(info.holders.size() == 1, "one reader");
  const auto all = client.list("types:info*", holdfast::InfoDetail::owner, holdfast::KeyForm::read_write_locks);
  expect(all.size() == 1, "this one");
}

// Config, NodeAddress, AddressMap, Servers, UnixSocket, LocalServer, SentinelConfig, ClusterConfig, TlsConfig,
// TlsCredentials, Credentials, Timing, KindTiming, OnClose, Publish: where the servers are, and how the client behaves.
void configuration() {
  holdfast::Config tls = holdfast::Config::from_url("rediss://locks.internal:6380?acks=all");
  holdfast::TlsConfig& settings = tls.tls;
  settings.ca_file = "/etc/ssl/locks.pem";
  settings.verify = holdfast::TlsConfig::Verify::full;
  settings.provider = [] { return holdfast::TlsCredentials{.authorities = "-----BEGIN CERTIFICATE-----"}; };
  tls.credentials = [] { return holdfast::Credentials{.username = "app", .password = "new", .valid_for = 15min}; };
  tls.on_close = holdfast::OnClose::release;
  tls.validate();

  holdfast::Config sentinels;
  sentinels.server =
      holdfast::SentinelConfig{.addresses = {{"s1", 26379}, {"s2", 26379}, {"s3", 26379}}, .primary = "mymaster"};
  sentinels.timing.patience = 30s;
  sentinels.validate();

  holdfast::Config several;
  several.server = holdfast::Servers{{holdfast::NodeAddress{"db1"}, {"db2"}}};
  several.wait_for_server = true;
  several.validate();

  holdfast::Config here;
  here.server = holdfast::UnixSocket{"/run/redis/redis.sock"};  // or LocalServer{}, with holdfast::testing
  here.kinds.handoff = 0ms;
  here.validate();

  holdfast::Config cluster;
  cluster.server = holdfast::ClusterConfig{.addresses = {{"n1"}, {"n2"}, {"n3"}}};
  cluster.publish = holdfast::Publish::automatic;
  // Behind address translation: what the nodes announce is reached at another host.
  const holdfast::AddressMap outside = [](const holdfast::NodeAddress& announced) {
    return holdfast::NodeAddress{"locks.example", announced.port};
  };
  cluster.map_address = outside;
  cluster.validate();
}

// Observer, GrantedEvent, RenewedEvent, SuspectEvent, LostEvent, ReleasedEvent, UnknownEvent, MisuseEvent: what happens
// to holds, as events.
class Holds : public holdfast::Observer {
 public:
  void on_granted(const holdfast::GrantedEvent& event) override { std::cout << "granted " << event.name << '\n'; }
  void on_renewed(const holdfast::RenewedEvent& event) override { std::cout << event.holds << " renewed\n"; }
  void on_suspect(const holdfast::SuspectEvent& event) override { std::cout << "not renewed: " << event.cause << '\n'; }
  void on_lost(const holdfast::LostEvent& event) override { std::cout << "lost: " << to_string(event.reason) << '\n'; }
  void on_released(const holdfast::ReleasedEvent& event) override { std::cout << to_string(event.outcome) << '\n'; }
  void on_unknown(const holdfast::UnknownEvent& event) override { std::cout << "no answer: " << event.cause << '\n'; }
  void on_misuse(const holdfast::MisuseEvent& event) override { std::cout << "misuse: " << event.cause << '\n'; }
};

// ConnectionEvent, WaitingEvent, WaitEndedEvent, WaitOutcome, SafetyPollEvent: connections and waits, as events.
class Waits : public Holds {
 public:
  void on_connection(const holdfast::ConnectionEvent& event) override { std::cout << event.node << '\n'; }
  void on_waiting(const holdfast::WaitingEvent& event) override { std::cout << event.waiter << " waits\n"; }
  void on_wait_ended(const holdfast::WaitEndedEvent& event) override {
    const holdfast::WaitOutcome outcome = event.outcome;
    std::cout << event.waiter << ": " << to_string(outcome) << '\n';
  }
  void on_safety_poll(const holdfast::SafetyPollEvent& event) override { std::cout << event.name << " asked\n"; }
};

// Client, Counters: made with an observer, and asked what it has done.
void observed(const std::string& url) {
  holdfast::Config config = holdfast::Config::from_url(url);
  config.observer = std::make_shared<Waits>();
  holdfast::Client client{config};
  {
    const holdfast::Hold hold = client.lock("types:observed").acquire();
  }
  client.close();
  const holdfast::Counters counters = client.counters();
  expect(counters.granted == 1 && counters.released == 1, "one of each");
}

// Metrics, MetricFamily, Metric, MetricLabel: what a client has measured.
void metrics(const holdfast::Client& client) {
  const holdfast::Metrics metrics = client.metrics();
  const holdfast::MetricFamily* waits = metrics.find("holdfast_acquire_wait_seconds");
  expect(waits != nullptr, "counted from the start");
  for (const holdfast::Metric& metric : waits->metrics) {
    for (const holdfast::MetricLabel& label : metric.labels) std::cout << label.name << '=' << label.value << ' ';
  }
  std::ostringstream text;
  metrics.write_openmetrics(text);
}

// ProbeReport, ProbedNode, Finding, Severity: what about a server endangers locks.
void probing(const holdfast::Client& client) {
  const holdfast::ProbeReport report = holdfast::probe(client);
  for (const holdfast::ProbedNode& node : report.nodes) std::cout << node.address << ", " << node.version << '\n';
  for (const holdfast::Finding& finding : report.findings) {
    if (finding.severity >= holdfast::Severity::warning) std::cout << finding.text << ": " << finding.advice << '\n';
  }
  expect(report.reached(), "it answers");
}

// TestServer: a server of a test's own.
void test_server() {
  const holdfast::TestServer server;
  const holdfast::Client client{server.url()};
  expect(client.list().empty(), "nobody else knows it");
}

}  // namespace

int main(int argc, char** argv) {
  const char* from_environment = std::getenv("HOLDFAST_URL");
  const std::string url = argc > 1 ? argv[1] : from_environment ? from_environment : "redis://127.0.0.1:6379";
  try {
    const holdfast::Client client{url};
    options(client);
    any_kind(client);
    any_of(client);
    kinds(client);
    fencing(client);
    leadership(client);
    hold(client);
    maybe(client);
    this_thread(client);
    ticket(client);
    read_write(client);
    counting(client);
    several(client, url);
    errors(client);
    info(client);
    configuration();
    observed(url);
    metrics(client);
    probing(client);
    test_server();
  } catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
  }
}
