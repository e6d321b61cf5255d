// SPDX-License-Identifier: Apache-2.0
// The server cannot write to its disk, or this process has no descriptors left: nothing hangs or lies, and all is well
// again afterwards.
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

#include "faults.hpp"
#include "starving.hpp"

namespace holdfast::test::scarcity_test {
namespace {

/// A server whose snapshots fail: it takes no writes (MISCONF).
class FullDisk {
 public:
  explicit FullDisk(const RedisServer& server) : raw_(server), in_the_way_(server.data_folder() + "/dump.rdb") {
    std::filesystem::remove(in_the_way_);
    std::filesystem::create_directories(in_the_way_ + "/sub");
    save("err");
  }
  void free() {
    std::filesystem::remove_all(in_the_way_);
    save("ok");
  }

 private:
  void save(const std::string& outcome) {
    EXPECT_TRUE(eventually([&] {
      raw_.command("BGSAVE");
      return raw_.info("persistence", "rdb_last_bgsave_status") == outcome;
    }));
  }

  Raw raw_;
  const std::string in_the_way_;
};

class Scarcity : public Faults {
 protected:
  Scarcity() : Faults({.config = {"save 3600 1"}}) {}
  Config settings() const {
    Config settings = config();
    settings.timing.patience = 500ms;
    settings.timing.release_timeout = 300ms;
    return settings;
  }
};

TEST_F(Scarcity, OfDiskRefusesAllAndHoldersAreToldInTime) {
  Client client(settings());
  Hold renewed_one = client.lock("orders").acquire({.lease = renewed(600ms)});
  Hold released_one = client.lock("stock").acquire({.lease = fixed(2s)});
  FullDisk disk(server);
  ASSERT_TRUE(raw.command("SET", "more", "x").text.starts_with("MISCONF"));

  const auto said = IsError(Errc::server_error, "other", client.node(), testing::HasSubstr("MISCONF"));
  EXPECT_THAT(error_of([&] { return client.lock("other").acquire({.wait = 200ms}); }),
              testing::AnyOf(said, IsError(Errc::timed_out, "other", client.node(), testing::_)));
  EXPECT_THAT(error_of([&] { return client.lock("other").acquire({.wait = 1min}); }), said);
  EXPECT_EQ(released_one.release(), ReleaseOutcome::unknown);
  EXPECT_TRUE(eventually([&] { return renewed_one.lost_token().stop_requested(); })) << "nobody could renew it";
  EXPECT_EQ(renewed_one.loss_reason(), LossReason::expired);
  EXPECT_EQ(renewed_one.valid_for(), 0ms);

  disk.free();
  EXPECT_TRUE(client.lock("orders").acquire({.wait = 10s}));
  EXPECT_TRUE(client.lock("stock").acquire({.wait = 10s}));
}

/// As long as it lives this process gets no new descriptor.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = 256;
    setrlimit(RLIMIT_NOFILE, &few);
    for (int fd = dup(0); fd >= 0; fd = dup(0)) taken_.push_back(fd);
  }
  ~NoDescriptors() {
    for (const int fd : taken_) close(fd);
    setrlimit(RLIMIT_NOFILE, &before_);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

TEST_F(Scarcity, OfDescriptorsEndsOnlyClientsThatBegin) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the undefined-behaviour sanitizer looks at objects' types through a pipe, and none can be made";
#endif
  Client client(settings());
  Lock lock = client.lock("orders");
  Hold hold = lock.acquire({.lease = renewed(600ms)});
  // All its connections stand before there are no more: the one that watches keys comes later.
  ASSERT_TRUE(eventually([&] { return raw.info("clients", "tracking_clients") == "1"; }));
  const std::size_t descriptors = open_descriptors();
  {
    const NoDescriptors none;
    EXPECT_THAT(error_of([&] { return Client(settings()), 0; }),
                IsError(Errc::exhausted, "", client.node(), testing::HasSubstr("descriptor")));
    const std::uint64_t renewals = client.counters().renewals;
    EXPECT_TRUE(eventually([&] { return client.counters().renewals >= renewals + 3; }));
    EXPECT_EQ(hold.state(), HoldState::held);

    raw.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    raw.command("CLIENT", "KILL", "TYPE", "pubsub");
    EXPECT_TRUE(client.lock("other").acquire()) << "a connection that breaks gives its descriptor to the next";
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  }
  EXPECT_TRUE(lock.acquire({.wait = 10s}));
  EXPECT_TRUE(client.lock("other").acquire({.wait = 10s}));
  EXPECT_TRUE(eventually([&] { return open_descriptors() <= descriptors; })) << descriptors_in_words();
}

}  // namespace
}  // namespace holdfast::test::scarcity_test
