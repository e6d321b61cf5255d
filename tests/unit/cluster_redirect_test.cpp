// SPDX-License-Identifier: Apache-2.0
// MOVED and ASK in words of servers, and what is none of these.
#include <string>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "redis/decide/redirect.hpp"

namespace holdfast::redis::cluster::cluster_redirect_test {
namespace {

/// `moved 3999 to 127.0.0.1:6381`, or `nothing`.
std::string read(const std::string& error_text) {
  const auto redirect = read_redirect(error_text, {"asked.example", 7000});
  if (!redirect) return "nothing";
  return std::string(redirect->kind == Redirect::Kind::moved ? "moved " : "ask ") + std::to_string(redirect->slot) +
         " to " + base::host_and_port(redirect->to.host, redirect->to.port);
}

TEST(ClusterRedirect, NamesTheSlotAndTheNode) {
  EXPECT_EQ(read("MOVED 3999 127.0.0.1:6381"), "moved 3999 to 127.0.0.1:6381");
  EXPECT_EQ(read("ASK 3999 127.0.0.1:6381"), "ask 3999 to 127.0.0.1:6381");
  EXPECT_EQ(read("MOVED 0 node-1.example.org:65535"), "moved 0 to node-1.example.org:65535");
  EXPECT_EQ(read("MOVED 16383 h:1"), "moved 16383 to h:1");
}

TEST(ClusterRedirect, ThePortStandsBehindTheLastColon) {
  EXPECT_EQ(read("MOVED 3999 ::1:6381"), "moved 3999 to [::1]:6381");
  EXPECT_EQ(read("ASK 3999 2001:db8::8:6381"), "ask 3999 to [2001:db8::8]:6381");
}

TEST(ClusterRedirect, WithoutAHostItIsTheOneThatWasAsked) {
  EXPECT_EQ(read("MOVED 3999 :6380"), "moved 3999 to asked.example:6380");
  EXPECT_EQ(read("ASK 3999 :6380"), "ask 3999 to asked.example:6380");
  EXPECT_FALSE(read_redirect("MOVED 3999 :6380", {"", 0}));
}

TEST(ClusterRedirect, WhatMakesNoSenseIsNone) {
  for (const std::string text : {"",
                                 "MOVED",
                                 "ASK ",
                                 "MOVED 3999",
                                 "MOVED 3999 ",
                                 "MOVED 3999 h",
                                 "MOVED 3999 h:",
                                 "MOVED 3999 :",
                                 "MOVED 16384 h:1",
                                 "MOVED 65536 h:1",
                                 "MOVED -1 h:1",
                                 "MOVED +1 h:1",
                                 "MOVED x h:1",
                                 "MOVED 1x h:1",
                                 "MOVED  3999 h:1",
                                 "MOVED h:1",
                                 "MOVED 3999 h:0",
                                 "MOVED 3999 h:65536",
                                 "MOVED 3999 h:99999999999999999999",
                                 "MOVED 3999 h:-1",
                                 "MOVED 3999 h:6x",
                                 "MOVED 3999 ?:6380",
                                 "MOVED 3999 h/x:1",
                                 "MOVED 3999 h\n:1"}) {
    EXPECT_EQ(read(text), "nothing") << text;
  }
  EXPECT_EQ(read("MOVED 3999 " + std::string(256, 'h') + ":1"), "nothing");
}

TEST(ClusterRedirect, OtherErrorsAreNone) {
  for (const char* text : {"MOVEDX 3999 h:1", "moved 3999 h:1", "ASKING 3999 h:1", "TRYAGAIN Multiple keys request",
                           "CLUSTERDOWN Hash slot not served", "REDIRECT h:1"}) {
    EXPECT_EQ(read(text), "nothing") << text;
  }
}

TEST(ClusterRedirect, WhatComesFromWithinAScriptIsNone) {
  // The script has perhaps written before.
  EXPECT_EQ(read("MOVED 3999 127.0.0.1:6381 script: 206396248e12c6e742fd7296250433c8d7343b74, on @user_script:1."),
            "nothing");
  EXPECT_EQ(read("ERR Error running script (call to f_206396248e12c6e742fd7296250433c8d7343b74): @user_script:1: "
                 "@user_script: 1: -MOVED 3999 127.0.0.1:6381"),
            "nothing");
}

}  // namespace
}  // namespace holdfast::redis::cluster::cluster_redirect_test
