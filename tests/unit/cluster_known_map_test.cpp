// SPDX-License-Identifier: Apache-2.0
// Whose word about a slot counts, and when: each map and view as a line, a letter for each part of the slots.
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redis/decide/survey.hpp"
#include "unit/cluster_story.hpp"

namespace holdfast::redis::cluster::cluster_known_map_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

class Story {
 public:
  explicit Story(const std::string& map) : parts_(map.size()) { says('z', map); }

  /// The map then; with a question mark, if another word is needed.
  std::string says(char who, const std::string& owners, base::Duration when = 0s, base::Duration asked = -1s) {
    const NodeAddress speaker = node(who);
    const View said = view(owners);
    const bool settled = map_.hear({at(when), asked < 0s ? at(when) : at(asked), speaker, said},
                                   [this](const NodeAddress& each) { return doubted.contains(each.host[0]); });
    return letters(map_.view().get(), parts_) + (settled ? "" : "?");
  }
  /// Each slot of the part is told to be served by another.
  void moved(std::size_t part, char from, char to, base::Duration when) {
    for (std::uint16_t slot = 0; slot < kSlots; ++slot) {
      if (slot * parts_ / kSlots == part) map_.correct(at(when), node(from), slot, node(to));
    }
  }
  const View& map() const { return *map_.view(); }

  std::set<char> doubted;

 private:
  std::size_t parts_;
  KnownMap map_;
};

TEST(KnownMap, TheFirstWordThatCoversAnythingIsTheMap) {
  KnownMap map;
  const NodeAddress a = node('a');
  const auto nobody = [](const NodeAddress&) { return false; };
  EXPECT_TRUE(map.hear({kStart, kStart, a, view("..")}, nobody));
  EXPECT_EQ(map.view(), nullptr);
  EXPECT_TRUE(map.hear({kStart, kStart, a, view("a.")}, nobody));
  EXPECT_EQ(letters(map.view().get(), 2), "a.");
  EXPECT_EQ(map.view()->covered, kSlots / 2);
}

TEST(KnownMap, WhoeverServesWhatHadNobodyCountsAtOnce) {
  Story story("a..");
  EXPECT_EQ(story.says('x', "ab."), "ab.");
  EXPECT_EQ(story.says('a', "abc"), "abc");
  EXPECT_EQ(story.map().covered, kSlots);
}

TEST(KnownMap, AChangeNeedsASecondNodesWord) {
  Story story("abc");
  EXPECT_EQ(story.says('x', "aBc"), "abc?");
  EXPECT_EQ(story.says('x', "aBc"), "abc?") << "the same once more";
  EXPECT_EQ(story.says('y', "aBc"), "aBc");
}

TEST(KnownMap, OneThatContradictsIsNoSecondOne) {
  Story story("abc");
  EXPECT_EQ(story.says('x', "aBc"), "abc?");
  EXPECT_EQ(story.says('y', "abc"), "abc");
  EXPECT_EQ(story.says('w', "aBc"), "abc?") << "what x has said is forgotten";
}

TEST(KnownMap, EachSlotIsDecidedForItself) {
  Story story("abc");
  EXPECT_EQ(story.says('x', "dBc"), "abc?");
  EXPECT_EQ(story.says('y', "aBe"), "aBc?");
  EXPECT_EQ(story.says('x', "aBe"), "aBe");
}

TEST(KnownMap, WhoeverServesASlotMaySayThatItIsAnothers) {
  Story story("abc");
  EXPECT_EQ(story.says('a', "dbc"), "dbc");
  EXPECT_EQ(story.says('a', "dbe"), "dbc?") << "of c's slots it knows no more than others";
}

TEST(KnownMap, WhatOneServesThatIsInDoubtIsAnothersAtTheFirstWord) {
  Story story("abc");
  story.doubted = {'b'};
  EXPECT_EQ(story.says('x', "aBd"), "aBc?");
}

TEST(KnownMap, ANodeThatKnowsNoneButItselfTakesNothingAway) {
  // As one that is being failed over did in production.
  Story story("abc");
  EXPECT_EQ(story.says('a', "a.."), "abc?");
  EXPECT_EQ(story.says('a', "..."), "abc?");
  EXPECT_EQ(story.says('b', "abc"), "abc");
  EXPECT_THAT(story.map().replicas, ElementsAre(node('A'), node('B'), node('C')));
}

TEST(KnownMap, NobodyTakesTwoEvenInDoubtAndFromTheNodeItself) {
  Story story("abc");
  story.doubted = {'a', 'b', 'c'};
  EXPECT_EQ(story.says('b', "a.c"), "abc?");
  EXPECT_EQ(story.says('b', "a.c"), "abc?");
  EXPECT_EQ(story.says('c', "a.c"), "a.c");
  EXPECT_EQ(story.map().covered, kSlots - kSlots / 3 - (kSlots % 3 > 1 ? 1 : 0));
}

TEST(KnownMap, ReplicasOfBothAreKnownUntilItIsSettled) {
  Story story("abc");
  story.says('x', "add");
  EXPECT_THAT(story.map().replicas, UnorderedElementsAre(node('A'), node('B'), node('C'), node('D')));
  EXPECT_EQ(story.says('y', "add"), "add");
  EXPECT_THAT(story.map().replicas, ElementsAre(node('A'), node('D')));
  EXPECT_EQ(story.map().primaries.size(), 2U) << "none that serves nothing";
  EXPECT_EQ(story.map().primaries[0].replicas, 1);
}

// --- MOVED ---

TEST(KnownMap, AViewThatWasAskedForBeforeAMovedDoesNotUndoIt) {
  Story story("abc");
  story.moved(1, 'b', 'd', 10ms);
  EXPECT_EQ(story.says('x', "aec", 20ms, 5ms), "adc?");
  EXPECT_EQ(story.says('d', "aec", 25ms, 5ms), "adc?") << "not even of the node that MOVED has named";
  EXPECT_EQ(story.says('y', "adc", 30ms), "adc");
}

TEST(KnownMap, NorDoesOneThatNamesWhoeverHasSaidMovedBeforeAllCanKnow) {
  Story story("abc");
  story.moved(1, 'b', 'd', 10ms);
  story.doubted = {'d'};
  EXPECT_EQ(story.says('x', "abc", 9s), "adc?");
  EXPECT_EQ(story.says('y', "abc", 10s), "adc?");
  EXPECT_EQ(story.says('x', "abc", 10011ms), "abc") << "after that a view counts as any other";
}

TEST(KnownMap, OneThatNamesAThirdOneCountsAsAnyOther) {
  Story story("abc");
  story.moved(1, 'b', 'd', 10ms);
  EXPECT_EQ(story.says('d', "aec", 20ms), "aec");
  EXPECT_EQ(story.says('x', "aec", 30ms), "aec") << "the MOVED has no part in it any more";
}

TEST(KnownMap, TheLastMovedCounts) {
  Story story("abc");
  story.moved(1, 'b', 'd', 10ms);
  story.moved(1, 'd', 'b', 20ms);
  EXPECT_EQ(story.says('x', "adc", 30ms), "abc?");
  EXPECT_EQ(story.says('y', "abc", 40ms), "abc");
}

}  // namespace
}  // namespace holdfast::redis::cluster::cluster_known_map_test
