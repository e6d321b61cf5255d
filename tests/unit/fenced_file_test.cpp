// FencedFile: whose token is lower does not replace it.
#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/fenced_file.hpp>

#include "support/temp_dir.hpp"

namespace holdfast::test::fenced_file_test {
namespace {

class FencedFileTest : public testing::Test {
 protected:
  std::string text() const { return file_.read().value_or(FencedFile::Contents{}).text; }

  const TempDir folder_;
  const FencedFile file_{folder_.file("data")};
};

TEST_F(FencedFileTest, IsReplacedByTheSameTokenOrAHigherOne) {
  EXPECT_FALSE(file_.read());
  EXPECT_TRUE(file_.replace(9, "first\nline"));
  EXPECT_TRUE(file_.replace(9, "again"));
  EXPECT_TRUE(file_.replace(10, "second"));
  EXPECT_FALSE(file_.replace(9, "late"));
  EXPECT_EQ(text(), "second");
  EXPECT_EQ(file_.read()->token, 10);
  EXPECT_TRUE(file_.replace(11, ""));
  EXPECT_EQ(text(), "");
}

TEST_F(FencedFileTest, WhatHasNoTokenIsLeftAlone) {
  std::ofstream(folder_.file("data")) << "somebody's\n";
  EXPECT_THROW(static_cast<void>(file_.replace(9, "ours")), std::runtime_error);
  EXPECT_THROW(file_.read(), std::runtime_error);
  std::ofstream(folder_.file("data")) << "12";
  EXPECT_THROW(file_.read(), std::runtime_error) << "cut off";
}

TEST_F(FencedFileTest, SaysWhyItCannotBeWritten) {
  const FencedFile nowhere(folder_.file("none/data"));
  EXPECT_THROW(static_cast<void>(nowhere.replace(1, "x")), std::system_error);
  EXPECT_FALSE(nowhere.read());
}

TEST_F(FencedFileTest, NeverGoesBackUnderManyThreads) {
  std::atomic<bool> fell = false;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (int token = thread; token < 200; token += 4) {
          const bool replaced = file_.replace(token, std::to_string(token));
          const FencedFile::Contents now = file_.read().value();
          if (now.token < token || (!replaced && now.token == token) || now.text != std::to_string(now.token))
            fell = true;
        }
      });
    }
  }
  EXPECT_FALSE(fell);
  EXPECT_EQ(text(), "199");
}

}  // namespace
}  // namespace holdfast::test::fenced_file_test
