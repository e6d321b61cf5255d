// SPDX-License-Identifier: Apache-2.0
// Passwords and users are in no message, whatever is wrong with the URL that holds them.
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/config.hpp>

#include "base/location.hpp"
#include "support/temp_dir.hpp"
#include "unit/refusal.hpp"

namespace holdfast::test::secrets_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Every way to spoil a URL around a login, so that the password ends up in another part of it.
std::vector<std::string> spoiled_urls() {
  std::vector<std::string> urls;
  for (const std::string before :
       {"", "/", "?", "#", "@", "%", "%zz", ":", "[", "]", " ", "\n", "&", "=", "a/1?", "a?db="}) {
    for (const std::string login : {":", "zoe:", "zoe:x"}) {
      for (const std::string after : {"", "/", "?", "#", "@", "%", ":", "[", " ", "?x="}) {
        for (const std::string end : {"", "@", "@h", "@h:x", "@h:0/1", "@h/x", "@h?x=1", "@h#x", "@[h", "@/x"}) {
          const std::string rest = login + before + "s3cret" + after + end;
          for (const std::string start :
               {"redis://", "rediss://", "unix://", "unix:///", "local:", "local://", "redis:", "redis:/", "redis:///",
                "redis+sentinel://", "redis+cluster://", "http://", "http:", "", "//", "://"}) {
            urls.push_back(start + rest);
          }
        }
      }
    }
  }
  return urls;
}

TEST(Secrets, AreInNoErrorHoweverTheUrlIsSpoiled) {
  int refused = 0;
  for (const std::string& url : spoiled_urls()) {
    const std::size_t word = url.find("s3cret");
    const std::size_t at = url.rfind('@');
    if (at != url.npos && at < word) continue;  // It is the host.
    // Without any '@', what comes after the first delimiter is a path or a parameter.
    if (at == url.npos && url.find_first_of("/?", url.find("//") + 2) < word) continue;
    const Refusal refusal = refusal_of_url(url);
    if (!refusal.code) continue;
    ++refused;
    EXPECT_THAT(refusal.text, Not(HasSubstr("s3cret"))) << url;
    // Without an '@' the user cannot be told from a host.
    if (at != url.npos) {
      EXPECT_THAT(refusal.text, Not(HasSubstr("zoe"))) << url;
    }
  }
  EXPECT_GT(refused, 10'000);
}

TEST(Secrets, AreInNoErrorAboutTheQuery) {
  for (const std::string query : {"password=s3cret", "password=x&pass=s3cret", "pass=s3cret", "PASSWORD=s3cret",
                                  "lease=x&password=s3cret", "password=s3cret%", "password=s3cret&password=s3cret"}) {
    for (const std::string start : {"redis://h?", "redis://ann:s3cret@h/0?", "unix:///run/r?", "local:?",
                                    "redis+sentinel://ann:s3cret@s1,s2/main?sentinel_"}) {
      EXPECT_THAT(refusal_of_url(start + query).text, AllOf(HasSubstr("invalid argument"), Not(HasSubstr("s3cret"))))
          << start << query;
    }
  }
}

TEST(Secrets, AreNotInTheNode) {
  for (const std::string url : {"redis://ann:s3cret@h", "rediss://ann:s3cret@[::1]:7/1", "unix://ann:s3cret@/run/r",
                                "redis+sentinel://ann:s3cret@s1,s2/main", "redis+cluster://ann:s3cret@a,b:7/1"}) {
    EXPECT_THAT(Config::from_url(url).node(), AllOf(Not(HasSubstr("s3cret")), Not(HasSubstr("ann")))) << url;
  }
}

TEST(Secrets, OfSentinelsAreKeptApart) {
  const TempDir folder;
  std::ofstream(folder.file("word")) << "s3cret\r\n";
  const Config config = Config::from_url(
      "rediss+sentinel://ann:word@s1,s2:7/main/3?ca_file=ca.pem&sentinel_user=watcher&sentinel_password_file=" +
      folder.file("word"));
  EXPECT_TRUE(config.tls.enabled);
  EXPECT_EQ(config.username, "ann");
  EXPECT_EQ(config.password, "word");
  const auto& sentinels = std::get<SentinelConfig>(config.server);
  EXPECT_EQ(sentinels.primary, "main");
  EXPECT_EQ(sentinels.username, "watcher");
  EXPECT_EQ(sentinels.password_file, folder.file("word"));
  EXPECT_EQ(base::at_sentinel(config, {"s1", 1}).credentials().password, "s3cret");
  std::ofstream(folder.file("word")) << "another\n";
  const Credentials now = base::at_sentinel(config, {"s1", 1}).credentials();
  EXPECT_EQ(std::pair(now.username, now.password), std::pair(std::string("watcher"), std::string("another")));
  const std::vector<NodeAddress> expected{{"s1", 26379}, {"s2", 7}};
  EXPECT_EQ(sentinels.addresses, expected);
}

}  // namespace
}  // namespace holdfast::test::secrets_test
