// SPDX-License-Identifier: Apache-2.0
// An asynchronous campaign goes on through every failure that may pass, through release_all(), and without its Leader.
#include <deque>
#include <stop_token>

#include "async.hpp"
#include "support/known_failures.hpp"

namespace holdfast::test::async_goes_on_test {
namespace {

std::optional<std::string> code_of(const std::exception_ptr& problem) {
  if (!problem) return std::nullopt;
  try {
    std::rethrow_exception(problem);
  } catch (const Error& error) {
    return to_string(static_cast<Errc>(error.code().value()));
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// A campaign; it is stopped as soon as it leads.
class Campaign {
 public:
  Campaign(asio::io_context& context, FencedLock lock, std::function<void()> on_trouble)
      : leader_(std::in_place, std::move(lock)) {
    const auto body = [this](const Term&) -> awaitable<void> {
      ++terms;
      stop.request_stop();
      co_return;
    };
    const CampaignOptions options{
        .stop = stop.get_token(), .rest = 0ms, .on_trouble = [this, told = std::move(on_trouble)](const Error& error) {
          troubles.emplace_back(error.what());
          if (told) told();
        }};
    asio::co_spawn(context, leader_->async_campaign(body, options),
                   [this](const std::exception_ptr& problem) { ended = problem; });
  }
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;

  void destroy_leader() { leader_.reset(); }

  std::stop_source stop;
  int terms = 0;
  std::vector<std::string> troubles;
  std::optional<std::exception_ptr> ended;

 private:
  std::optional<Leader> leader_;
};

class AsyncGoesOn : public BothHomes {};
HOLDFAST_BOTH_HOMES(AsyncGoesOn);

struct Case {
  Case(asio::io_context& context, KnownFailure what, const std::function<Client(Config)>& make)
      : failure(std::move(what)),
        server(failure.text),
        client(make(hasty(server.url()))),
        campaign(context, client.fenced_lock("scheduler"), [this] { server.grant(); }) {}

  /// Its patience is over soon, and no answer of a busy machine comes too late.
  static Config hasty(const std::string& url) {
    Config config = quick_config(url);
    config.timing.patience = 100ms;
    config.timing.command_timeout = 10s;
    config.timing.connect_timeout = 30s;
    return config;
  }

  KnownFailure failure;
  FailingServer server;
  Client client;
  Campaign campaign;
};

TEST_P(AsyncGoesOn, ThroughEachFailureThatMayPassAndNoOther) {
  std::deque<Case> cases;
  for (const KnownFailure& each : known_failures()) {
    cases.emplace_back(context, each, [this](Config config) { return make_client(std::move(config)); });
  }
  ASSERT_GT(cases.size(), 40U) << "the table was not read";
  ASSERT_TRUE(turn_until(
      [&] { return std::ranges::all_of(cases, [](const Case& each) { return each.campaign.ended.has_value(); }); }));
  for (const Case& each : cases) {
    SCOPED_TRACE(each.failure.text);
    const std::optional<std::string> code = code_of(*each.campaign.ended);
    EXPECT_EQ(each.campaign.terms, each.failure.passes ? 1 : 0);
    EXPECT_EQ(each.campaign.troubles.empty(), !each.failure.passes);
    EXPECT_EQ(code, each.failure.passes ? std::nullopt : std::optional(each.failure.code));
  }
  for (Case& each : cases) run(each.client.async_close(use_awaitable));
}

TEST_P(AsyncGoesOn, AfterAllIsGivenBack) {
  Client client = make_client();
  const Client other(config());
  Hold elsewhere = other.fenced_lock("scheduler").acquire({.lease = renewed(1min)});
  Campaign campaign(context, client.fenced_lock("scheduler"), {});
  ASSERT_TRUE(turn_until([&] { return client.counters().waiting == 1; }));
  run([&]() -> awaitable<void> { EXPECT_EQ(co_await client.async_release_all(1min), 0U); }());
  ASSERT_TRUE(turn_until([&] { return campaign.ended || !campaign.troubles.empty(); }));
  ASSERT_FALSE(campaign.ended) << code_of(*campaign.ended).value_or("as if it were stopped");
  elsewhere.release();
  ASSERT_TRUE(turn_until([&] { return campaign.ended.has_value(); }));
  EXPECT_EQ(code_of(*campaign.ended), std::nullopt);
  EXPECT_EQ(campaign.terms, 1);
  if (home() == Home::caller) close(client);
}

TEST_P(AsyncGoesOn, WithoutItsLeader) {
  Client client = make_client();
  const Client other(config());
  Hold elsewhere = other.fenced_lock("scheduler").acquire({.lease = renewed(1min)});
  Campaign campaign(context, client.fenced_lock("scheduler"), {});
  ASSERT_TRUE(turn_until([&] { return client.counters().waiting == 1; }));
  campaign.destroy_leader();
  elsewhere.release();
  ASSERT_TRUE(turn_until([&] { return campaign.ended.has_value(); })) << "it never leads";
  EXPECT_EQ(code_of(*campaign.ended), std::nullopt);
  EXPECT_EQ(campaign.terms, 1);
  EXPECT_FALSE(raw.exists("scheduler"));
  if (home() == Home::caller) close(client);
}

}  // namespace
}  // namespace holdfast::test::async_goes_on_test
