// SPDX-License-Identifier: Apache-2.0
// The calls of the latch, and which of its names fit a cluster.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kinds/latch.hpp"
#include "kinds/scripts.hpp"
#include "redis/decide/slot.hpp"

namespace holdfast::wire::latch::latch_calls_test {
namespace {

using base::Reply;
using testing::ElementsAre;
using namespace std::chrono_literals;

const LockNames kGate = names("gate");
const std::string kChannel = "redisson_countdownlatch__channel__{gate}";

TEST(LatchNames, are_the_raw_name_and_redissons_channel_which_always_has_braces) {
  EXPECT_EQ(kGate.key, "gate");
  EXPECT_EQ(kGate.channel, kChannel);
  EXPECT_EQ(names("{t}x").channel, "redisson_countdownlatch__channel__{{t}x}");
}

TEST(LatchNames, fit_a_cluster_where_the_channel_and_what_is_remembered_lie_in_the_slot_of_the_latch) {
  for (const std::string name : {"gate", "a{b", "{", "a b", "{t}x", "a}b", "x{}y", "a}b{c}", "}", "x{t}"}) {
    const bool together = redis::cluster::slot_of(name) == redis::cluster::slot_of(names(name).channel);
    EXPECT_EQ(fits_cluster(name), together) << name;
    if (together) {
      EXPECT_EQ(redis::cluster::slot_of(once_key(name, "c:1")), redis::cluster::slot_of(name)) << name;
    }
  }
}

TEST(LatchCalls, count) {
  const CountCall call{kGate, 3, Once{"c:1", 5s}, Publish::both};
  EXPECT_EQ(set(call).script, &scripts::latch_set);
  EXPECT_EQ(count_down(call).script, &scripts::latch_count_down);
  for (const base::Command& command : {set(call), count_down(call)}) {
    EXPECT_THAT(command.args, ElementsAre("2", "gate", "{gate}:holdfast_once:c:1", "3", "5000", kChannel, "both"));
  }
  EXPECT_THAT(count_down({kGate}).args, ElementsAre("1", "gate", "1", "0", kChannel));
  EXPECT_EQ(remove({kGate}).script, &scripts::latch_remove);
  EXPECT_THAT(remove({kGate}).args, ElementsAre("1", "gate", "0", kChannel));
  EXPECT_THAT(remove({kGate, Once{"c:1", 5s}, Publish::spublish}).args,
              ElementsAre("2", "gate", "{gate}:holdfast_once:c:1", "5000", kChannel, "spublish"));
  EXPECT_THAT(count("gate").args, ElementsAre("GET", "gate"));
}

TEST(LatchReplies, are_counts_or_make_no_sense) {
  const auto text = [](std::string value) { return Reply{Reply::Kind::text, 0, std::move(value), {}}; };
  EXPECT_EQ(decode_count({}), 0);
  EXPECT_EQ(decode_count(text("3")), 3);
  EXPECT_EQ(decode_count(text("-1")), 0);
  EXPECT_EQ(decode_count(text("many")), std::nullopt);
  EXPECT_EQ(decode_number({Reply::Kind::integer, 2, {}, {}}), 2);
  EXPECT_EQ(decode_number(text("2")), std::nullopt);
  EXPECT_EQ(decode_number({}), std::nullopt);
}

}  // namespace
}  // namespace holdfast::wire::latch::latch_calls_test
