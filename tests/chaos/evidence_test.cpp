// SPDX-License-Identifier: Apache-2.0
// A record for the page of evidence says where it comes from.
#include "chaos/evidence.hpp"

#include <cstdlib>
#include <fstream>
#include <string>

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/server_program.hpp"
#include "support/temp_dir.hpp"

namespace holdfast::test::chaos::evidence_test {
namespace {

boost::json::object recorded(const RunResult& result, const char* commit) {
  const TempDir folder;
  const std::string file = folder.file("records.jsonl");
  setenv("HOLDFAST_EVIDENCE", file.c_str(), 1);
  commit == nullptr ? unsetenv("HOLDFAST_COMMIT") : setenv("HOLDFAST_COMMIT", commit, 1);
  record_run("one", 7, result);
  unsetenv("HOLDFAST_EVIDENCE");
  std::string line;
  std::ifstream in(file);
  std::getline(in, line);
  return boost::json::parse(line).as_object();
}

TEST(ChaosEvidence, ARecordSaysWhereItComesFrom) {
  const boost::json::object record = recorded({}, "abc1234");
  EXPECT_EQ(record.at("part"), "chaos");
  EXPECT_EQ(record.at("commit"), "abc1234");
  EXPECT_EQ(record.at("server").as_string(), server_version());
  EXPECT_THAT(std::string(record.at("at").as_string()), testing::MatchesRegex("....-..-..T..:..:..Z"));
  EXPECT_THAT(std::string(record.at("kernel").as_string()), testing::StartsWith("Linux "));
  EXPECT_THAT(std::string(record.at("processors").as_string()), testing::MatchesRegex("[0-9]+ x .+"));
  EXPECT_EQ(record.at("control"), false);
  EXPECT_EQ(record.at("protocol"), 3);
}

TEST(ChaosEvidence, ThatServersKnewTheSecondProtocolOnlyIsTold) {
  setenv("HOLDFAST_TEST_RESP2", "1", 1);
  EXPECT_EQ(recorded({}, "abc1234").at("protocol"), 2);
  unsetenv("HOLDFAST_TEST_RESP2");
}

TEST(ChaosEvidence, ACommitThatNobodyNamesIsThatOfGitOrUnknown) {
  EXPECT_THAT(std::string(recorded({}, nullptr).at("commit").as_string()),
              testing::MatchesRegex("unknown|[0-9a-f]+[+]?"));
}

TEST(ChaosEvidence, AControlIsCalledOne) {
  RunResult result;
  result.locks = false;
  result.others = {"redisson-4"};
  result.verdict.violations = {{"exclusion", "two"}, {"exclusion", "two more"}, {"lost update", "one"}};
  EXPECT_THAT(broken_promises(result),
              testing::ElementsAre(testing::Pair("exclusion", 2), testing::Pair("lost update", 1)));
  const boost::json::object record = recorded(result, "abc1234");
  EXPECT_EQ(record.at("control"), true);
  EXPECT_EQ(record.at("violations_by_promise").at("exclusion"), 2);
  EXPECT_EQ(record.at("others").as_array().size(), 1U);
}

}  // namespace
}  // namespace holdfast::test::chaos::evidence_test
