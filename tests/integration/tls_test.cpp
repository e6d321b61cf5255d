// SPDX-License-Identifier: Apache-2.0
// TLS: it works, and what cannot be trusted is refused at once with its reason.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <sstream>

#include "faults.hpp"
#include "support/process.hpp"
#include "support/server_program.hpp"
#include "support/stranger.hpp"
#include "support/temp_dir.hpp"

namespace holdfast::test::tls_test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::Optional;
using testing::Property;

class Tls : public Faults {
 protected:
  Tls() : Tls(false) {}
  explicit Tls(bool ask_client_certificate)
      : Faults({.listen = ServerOptions::Listen::tls, .ask_client_certificate = ask_client_certificate}) {}

  /// Acquires with these settings; refused, it must not have waited for any time limit.
  std::optional<Error> refused(const Config& settings) {
    std::optional<Error> error;
    EXPECT_LT(duration_of([&] {
                Client client(settings);
                error = error_of([&] { return client.lock("orders").acquire(); });
              }),
              settings.timing.command_timeout);
    EXPECT_FALSE(raw.exists("orders"));
    return error;
  }
};

class TlsWithClientCertificate : public Tls {
 protected:
  TlsWithClientCertificate() : Tls(true) {}
};

TEST_F(Tls, CarriesALockThroughItsWholeLife) {
  Client client(config());
  Client second(config());
  EXPECT_TRUE(client.node().starts_with("localhost:"));
  Hold hold = client.lock("orders").acquire({.lease = renewed(600ms)});
  auto next = in_thread([&] { return second.lock("orders").acquire(); });
  ASSERT_TRUE(listeners(raw, "orders"));
  EXPECT_TRUE(eventually([&] { return client.counters().renewals >= 2; }));
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(hold.owner()));
  raw.command("CLIENT", "KILL", "TYPE", "normal");
  EXPECT_TRUE(eventually([&] { return client.counters().connections == 2; }));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  ASSERT_TRUE(ready(next));
  EXPECT_EQ(next.get().release(), ReleaseOutcome::released);
}

TEST_F(Tls, CarriesManyHoldsAtOnce) {
  Client client(config());
  std::vector<Hold> holds;
  for (int i = 0; i < 300; ++i) {
    holds.push_back(client.lock(std::string(500, 'x') + std::to_string(i)).acquire({.lease = renewed(1500ms)}));
  }
  EXPECT_TRUE(eventually([&] { return client.counters().renewals >= 600; }));
  for (Hold& hold : holds) EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

TEST_F(Tls, RefusesAnAuthorityThatIsNotTrusted) {
  Config settings = config();
  settings.tls.ca_file = server.certificates().untrusted_ca_file;
  EXPECT_THAT(refused(settings), IsError(Errc::tls, "orders", settings.node(), HasSubstr("certificate verify failed")));
  settings.tls.ca_file.clear();  // The system's authorities do not know it either.
  EXPECT_THAT(refused(settings), IsError(Errc::tls, "orders", settings.node(), HasSubstr("certificate verify failed")));
}

TEST_F(Tls, RefusesAServerOfAnotherName) {
  Config settings = config();
  std::get<NodeAddress>(settings.server).host = "127.0.0.1";
  EXPECT_THAT(refused(settings), IsError(Errc::tls, "orders", settings.node(), HasSubstr("certificate verify failed")));
}

TEST_F(Tls, ChecksNothingWhenToldSo) {
  Config settings = config();
  std::get<NodeAddress>(settings.server).host = "127.0.0.1";
  settings.tls.ca_file = server.certificates().untrusted_ca_file;
  settings.tls.verify = TlsConfig::Verify::none;
  EXPECT_TRUE(Client(settings).lock("orders").acquire());
}

TEST_F(Tls, ChecksTheAuthorityAloneWhenToldSo) {
  Config settings = config();
  std::get<NodeAddress>(settings.server).host = "127.0.0.1";
  settings.tls.verify = TlsConfig::Verify::ca;
  EXPECT_TRUE(Client(settings).lock("orders").acquire());
  settings.tls.ca_file = server.certificates().untrusted_ca_file;
  EXPECT_THAT(refused(settings), IsError(Errc::tls, "orders", settings.node(), HasSubstr("certificate verify failed")));
}

TEST_F(Tls, ExpectsTheNameThatItIsTold) {
  Config settings = config();
  std::get<NodeAddress>(settings.server).host = "127.0.0.1";
  settings.tls.server_name = "localhost";
  EXPECT_TRUE(Client(settings).lock("orders").acquire());
  settings = config();
  settings.tls.server_name = "redis.example";
  EXPECT_THAT(refused(settings),
              IsError(Errc::tls, "orders", settings.node(), HasSubstr("it is not for the host redis.example")));
}

TEST_F(Tls, ExpectsTheHostThatAnAddressIsMappedTo) {
  Config settings = config();
  const NodeAddress real = std::get<NodeAddress>(settings.server);
  settings.server = NodeAddress{"announced.invalid", 1};
  settings.map_address = [real](const NodeAddress&) { return real; };
  EXPECT_TRUE(Client(settings).lock("orders").acquire());
  settings.map_address = [real](const NodeAddress&) { return NodeAddress{"127.0.0.1", real.port}; };
  EXPECT_THAT(refused(settings),
              IsError(Errc::tls, "orders", settings.node(), HasSubstr("it is not for the host 127.0.0.1")));
}

/// A name that ends at its NUL for those who do not look: "localhost", then "evil.example".
TEST(TlsOfStrangers, ANameWithANulIsNoName) {
  const TempDir folder;
  const auto served = [&](const std::string& names) {
    ServerOptions options{.listen = ServerOptions::Listen::tls};
    options.certificates = Certificates::make(folder.path() / std::to_string(names.size()), names);
    return options;
  };
  constexpr const char* kNul = "DER:30:18:82:16:6c:6f:63:61:6c:68:6f:73:74:00:65:76:69:6c:2e:65:78:61:6d:70:6c:65";
  const RedisServer server(served(kNul));
  Config settings = Config::from_url(server.url());
  settings.tls.ca_file = server.certificates().ca_file;
  EXPECT_THAT(error_of([&] { return Client(settings).lock("orders").acquire(); }),
              IsError(Errc::tls, "orders", settings.node(), HasSubstr("certificate verify failed")));
  const RedisServer plain(served("DER:30:0b:82:09:6c:6f:63:61:6c:68:6f:73:74"));
  settings = Config::from_url(plain.url());
  settings.tls.ca_file = plain.certificates().ca_file;
  EXPECT_TRUE(Client(settings).lock("orders").acquire()) << "the same without the NUL";
}

/// All files at once, of the server and of its client; the old ones are worth nothing with the new ones.
TEST_F(TlsWithClientCertificate, OutlivesNewAuthoritiesAndCertificates) {
  if (!server_like_redis(7, 0)) GTEST_SKIP() << "before 7.0 CONFIG SET changes one thing at a time";
  const TempDir folder;
  const Certificates sets[] = {server.certificates(), Certificates::make(folder.path() / "other")};
  Config settings = config();
  settings.lease = 10s;
  const std::pair<std::string TlsConfig::*, std::string Certificates::*> files[] = {
      {&TlsConfig::ca_file, &Certificates::ca_file},
      {&TlsConfig::certificate_file, &Certificates::client_certificate_file},
      {&TlsConfig::key_file, &Certificates::client_key_file}};
  const auto put = [&](const Certificates& set) {
    for (const auto& [ours, theirs] : files) std::filesystem::rename(set.*theirs + ".new", settings.tls.*ours);
  };
  const auto prepare = [&](const Certificates& set) {
    for (const auto& [ours, theirs] : files) {
      std::filesystem::copy_file(set.*theirs, set.*theirs + ".new", std::filesystem::copy_options::overwrite_existing);
    }
  };
  for (const auto& [ours, theirs] : files) {
    settings.tls.*ours = folder.file(std::filesystem::path(sets[0].*theirs).filename().string());
  }
  prepare(sets[0]);
  put(sets[0]);
  Client client(settings);
  Hold hold = client.lock("orders").acquire();
  for (int turn = 1; turn <= 6; ++turn) {
    const Certificates& next = sets[turn % 2];
    prepare(next);
    if (turn % 3 == 0) put(next);  // at times the client's come first
    raw.command("CONFIG", "SET", "tls-ca-cert-file", next.ca_file, "tls-cert-file", next.server_certificate_file,
                "tls-key-file", next.server_key_file);
    raw.command("CLIENT", "KILL", "TYPE", "normal");
    if (turn % 3 != 0) put(next);
    EXPECT_EQ(client.lock("other").acquire().release(), ReleaseOutcome::released) << "turn " << turn;
  }
  EXPECT_EQ(client.counters().lost, 0U);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

std::string text_of(const std::string& file) {
  std::ostringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}
TlsCredentials read_all(const Certificates& set) {
  return {text_of(set.ca_file), text_of(set.client_certificate_file), text_of(set.client_key_file)};
}

/// A provider that a test changes.
class Provided {
 public:
  explicit Provided(TlsCredentials first) : given_(std::move(first)) {}
  void set(TlsCredentials next) {
    const std::lock_guard guard(mutex_);
    given_ = std::move(next);
  }
  static TlsProvider by(const std::shared_ptr<Provided>& provided) {
    return [provided] {
      ++provided->calls;
      const std::lock_guard guard(provided->mutex_);
      if (provided->given_.certificate.empty()) throw std::runtime_error("the vault is sealed\n");
      return provided->given_;
    };
  }
  std::atomic<int> calls{0};

 private:
  std::mutex mutex_;
  TlsCredentials given_;
};

TEST_F(TlsWithClientCertificate, OutlivesNewOnesThatAreProvided) {
  if (!server_like_redis(7, 0)) GTEST_SKIP() << "before 7.0 CONFIG SET changes one thing at a time";
  const TempDir folder;
  const Certificates sets[] = {server.certificates(), Certificates::make(folder.path() / "other")};
  const auto provided = std::make_shared<Provided>(read_all(sets[0]));
  Config settings = config();
  settings.lease = 10s;
  for (const auto file : {&TlsConfig::ca_file, &TlsConfig::certificate_file, &TlsConfig::key_file}) {
    (settings.tls.*file).clear();
  }
  settings.tls.provider = Provided::by(provided);
  Client client(settings);
  Hold hold = client.lock("orders").acquire();
  for (int turn = 1; turn <= 6; ++turn) {
    const Certificates& next = sets[turn % 2];
    if (turn % 3 == 0) provided->set(read_all(next));  // at times the client's come first
    raw.command("CONFIG", "SET", "tls-ca-cert-file", next.ca_file, "tls-cert-file", next.server_certificate_file,
                "tls-key-file", next.server_key_file);
    raw.command("CLIENT", "KILL", "TYPE", "normal");
    auto other = std::async(std::launch::async, [&] { return client.lock("other").acquire().release(); });
    if (turn % 3 != 0) {
      const int before = provided->calls;
      EXPECT_TRUE(eventually([&] { return provided->calls > before; })) << "those before are refused meanwhile";
      provided->set(read_all(next));
    }
    EXPECT_EQ(other.get(), ReleaseOutcome::released) << "turn " << turn;
  }
  provided->set({});
  raw.command("CLIENT", "KILL", "TYPE", "normal");
  EXPECT_EQ(client.lock("other").acquire().release(), ReleaseOutcome::released) << "those before serve";
  EXPECT_GE(provided->calls, 8);
  EXPECT_EQ(client.counters().lost, 0U);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

TEST_F(TlsWithClientCertificate, ProvidedOnesThatFailAreNamed) {
  Config settings = config();
  settings.timing.patience = 300ms;
  settings.timing.connect_timeout = 200ms;
  const TlsCredentials good = read_all(server.certificates());
  const auto cause = [&](TlsProvider provider) {
    settings.tls.provider = std::move(provider);
    const Client client(settings);
    const std::optional<Error> error = error_of([&] { return client.lock("orders").acquire(); });
    EXPECT_TRUE(error && error->code() == Errc::unreachable);
    return error ? std::string(error->what()) : std::string();
  };
  EXPECT_THAT(cause(Provided::by(std::make_shared<Provided>(TlsCredentials{}))),
              HasSubstr("the TLS provider threw: \"the vault is sealed\\n\""));
  EXPECT_THAT(cause([]() -> TlsCredentials { throw 1; }),
              HasSubstr("the TLS provider threw something that is no std::exception"));
  const auto over = std::make_shared<std::promise<void>>();
  EXPECT_THAT(cause([over, until = over->get_future().share()]() -> TlsCredentials {
                until.wait();
                return {};
              }),
              HasSubstr("no answer of the TLS provider within 200 ms"));
  over->set_value();
  EXPECT_THAT(cause([good] { return TlsCredentials{"nonsense", good.certificate, good.key}; }),
              HasSubstr("cannot read the authorities that the TLS provider gave"));
  EXPECT_THAT(cause([good] { return TlsCredentials{good.authorities, good.key, good.key}; }),
              HasSubstr("cannot read the certificate that the TLS provider gave"));
  const std::string secret = good.key.substr(good.key.size() / 2, 20);
  const std::string unfit =
      cause([good] { return TlsCredentials{good.authorities, good.certificate, good.certificate}; });
  EXPECT_THAT(unfit, HasSubstr("cannot read the private key that the TLS provider gave"));
  EXPECT_THAT(unfit, Not(HasSubstr(secret)));
  settings.tls.provider = [good] { return good; };
  EXPECT_TRUE(Client(settings).lock("orders").acquire());
}

/// A provider may give the authorities only; then files have the rest.
TEST_F(TlsWithClientCertificate, ProvidedOnesComeBeforeThoseOfFiles) {
  Config settings = config();
  settings.tls.ca_file = server.certificates().untrusted_ca_file;
  const std::string trusted = text_of(server.certificates().ca_file);
  settings.tls.provider = [trusted] { return TlsCredentials{.authorities = trusted}; };
  EXPECT_TRUE(Client(settings).lock("orders").acquire());
  const std::string untrusted = text_of(server.certificates().untrusted_ca_file);
  settings = config();
  settings.tls.provider = [untrusted] { return TlsCredentials{.authorities = untrusted}; };
  EXPECT_THAT(refused(settings), IsError(Errc::tls, "orders", settings.node(), HasSubstr("certificate verify failed")));
}

TEST_F(TlsWithClientCertificate, IsShownTheCertificate) { EXPECT_TRUE(Client(config()).lock("orders").acquire()); }

TEST_F(TlsWithClientCertificate, RefusesAClientWithoutOrWithAnotherAuthoritys) {
  Config settings = config();
  settings.tls.certificate_file = server.certificates().untrusted_client_certificate_file;
  settings.tls.key_file = server.certificates().untrusted_client_key_file;
  EXPECT_THAT(refused(settings), IsError(Errc::tls, "orders", settings.node(), HasSubstr("alert")));
  settings.tls.certificate_file.clear();
  settings.tls.key_file.clear();
  EXPECT_THAT(refused(settings), IsError(Errc::tls, "orders", settings.node(), HasSubstr("certificate required")));
}

TEST_F(Tls, NamesAFileThatCannotBeRead) {
  const TempDir folder;
  const std::string missing = folder.file("missing.pem");
  for (std::string TlsConfig::* file : {&TlsConfig::ca_file, &TlsConfig::certificate_file, &TlsConfig::key_file}) {
    Config settings = config();
    settings.tls.certificate_file = server.certificates().client_certificate_file;
    settings.tls.key_file = server.certificates().client_key_file;
    settings.tls.*file = missing;
    EXPECT_THAT(error_of([&] { return Client(settings); }),
                IsError(Errc::tls, "", settings.node(), AllOf(HasSubstr(missing), HasSubstr("No such file"))));
  }
}

TEST_F(Tls, AsksNobodyForThePassPhraseOfAKey) {
  const TempDir folder;
  const std::string locked = folder.file("locked.pem");
  Process openssl("openssl", {"pkey", "-in", server.certificates().client_key_file, "-aes256", "-passout",
                              "pass:s3cret", "-out", locked});
  ASSERT_EQ(openssl.finish(), (ExitStatus{.code = 0, .signal = 0})) << openssl.errors();
  Config settings = config();
  settings.tls.certificate_file = server.certificates().client_certificate_file;
  settings.tls.key_file = locked;
  EXPECT_THAT(error_of([&] { return Client(settings); }),
              IsError(Errc::tls, "", settings.node(), AllOf(HasSubstr(locked), HasSubstr("it is encrypted"))));
}

/// Of RSA, which a static key exchange needs.
struct RsaFiles {
  RsaFiles() {
    files.ca_file = files.server_certificate_file = folder.file("certificate.pem");
    files.server_key_file = folder.file("key.pem");
    Process openssl("openssl",
                    {"req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-addext",
                     "subjectAltName=DNS:localhost", "-keyout", files.server_key_file, "-out", files.ca_file});
    EXPECT_EQ(openssl.finish(), (ExitStatus{.code = 0, .signal = 0})) << openssl.errors();
  }
  TempDir folder;
  Certificates files;
};

class OldTls : private RsaFiles, public Faults, public testing::WithParamInterface<const char*> {
 protected:
  OldTls()
      : Faults({.listen = ServerOptions::Listen::tls,
                .certificates = files,
                .config = {"tls-protocols TLSv1.2", std::string("tls-ciphers ") + GetParam()}}) {}
};

class WithForwardSecrecy : public OldTls {};
class WithoutForwardSecrecy : public OldTls {};

TEST_P(WithForwardSecrecy, IsGoodEnough) { EXPECT_TRUE(Client(config()).lock("orders").acquire()); }

TEST_P(WithoutForwardSecrecy, IsRefused) {
  Client client(config());
  EXPECT_THAT(error_of([&] { return client.lock("orders").acquire(); }),
              IsError(Errc::tls, "orders", client.node(), HasSubstr("handshake failure")));
  EXPECT_FALSE(raw.exists("orders"));
}

INSTANTIATE_TEST_SUITE_P(Of12, WithForwardSecrecy, testing::Values("ECDHE-RSA-AES128-GCM-SHA256"));
INSTANTIATE_TEST_SUITE_P(Of12, WithoutForwardSecrecy, testing::Values("AES128-GCM-SHA256", "AES256-SHA"));

TEST_F(Tls, TellsAKeyThatDoesNotFitItsCertificate) {
  Config settings = config();
  settings.tls.certificate_file = server.certificates().client_certificate_file;
  settings.tls.key_file = server.certificates().server_key_file;
  EXPECT_THAT(error_of([&] { return Client(settings).lock("orders").acquire(); }),
              Optional(AllOf(Property(&Error::code, code(Errc::tls)), Property(&Error::cause, HasSubstr("key")))));
}

TEST_F(Tls, IsNotWhatAPlainServerSpeaks) {
  const RedisServer plain({.listen = ServerOptions::Listen::tcp});
  Config settings = config();
  settings.server = NodeAddress{"127.0.0.1", plain.port()};
  settings.timing.connect_timeout = 500ms;
  // A plain server waits for the end of what it takes for a command, so only the time limit ends this.
  const std::optional<Error> error = refused(settings);
  ASSERT_TRUE(error);
  EXPECT_THAT(error,
              IsError(Errc::unreachable, "orders", settings.node(),
                      AllOf(HasSubstr("no answer to the TLS handshake within"), HasSubstr("begins with redis://"))));
}

TEST_F(Tls, AFrozenServerIsBorneAsWithoutTls) {
  Config settings = config();
  settings.timing.connect_timeout = 300ms;
  settings.timing.patience = 60s;
  Client client(settings);
  client.ping();
  server.freeze();
  auto acquire = in_thread([&] { return client.lock("orders").acquire(); });
  // The idle connection is given up first; then no handshake is answered.
  EXPECT_TRUE(log->wait_for("down", 4));
  EXPECT_THAT(log->details("down"), testing::Contains(testing::AllOf(HasSubstr("no answer to the TLS handshake"),
                                                                     HasSubstr("within 300 ms"))));
  EXPECT_FALSE(ready(acquire, 0ms));
  server.thaw();
  ASSERT_TRUE(ready(acquire));
  EXPECT_TRUE(acquire.get());
}

TEST_F(Tls, AServerThatHangsUpInTheHandshakeIsUnreachable) {
  const Stranger stranger("", Stranger::Manner::hangs_up);
  Config settings = config(server.url_with_port(stranger.port()));
  EXPECT_THAT(refused(settings), IsError(Errc::unreachable, "orders", settings.node(),
                                         HasSubstr("the server closed the connection during the TLS handshake")));
}

TEST_F(Tls, APlainClientIsNotHeard) {
  Config settings = config();
  settings.tls = {};
  EXPECT_THAT(refused(settings),
              IsError(Errc::unreachable, "orders", settings.node(), HasSubstr("its URL begins with rediss://")));
}

TEST_F(Tls, AHoldOutlivesACertificateThatChanges) {
  if (!server_like_redis(7, 0)) GTEST_SKIP() << "before 7.0 CONFIG SET changes one thing at a time";
  Client client(config());
  Hold hold = client.lock("orders").acquire();
  // The server shows the client's certificate from now on, which does not carry the server's name.
  raw.command("CONFIG", "SET", "tls-cert-file", server.certificates().client_certificate_file, "tls-key-file",
              server.certificates().client_key_file);
  raw.command("CLIENT", "KILL", "TYPE", "normal");
  EXPECT_TRUE(log->wait_for("down", 2));
  EXPECT_THAT(error_of([&] { return client.lock("other").acquire(); }),
              IsError(Errc::tls, "other", client.node(), HasSubstr("certificate verify failed")));
  raw.command("CONFIG", "SET", "tls-cert-file", server.certificates().server_certificate_file, "tls-key-file",
              server.certificates().server_key_file);
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::held && client.counters().connections == 2; }));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

}  // namespace
}  // namespace holdfast::test::tls_test
