// Limits are kept whatever the server does: an acquire returns when `wait`, `command_timeout` or `patience` is over, be
// the server frozen, killed, never there, or a black hole; and a cut attempt is undone, without holding up a close.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "faults.hpp"
#include "support/port_lease.hpp"

namespace holdfast::test {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Lt;
using testing::Optional;
using testing::Property;

/// For a machine that is busy with other things. What used to be added was a multiple of the settings here.
constexpr milliseconds kSlack = 800ms;

testing::Matcher<steady_clock::duration> Takes(milliseconds time) { return AllOf(Ge(time), Lt(time + kSlack)); }
testing::Matcher<std::optional<Error>> Says(Errc errc) { return Optional(Property("code", &Error::code, code(errc))); }

class Limits : public Faults {
 protected:
  Limits() : Faults({.listen = ServerOptions::Listen::tcp}) {
    settings = config();
    settings.command_timeout = 1500ms;
    settings.release_timeout = 3000ms;
    settings.patience = 2000ms;
    settings.lease = 30s;
    settings.safety_poll = 100ms;
  }
  Config settings;
};

TEST_F(Limits, OfAFrozenServer) {
  Client client(settings);
  client.ping();
  server.freeze();
  Lock lock = client.lock("orders");
  for (const milliseconds wait : {100ms, 600ms, 1800ms}) {
    const Timed acquire = timed_error_of([&] { return lock.acquire({.wait = wait}); });
    EXPECT_THAT(acquire.error, Says(Errc::unknown_outcome));
    EXPECT_THAT(acquire.took, Takes(wait));
  }
  const Timed once = timed_error_of([&] { return lock.try_acquire(); });
  EXPECT_THAT(once.error, Says(Errc::unknown_outcome));
  EXPECT_THAT(once.took, Takes(settings.command_timeout));
  const Timed patient = timed_error_of([&] { return lock.acquire(); });
  EXPECT_THAT(patient.error, Says(Errc::unknown_outcome));
  EXPECT_THAT(patient.took, Takes(settings.patience));
  server.thaw();
  EXPECT_TRUE(eventually([&] { return client.counters().unknown > 0 && !raw.exists("orders"); }, 10s));
  EXPECT_TRUE(stays_absent(raw, "orders", 200ms));
}

TEST_F(Limits, AnUndoDoesNotHoldUpAClose) {
  settings.release_timeout = 20s;
  std::optional<Client> client(settings);
  client->ping();
  server.freeze();
  EXPECT_THAT(error_of([&] { return client->lock("orders").acquire({.wait = 200ms}); }), Says(Errc::unknown_outcome));
  EXPECT_LT(duration_of([&] { client.reset(); }), 5s);
  server.thaw();
  // The release stands behind the acquire, in the same stream of bytes.
  EXPECT_TRUE(eventually([&] { return raw.command("INFO", "commandstats").text.find("hdel") != std::string::npos; }));
  EXPECT_FALSE(raw.exists("orders"));
}

TEST_F(Limits, OfAServerThatFreezesWhileSomebodyElseHasIt) {
  raw.command("HSET", "orders", "somebody", 1);
  Client client(settings);
  Lock lock = client.lock("orders");
  steady_clock::duration took{};
  auto waiting = in_thread([&] {
    std::optional<Hold> hold;
    took = duration_of([&] { hold = lock.try_acquire({.wait = 2000ms}); });
    return hold.has_value();
  });
  auto patient = in_thread([&] { return error_of([&] { return client.lock("orders").acquire(); }); });
  ASSERT_TRUE(listeners(raw, "orders"));
  const auto frozen = steady_clock::now();
  server.freeze();
  EXPECT_FALSE(waiting.get()) << "timed out, since somebody else was seen to have it";
  EXPECT_THAT(took, Takes(2000ms));
  EXPECT_THAT(patient.get(), Says(Errc::unknown_outcome));
  EXPECT_LT(steady_clock::now() - frozen, 2000ms + settings.patience + kSlack);
}

TEST_F(Limits, OfAServerThatWasKilled) {
  Client client(settings);
  client.ping();
  server.kill();
  ASSERT_TRUE(log->wait_for("down"));
  Lock lock = client.lock("orders");
  const Timed limited = timed_error_of([&] { return lock.acquire({.wait = 600ms}); });
  EXPECT_THAT(limited.error, Says(Errc::unreachable));
  EXPECT_THAT(limited.took, Takes(600ms));
  const Timed once = timed_error_of([&] { return lock.try_acquire(); });
  EXPECT_THAT(once.error, Says(Errc::unreachable));
  EXPECT_THAT(once.took, Takes(settings.command_timeout));
  const Timed patient = timed_error_of([&] { return lock.acquire(); });
  EXPECT_THAT(patient.error, Says(Errc::unreachable));
  EXPECT_THAT(patient.took, Takes(settings.patience));
}

/// A port that takes connections and never says a word.
class Mute {
 public:
  Mute() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(lease_.port());
    const int on = 1;
    ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || ::listen(fd_, 16) != 0) {
      throw std::runtime_error("no port for the mute server");
    }
  }
  ~Mute() { ::close(fd_); }
  Mute(const Mute&) = delete;
  Mute& operator=(const Mute&) = delete;
  std::uint16_t port() const { return lease_.port(); }

 private:
  PortLease lease_;
  const int fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
};

TEST_F(Limits, OfAServerThatIsNotConnectedYet) {
  const Mute mute;
  settings.host = "127.0.0.1";
  settings.port = mute.port();
  for (const bool tls : {false, true}) {
    settings.tls.enabled = tls;
    settings.tls.verify = TlsConfig::Verify::none;
    Client client(settings);
    Lock lock = client.lock("orders");
    const Timed limited = timed_error_of([&] { return lock.acquire({.wait = 600ms}); });
    EXPECT_THAT(limited.error, Says(Errc::unreachable));
    EXPECT_THAT(limited.took, Takes(600ms));
    const Timed once = timed_error_of([&] { return lock.try_acquire(); });
    EXPECT_THAT(once.error, Says(Errc::unreachable));
    EXPECT_THAT(once.took, Takes(settings.command_timeout));
  }
}

}  // namespace
}  // namespace holdfast::test
