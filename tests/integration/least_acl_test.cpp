// SPDX-License-Identifier: Apache-2.0
// The least permissions that suffice, as docs/least-acl.acl gives them: with them everything works, and without any one
// of them something does not.
#include "support/least_acl.hpp"

#include <fstream>
#include <iterator>
#include <set>

#include "access.hpp"
#include "base/text.hpp"
#include "support/held_lock.hpp"
#include "support/listen.hpp"
#include "support/paths.hpp"
#include "support/tried.hpp"

namespace holdfast::test::least_acl_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> least_rights() { return test::least_rights(kSecret); }

class LeastAcl : public Access {
 protected:
  /// Does everything that a client can do and returns what did not work, in words.
  std::set<std::string> broken() {
    broken_.clear();
    raw.flushall();
    raw.command("SCRIPT", "FLUSH");
    Proxy proxy(server);
    Config settings = as_app();
    std::get<NodeAddress>(settings.server).port = proxy.port();
    settings.lease = 600ms;
    settings.timing.command_timeout = 1000ms;
    settings.timing.patience = 1000ms;
    settings.timing.release_timeout = 300ms;
    settings.timing.subscription_linger = 20ms;
    Client client(settings);
    check("ping", [&] {
      client.ping();
      return true;
    });
    take_and_give_back(client);
    wait_and_wake(client);
    look_and_break(client);
    reconnect(client, proxy);
    // Takes longer than the rest together, so only if nothing is known yet.
    if (!broken_.empty()) return broken_;
    check("idle connection", [&] {
      const std::uint64_t connections = client.counters().connections;
      return !eventually([&] { return client.counters().connections > connections; }, 1300ms);
    });
    return broken_;
  }

 private:
  template <class Step>
  void check(const std::string& what, Step step) {
    bool worked = false;
    const std::optional<Error> error = error_of([&] { worked = step(); });
    if (!worked) broken_.insert(what + (error ? ": " + error->cause() : ""));
  }

  void take_and_give_back(Client& client) {
    Lock lock = client.lock("lock:orders");
    std::optional<Hold> hold;
    check("acquire", [&] {
      hold = lock.acquire();
      return hold->valid_for() > 0ms;
    });
    check("renew", [&] {
      return eventually([&] { return client.counters().renewals > 0; }, 500ms) && hold->state() == HoldState::held;
    });
    check("release", [&] { return hold && hold->release() == ReleaseOutcome::released; });
    raw.flushall();
  }

  void wait_and_wake(Client& client) {
    const std::string channel = channel_of("lock:busy");
    Client holder(config());
    Hold held = holder.lock("lock:busy").acquire({.lease = renewed(1min)});
    auto waiter = in_thread([&] {
      std::error_code error;
      const MaybeHold got = tried(client.lock("lock:busy"), {.wait = 1500ms}, error);
      return got.has_value();
    });
    const auto subscribed = [&](long long count) {
      return eventually([&] { return raw.command("PUBSUB", "NUMSUB", channel).elements.at(1).integer == count; },
                        500ms);
    };
    check("wait", [&] { return subscribed(1); });
    held.release();
    check("wake", [&] { return waiter.get(); });
    check("leave an idle channel", [&] {
      if (!subscribed(0)) return false;
      client.ping();
      return client.counters().connections == 1;
    });
    // The other way round: others are woken by a release of ours.
    Subscriber listener(server, {channel});
    check("tell a release", [&] {
      std::error_code error;
      static_cast<void>(tried(client.lock("lock:busy"), {}, error));
      return listener.wait_for(1, 300ms);
    });
  }

  void look_and_break(Client& client) {
    Lock lock = client.lock("lock:orders");
    put_held_lock(raw, "lock:orders", "00000000-0000-0000-0000-000000000000:1");
    check("is_locked", [&] { return lock.is_locked(); });
    check("is_held_by", [&] { return lock.is_held_by("00000000-0000-0000-0000-000000000000:1"); });
    check("remaining", [&] { return lock.remaining() > 30s; });
    check("info", [&] { return lock.info().holds == 1; });
    check("list", [&] { return client.list("lock:*").size() == 1; });
    check("force_release", [&] { return lock.force_release(); });
    put_held_lock(raw, "lock:orders", "00000000-0000-0000-0000-000000000000:1");
    check("force_release of an owner", [&] { return lock.force_release("00000000-0000-0000-0000-000000000000:1"); });
    raw.flushall();
    raw.command("SET", "lock:orders", "precious");
    check("say what is no lock", [&] {
      const std::optional<Error> error = error_of([&] { return lock.try_acquire(); });
      return error && base::contains(error->cause(), "a string");
    });
    raw.flushall();
  }

  /// A request that was under way when the connection broke must not take effect any more.
  void reconnect(Client& client, Proxy& proxy) {
    check("reconnect", [&] {
      proxy.hold_next_request("lock:late");
      Hold hold = client.lock("lock:late").acquire();
      return hold.release() == ReleaseOutcome::released;
    });
    check("end the old connection", [&] { return !proxy.deliver_held(); });
  }

  std::set<std::string> broken_;
};

TEST_F(LeastAcl, SufficesForEverything) {
  ASSERT_THAT(least_rights(), Not(IsEmpty()));
  grant(least_rights());
  EXPECT_THAT(broken(), IsEmpty());
}

/// A permission of the file that is taken away.
class WithoutOne : public LeastAcl, public testing::WithParamInterface<std::string> {};

TEST_P(WithoutOne, SomethingBreaks) {
  std::vector<std::string> rights = least_rights();
  std::erase(rights, GetParam());
  grant(rights);
  EXPECT_THAT(broken(), Not(IsEmpty()));
}

std::vector<std::string> each_permission() {
  std::vector<std::string> rights = least_rights();
  std::erase_if(rights, [](const std::string& right) { return std::string("+~&").find(right.front()) == right.npos; });
  return rights;
}

std::string label_of(const testing::TestParamInfo<std::string>& info) {
  if (info.param.front() == '~') return "Keys";
  if (info.param.front() == '&') return "Channels";
  std::string label = info.param.substr(1);
  std::ranges::replace(label, '|', '_');
  return label;
}

INSTANTIATE_TEST_SUITE_P(Permissions, WithoutOne, testing::ValuesIn(each_permission()), label_of);

TEST_F(LeastAcl, IsTakenByTheServerAsTheFileStands) {
  RedisServer other({.listen = ServerOptions::Listen::tcp, .config = {"include " + source_path("docs/least-acl.acl")}});
  Client client(config(other.url("app", "change-me")));
  Hold hold = client.lock("lock:orders").acquire();
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_THAT(error_of([&] { return client.lock("orders").acquire(); }),
              IsError(Errc::denied, "orders", client.node(), HasSubstr("NOPERM")));
}

TEST_F(LeastAcl, NeedsOneMoreToBeToldOfALossAtOnce) {
  grant(least_rights());
  Client without(as_app());
  Hold hold = without.lock("lock:orders").acquire();
  EXPECT_TRUE(eventually([&] { return without.counters().watch_refusals == 1; }));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  grant(least_rights(), {"+client|tracking"});
  Client with(as_app());
  hold = with.lock("lock:orders").acquire({.lease = fixed(1min)});
  EXPECT_TRUE(eventually([&] { return raw.info("stats", "tracking_total_keys") == "1"; }));
  raw.command("DEL", "lock:orders");
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }, 10s));
  EXPECT_EQ(with.counters().watch_refusals, 0U);
}

/// What the file says of its user's power, each sentence.
TEST_F(LeastAcl, ItsUserCanDoTheHarmThatTheFileNamesAndNoOther) {
  grant(least_rights(), {"+script|load"});
  raw.command("CONFIG", "SET", "busy-reply-threshold", 50);
  raw.command("CONFIG", "SET", "lua-time-limit", 50);  // before Redis 7
  Endpoint endpoint = Endpoint::of(server);
  endpoint.user = "app";
  endpoint.password = kSecret;
  Raw user(endpoint);
  const auto refused = [&](const Reply& reply) { return reply.is_error() && reply.text.starts_with("NOPERM"); };

  Client client(config());
  Hold theirs = client.lock("lock:theirs").acquire();
  EXPECT_EQ(user.command("HDEL", "lock:theirs", theirs.owner()).integer, 1) << "it breaks any lock of its pattern";
  EXPECT_TRUE(eventually([&] { return theirs.is_lost(); }));
  raw.command("SET", "secret", "x");
  EXPECT_THAT(user.command("SCAN", "0").elements.at(1).elements, testing::Not(IsEmpty())) << "it sees all names";
  const std::string all = user.command("CLIENT", "LIST").text;
  EXPECT_THAT(all, HasSubstr("name=holdfast"));
  const std::uint64_t connections = client.counters().connections;
  EXPECT_GT(user.command("CLIENT", "KILL", "TYPE", "normal").integer, 0) << "it ends the connections of everybody";
  EXPECT_TRUE(eventually([&] {
    static_cast<void>(error_of([&] {
      client.ping();  // fails if its connection ends just now
      return true;
    }));
    return client.counters().connections > connections;
  }));
  for (const std::vector<std::string>& other :
       std::vector<std::vector<std::string>>{{"HGETALL", "secret"},
                                             {"EVAL", "return 1", "1", "secret"},
                                             {"PUBLISH", "other", "x"},
                                             {"SUBSCRIBE", "other"},
                                             {"CONFIG", "GET", "port"},
                                             {"SCRIPT", "KILL"},
                                             {"FLUSHALL"},
                                             {"SHUTDOWN"}}) {
    EXPECT_TRUE(refused(user.send(other))) << other.front();
  }
  const std::string loaded = user.command("SCRIPT", "LOAD", "while true do end").text;
  for (const bool by_hash : {false, true}) {
    auto endless = in_thread([&, by_hash] {
      Raw busy(endpoint);
      return by_hash ? busy.command("EVALSHA", loaded, "0") : busy.command("EVAL", "while true do end", "0");
    });
    EXPECT_TRUE(eventually([&] { return raw.command("GET", "secret").text.starts_with("BUSY"); }))
        << "it stops the server";
    EXPECT_TRUE(eventually([&] { return raw.command("SCRIPT", "KILL").text == "OK"; }));
    EXPECT_TRUE(endless.get().is_error());
  }
  std::ifstream file(source_path("docs/least-acl.acl"));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const char* sentence : {"break, take or extend any lock under its pattern", "end the connection of every client",
                               "the names of all keys of the database", "stop the server for everybody"}) {
    EXPECT_THAT(text, HasSubstr(sentence));
  }
}

TEST_F(LeastAcl, NeedsSelectForAnotherDatabase) {
  Config settings = as_app();
  settings.database = 1;
  grant(least_rights());
  EXPECT_THAT(error_of([&] { return Client(settings).lock("lock:orders").acquire(); }),
              IsError(Errc::denied, "lock:orders", node(), HasSubstr("select")));
  grant(least_rights(), {"+select"});
  EXPECT_TRUE(Client(settings).lock("lock:orders").acquire());
}

}  // namespace
}  // namespace holdfast::test::least_acl_test
