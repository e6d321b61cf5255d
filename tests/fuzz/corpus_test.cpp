// SPDX-License-Identifier: Apache-2.0
// Every target over its corpus: what the fuzzers have found once does not come back, with any compiler.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "fuzz/fuzz.hpp"
#include "support/paths.hpp"

namespace holdfast::fuzz::corpus_test {
namespace {

namespace fs = std::filesystem;

const fs::path kCorpora = test::source_path("tests/fuzz/corpus");

class Corpus : public testing::TestWithParam<std::string> {};

TEST_P(Corpus, KeepsEveryPromise) {
  const auto target = std::ranges::find(targets(), GetParam(), &Target::name);
  ASSERT_NE(target, targets().end());
  int inputs = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(kCorpora / GetParam())) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string input{std::istreambuf_iterator<char>(file), {}};
    set_source(entry.path().string());
    run(*target, input);
    ++inputs;
  }
  EXPECT_GT(inputs, 0);
}

std::set<std::string> folders() {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(kCorpora)) names.insert(entry.path().filename());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Of, Corpus, testing::ValuesIn(folders()), [](const auto& each) { return each.param; });

TEST(Corpora, AreThereForEachTarget) {
  std::set<std::string> names;
  for (const Target& target : targets()) names.emplace(target.name);
  EXPECT_EQ(names, folders());
}

}  // namespace
}  // namespace holdfast::fuzz::corpus_test
