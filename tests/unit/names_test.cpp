// SPDX-License-Identifier: Apache-2.0
// Names of channels, and owners told from other hash fields (docs/wire.md section 1).
#include <string>

#include <gtest/gtest.h>

#include "base/entropy.hpp"
#include "kinds/calls.hpp"
#include "kinds/lock.hpp"
#include "kinds/owner.hpp"

namespace holdfast::wire::names_test {
namespace {

using namespace std::string_literals;

const std::string kUuid = "376fe4aa-10ea-4e60-b8ed-a49082e92014";

TEST(Prefixed, PutsTheNameInBracesSoThatBothShareASlot) {
  EXPECT_EQ(prefixed("redisson_lock__channel", "orders"), "redisson_lock__channel:{orders}");
  EXPECT_EQ(prefixed("redisson_lock_queue", "orders"), "redisson_lock_queue:{orders}");
  EXPECT_EQ(prefixed("p", "plain"), "p:{plain}");
}

TEST(Prefixed, LeavesANameWithAnOpeningBraceAsItIs) {
  EXPECT_EQ(prefixed("p", "{t}x"), "p:{t}x");
  EXPECT_EQ(prefixed("p", "a{b"), "p:a{b");
  EXPECT_EQ(prefixed("p", "x{}y"), "p:x{}y");
  EXPECT_EQ(prefixed("p", "a}b{c}"), "p:a}b{c}");
  EXPECT_EQ(prefixed("p", "{"), "p:{");
}

TEST(Prefixed, LooksForTheOpeningBraceOnly) {
  EXPECT_EQ(prefixed("p", "a}b"), "p:{a}b}");
  EXPECT_EQ(prefixed("p", "}"), "p:{}}");
}

TEST(Suffixed, PutsTheNameInBracesUnlessItHasAnOpeningOne) {
  EXPECT_EQ(suffixed("orders", "timeout"), "{orders}:timeout");
  EXPECT_EQ(suffixed("{t}x", "timeout"), "{t}x:timeout");
  EXPECT_EQ(suffixed("a{b", "timeout"), "a{b:timeout");
  EXPECT_EQ(suffixed("a}b", "timeout"), "{a}b}:timeout");
}

/// As docs/wire.md says: never both.
TEST(Suffixed, IsTheSameOfANameAndOfThatNameInBraces) {
  EXPECT_EQ(suffixed("X", "timeout"), suffixed("{X}", "timeout"));
  EXPECT_EQ(prefixed("redisson_lock_queue", "X"), prefixed("redisson_lock_queue", "{X}"));
  EXPECT_NE(suffixed("{X}:1", "timeout"), suffixed("{X}:2", "timeout"));
}

TEST(OnceKey, LiesInTheSlotOfTheName) {
  EXPECT_EQ(once_key("orders", "c:1"), "{orders}:holdfast_once:c:1");
  EXPECT_EQ(once_key("a{b", "c:1"), "{a{b}:holdfast_once:c:1");
  EXPECT_EQ(once_key("{t}x", "c:1"), "{t}x:holdfast_once:c:1");
  EXPECT_EQ(once_key("x{t}", "c:1"), "x{t}:holdfast_once:c:1");
}

TEST(Prefixed, TakesAnyBytes) {
  EXPECT_EQ(prefixed("p", ""), "p:{}");
  EXPECT_EQ(prefixed("p", "a b\n"), "p:{a b\n}");
  EXPECT_EQ(prefixed("p", "a\0b"s), "p:{a\0b}"s);
  EXPECT_EQ(prefixed("p", "\xc3\xbc"), "p:{\xc3\xbc}");
  EXPECT_EQ(prefixed("p", "\xff"), "p:{\xff}");
}

TEST(LockChannel, IsTheOneThatRedissonSubscribesTo) {
  EXPECT_EQ(lock::names("orders").channel, "redisson_lock__channel:{orders}");
  EXPECT_EQ(lock::names("{t}x").channel, "redisson_lock__channel:{t}x");
}

TEST(LooksLikeOwner, AcceptsWhatRedissonAndHoldfastWrite) {
  EXPECT_TRUE(looks_like_owner(kUuid + ":57"));
  EXPECT_TRUE(looks_like_owner(kUuid + ":0"));
  EXPECT_TRUE(looks_like_owner(kUuid + ":-1")) << "a number that a caller of an asynchronous method made up";
  EXPECT_TRUE(looks_like_owner(kUuid + ":18446744073709551615"));
  EXPECT_TRUE(looks_like_owner("376FE4AA-10EA-4E60-B8ED-A49082E92014:1"));
  EXPECT_TRUE(looks_like_owner(wire::make_uuid() + ":" + std::to_string(base::next_number())));
}

TEST(LooksLikeHolder, AcceptsWhatNodeRedissonWritesToo) {
  EXPECT_TRUE(looks_like_holder(kUuid + ":57"));
  EXPECT_TRUE(looks_like_holder(kUuid + ":" + kUuid));
  EXPECT_EQ(client_of(kUuid + ":" + kUuid), kUuid);
  EXPECT_FALSE(looks_like_owner(kUuid + ":" + kUuid)) << "nothing else has such owners";
}

TEST(LooksLikeHolder, RefusesOtherFields) {
  for (const std::string& field :
       {""s, kUuid, kUuid + ":", kUuid + ":" + kUuid + ":write", kUuid + ":" + kUuid + "\n", kUuid + "-" + kUuid,
        "x" + kUuid.substr(1) + ":" + kUuid, kUuid + ":" + kUuid.substr(1) + "x", kUuid + ":" + kUuid.substr(1)}) {
    EXPECT_FALSE(looks_like_holder(field)) << field;
  }
}

TEST(LooksLikeOwner, RefusesOtherFields) {
  EXPECT_FALSE(looks_like_owner(""));
  EXPECT_FALSE(looks_like_owner("mode"));
  EXPECT_FALSE(looks_like_owner("name"));
  EXPECT_FALSE(looks_like_owner(kUuid));
  EXPECT_FALSE(looks_like_owner(kUuid + ":"));
  EXPECT_FALSE(looks_like_owner(kUuid + ":57:write"));
  EXPECT_FALSE(looks_like_owner(kUuid + ":-"));
  EXPECT_FALSE(looks_like_owner(kUuid + ":--1"));
  EXPECT_FALSE(looks_like_owner(kUuid + ": 1"));
  EXPECT_FALSE(looks_like_owner(kUuid + "-57"));
  EXPECT_FALSE(looks_like_owner(" " + kUuid + ":57"));
  EXPECT_FALSE(looks_like_owner(kUuid + ":57\n"));
  EXPECT_FALSE(looks_like_owner(kUuid + ":5\0007"s));
  EXPECT_FALSE(looks_like_owner("376fe4aa010ea-4e60-b8ed-a49082e92014:57"));
  EXPECT_FALSE(looks_like_owner("376fe4aa-10ea-4e60-b8ed-a49082e9201:57"));
}

TEST(LooksLikeOwner, NoticesEveryWrongCharacterOfTheUuid) {
  for (std::size_t i = 0; i < kUuid.size(); ++i) {
    std::string field = kUuid + ":57";
    field[i] = 'g';
    EXPECT_FALSE(looks_like_owner(field)) << field;
    field[i] = kUuid[i] == '-' ? 'a' : '-';
    EXPECT_FALSE(looks_like_owner(field)) << field;
  }
}

TEST(NamedClient, HasAUuidOfVersion8) {
  EXPECT_TRUE(is_named_client(wire::make_uuid(8)));
  EXPECT_FALSE(is_named_client(wire::make_uuid())) << "as Redisson's";
  EXPECT_FALSE(is_named_client(""));
  EXPECT_FALSE(is_named_client(kUuid + ":8"));
  EXPECT_EQ(client_of(kUuid + ":57"), kUuid);
}

}  // namespace
}  // namespace holdfast::wire::names_test
