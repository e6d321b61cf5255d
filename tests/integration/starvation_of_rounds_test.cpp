// A group's round whose limit there is no memory to wait for.
#include "engine/runtime/rounds.hpp"
#include "starving.hpp"
#include "unit/idle_client.hpp"

namespace holdfast::test::starvation_of_rounds_test {
namespace {

class CountedRound final : public engine::Round {
 public:
  int ends() const { return ends_; }

 private:
  void on_limit() override { ++ends_; }

  int ends_ = 0;
};

/// One that nobody ends keeps itself, and whoever waits for it.
TEST(StarvationOfRounds, EndsThemAtOnceOrBeforeTheyBegin) {
  engine::IdleClient client;
  engine::Rounds rounds(*client.runtime);
  int ended = 0;
  bool failed = true;
  for (long k = 0; failed; ++k) {
    const auto round = std::make_shared<CountedRound>();
    bool begun = true;
    allocations::before_failure = k;
    try {
      rounds.limit(*round, base::Clock::now() + 1min);
    } catch (const std::bad_alloc&) {
      begun = false;
    }
    failed = allocations::before_failure.exchange(-1) < 0;
    EXPECT_EQ(round->ends(), failed && begun ? 1 : 0) << k;
    EXPECT_EQ(round.use_count(), failed ? 1 : 2) << k;
    ended += round->ends();
    rounds.end(*round);
  }
  EXPECT_GT(ended, 0);
}

}  // namespace
}  // namespace holdfast::test::starvation_of_rounds_test
