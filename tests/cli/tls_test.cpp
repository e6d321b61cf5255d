// SPDX-License-Identifier: Apache-2.0
// The tool over TLS, for which it loads OpenSSL.
#include <sys/stat.h>

#include "cli_fixture.hpp"

namespace holdfast::test::tls_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class ToolOverTls : public CliTest {
 protected:
  ToolOverTls() : CliTest({.listen = ServerOptions::Listen::tls, .ask_client_certificate = true}) {}

  /// The URL with another file in the place of this one.
  std::string url_with(std::string file, const std::string& other) const {
    std::string url = url_;
    const std::size_t at = url.find(file);
    EXPECT_NE(at, url.npos) << url;
    return url.replace(at, file.size(), other);
  }
};

TEST_F(ToolOverTls, HoldsALock) {
  const Outcome run = use({"run", "job", "--", "/bin/sh", "-c", "\"$tool\" inspect job"}, {"tool=" + tool()});
  EXPECT_EQ(run.status, exited(0));
  EXPECT_THAT(run.out, HasSubstr("job"));
  EXPECT_THAT(run.err, IsEmpty());
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(ToolOverTls, SaysThatItTrustsAnybodyOnce) {
  const std::string trusting = url_ + "&verify=none";
  for (const std::vector<std::string>& line : std::vector<std::vector<std::string>>{
           {"ls"}, {"run", "job", "--", "true"}, {"wait", "-n", "job"}, {"doctor", "--fail-on", "danger"}}) {
    const std::string err = use(line, {"HOLDFAST_URL=" + trusting}).err;
    const std::size_t at = err.find("verify=none: any server is trusted");
    ASSERT_NE(at, err.npos) << line.front();
    EXPECT_EQ(err.find("verify=none", at + 1), err.npos) << err;
  }
  EXPECT_THAT(use({"ls", "-q"}, {"HOLDFAST_URL=" + trusting}).err, IsEmpty());
  EXPECT_THAT(use({"ls"}).err, IsEmpty());
  const std::string doctor = use({"doctor"}, {"HOLDFAST_URL=" + trusting}).out;
  EXPECT_THAT(doctor, testing::ContainsRegex("warning +tls +encrypted, but verify=none"));
  EXPECT_THAT(use({"doctor"}, {"HOLDFAST_URL=" + url_ + "&verify=ca"}).out,
              testing::ContainsRegex("note +tls +encrypted, but verify=ca"));
}

TEST_F(ToolOverTls, SaysThatEverybodyMayReadTheKey) {
  const std::string& key = server_.certificates().client_key_file;
  ASSERT_EQ(chmod(key.c_str(), 0640), 0);
  EXPECT_THAT(use({"ls"}).err, IsEmpty());
  ASSERT_EQ(chmod(key.c_str(), 0644), 0);
  EXPECT_THAT(use({"ls"}).err, HasSubstr("every user of this machine may read the private key in " + key));
}

TEST_F(ToolOverTls, SaysWhatIsNotTrusted) {
  const Certificates& files = server_.certificates();
  const Outcome strange = use({"run", "--url", url_with(files.ca_file, files.untrusted_ca_file), "job", "--", "true"});
  EXPECT_EQ(strange.status, exited(69));
  EXPECT_THAT(strange.err, HasSubstr("certificate verify failed"));
  const Outcome missing = use({"ls", "--url", url_with(files.client_key_file, "/nowhere/key.pem")});
  EXPECT_EQ(missing.status, exited(69));
  EXPECT_THAT(missing.err, HasSubstr("/nowhere/key.pem: No such file"));
}

}  // namespace
}  // namespace holdfast::test::tls_test
