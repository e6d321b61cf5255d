// SPDX-License-Identifier: Apache-2.0
// URLs and settings: what is understood, and what is refused and with which words.
#include <chrono>
#include <fstream>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>

#include "support/temp_dir.hpp"
#include "unit/refusal.hpp"

namespace holdfast::test::config_test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// --- URLs that are fine ---

struct Address {
  std::string url, user, password, node;
  unsigned database = 0;
};
std::ostream& operator<<(std::ostream& out, const Address& address) { return out << address.url; }

class Addresses : public testing::TestWithParam<Address> {};

TEST_P(Addresses, AreReadWithTheirLoginAndDatabase) {
  const Config config = Config::from_url(GetParam().url);
  EXPECT_EQ(config.node(), GetParam().node);
  EXPECT_EQ(config.username, GetParam().user);
  EXPECT_EQ(config.password, GetParam().password);
  EXPECT_EQ(config.database, GetParam().database);
  EXPECT_FALSE(config.tls.enabled);
  EXPECT_NO_THROW(config.validate());
}

INSTANTIATE_TEST_SUITE_P(Tcp, Addresses,
                         testing::Values(Address{"redis://", "", "", "127.0.0.1:6379"},
                                         Address{"redis:///", "", "", "127.0.0.1:6379"},
                                         Address{"redis:///7", "", "", "127.0.0.1:6379", 7},
                                         Address{"redis://:6380", "", "", "127.0.0.1:6380"},
                                         Address{"redis://localhost", "", "", "localhost:6379"},
                                         Address{"redis://localhost:", "", "", "localhost:6379"},
                                         Address{"REDIS://Cache-1.example.org:1", "", "", "Cache-1.example.org:1"},
                                         Address{"redis://10.0.0.7:65535/15", "", "", "10.0.0.7:65535", 15},
                                         Address{"redis://h/?db=3", "", "", "h:6379", 3},
                                         Address{"redis://h?db=2147483647", "", "", "h:6379", 2147483647},
                                         Address{"redis://h?", "", "", "h:6379"},
                                         Address{"redis://my%2Dhost", "", "", "my-host:6379"}));

INSTANTIATE_TEST_SUITE_P(Ipv6, Addresses,
                         testing::Values(Address{"redis://[::1]", "", "", "[::1]:6379"},
                                         Address{"redis://[::1]:6380/0", "", "", "[::1]:6380"},
                                         Address{"redis://u:p@[2001:db8::7]:1", "u", "p", "[2001:db8::7]:1"},
                                         Address{"redis://[fe80::1%25eth0]", "", "", "[fe80::1%eth0]:6379"}));

INSTANTIATE_TEST_SUITE_P(Login, Addresses,
                         testing::Values(Address{"redis://ann@h", "ann", "", "h:6379"},
                                         Address{"redis://ann:@h", "ann", "", "h:6379"},
                                         Address{"redis://:word@h", "", "word", "h:6379"},
                                         Address{"redis://@h", "", "", "h:6379"},
                                         Address{"redis://ann:word@h:1/2", "ann", "word", "h:1", 2},
                                         Address{"redis://ann:a:b:c@h", "ann", "a:b:c", "h:6379"},
                                         Address{"redis://a%40b%3Ac:%3a%40%2F%3f%23%25@h", "a@b:c", ":@/?#%", "h:6379"},
                                         Address{"redis://ann:%E2%82%AC+%20@h", "ann", "\xe2\x82\xac+ ", "h:6379"},
                                         Address{"redis://ann:%00%ff@h", "ann", std::string("\0\xff", 2), "h:6379"},
                                         Address{"redis://h?user=ann", "ann", "", "h:6379"},
                                         Address{"redis://:word@h?user=ann%40home", "ann@home", "word", "h:6379"}));

INSTANTIATE_TEST_SUITE_P(UnixSocket, Addresses,
                         testing::Values(Address{"unix:///run/redis.sock", "", "", "/run/redis.sock"},
                                         Address{"unix:///run/my%20server%40home.sock?db=1&user=ann", "ann", "",
                                                 "/run/my server@home.sock", 1},
                                         Address{"unix:///run/a:b", "", "", "/run/a:b"},
                                         Address{"unix://ann:word@/run/r", "ann", "word", "/run/r"}));

INSTANTIATE_TEST_SUITE_P(Local, Addresses,
                         testing::Values(Address{"local:", "", "", "local:"},
                                         Address{"local:?db=2", "", "", "local:", 2}));

TEST(ConfigUrl, ChoosesThePrivateServerOnlyWhenAskedFor) {
  const auto is_local = [](const std::string& url) {
    return std::holds_alternative<LocalServer>(Config::from_url(url).server);
  };
  EXPECT_TRUE(is_local("local:"));
  EXPECT_FALSE(is_local("redis://localhost"));
  EXPECT_FALSE(is_local("unix:///run/r"));
}

TEST(ConfigUrl, LeavesEveryDefaultThatItDoesNotMention) {
  const Config defaults;
  const Config config = Config::from_url("redis://h");
  EXPECT_EQ(config.client_name, defaults.client_name);
  EXPECT_EQ(config.timing.connect_timeout, defaults.timing.connect_timeout);
  EXPECT_EQ(config.timing.patience, defaults.timing.patience);
  EXPECT_EQ(config.lease, defaults.lease);
  EXPECT_EQ(config.on_close, defaults.on_close);
}

TEST(ConfigUrl, TurnsTlsOnWithVerificationUnlessToldOtherwise) {
  const Config config = Config::from_url("rediss://h:1/2");
  EXPECT_TRUE(config.tls.enabled);
  EXPECT_EQ(config.tls.verify, TlsConfig::Verify::full);
  EXPECT_EQ(config.node(), "h:1");
  EXPECT_EQ(config.database, 2U);
  EXPECT_EQ(Config::from_url("rediss://h?verify=none").tls.verify, TlsConfig::Verify::none);
  EXPECT_EQ(Config::from_url("rediss://h?verify=full").tls.verify, TlsConfig::Verify::full);
  EXPECT_EQ(Config::from_url("rediss://h?verify=ca").tls.verify, TlsConfig::Verify::ca);
  EXPECT_EQ(Config::from_url("rediss://h?server_name=redis.example").tls.server_name, "redis.example");
}

TEST(ConfigUrl, MapsAddresses) {
  const TempDir folder;
  const std::string file = folder.file("map");
  std::ofstream(file) << "# ours\n10.0.0.5:6379 = localhost:7001  # one\n\n[::1]:1=h:2\r\n";
  for (const std::string& query : {std::string("map=10.0.0.5:6379=localhost:7001,[::1]:1=h:2"), "map_file=" + file}) {
    const Config config = Config::from_url("redis+cluster://h?" + query);
    EXPECT_EQ(config.map_address({"10.0.0.5", 6379}), (NodeAddress{"localhost", 7001}));
    EXPECT_EQ(config.map_address({"::1", 1}), (NodeAddress{"h", 2}));
    EXPECT_EQ(config.map_address({"10.0.0.5", 6380}), (NodeAddress{"10.0.0.5", 6380}));
  }
  EXPECT_FALSE(Config::from_url("redis://h").map_address);
}

TEST(ConfigUrl, ReadsEveryParameterThatTheHeaderNames) {
  const Config config = Config::from_url(
      "rediss://h?db=4&user=ann&client_name=worker-7&label=nightly%20run&name_prefix=app%3A&ca_file=/etc/"
      "ca%20x.pem&cert_file=c.pem&"
      "key_file=k.pem&verify=none&connect_timeout=1500ms&command_timeout=2s&release_timeout=700ms&patience=0s&"
      "lease=2m&safety_poll=1.5s&fair_turn=3s&handoff=0ms&acks=majority&acks_timeout=250ms&loss_notice=off");
  EXPECT_EQ(config.database, 4U);
  EXPECT_EQ(config.username, "ann");
  EXPECT_EQ(config.client_name, "worker-7");
  EXPECT_EQ(config.label, "nightly run");
  EXPECT_EQ(config.name_prefix, "app:");
  EXPECT_EQ(config.tls.ca_file, "/etc/ca x.pem");
  EXPECT_EQ(config.tls.certificate_file, "c.pem");
  EXPECT_EQ(config.tls.key_file, "k.pem");
  EXPECT_EQ(config.tls.verify, TlsConfig::Verify::none);
  EXPECT_EQ(config.timing.connect_timeout, 1500ms);
  EXPECT_EQ(config.timing.command_timeout, 2s);
  EXPECT_EQ(config.timing.release_timeout, 700ms);
  EXPECT_EQ(config.timing.patience, 0ms);
  EXPECT_EQ(config.lease, 2min);
  EXPECT_EQ(config.timing.safety_poll, 1500ms);
  EXPECT_EQ(std::pair(config.kinds.fair_turn, config.kinds.handoff), std::pair(3000ms, 0ms));
  EXPECT_TRUE(!config.loss_notice && Config::from_url("redis://h?loss_notice=on").loss_notice);
  EXPECT_TRUE(!config.fair_with_prefix && Config::from_url("redis://h?fair_with_prefix=on").fair_with_prefix);
  EXPECT_EQ(config.acks, Acks::majority());
  EXPECT_EQ(config.timing.acks_timeout, 250ms);
}

TEST(ConfigUrl, ReadsAcksAsWordsAndNumbers) {
  const auto acks = [](const std::string& text) { return Config::from_url("redis://h?acks=" + text).acks; };
  const std::pair<const char*, Acks> texts[] = {{"none", Acks::none()},   {"0", Acks::none()},
                                                {"1", Acks::replicas(1)}, {"255", Acks::replicas(255)},
                                                {"all", Acks::all()},     {"aof", Acks::aof()}};
  for (const auto& [text, level] : texts) EXPECT_EQ(acks(text), level) << text;
}

// --- URLs that are refused ---

struct Bad {
  std::string url;
  std::string words;  ///< Part of the message.
};
std::ostream& operator<<(std::ostream& out, const Bad& bad) { return out << bad.url; }

class BadUrls : public testing::TestWithParam<Bad> {};

TEST_P(BadUrls, AreRefusedWithAMessageThatNamesTheFault) {
  const Refusal refusal = refusal_of_url(GetParam().url);
  EXPECT_EQ(refusal.code, Errc::invalid_argument);
  EXPECT_THAT(refusal.text, HasSubstr(GetParam().words));
}

INSTANTIATE_TEST_SUITE_P(Scheme, BadUrls,
                         testing::Values(Bad{"", "the URL: it is empty; a URL is such as redis://127.0.0.1:6379"},
                                         Bad{"localhost:6379", "; did you mean redis://localhost:6379?"},
                                         Bad{"10.0.0.7", "; did you mean redis://10.0.0.7?"},
                                         Bad{"localhost", "; did you mean redis://localhost?"},
                                         Bad{"://h", "starts with a scheme"}, Bad{" redis://h", "starts with a scheme"},
                                         Bad{"7edis://h", "starts with a scheme"},
                                         Bad{"http://h", "\"http\" is unknown; known are redis://, rediss://, unix://"},
                                         Bad{"redis:h", "two slashes"}, Bad{"redis:/h", "two slashes"},
                                         Bad{"redis:", "two slashes"}));

INSTANTIATE_TEST_SUITE_P(
    Host, BadUrls,
    testing::Values(Bad{"redis://h:0", "port must be a number from 1 to 65535"},
                    Bad{"redis://h:65536", "port must be a number from 1 to 65535"},
                    Bad{"redis://h:-1", "port must be"}, Bad{"redis://h:+1", "port must be"},
                    Bad{"redis://h:12x", "port must be"}, Bad{"redis://h:99999999999999999999", "port must be"},
                    Bad{"redis://h:%31", "port must be"}, Bad{"redis://::1", "must be in brackets"},
                    Bad{"redis://::1:6379", "must be in brackets"}, Bad{"redis://[::1", "']'"},
                    Bad{"redis://[::1]6379", "followed by ':'"}, Bad{"redis://[]", "not an IPv6 address"},
                    Bad{"redis://[127.0.0.1]", "not an IPv6 address"}, Bad{"redis://[::1%2]", "not an IPv6 address"},
                    Bad{"redis://a%00b", "the host has a character"}, Bad{"redis://a%2", "the host has a character"},
                    Bad{"redis://u:p@h:x", "port must be"}, Bad{"redis://h /0", "space or a control character"},
                    Bad{"redis://h\n", "space or a control character"},
                    Bad{std::string("redis://h\0", 10), "space or a control character"}));

INSTANTIATE_TEST_SUITE_P(
    Login, BadUrls,
    testing::Values(Bad{"redis://u:p@p@h", "must be written %40"}, Bad{"redis://u:p%@h", "'%' itself is written %25"},
                    Bad{"redis://u:p%4@h", "two hexadecimal digits"}, Bad{"redis://u%zz@h", "two hexadecimal digits"},
                    Bad{"redis://u:a/b@h", "'/' as %2F"}, Bad{"redis://u:a?b@h", "'?' as %3F"},
                    Bad{"redis://u:a#b@h", "'#' as %23"}, Bad{"redis://u@h?user=v", "the user is given twice"},
                    Bad{"redis://h?password=p", "put it before the host"},
                    Bad{"unix:///r?password=p", "unix://user:password@/path"}));

INSTANTIATE_TEST_SUITE_P(
    Database, BadUrls,
    testing::Values(Bad{"redis://h/x", "the database must be a number from 0 on, not \"x\""},
                    Bad{"redis://h/-1", "the database must be"}, Bad{"redis://h/1/2", "the database must be"},
                    Bad{"redis://h//", "the database must be"}, Bad{"redis://h/2147483648", "the database must be"},
                    Bad{"redis://h?db=", "the database must be"}, Bad{"redis://h?db=1.5", "the database must be"},
                    Bad{"redis://h/%zz", "in the path"}, Bad{"redis://h/1?db=1", "the database is given twice"}));

INSTANTIATE_TEST_SUITE_P(UnixSocket, BadUrls,
                         testing::Values(Bad{"unix:", "unix:///run/redis.sock"}, Bad{"unix:run/r", "two slashes"},
                                         Bad{"unix:/run/r", "two slashes"}, Bad{"unix://", "path is missing"},
                                         Bad{"unix:///", "path is missing"}, Bad{"unix://?db=1", "path is missing"},
                                         Bad{"unix://run/r", "must be absolute"},
                                         Bad{"unix://h:1/r", "must be absolute"},
                                         Bad{"unix:///a%00b", "contains a NUL"}, Bad{"unix:///a@b", "write '@' as %40"},
                                         Bad{"unix:///" + std::string(108, 'x'), "longer than the 107 bytes"}));

INSTANTIATE_TEST_SUITE_P(Local, BadUrls,
                         testing::Values(Bad{"local://", "query parameters only"},
                                         Bad{"local:/x", "query parameters only"},
                                         Bad{"local:x", "query parameters only"},
                                         Bad{"local://h", "query parameters only"}));

INSTANTIATE_TEST_SUITE_P(
    Query, BadUrls,
    testing::Values(
        Bad{"redis://h?wait=1s", "the query parameter \"wait\" is unknown; known are db, user, client_name"},
        Bad{"redis://h?reconnect_min=1s", "\"reconnect_min\" is unknown"}, Bad{"redis://h?DB=1", "\"DB\" is unknown"},
        Bad{"redis://h?a%0ab=1", "\"a\\nb\" is unknown"}, Bad{"redis://h?=1", "\"\" is unknown"},
        Bad{"redis://h?db", "\"db\" has no value"}, Bad{"redis://h?db=1&&user=x", "\"\" has no value"},
        Bad{"redis://h?lease=1s&lease=2s", "\"lease\" is given twice"}, Bad{"redis://h?user=%g0", "in the query"},
        Bad{"redis://h?loss_notice=1", "loss_notice must be on or off, not \"1\""},
        Bad{"redis://h?protocol=1", "protocol must be 2 or 3, not \"1\""},
        Bad{"redis://h?verify=none", "needs a rediss:// URL"}, Bad{"redis://h?ca_file=x", "ca_file is about TLS"},
        Bad{"unix:///r?key_file=x", "needs a rediss:// URL"},
        Bad{"rediss://h?cert_file=x", "both its certificate file and its key file"},
        Bad{"rediss://h?ca_file=a%00b", "ca_file contains a NUL"},
        Bad{"rediss://h?verify=maybe", "verify must be full, ca or none"},
        Bad{"redis://h?server_name=a", "server_name is about TLS"},
        Bad{"rediss://h?server_name=a%00b", "server_name: host must be a bare name"},
        Bad{"rediss://h?server_name=a:1/x", "server_name: host must be a bare name"},
        Bad{"redis://h?map=", "HOST:PORT=HOST:PORT"}, Bad{"redis://h?map=a:1", "HOST:PORT=HOST:PORT"},
        Bad{"redis://h?map=a=b:1", "HOST:PORT=HOST:PORT"}, Bad{"redis://h?map=a:1=b:0", "HOST:PORT=HOST:PORT"},
        Bad{"redis://h?map=a:1=b:2,", "HOST:PORT=HOST:PORT"},
        Bad{"redis://h?map=a:1=b:2,a:1=c:3", "a:1 is mapped twice"},
        Bad{"redis://h?map=a:1=b:2&map_file=/x", "mapped twice, by map and by map_file"},
        Bad{"redis://h?map_file=/no/such", "cannot read the map of addresses from \"/no/such\""},
        Bad{"redis://h?client_name=a%20b", "client_name must be printable ASCII without spaces"},
        Bad{"redis://h#top", "'#fragment' has no meaning"}, Bad{"redis://h/0?db=#", "'#fragment'"}));

INSTANTIATE_TEST_SUITE_P(
    Durations, BadUrls,
    testing::Values(Bad{"redis://h?lease=10", "lease must be a number with its unit such as 500ms, 10s, 5m, 2h or 1d"},
                    Bad{"redis://h?lease=", "lease must be a number"}, Bad{"redis://h?lease=s", "not \"s\""},
                    Bad{"redis://h?lease=1.5", "not \"1.5\""}, Bad{"redis://h?lease=-1s", "not \"-1s\""},
                    Bad{"redis://h?lease=1%20s", "not \"1 s\""}, Bad{"redis://h?lease=1S", "not \"1S\""},
                    Bad{"redis://h?lease=9ms", "lease must be from 10 ms to 10 years, not 9 ms"},
                    Bad{"redis://h?lease=0s", "not 0 ms"}, Bad{"redis://h?lease=9999999m", "longer than 10 years"},
                    Bad{"redis://h?lease=9223372036854775807m", "longer than 10 years"},
                    Bad{"redis://h?lease=99999999999999999999ms", "longer than 10 years"},
                    Bad{"redis://h?connect_timeout=0ms", "connect_timeout must be from 1 ms"},
                    Bad{"redis://h?command_timeout=0ms", "command_timeout must be from 1 ms"},
                    Bad{"redis://h?release_timeout=0ms", "release_timeout must be from 1 ms"},
                    Bad{"redis://h?safety_poll=0ms", "safety_poll must be from 1 ms"}));

// --- several addresses, and Sentinels ---

INSTANTIATE_TEST_SUITE_P(Several, Addresses,
                         testing::Values(Address{"redis://a,b", "", "", "a:6379,b:6379"},
                                         Address{"redis://ann:a,b@a,b:6380,[::1]:7/3", "ann", "a,b",
                                                 "a:6379,b:6380,[::1]:7", 3},
                                         Address{"redis://a:1,a:2?db=4", "", "", "a:1,a:2", 4}));

INSTANTIATE_TEST_SUITE_P(Sentinels, Addresses,
                         testing::Values(Address{"redis+sentinel://s/main", "", "", "s:26379/main"},
                                         Address{"redis+sentinel://s/main/", "", "", "s:26379/main"},
                                         Address{"REDIS+Sentinel://ann:word@s1:1,s2,[::1]/main/7", "ann", "word",
                                                 "s1:1,s2:26379,[::1]:26379/main", 7},
                                         Address{"redis+sentinel://s/my%2Dmain?db=2&user=ann", "ann", "",
                                                 "s:26379/my-main", 2}));

INSTANTIATE_TEST_SUITE_P(Several, BadUrls,
                         testing::Values(Bad{"redis://a,,b", "between commas there is no host"},
                                         Bad{"redis://a,", "between commas"}, Bad{"redis://,a", "between commas"},
                                         Bad{"redis://a,:1", "between commas"}, Bad{"redis://a,b:x", "port must be"},
                                         Bad{"redis://a,b c", "space or a control character"},
                                         Bad{"redis://a,b,a:6379", "a:6379 is given twice"},
                                         Bad{"unix://a,b/r", "must be absolute"},
                                         Bad{[] {
                                               std::string url = "redis://h0";
                                               for (int i = 1; i < 65; ++i) url += ",h" + std::to_string(i);
                                               return url;
                                             }(),
                                             "more than 64 addresses"}));

INSTANTIATE_TEST_SUITE_P(
    Sentinels, BadUrls,
    testing::Values(
        Bad{"redis+sentinel://s", "the name by which the Sentinels know the primary is missing"},
        Bad{"redis+sentinel://s/", "primary is missing"}, Bad{"redis+sentinel://s//1", "primary is missing"},
        Bad{"redis+sentinel:///main", "the address of a Sentinel is missing"},
        Bad{"redis+sentinel:s/main", "two slashes"}, Bad{"redis+sentinel://s/main/x", "the database must be"},
        Bad{"redis+sentinel://s/main/1?db=1", "the database is given twice"},
        Bad{"redis+sentinel://s/a%20b", "without spaces and control characters, not \"a b\""},
        Bad{"redis+sentinel://s,s:26379/main", "s:26379 is given twice"},
        Bad{"redis+sentinel://s/main?ca_file=x", "ca_file is about TLS"},
        Bad{"redis+sentinel://s/main?sentinel_password=p", "name a file in sentinel_password_file"},
        Bad{"redis+sentinel://s/main?password=p", "put it before the host"},
        Bad{"redis+sentinel://s/main?sentinel_password_file=/nowhere/word", "No such file or directory"},
        Bad{"redis+sentinel://s/main?sentinel_password_file=/dev/null", "it is empty"},
        Bad{"redis://h?sentinel_user=x", "needs a redis+sentinel:// URL"}, Bad{"unix+sentinel://s/x", "is unknown"},
        Bad{"redis://h?sentinel_password_file=x", "needs a redis+sentinel:// URL"}));

TEST(BadUrl, OfSentinelsIsShownWithoutItsLogin) {
  EXPECT_THAT(
      refusal_of_url("redis+sentinel://ann:word@s1,s2/main/x?sentinel_user=ann").text,
      AllOf(HasSubstr("the URL \"redis+sentinel://***@s1,s2/main/x?...\": the database"), Not(HasSubstr("ann"))));
}

// --- Settings made in code ---

struct Setting {
  std::string words;  ///< Part of the message.
  std::function<void(Config&)> change;
};
std::ostream& operator<<(std::ostream& out, const Setting& setting) { return out << setting.words; }

class BadSettings : public testing::TestWithParam<Setting> {};

TEST_P(BadSettings, AreRefusedByName) {
  Config config;
  config.password = "s3cret";
  EXPECT_NO_THROW(config.validate());
  GetParam().change(config);
  const Refusal refusal = refusal_of([&] { config.validate(); });
  EXPECT_EQ(refusal.code, Errc::invalid_argument);
  EXPECT_THAT(refusal.text, AllOf(HasSubstr(GetParam().words), Not(HasSubstr("s3cret"))));
}

INSTANTIATE_TEST_SUITE_P(
    Config, BadSettings,
    testing::Values(
        Setting{"host is empty", [](Config& c) { c.server = NodeAddress{""}; }},
        Setting{"host must be a bare name", [](Config& c) { c.server = NodeAddress{"redis://:s3cret@h"}; }},
        Setting{"host must be a bare name", [](Config& c) { c.server = NodeAddress{"[::1]"}; }},
        Setting{"port must be", [](Config& c) { c.server = NodeAddress{"h", 0}; }},
        Setting{"the socket is longer", [](Config& c) { c.server = UnixSocket{std::string(108, 'x')}; }},
        Setting{"path of the socket is empty", [](Config& c) { c.server = UnixSocket{}; }},
        Setting{"servers.addresses is empty", [](Config& c) { c.server = Servers{}; }},
        Setting{"servers.addresses: host is empty", [](Config& c) { c.server = Servers{{{"a"}, {""}}}; }},
        Setting{"servers.addresses: port must be", [](Config& c) { c.server = Servers{{{"b", 0}}}; }},
        Setting{"b:6379 is given twice", [](Config& c) { c.server = Servers{{{"b"}, {"b"}}}; }},
        Setting{"sentinel.addresses is empty", [](Config& c) { c.server = SentinelConfig{{}, "main", {}, {}}; }},
        Setting{"sentinel.primary is empty", [](Config& c) { c.server = SentinelConfig{{{"s", 1}}, {}, {}, {}}; }},
        Setting{"sentinel.addresses: host must be",
                [](Config& c) { c.server = SentinelConfig{{{":s3cret@h", 1}}, "main", {}, {}}; }},
        Setting{"cluster.addresses is empty", [](Config& c) { c.server = ClusterConfig{}; }},
        Setting{"database is too large", [](Config& c) { c.database = 2147483648U; }},
        Setting{"client_name must be", [](Config& c) { c.client_name = "two words"; }},
        Setting{"certificate file and its key", [](Config& c) { c.tls.key_file = "k.pem"; }},
        Setting{"connect_timeout must be", [](Config& c) { c.timing.connect_timeout = 0ms; }},
        Setting{"command_timeout must be", [](Config& c) { c.timing.command_timeout = -1ms; }},
        Setting{"release_timeout must be", [](Config& c) { c.timing.release_timeout = 0ms; }},
        Setting{"reconnect_min must be", [](Config& c) { c.timing.reconnect_min = 0ms; }},
        Setting{"reconnect_min is longer", [](Config& c) { c.timing.reconnect_min = c.timing.reconnect_max + 1ms; }},
        Setting{"reconnect_max must be", [](Config& c) { c.timing.reconnect_max = std::chrono::years(11); }},
        Setting{"patience must be", [](Config& c) { c.timing.patience = -1ms; }},
        Setting{"lease must be", [](Config& c) { c.lease = 9ms; }},
        Setting{"lease must be", [](Config& c) { c.lease = std::chrono::hours(24 * 365 * 10) + 1ms; }},
        Setting{"lease must be", [](Config& c) { c.lease = std::chrono::milliseconds::max(); }},
        Setting{"renewal_batch must be", [](Config& c) { c.renewal_batch = 0; }},
        Setting{"renewal_batch must be", [](Config& c) { c.renewal_batch = 1001; }},
        Setting{"safety_poll must be", [](Config& c) { c.timing.safety_poll = 0ms; }},
        Setting{"fair_turn must be", [](Config& c) { c.kinds.fair_turn = 99ms; }},
        Setting{"subscription_linger must be", [](Config& c) { c.timing.subscription_linger = -1ms; }}));

TEST(Settings, MayBeAtTheirLimits) {
  Config config;
  config.lease = 10ms;
  config.renewal_batch = 1000;
  config.timing.patience = 0ms;
  config.timing.subscription_linger = 0ms;
  config.timing.reconnect_min = config.timing.reconnect_max = 1ms;
  config.client_name.clear();
  EXPECT_NO_THROW(config.validate());
  config.lease = std::chrono::hours(24 * 365 * 10);
  config.renewal_batch = 1;
  EXPECT_NO_THROW(config.validate());
}

TEST(Settings, MayNameASocketOfTheLongestPath) {
  Config config;
  const std::string path(107, 'x');
  config.server = UnixSocket{path};
  EXPECT_NO_THROW(config.validate());
  EXPECT_EQ(config.node(), path);
}

}  // namespace
}  // namespace holdfast::test::config_test
