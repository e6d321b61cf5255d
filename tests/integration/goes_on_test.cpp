// SPDX-License-Identifier: Apache-2.0
// What promises to go on for ever: a campaign, through every failure that may pass. What is no such failure ends it.
#include <filesystem>
#include <iostream>
#include <stop_token>

#include "faults.hpp"
#include "support/known_failures.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::goes_on_test {
namespace {

using testing::HasSubstr;

/// Its patience is over soon, and no answer of a busy machine comes too late.
Config hasty(const std::string& url) {
  Config config = quick_config(url);
  config.timing.patience = 100ms;
  config.timing.command_timeout = 10s;
  config.timing.connect_timeout = 30s;
  config.timing.safety_poll = 1s;
  return config;
}

/// A campaign in a thread of its own.
class Campaign {
 public:
  explicit Campaign(FencedLock lock)
      : leader_(std::move(lock)), outcome_(in_thread([this] {
          return error_of([this] {
            leader_.campaign([this](const Term&) { ++terms_; }, options());
            return 0;
          });
        })) {}
  ~Campaign() { stop_.request_stop(); }
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;

  bool over(milliseconds limit = 0ms) const { return ready(outcome_, limit); }
  /// What it threw.
  std::optional<Error> end() { return outcome_.get(); }
  int terms() const { return terms_; }
  std::vector<std::string> troubles() const {
    const std::scoped_lock guard(mutex_);
    return troubles_;
  }
  bool wait_for_trouble(const std::string& what) const {
    return eventually([&] {
      return over() || std::ranges::any_of(
                           troubles(), [&](const std::string& each) { return each.find(what) != std::string::npos; });
    });
  }

 private:
  CampaignOptions options() {
    return {.stop = stop_.get_token(), .rest = 0ms, .on_trouble = [this](const Error& error) {
              const std::scoped_lock guard(mutex_);
              troubles_.emplace_back(error.what());
            }};
  }

  Leader leader_;
  std::stop_source stop_;
  std::atomic<int> terms_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> troubles_;
  std::future<std::optional<Error>> outcome_;
};

// --- every failure ---

std::string campaign_through(const KnownFailure& failure) {
  FailingServer server(failure.text);
  const Client client(hasty(server.url()));
  Campaign campaign(client.fenced_lock("scheduler"));
  if (!failure.passes) {
    if (!campaign.over(kPatience)) return "goes on";
    const std::optional<Error> end = campaign.end();
    if (!end || to_string(static_cast<Errc>(end->code().value())) != failure.code)
      return end ? end->what() : "no error";
    return campaign.troubles().empty() && !end->may_pass() ? "" : "tells of trouble";
  }
  if (!eventually([&] { return campaign.over() || !campaign.troubles().empty(); })) return "tells of no trouble";
  server.grant();
  if (!eventually([&] { return campaign.over() || campaign.terms() > 0; })) return "never leads";
  return campaign.over() ? "ended: " + std::string(campaign.end().value().what()) : "";
}

std::string acquire_through(const KnownFailure& failure) {
  FailingServer server(failure.text);
  Config patient = hasty(server.url());
  patient.timing.patience = 1min;
  const Client client(patient);
  const FencedLock lock = client.fenced_lock("scheduler");
  auto acquire = in_thread([&] { return error_of([&] { return lock.acquire(); }); });
  const bool ended = ready(acquire, failure.borne ? 200ms : kPatience);
  server.grant();
  if (!ready(acquire)) return "hangs";
  if (ended == failure.borne) return failure.borne ? "is not borne" : "is borne";
  const std::optional<Error> error = acquire.get();
  if (failure.borne) return error ? error->what() : "";
  return error && to_string(static_cast<Errc>(error->code().value())) == failure.code ? "" : "ends otherwise";
}

void try_each(std::string (*attempt)(const KnownFailure&)) {
  const std::vector<KnownFailure> all = known_failures();
  ASSERT_GT(all.size(), 40U) << "the table was not read";
  std::vector<std::future<std::string>> outcomes;
  for (const KnownFailure& each : all) outcomes.push_back(in_thread([attempt, &each] { return attempt(each); }));
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(outcomes[i].get(), "") << all[i].text;
  std::cout << all.size() << " failures\n";
}

TEST(GoesOn, ACampaignThroughEachFailureThatMayPassAndNoOther) { try_each(campaign_through); }

TEST(GoesOn, AnAcquireWithoutALimitForItsPatience) { try_each(acquire_through); }

// --- real servers ---

/// `app`, who may do everything.
void make_user(Raw& raw) {
  std::vector<std::string> words{"ACL", "SETUSER", "app", "on", ">old", "~*", "+@all"};
  if (server_like_redis(6, 2)) words.emplace_back("&*");
  ASSERT_FALSE(raw.send(words).is_error());
}

class Campaigns : public testing::Test {
 protected:
  /// Someone else leads until it is given back, so that the campaign stands by.
  void expect_it_goes_on(Campaign& campaign, Hold& elsewhere) {
    EXPECT_FALSE(campaign.over()) << "it has ended";
    EXPECT_EQ(campaign.terms(), 0);
    elsewhere.release();
    EXPECT_TRUE(eventually([&] { return campaign.over() || campaign.terms() > 0; })) << "it never leads";
    EXPECT_FALSE(campaign.over());
  }
};

TEST_F(Campaigns, GoOnWithoutEnoughReplicas) {
  if (!server_like_redis(7, 0)) GTEST_SKIP() << "before 7.0 Redis lets scripts write without replicas";
  const RedisServer server;
  Raw raw(server);
  raw.command("CONFIG", "SET", "min-replicas-to-write", 1);
  const Client client(hasty(server.url()));
  Campaign campaign(client.fenced_lock("scheduler"));
  ASSERT_TRUE(campaign.wait_for_trouble("NOREPLICAS"));
  raw.command("CONFIG", "SET", "min-replicas-to-write", 0);
  EXPECT_TRUE(eventually([&] { return campaign.over() || campaign.terms() > 0; }));
  EXPECT_FALSE(campaign.over());
}

TEST_F(Campaigns, GoOnWhileTheServerLoadsItsData) {
  if (!server_like_redis(7, 0)) GTEST_SKIP() << "before 7.0 Redis cannot be made to load slowly";
  const RedisServer server({.config = SlowLoad::config()});
  const Client client(hasty(server.url()));
  ASSERT_TRUE(client.fenced_lock("another").acquire());
  SlowLoad load(server);
  ASSERT_TRUE(load.began());
  Campaign campaign(client.fenced_lock("scheduler"));
  ASSERT_TRUE(campaign.wait_for_trouble("LOADING"));
  EXPECT_TRUE(load.end());
  EXPECT_TRUE(eventually([&] { return campaign.over() || campaign.terms() > 0; }));
  EXPECT_FALSE(campaign.over());
}

TEST_F(Campaigns, GoOnWhileTheServerIsBusy) {
  const RedisServer server({.config = {"lua-time-limit 20"}});
  Raw raw(server);
  const Client client(hasty(server.url()));
  ASSERT_TRUE(client.fenced_lock("another").acquire());
  auto script = in_thread([&] { return Raw(server).command("EVAL", "while true do end", 0); });
  ASSERT_TRUE(eventually([&] { return raw.command("PING").text.starts_with("BUSY"); }));
  Campaign campaign(client.fenced_lock("scheduler"));
  ASSERT_TRUE(campaign.wait_for_trouble("BUSY"));
  raw.command("SCRIPT", "KILL");
  EXPECT_TRUE(script.get().is_error());
  EXPECT_TRUE(eventually([&] { return campaign.over() || campaign.terms() > 0; }));
  EXPECT_FALSE(campaign.over());
}

TEST_F(Campaigns, GoOnWhileTheServerCannotSave) {
  const RedisServer server({.config = {"save 3600 1"}});
  Raw raw(server);
  const std::string in_the_way = server.data_folder() + "/dump.rdb";
  const auto save = [&](const std::string& outcome) {
    return eventually([&] {
      raw.command("BGSAVE");
      return raw.info("persistence", "rdb_last_bgsave_status") == outcome;
    });
  };
  std::filesystem::remove(in_the_way);
  std::filesystem::create_directories(in_the_way + "/sub");
  ASSERT_TRUE(save("err"));
  const Client client(hasty(server.url()));
  Campaign campaign(client.fenced_lock("scheduler"));
  ASSERT_TRUE(campaign.wait_for_trouble("MISCONF"));
  std::filesystem::remove_all(in_the_way);
  ASSERT_TRUE(save("ok"));
  EXPECT_TRUE(eventually([&] { return campaign.over() || campaign.terms() > 0; }));
  EXPECT_FALSE(campaign.over());
}

TEST_F(Campaigns, GoOnWhenTheirPasswordIsRefusedThatWasAcceptedBefore) {
  const RedisServer server;
  Raw raw(server);
  make_user(raw);
  Config config = hasty(server.url());
  config.username = "app";
  config.password = "old";
  const Client client(config);
  const Client other(hasty(server.url()));
  Hold elsewhere = other.fenced_lock("scheduler").acquire({.lease = renewed(1min)});
  Campaign campaign(client.fenced_lock("scheduler"));
  ASSERT_TRUE(listeners(raw, "scheduler"));
  raw.command("ACL", "SETUSER", "app", "resetpass", ">new");
  raw.command("CLIENT", "KILL", "USER", "app");
  ASSERT_TRUE(campaign.wait_for_trouble("WRONGPASS"));
  ASSERT_FALSE(campaign.over()) << campaign.end()->what();
  raw.command("ACL", "SETUSER", "app", "resetpass", ">old");
  expect_it_goes_on(campaign, elsewhere);
}

TEST_F(Campaigns, EndAtOnceIfTheirFirstLoginIsRefused) {
  const RedisServer server;
  Raw raw(server);
  make_user(raw);
  Config config = hasty(server.url());
  config.username = "app";
  config.password = "mistyped";
  const Client client(config);
  Campaign campaign(client.fenced_lock("scheduler"));
  ASSERT_TRUE(campaign.over(kPatience));
  EXPECT_THAT(campaign.end(), IsError(Errc::denied, "scheduler", client.node(), HasSubstr("WRONGPASS")));
  EXPECT_TRUE(campaign.troubles().empty());
}

TEST_F(Campaigns, EndIfAPermissionIsWithdrawn) {
  const RedisServer server;
  Raw raw(server);
  make_user(raw);
  Config config = hasty(server.url());
  config.username = "app";
  config.password = "old";
  const Client client(config);
  ASSERT_TRUE(client.fenced_lock("another").acquire());
  raw.command("ACL", "SETUSER", "app", "-evalsha", "-eval");
  Campaign campaign(client.fenced_lock("scheduler"));
  ASSERT_TRUE(campaign.over(kPatience));
  EXPECT_THAT(campaign.end(), IsError(Errc::denied, "scheduler", client.node(), HasSubstr("NOPERM")));
}

// --- release_all() ---

TEST_F(Campaigns, StandByAgainAfterAllIsGivenBack) {
  const RedisServer server;
  Raw raw(server);
  const Client client(quick_config(server.url()));
  const Client other(quick_config(server.url()));
  Hold elsewhere = other.fenced_lock("scheduler").acquire({.lease = renewed(1min)});
  Campaign campaign(client.fenced_lock("scheduler"));
  ASSERT_TRUE(eventually([&] { return client.counters().waiting == 1; }));
  EXPECT_EQ(client.release_all(1min), 0U);
  ASSERT_TRUE(campaign.wait_for_trouble("the wait was cancelled"));
  expect_it_goes_on(campaign, elsewhere);
}

TEST_F(Campaigns, LeadAgainAfterAllIsGivenBack) {
  const RedisServer server;
  const Client client(quick_config(server.url()));
  Leader leader(client.fenced_lock("scheduler"));
  std::stop_source stop;
  std::atomic<int> terms = 0;
  auto campaign = in_thread([&] {
    leader.campaign(
        [&](const Term& term) {
          ++terms;
          ASSERT_TRUE(eventually([&] { return term.stop_token().stop_requested(); }));
        },
        {.stop = stop.get_token(), .rest = 0ms});
  });
  ASSERT_TRUE(eventually([&] { return terms == 1; }));
  EXPECT_EQ(client.release_all(1min), 0U);
  EXPECT_TRUE(eventually([&] { return terms == 2; }));
  stop.request_stop();
  EXPECT_TRUE(ready(campaign));
}

}  // namespace
}  // namespace holdfast::test::goes_on_test
