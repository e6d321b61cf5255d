// SPDX-License-Identifier: Apache-2.0
// `local:` is never put where another user could have it: in their folders, open ones, or behind links.
#include "local_server.hpp"

namespace holdfast::test::local_folder_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class LocalFolder : public LocalServer {};

TEST_F(LocalFolder, RefusesAFolderThatOthersMayEnter) {
  fs::create_directory(folder());
  for (const mode_t mode : {0701U, 0710U, 0740U, 0770U, 0777U}) {
    ASSERT_EQ(chmod(folder().c_str(), mode), 0);
    EXPECT_THAT(outcome(), AllOf(StartsWith("the server refuses access | " + socket()), HasSubstr(folder().string()),
                                 HasSubstr("open to other users"), HasSubstr("0700")));
  }
  EXPECT_THAT(servers(), IsEmpty());
}

TEST_F(LocalFolder, RefusesAFolderOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder to somebody else";
  fs::create_directory(folder());
  ASSERT_EQ(chmod(folder().c_str(), 0700), 0);
  ASSERT_EQ(chown(folder().c_str(), 65534, 65534), 0);
  EXPECT_THAT(outcome(), AllOf(StartsWith("the server refuses access"), HasSubstr("belongs to another user")));
}

TEST_F(LocalFolder, RefusesALinkInPlaceOfItsFolder) {
  fs::create_directory(dir_.path() / "elsewhere");
  ASSERT_EQ(chmod((dir_.path() / "elsewhere").c_str(), 0700), 0);
  fs::create_directory_symlink(dir_.path() / "elsewhere", folder());
  EXPECT_THAT(outcome(), AllOf(StartsWith("the server refuses access"), HasSubstr("is not a folder")));
}

TEST_F(LocalFolder, RefusesAFileInPlaceOfItsFolder) {
  std::ofstream(folder()) << "x";
  EXPECT_THAT(outcome(), AllOf(StartsWith("the server refuses access"), HasSubstr("is not a folder")));
}

constexpr uid_t kNobody = 65534;

TEST_F(LocalFolder, RefusesARuntimeFolderOfAnotherUserOrInOneOfTheirs) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder to somebody else";
  fs::create_directories(dir_.path() / "theirs" / "ours");
  ASSERT_EQ(chown((dir_.path() / "theirs").c_str(), kNobody, kNobody), 0);
  for (const std::string& runtime : {dir_.file("theirs"), dir_.file("theirs/ours")}) {
    use_runtime_dir(runtime);
    EXPECT_THAT(outcome(), AllOf(StartsWith("the server refuses access | " + runtime + "/holdfast/redis.sock"),
                                 HasSubstr(dir_.file("theirs") + " belongs to another user")));
    EXPECT_FALSE(fs::exists(runtime + "/holdfast"));
  }
  EXPECT_THAT(servers(), IsEmpty());
}

TEST_F(LocalFolder, RefusesARuntimeFolderThatOthersMayWriteTo) {
  fs::create_directories(dir_.path() / "outer" / "inner");
  const std::string outer = dir_.file("outer");
  for (const mode_t mode : {0720U, 0702U, 0777U}) {
    ASSERT_EQ(chmod(outer.c_str(), mode), 0);
    for (const std::string& runtime : {outer, outer + "/inner"}) {
      use_runtime_dir(runtime);
      EXPECT_THAT(outcome(), AllOf(StartsWith("the server refuses access"),
                                   HasSubstr("other users may write to the folder " + outer)));
    }
  }
  EXPECT_THAT(servers(), IsEmpty());
  // Where nobody can remove what is another's, as in /tmp.
  ASSERT_EQ(chmod(outer.c_str(), 01777), 0);
  use_runtime_dir(outer);
  EXPECT_EQ(outcome(), outer + "/holdfast/redis.sock");
}

TEST_F(LocalFolder, IsAlsoForAnOrdinaryUser) {
  if (geteuid() != 0) GTEST_SKIP() << "all the other tests are of one, unless root runs them";
  ASSERT_EQ(chown(dir_.path().c_str(), kNobody, kNobody), 0);
  LocalCaller child([] {
    if (setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(2);
  });
  EXPECT_EQ(child.result(), socket());
  EXPECT_THAT(outcome(), HasSubstr("belongs to another user")) << "not even root uses it";
}

TEST_F(LocalFolder, RefusesFilesThatAreNotItsOwn) {
  fs::create_directory(folder());
  ASSERT_EQ(chmod(folder().c_str(), 0700), 0);
  const std::string victim = dir_.file("victim");
  for (const char* name : {"start.lock", "redis.log", "redis.pid", "redis.sock"}) {
    const fs::path file = folder() / name;
    std::ofstream(victim) << "precious";
    fs::create_symlink(victim, file);
    EXPECT_THAT(outcome(), AllOf(StartsWith("the server refuses access"),
                                 HasSubstr(file.string() + " is not what a server has there")));
    fs::remove(file);
    fs::create_hard_link(victim, file);
    EXPECT_THAT(outcome(), AllOf(StartsWith("the server refuses access"), HasSubstr(file.string())));
    fs::remove(file);
    if (geteuid() == 0 && name != std::string_view("redis.sock")) {
      std::ofstream(file) << "theirs";
      ASSERT_EQ(chown(file.c_str(), kNobody, kNobody), 0);
      EXPECT_THAT(outcome(), HasSubstr(file.string() + " belongs to another user"));
      fs::remove(file);
    }
    EXPECT_EQ(contents(victim), "precious");
  }
  EXPECT_THAT(servers(), IsEmpty());
}

TEST_F(LocalFolder, WritesNothingWhereAFolderSwappedMeanwhileLeads) {
  const std::string victims = dir_.file("victims"), ours = dir_.file("ours"), link = dir_.file("link"),
                    path = dir_.file("path");
  for (const std::string& each : {victims, ours}) {
    fs::create_directory(each);
    ASSERT_EQ(chmod(each.c_str(), 0700), 0);
  }
  std::ofstream(victims + "/redis.log") << "precious";
  fs::create_directory_symlink(victims, link);
  const std::string bin = path_with("redis-server", "exit 1");
  const std::optional<std::string> path_before = std::getenv("PATH");
  setenv("PATH", (bin + ":" + *path_before).c_str(), 1);
  int begun = 0;
  {
    const std::jthread attacker([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        rename(ours.c_str(), path.c_str());
        rename(path.c_str(), ours.c_str());
        rename(link.c_str(), path.c_str());
        rename(path.c_str(), link.c_str());
      }
    });
    EXPECT_TRUE(eventually([&] {
      try {
        private_server::start(private_server::files_in(path), private_server::Stays::with_us);
      } catch (const Error& error) {
        if (error.code() == Errc::unreachable) ++begun;
      }
      return begun >= 100 || contents(victims + "/redis.log") != "precious";
    }));
  }
  setenv("PATH", path_before->c_str(), 1);
  EXPECT_EQ(contents(victims + "/redis.log"), "precious");
  EXPECT_GE(begun, 100);
}

TEST_F(LocalFolder, RefusesAPathThatIsTooLongForASocket) {
  const fs::path deep = dir_.path() / std::string(100, 'x');
  fs::create_directory(deep);
  use_runtime_dir(deep.string());
  EXPECT_THAT(outcome(), AllOf(StartsWith("cannot reach the server"), HasSubstr("too long for a socket")));
}

}  // namespace
}  // namespace holdfast::test::local_folder_test
