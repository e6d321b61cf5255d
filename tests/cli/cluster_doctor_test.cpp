// SPDX-License-Identifier: Apache-2.0
// `holdfast doctor` at a cluster: what people see, and the exit codes.
#include "cli_fixture.hpp"
#include "support/cluster.hpp"

namespace holdfast::test::cluster_doctor_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ClusterDoctor : public CliTest {
 protected:
  Outcome doctor(const std::string& url) const { return use({"doctor", "--url", url}); }

  Cluster cluster{{.persistent = true, .config = {"min-replicas-to-write 1"}}};
};

TEST_F(ClusterDoctor, ShowsAllNodesAndWhatTheySayTogether) {
  const Outcome outcome = doctor(cluster.url());
  EXPECT_EQ(outcome.status, exited(0)) << outcome.out << outcome.err;
  for (std::size_t i = 0; i < cluster.nodes(); ++i) {
    EXPECT_THAT(outcome.out, HasSubstr(Cluster::address(cluster.node(i)))) << outcome.out;
  }
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("\ntogether\n"), HasSubstr("cluster_slots, cluster_agree"), Not(HasSubstr("danger "))));
}

TEST_F(ClusterDoctor, ASilentPrimaryIsADanger) {
  RedisServer& silent = cluster.primary_of(0);
  const std::string url = cluster.url_at(Cluster::address(cluster.primary_of(16383)));
  silent.freeze();
  const Outcome outcome = doctor(url);
  silent.thaw();
  EXPECT_EQ(outcome.status, exited(1)) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("danger   connection"));
}

TEST_F(ClusterDoctor, WithoutAnyNodeItIsUnavailable) {
  const std::string url = cluster.url();
  for (std::size_t i = 0; i < cluster.nodes(); ++i) cluster.node(i).kill();
  EXPECT_EQ(doctor(url).status, exited(69));
}

}  // namespace
}  // namespace holdfast::test::cluster_doctor_test
