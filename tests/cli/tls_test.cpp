// The tool over TLS, for which it loads OpenSSL.
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
