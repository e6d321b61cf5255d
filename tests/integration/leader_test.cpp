// SPDX-License-Identifier: Apache-2.0
// Leader: never two at the same time, whatever the body does, and the next one soon.
#include <barrier>
#include <stop_token>

#include "faults.hpp"

namespace holdfast::test::leader_test {
namespace {

using testing::HasSubstr;

class Elections : public Faults {
 protected:
  Elections() : Faults({.listen = ServerOptions::Listen::tcp, .persistent = true}) {}

  FencedLock lock(const Client& client) { return client.fenced_lock("scheduler"); }
};

/// A campaign in a thread of its own, which the destructor ends.
class Candidate {
 public:
  Candidate(FencedLock lock, Leader::Body body, CampaignOptions options = {.rest = 0ms})
      : leader_(std::move(lock)), thread_([this, body = std::move(body), options](const std::stop_token& stop) mutable {
          options.stop = stop;
          leader_.campaign(body, options);
          over_ = true;
        }) {}

  Leader& leader() { return leader_; }
  void stop() { thread_.request_stop(); }
  bool over() const { return over_; }

 private:
  Leader leader_;
  std::atomic<bool> over_ = false;
  std::jthread thread_;
};

/// Whether two were ever in the same place.
class Room {
 public:
  void visit(milliseconds time) {
    if (++inside_ > 1) crowded_ = true;
    std::this_thread::sleep_for(time);
    --inside_;
    ++visits_;
  }
  bool crowded() const { return crowded_; }
  int visits() const { return visits_; }

 private:
  std::atomic<int> inside_ = 0;
  std::atomic<int> visits_ = 0;
  std::atomic<bool> crowded_ = false;
};

TEST_F(Elections, TheBodyHasATokenThatGrowsFromTermToTerm) {
  Client client(config());
  Leader leader(lock(client));
  for (std::int64_t token = 1; token <= 3; ++token) {
    bool led = false;
    EXPECT_EQ(leader.lead([&](const Term& term) {
      led = term.leads() && leader.leads() && term.valid_for() > 0ms && raw.exists("scheduler");
      EXPECT_EQ(term.token(), token);
      EXPECT_FALSE(term.stop_token().stop_requested());
    }),
              TermEnd::finished);
    EXPECT_TRUE(led);
    EXPECT_FALSE(leader.leads());
    EXPECT_FALSE(raw.exists("scheduler"));
  }
}

TEST_F(Elections, OfManyCandidatesOnlyOneIsInItsBody) {
  const auto crowded_among = [](const std::function<void(int candidate, Room&)>& visit) {
    Room room;
    std::barrier begin(4);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        for (int round = 0; round < 25; ++round) {
          begin.arrive_and_wait();
          visit(i, room);
        }
      });
    }
    threads.clear();
    EXPECT_EQ(room.visits(), 100);
    return room.crowded();
  };
  EXPECT_TRUE(crowded_among([](int, Room& room) { room.visit(2ms); })) << "the control: nothing keeps them apart";

  Client here(config());
  Client there(config());
  std::vector<std::unique_ptr<Leader>> leaders;
  for (const Client* client : {&here, &here, &there, &there}) {
    leaders.push_back(std::make_unique<Leader>(lock(*client)));
  }
  EXPECT_FALSE(crowded_among([&](int candidate, Room& room) {
    leaders[static_cast<std::size_t>(candidate)]->lead([&](const Term&) { room.visit(2ms); });
  }));
}

TEST_F(Elections, ABodyThatIsSlowToEndKeepsTheOthersOut) {
  Config settings = config();
  settings.lease = 2s;
  Client here(settings);
  Client there(settings);
  std::atomic<bool> asked = false;
  std::atomic<bool> may_end = false;
  std::atomic<bool> ended = false;
  std::atomic<int> others = 0;
  Candidate slow(lock(here),
                 [&](const Term& term) {
                   ASSERT_TRUE(eventually([&] { return term.stop_token().stop_requested(); }));
                   asked = true;
                   ASSERT_TRUE(eventually([&] { return may_end.load(); }));
                   ended = true;
                 },
                 {.rest = 10min});
  ASSERT_TRUE(eventually([&] { return slow.leader().leads(); }));
  Candidate next(lock(there), [&](const Term&) {
    EXPECT_TRUE(ended) << "two of them";
    ++others;
  });
  ASSERT_TRUE(listeners(raw, "scheduler"));
  slow.leader().step_down();
  ASSERT_TRUE(eventually([&] { return asked.load(); }));
  EXPECT_FALSE(eventually([&] { return others > 0; }, 3s)) << "longer than a lease";
  EXPECT_TRUE(slow.leader().leads()) << "it is renewed until the body has ended";
  may_end = true;
  EXPECT_TRUE(eventually([&] { return others > 0; }));
}

TEST_F(Elections, ABodyThatThrowsEndsBeforeTheLockIsGivenAway) {
  struct Last {
    Raw& raw;
    bool& held_at_the_end;
    ~Last() { held_at_the_end = raw.exists("scheduler"); }
  };
  Client client(config());
  Leader leader(lock(client));
  bool held_at_the_end = false;
  const Leader::Body body = [&](const Term&) {
    const Last last{raw, held_at_the_end};
    throw std::runtime_error("the body's own");
  };
  EXPECT_THAT([&] { leader.lead(body); }, testing::ThrowsMessage<std::runtime_error>("the body's own"));
  EXPECT_TRUE(held_at_the_end);
  EXPECT_FALSE(raw.exists("scheduler"));
  held_at_the_end = false;
  EXPECT_THAT([&] { leader.campaign(body); }, testing::ThrowsMessage<std::runtime_error>("the body's own"));
  EXPECT_TRUE(held_at_the_end);
  EXPECT_FALSE(raw.exists("scheduler"));
  EXPECT_EQ(leader.lead([](const Term&) {}), TermEnd::finished) << "it can be used again";
}

TEST_F(Elections, AfterALossNothingIsAskedForUntilTheBodyHasEnded) {
  Config settings = config();
  settings.lease = 600ms;
  Client client(settings);
  std::atomic<int> terms = 0;
  std::atomic<bool> told = false;
  std::atomic<bool> may_end = false;
  std::vector<std::int64_t> tokens;
  Candidate candidate(lock(client), [&](const Term& term) {
    tokens.push_back(term.token());
    if (++terms > 1) {
      ASSERT_TRUE(eventually([&] { return term.stop_token().stop_requested(); }));
      return;
    }
    ASSERT_TRUE(eventually([&] { return term.stop_token().stop_requested(); }));
    EXPECT_FALSE(term.leads());
    told = true;
    ASSERT_TRUE(eventually([&] { return may_end.load(); }));
  });
  ASSERT_TRUE(eventually([&] { return candidate.leader().leads(); }));
  raw.command("DEL", "scheduler");
  ASSERT_TRUE(eventually([&] { return told.load(); }));
  EXPECT_FALSE(candidate.leader().leads());
  EXPECT_TRUE(stays_absent(raw, "scheduler", 1s));
  EXPECT_EQ(terms, 1);
  may_end = true;
  ASSERT_TRUE(eventually([&] { return terms == 2; }));
  candidate.stop();
  ASSERT_TRUE(eventually([&] { return candidate.over(); }));
  EXPECT_EQ(tokens, (std::vector<std::int64_t>{1, 2}));
}

TEST_F(Elections, LeadSaysWhyATermHasEnded) {
  Client client(config());
  Leader leader(lock(client));
  EXPECT_EQ(leader.lead([&](const Term& term) {
    leader.step_down();
    EXPECT_TRUE(term.stop_token().stop_requested());
    EXPECT_FALSE(term.leads());
  }),
            TermEnd::stepped_down);
  std::stop_source stop;
  EXPECT_EQ(leader.lead(
                [&](const Term& term) {
                  stop.request_stop();
                  EXPECT_TRUE(term.stop_token().stop_requested());
                },
                {.stop = stop.get_token()}),
            TermEnd::stepped_down);
  EXPECT_EQ(leader.lead([&](const Term&) { raw.command("DEL", "scheduler"); }), TermEnd::lost)
      << "also if only the release finds it";
  EXPECT_STREQ(to_string(TermEnd::finished), "finished");
  EXPECT_STREQ(to_string(TermEnd::stepped_down), "stepped_down");
  EXPECT_STREQ(to_string(TermEnd::lost), "lost");
}

TEST_F(Elections, LeadWaitsAndFailsAsAnAcquireDoes) {
  Client here(config());
  Client there(config());
  const Hold held = lock(there).acquire();
  Leader leader(lock(here));
  bool led = false;
  const Leader::Body body = [&](const Term&) { led = true; };
  EXPECT_THAT(error_of([&] { return leader.lead(body, {.wait = 50ms}); }),
              IsError(Errc::timed_out, "scheduler", here.node(), testing::_));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(error_of([&] { return leader.lead(body, {.stop = stop.get_token()}); })->code(), code(Errc::cancelled));
  EXPECT_FALSE(led);
}

TEST_F(Elections, ACallInItsOwnBodyIsRefused) {
  Client client(config());
  Leader leader(lock(client));
  std::optional<Error> inner;
  leader.lead([&](const Term&) { inner = error_of([&] { return leader.lead([](const Term&) {}); }); });
  ASSERT_TRUE(inner);
  EXPECT_EQ(inner->code(), code(Errc::would_deadlock));
  EXPECT_THAT(inner->what(), HasSubstr("leads or campaigns already"));
}

TEST_F(Elections, WhoStepsDownStandsBackForTheOthers) {
  Client here(config());
  Client there(config());
  std::atomic<int> first_terms = 0;
  std::atomic<int> second_terms = 0;
  Candidate first(lock(here),
                  [&](const Term& term) {
                    ++first_terms;
                    ASSERT_TRUE(eventually([&] { return term.stop_token().stop_requested(); }));
                  },
                  {.rest = 10min});
  ASSERT_TRUE(eventually([&] { return first_terms == 1; }));
  Candidate second(lock(there), [&](const Term& term) {
    ++second_terms;
    ASSERT_TRUE(eventually([&] { return term.stop_token().stop_requested(); }));
  });
  ASSERT_TRUE(listeners(raw, "scheduler"));
  first.leader().step_down();
  EXPECT_TRUE(eventually([&] { return second_terms == 1; }));
  EXPECT_EQ(first_terms, 1);
  first.stop();
  EXPECT_TRUE(eventually([&] { return first.over(); })) << "it does not stand back for ever";
}

TEST_F(Elections, WhoHasFinishedStandsBackEvenIfNobodyWaits) {
  Client client(config());
  std::atomic<int> terms = 0;
  Candidate candidate(lock(client), [&](const Term&) { ++terms; }, {.rest = 10min});
  EXPECT_FALSE(eventually([&] { return terms > 1; }, 500ms)) << "somebody else may come meanwhile";
  EXPECT_EQ(terms, 1);
  EXPECT_FALSE(raw.exists("scheduler"));
}

TEST_F(Elections, StopEndsACampaignThatWaits) {
  Client here(config());
  Client there(config());
  const Hold held = lock(there).acquire();
  Candidate candidate(lock(here), [](const Term&) { ADD_FAILURE() << "it never leads"; });
  ASSERT_TRUE(listeners(raw, "scheduler"));
  candidate.stop();
  EXPECT_TRUE(eventually([&] { return candidate.over(); }));
}

TEST_F(Elections, ACampaignOutlivesItsServer) {
  Config settings = config();
  settings.lease = 600ms;
  settings.timing.patience = 100ms;
  settings.timing.command_timeout = 300ms;
  Client client(settings);
  std::atomic<int> terms = 0;
  std::atomic<int> troubles = 0;
  Candidate candidate(lock(client),
                      [&](const Term& term) {
                        ++terms;
                        ASSERT_TRUE(eventually([&] { return term.stop_token().stop_requested(); }));
                      },
                      {.rest = 0ms, .on_trouble = [&](const Error& error) {
                         EXPECT_STRNE(error.what(), "");
                         ++troubles;
                       }});
  ASSERT_TRUE(eventually([&] { return terms == 1; }));
  server.kill();
  ASSERT_TRUE(eventually([&] { return troubles > 0; })) << "the body has ended, and it asks in vain";
  server.restart(Data::keep);
  ASSERT_TRUE(eventually([&] { return terms == 2; }));
}

TEST_F(Elections, AClosedClientEndsACampaign) {
  Client client(config());
  Leader leader(lock(client));
  client.close();
  EXPECT_EQ(error_of([&] {
              leader.campaign([](const Term&) {});
              return 0;
            })->code(),
            code(Errc::closed));
}

}  // namespace
}  // namespace holdfast::test::leader_test
