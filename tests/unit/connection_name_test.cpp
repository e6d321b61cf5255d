// SPDX-License-Identifier: Apache-2.0
// What a connection calls itself, and what is read out of CLIENT LIST: names that anybody may have chosen.
#include "kinds/connection_name.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::wire::connection_name_test {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using base::Reply;

const std::string kUuid = "376fe4aa-10ea-8e60-b8ed-a49082e92014";

std::string name_of(const std::string& host, const std::string& label, const std::string& prefix = "holdfast") {
  return connection_name(prefix, {kUuid, host, 812, label});
}

Reply text(std::string value) { return {.kind = Reply::Kind::text, .text = std::move(value)}; }

TEST(ConnectionName, SaysWhoseTheConnectionIs) {
  EXPECT_EQ(name_of("web-3", "nightly.sh"), "holdfast:" + kUuid + ":web-3:812:nightly.sh");
  EXPECT_EQ(name_of("", "", "worker"), "worker:" + kUuid + "::812:");
}

TEST(ConnectionName, EscapesWhatANameMayNotHaveAndWhatEndsAField) {
  EXPECT_EQ(name_of("a:b", "100 % sure\n\xc3\xa4\x7f"),
            "holdfast:" + kUuid + ":a%3Ab:812:100%20%25%20sure%0A%C3%A4%7F");
}

class AnyText : public testing::TestWithParam<std::string> {};

TEST_P(AnyText, IsReadBackAndSurvivesTheServersRules) {
  const std::string name = name_of(GetParam(), GetParam(), "a:b");
  EXPECT_TRUE(std::ranges::all_of(name, [](char c) { return c >= '!' && c <= '~'; })) << name;
  const std::optional<Identity> read = parse_connection_name(name);
  ASSERT_TRUE(read) << name;
  EXPECT_EQ(read->client, kUuid);
  EXPECT_EQ(read->host, GetParam());
  EXPECT_EQ(read->process, 812);
  EXPECT_EQ(read->label, GetParam());
}
INSTANTIATE_TEST_SUITE_P(ConnectionName, AnyText,
                         testing::Values("", "web-3", " ", "a:b::", "%", "%41", "\n\r\t\0x"s, "\xff\xfe\x80",
                                         "n\xc3\xa4htly", "k=v name=x", "\x1b[31m", std::string(64, 'x'),
                                         std::string(21, ' ')));

TEST(ConnectionName, CutsWhatIsLongAfterAWholeCharacter) {
  const auto label_of = [](const std::string& name) { return parse_connection_name(name).value_or(Identity{}).label; };
  EXPECT_EQ(label_of(name_of("h", std::string(1000, 'x'))), std::string(64, 'x'));
  EXPECT_EQ(label_of(name_of("h", std::string(1000, ' '))), std::string(21, ' '));
  EXPECT_EQ(label_of(name_of("h", std::string(60, 'x') + "\xc3\xa4" + "tail")), std::string(60, 'x'));
  EXPECT_EQ(label_of(name_of("h", std::string(100'000, '\x80'))).size() % 4, 0U) << "broken UTF-8 ends as well";
  EXPECT_LE(name_of(std::string(1000, ' '), std::string(1000, '\xff')).size(), 200U);
}

class Foreign : public testing::TestWithParam<std::string> {};

TEST_P(Foreign, IsNotOurs) { EXPECT_FALSE(parse_connection_name(GetParam())) << GetParam(); }

INSTANTIATE_TEST_SUITE_P(ConnectionName, Foreign,
                         testing::Values("", ":", "::::", "holdfast", "redisson", kUuid, "holdfast:" + kUuid,
                                         "holdfast:" + kUuid + ":h:1", "holdfast:" + kUuid + ":h:one:l",
                                         "holdfast:" + kUuid + ":h:-1:l", "holdfast:" + kUuid + ":h::l",
                                         "holdfast:" + kUuid + ":h:99999999999999999999:l",
                                         "holdfast:" + kUuid + "0:h:1:l", "holdfast:" + kUuid + ":h%4:1:l",
                                         "holdfast:" + kUuid + ":h:1:%zz", "holdfast:" + kUuid + ":h:1:%-1",
                                         "holdfast:" + kUuid + ":h:1:" + std::string(65, 'x')));

// --- CLIENT LIST ---

TEST(Connections, AreThoseThatHaveSuchAName) {
  const auto found =
      decode_connections(text("id=3 addr=10.0.0.7:53412 laddr=10.0.0.1:6379 fd=8 name=" + name_of("web-3", "nightly") +
                              " age=14 idle=0 flags=N db=0 cmd=evalsha user=default lib-name= resp=3\n"
                              "id=4 addr=10.0.0.8:1 fd=9 name= age=5 idle=0\n"
                              "id=5 addr=10.0.0.9:1 fd=9 name=holdfast age=5 idle=0\n"
                              "\n"
                              "id=6\n"));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1U);
  const Connection& connection = found->at(kUuid);
  EXPECT_EQ(connection.identity.host, "web-3");
  EXPECT_EQ(connection.identity.process, 812);
  EXPECT_EQ(connection.identity.label, "nightly");
  EXPECT_EQ(connection.address, "10.0.0.7:53412");
  EXPECT_EQ(connection.age, 14s);
}

TEST(Connections, AreReadInTheShapeOfTheThirdProtocol) {
  const auto found = decode_connections(text("txt:id=3 addr=/tmp/r.sock:0 name=" + name_of("h", "l") + " age=1\n"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at(kUuid).address, "/tmp/r.sock:0");
}

TEST(Connections, OfOneClientTheYoungerCounts) {
  const std::string name = name_of("h", "l");
  for (const char* list : {"id=1 addr=old:1 name=NAME age=90\nid=2 addr=new:2 name=NAME age=3\n",
                           "id=2 addr=new:2 name=NAME age=3\nid=1 addr=old:1 name=NAME age=90\n"}) {
    std::string lines = list;
    for (std::size_t at = lines.find("NAME"); at != std::string::npos; at = lines.find("NAME")) {
      lines.replace(at, 4, name);
    }
    EXPECT_EQ(decode_connections(text(lines))->at(kUuid).address, "new:2");
  }
}

TEST(Connections, AreUnknownIfTheServerDoesNotTell) {
  const Reply denied{.kind = Reply::Kind::error, .text = "NOPERM this user has no permissions to run 'client|list'"};
  EXPECT_FALSE(decode_connections(denied));
  EXPECT_FALSE(decode_connections(Reply{}));
  EXPECT_TRUE(decode_connections(text(""))) << "nobody, which is an answer";
}

TEST(Connections, AreFewOnlyIfTheServerSaysSo) {
  const auto few = [](const std::string& info) { return are_few_connections(text(info)); };
  EXPECT_TRUE(few("txt:# Clients\r\nconnected_clients:1000\r\nmaxclients:10000\r\n"));
  EXPECT_FALSE(few("# Clients\r\nconnected_clients:1001\r\n"));
  EXPECT_FALSE(few("# Clients\r\n"));
  EXPECT_FALSE(few("connected_clients:"));
  EXPECT_FALSE(few("connected_clients:99999999999999999999"));
  EXPECT_FALSE(are_few_connections({.kind = Reply::Kind::error, .text = "NOPERM connected_clients:1"}));
}

}  // namespace
}  // namespace holdfast::wire::connection_name_test
