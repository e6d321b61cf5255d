// SPDX-License-Identifier: Apache-2.0
// A cluster in a URL and in a Config, and by which command its releases are told.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>

#include "unit/refusal.hpp"

namespace holdfast::test::cluster_config_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(ClusterUrl, NamesSomeOfTheNodes) {
  const Config config = Config::from_url("Redis+Cluster://ann:word@a,b:7001,[::1]:7002/3?lease=10s");
  EXPECT_THAT(std::get<ClusterConfig>(config.server).addresses,
              ElementsAre(NodeAddress{"a", 6379}, NodeAddress{"b", 7001}, NodeAddress{"::1", 7002}));
  EXPECT_EQ(config.node(), "cluster a:6379,b:7001,[::1]:7002");
  EXPECT_EQ(config.username, "ann");
  EXPECT_EQ(config.password, "word");
  EXPECT_EQ(config.database, 3U);
  EXPECT_FALSE(config.tls.enabled);
  EXPECT_NO_THROW(config.validate());
}

TEST(ClusterUrl, MayBeOverTlsAndNameOneNodeAndADatabaseInTheQuery) {
  const Config config = Config::from_url("rediss+cluster://a?db=2&user=ann&ca_file=ca.pem");
  EXPECT_TRUE(config.tls.enabled);
  EXPECT_EQ(config.tls.ca_file, "ca.pem");
  EXPECT_EQ(config.database, 2U);
  EXPECT_EQ(config.node(), "cluster a:6379");
}

TEST(ClusterUrl, SaysHowReleasesAreTold) {
  const auto publish = [](const std::string& url) { return Config::from_url(url).publish; };
  EXPECT_EQ(publish("redis+cluster://a"), Publish::automatic);
  const std::pair<const char*, Publish> words[] = {{"auto", Publish::automatic},
                                                   {"publish", Publish::publish},
                                                   {"spublish", Publish::spublish},
                                                   {"both", Publish::both}};
  for (const auto& [word, meant] : words) {
    EXPECT_EQ(publish("redis+cluster://a?publish=" + std::string(word)), meant) << word;
  }
  EXPECT_EQ(publish("redis://h?publish=auto"), Publish::automatic);
  EXPECT_EQ(publish("redis+sentinel://s/main?publish=publish"), Publish::publish);
}

struct Fault {
  std::string url, words;
};

TEST(BadClusterUrl, IsRefusedWithAMessageThatNamesTheFault) {
  const std::vector<Fault> faults{
      {"redis+cluster://", "the address of a node is missing, as in redis+cluster://"},
      {"redis+cluster://:7000", "the address of a node is missing"},
      {"redis+cluster://a,,b", "between commas there is no host"},
      {"redis+cluster://a,b,a:6379", "a:6379 is given twice"},
      {"redis+cluster:a", "two slashes"},
      {"redis+cluster://a/main", "the database must be"},
      {"redis+cluster://a/1?db=1", "the database is given twice"},
      {"redis+cluster://a?ca_file=x", "ca_file is about TLS"},
      {"redis+cluster://a?sentinel_user=x", "needs a redis+sentinel:// URL"},
      {"redis+cluster://a?publish=yes", "publish must be auto, publish, spublish or both, not \"yes\""},
      {"redis+cluster+sentinel://a/main", "is unknown"},
      {"unix+cluster://a", "is unknown; known are redis://"},
      {"local+cluster:a", "starts with a scheme"},
      {"redis://h?publish=spublish", "without a cluster everybody uses PUBLISH"},
      {"redis+sentinel://s/main?publish=both", "without a cluster everybody uses PUBLISH"},
      {"unix:///r?publish=both", "without a cluster everybody uses PUBLISH"},
      {"local:?publish=spublish", "without a cluster everybody uses PUBLISH"},
  };
  for (const Fault& fault : faults) {
    const Refusal refusal = refusal_of_url(fault.url);
    EXPECT_EQ(refusal.code, Errc::invalid_argument) << fault.url;
    EXPECT_THAT(refusal.text, HasSubstr(fault.words)) << fault.url;
  }
}

TEST(BadClusterUrl, IsShownWithoutItsLogin) {
  EXPECT_THAT(refusal_of_url("redis+cluster://ann:word@a,b/x?publish=both").text,
              AllOf(HasSubstr("the URL \"redis+cluster://***@a,b/x?...\": the database"), Not(HasSubstr("ann"))));
}

TEST(ClusterSettings, NameNodesAndMayPublishInEachWay) {
  const auto refusal = [](std::vector<NodeAddress> addresses) {
    Config config;
    config.server = ClusterConfig{std::move(addresses)};
    config.publish = Publish::both;
    return refusal_of([&] { config.validate(); }).text;
  };
  EXPECT_THAT(refusal({{"a", 7000}}), HasSubstr("nothing was refused"));
  EXPECT_THAT(refusal({}), HasSubstr("cluster.addresses is empty"));
  EXPECT_THAT(refusal({{":s3cret@h", 1}}),
              AllOf(HasSubstr("cluster.addresses: host must be"), Not(HasSubstr("s3cret"))));
  EXPECT_THAT(refusal({{"a", 0}}), HasSubstr("port must be"));
}

}  // namespace
}  // namespace holdfast::test::cluster_config_test
