// SPDX-License-Identifier: Apache-2.0
// What is known after a test with a peer: tests write it to a file each, for the tables in docs/records/interop.md.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

/// One test's outcome. Written when a test begins, as `crashed`, and again when it ends.
struct Record {
  std::string suite;     ///< `WakeUps`
  std::string test;      ///< `AWaiterEntersSoonAfterARelease`
  std::string first;     ///< Who acts first: `peer`, `holdfast`, or empty where that is no question.
  std::string peer;      ///< `redisson-4`
  std::string version;   ///< `Redisson 4.7.0`
  std::string server;    ///< `Redis 7.0.15`
  std::string verdict;   ///< `passed`, `failed`, `skipped`, `crashed`, or `absent`: the peer has no such thing.
  std::string reason{};  ///< Unless it passed.
  std::vector<std::pair<std::string, std::string>> figures{};  ///< What was measured, as a reader is to see it.
};

/// Replaces the file of this test and peer in the folder of records.
void write_record(const Record& record);
/// All of them, in no particular order.
std::vector<Record> read_records(const std::string& folder);
/// Where the tests of this build write theirs, apart for each value of HOLDFAST_TEST_OPTIMISATIONS.
std::string record_folder();

}  // namespace holdfast::test
