// SPDX-License-Identifier: Apache-2.0
// Many names at once, and long ones.
#include "faults.hpp"

namespace holdfast::test::huge_test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kNames = 10'000;
constexpr std::size_t kLength = 8U << 20U;
#else
constexpr int kNames = 100'000;
constexpr std::size_t kLength = 64U << 20U;
#endif

class Huge : public Faults {
 protected:
  Config patient() const {
    Config patient = config();
    patient.lease = patient.timing.command_timeout = patient.timing.release_timeout = patient.timing.patience = 60s;
    return patient;
  }
};

TEST_F(Huge, AMultiLockOfAHundredThousandNamesIsTakenAndGivenBack) {
  Client client(patient());
  std::vector<std::string> names;
  names.reserve(kNames);
  for (int i = 0; i < kNames; ++i) names.push_back("name " + std::to_string(i));
  {
    Hold all = client.multi_lock(names).acquire();
    EXPECT_EQ(raw.command("DBSIZE").integer, kNames);
    EXPECT_EQ(all.release(), ReleaseOutcome::released);
  }
  EXPECT_EQ(raw.command("DBSIZE").integer, 0);
}

TEST_F(Huge, ANameOfManyMegabytesIsALockLikeAnyOther) {
  Client client(patient());
  const std::string name(kLength, 'x');
  Hold hold = client.lock(name).acquire();
  EXPECT_EQ(raw.command("DBSIZE").integer, 1);
  Client another(patient());
  const MaybeHold refused = another.lock(name).try_acquire();
  EXPECT_FALSE(refused);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_EQ(raw.command("DBSIZE").integer, 0);
}

}  // namespace
}  // namespace holdfast::test::huge_test
