// SPDX-License-Identifier: Apache-2.0
// Which slot a key lies in, as servers count it: numbers that CLUSTER KEYSLOT gives.
#include <string>

#include <gtest/gtest.h>

#include "redis/decide/slot.hpp"

namespace holdfast::redis::cluster::cluster_slot_test {
namespace {

TEST(ClusterSlot, IsTheChecksumOfTheKey) {
  EXPECT_EQ(slot_of("123456789"), 0x31C3);
  EXPECT_EQ(slot_of(""), 0);
  EXPECT_EQ(slot_of("foo"), 12182);
  EXPECT_EQ(slot_of("orders"), 105);
}

TEST(ClusterSlot, WhatStandsInBracesCountsAlone) {
  EXPECT_EQ(slot_of("{user1000}.following"), slot_of("user1000"));
  EXPECT_EQ(slot_of("{user1000}.followers"), slot_of("user1000"));
  EXPECT_EQ(slot_of("user1000"), 3443);
  EXPECT_EQ(slot_of("foo{bar}{zap}"), slot_of("bar"));
  EXPECT_EQ(slot_of("foo{{bar}}zap"), slot_of("{bar"));
  EXPECT_EQ(slot_of("redisson_lock__channel:{orders}"), slot_of("orders"));
  EXPECT_EQ(slot_of("}{x}"), slot_of("x"));
}

TEST(ClusterSlot, NothingInBracesOrNoSecondOneMeansTheWholeKey) {
  EXPECT_EQ(slot_of("foo{}{bar}"), 8363);
  EXPECT_EQ(slot_of("foo{bar"), 15278);
  EXPECT_EQ(slot_of("foo}bar"), 7223);
  EXPECT_EQ(slot_of("{}"), 15257);
  EXPECT_EQ(slot_of("{"), 4092);
}

TEST(ClusterSlot, BytesMayBeAny) {
  EXPECT_EQ(slot_of(std::string("\x00\xff\x80", 3)), 4727);
  EXPECT_EQ(slot_of(std::string(1, '\0')), 0);
  EXPECT_EQ(slot_of("schl\xc3\xb6sser"), 10412);
}

}  // namespace
}  // namespace holdfast::redis::cluster::cluster_slot_test
