// SPDX-License-Identifier: Apache-2.0
// The deployment that tests of failovers stand on does what production does.
#include "support/deployment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/server_program.hpp"

namespace holdfast::test::deployment_test {
namespace {

TEST(DeploymentHarness, FailoversFollowEachOtherAndDataGoesAlong) {
  Deployment deployment;
  RedisServer* before = &deployment.primary();
  for (int i = 0; i < 3; ++i) {
    Raw raw(*before);  // WAIT is about what this connection has written
    EXPECT_EQ(raw.command("SET", "round", i).text, "OK");
    EXPECT_EQ(raw.command("WAIT", 2, 10000).integer, 2);
    deployment.failover();
    RedisServer& now = deployment.primary();
    EXPECT_NE(&now, before);
    EXPECT_EQ(Raw(now).command("GET", "round").text, std::to_string(i));
    before = &now;
    deployment.wait_until_settled();
  }
}

TEST(DeploymentHarness, AKilledPrimaryIsReplacedAndComesBackAsAReplica) {
  Deployment deployment;
  RedisServer& first = deployment.primary();
  first.kill();
  deployment.wait_for_failover_from(first);
  EXPECT_NE(&deployment.primary(), &first);
  first.restart(Data::lose);
  deployment.wait_until_settled();
  EXPECT_EQ(deployment.replicas().size(), 2U);
  EXPECT_EQ(Raw(first).info("replication", "role"), "slave");
}

TEST(DeploymentHarness, AFrozenPrimaryIsReplacedAndDemoted) {
  Deployment deployment;
  RedisServer& first = deployment.primary();
  first.freeze();
  deployment.wait_for_failover_from(first);
  first.thaw();
  deployment.wait_until_settled();
  EXPECT_EQ(Raw(first).info("replication", "role"), "slave");
}

TEST(DeploymentHarness, PasswordsOfServersAndOfSentinels) {
  if (!server_like_redis(6, 2)) GTEST_SKIP() << "Sentinels of Redis 6.0 know no password of each other";
  Deployment deployment({.replicas = 1, .password = "of-servers", .sentinel_password = "of-sentinels"});
  deployment.failover();
  deployment.wait_until_settled();
  Raw stranger(Endpoint{.port = deployment.sentinel(0).port()});
  EXPECT_TRUE(stranger.command("SENTINEL", "MASTERS").text.starts_with("NOAUTH"));
}

TEST(DeploymentHarness, TlsEverywhere) {
  Deployment deployment({.replicas = 1, .tls = true});
  deployment.failover();
  deployment.wait_until_settled();
  EXPECT_TRUE(deployment.url().starts_with("rediss+sentinel://"));
}

}  // namespace
}  // namespace holdfast::test::deployment_test
