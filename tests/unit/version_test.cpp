// SPDX-License-Identifier: Apache-2.0
// The version that the headers name.
#include <string>

#include <gtest/gtest.h>

#include <holdfast/version.hpp>

namespace version_test {
namespace {

TEST(VersionTest, IsTheSameAsTextAndAsNumbers) {
  const std::string text = std::to_string(HOLDFAST_VERSION_MAJOR) + "." + std::to_string(HOLDFAST_VERSION_MINOR) + "." +
                           std::to_string(HOLDFAST_VERSION_PATCH);
  EXPECT_EQ(text, HOLDFAST_VERSION_STRING);
#if HOLDFAST_VERSION < 100
  FAIL() << "0.1.0 was the first";
#endif
  EXPECT_EQ(HOLDFAST_VERSION, 10000 * HOLDFAST_VERSION_MAJOR + 100 * HOLDFAST_VERSION_MINOR + HOLDFAST_VERSION_PATCH);
}

}  // namespace
}  // namespace version_test
