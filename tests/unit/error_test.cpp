// SPDX-License-Identifier: Apache-2.0
// Errors: what their text names, and which standard conditions they mean.
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/error.hpp>

namespace holdfast::error_test {
namespace {

using namespace std::string_literals;

constexpr Errc kAll[] = {Errc::busy,
                         Errc::timed_out,
                         Errc::cancelled,
                         Errc::lost,
                         Errc::not_owner,
                         Errc::unreachable,
                         Errc::unknown_outcome,
                         Errc::denied,
                         Errc::tls,
                         Errc::wrong_type,
                         Errc::read_only,
                         Errc::out_of_memory,
                         Errc::unsupported_by_server,
                         Errc::server_error,
                         Errc::invalid_argument,
                         Errc::forked,
                         Errc::closed,
                         Errc::would_deadlock,
                         Errc::no_quorum,
                         Errc::exhausted,
                         Errc::durability_not_met,
                         Errc::crowded,
                         Errc::not_set,
                         Errc::too_few};

TEST(ErrorText, EveryCodeHasANameOfItsOwn) {
  std::set<std::string> names;
  for (const Errc code : kAll) names.insert(to_string(code));
  EXPECT_EQ(names.size(), std::size(kAll));
  EXPECT_FALSE(names.contains("?"));
  EXPECT_STREQ(to_string(Errc::timed_out), "timed_out");
}

TEST(ErrorText, NamesKeyNodeAndCause) {
  const Error error(Errc::unreachable, "orders:42", "127.0.0.1:6379", "Connection refused");
  EXPECT_STREQ(error.what(), "lock \"orders:42\" on 127.0.0.1:6379: cannot reach the server: Connection refused");
  EXPECT_EQ(error.key(), "orders:42");
  EXPECT_EQ(error.node(), "127.0.0.1:6379");
  EXPECT_EQ(error.cause(), "Connection refused");
  EXPECT_EQ(error.code(), Errc::unreachable);
}

TEST(ErrorMayPass, AsIsUsualForItsCodeOrAsItIsSaid) {
  const std::set<Errc> passing{Errc::busy,          Errc::timed_out, Errc::unreachable, Errc::unknown_outcome,
                               Errc::read_only,     Errc::no_quorum, Errc::exhausted,   Errc::durability_not_met,
                               Errc::out_of_memory, Errc::crowded,   Errc::not_set,     Errc::too_few};
  for (const Errc code : kAll) {
    EXPECT_EQ(Error(code, {}, {}, {}).may_pass(), passing.contains(code)) << to_string(code);
    EXPECT_TRUE(Error(code, {}, {}, {}, true).may_pass()) << to_string(code);
    EXPECT_FALSE(Error(code, {}, {}, {}, false).may_pass()) << to_string(code);
  }
}

TEST(ErrorText, LeavesOutWhatThereIsNot) {
  EXPECT_STREQ(Error(Errc::busy, "orders", "h:1", "").what(), "lock \"orders\" on h:1: somebody else holds it");
  EXPECT_STREQ(Error(Errc::not_owner, "orders", "", "").what(), "lock \"orders\": not held by the caller");
  EXPECT_STREQ(Error(Errc::denied, "", "h:1", "NOAUTH").what(), "h:1: the server refuses access: NOAUTH");
  EXPECT_STREQ(Error(Errc::invalid_argument, "", "", "lease").what(), "invalid argument: lease");
  EXPECT_STREQ(Error(Errc::closed, "", "", "").what(), "the client is closed");
}

TEST(ErrorText, IsOnePrintableLineForAnyName) {
  const Error error(Errc::busy, "a \"b\"\n\0\xff"s, "h:1", "");
  EXPECT_STREQ(error.what(), R"(lock "a \"b\"\n\x00\xff" on h:1: somebody else holds it)");
  EXPECT_EQ(error.key(), "a \"b\"\n\0\xff"s);
}

TEST(ErrorText, StaysTheSameInACopyThatOutlivesTheOriginal) {
  static_assert(std::is_nothrow_copy_constructible_v<Error> && std::is_nothrow_copy_assignable_v<Error>);
  Error copy(Errc::closed, "", "", "");
  {
    const Error original(Errc::lost, "orders", "h:1", "expired");
    copy = original;
  }
  EXPECT_STREQ(copy.what(), "lock \"orders\" on h:1: the lock was lost: expired");
  EXPECT_EQ(copy.code(), Errc::lost);
}

TEST(ErrorText, IsThereWhenCaughtAsAStandardException) {
  try {
    throw Error(Errc::lost, "orders", "h:1", "");
  } catch (const std::system_error& error) {
    EXPECT_STREQ(error.what(), "lock \"orders\" on h:1: the lock was lost");
    EXPECT_EQ(error.code(), Errc::lost);
  }
}

TEST(ErrorCodes, HaveAWordingOfTheirOwnEach) {
  std::set<std::string> seen;
  for (const Errc code : kAll) {
    const std::error_code made = code;
    EXPECT_STREQ(made.category().name(), "holdfast");
    EXPECT_TRUE(made) << "zero would mean success";
    EXPECT_THAT(made.message(), testing::Not(testing::AnyOf("", "unknown error")));
    EXPECT_TRUE(seen.insert(made.message()).second) << made.message();
  }
  EXPECT_EQ(seen.size(), 24U);
  EXPECT_EQ(std::error_code(25, error_category()).message(), "unknown error") << "a code is missing in this test";
}

TEST(ErrorCodes, MeanTheStandardConditionWhereThereIsOne) {
  EXPECT_EQ(make_error_code(Errc::busy), std::errc::resource_unavailable_try_again);
  EXPECT_EQ(make_error_code(Errc::timed_out), std::errc::timed_out);
  EXPECT_EQ(make_error_code(Errc::cancelled), std::errc::operation_canceled);
  EXPECT_EQ(make_error_code(Errc::not_owner), std::errc::operation_not_permitted);
  EXPECT_EQ(make_error_code(Errc::unreachable), std::errc::not_connected);
  EXPECT_EQ(make_error_code(Errc::denied), std::errc::permission_denied);
  EXPECT_EQ(make_error_code(Errc::invalid_argument), std::errc::invalid_argument);
  EXPECT_EQ(make_error_code(Errc::read_only), std::errc::read_only_file_system);
  EXPECT_EQ(make_error_code(Errc::out_of_memory), std::errc::not_enough_memory);
}

TEST(ErrorCodes, MeanNoStandardConditionElsewhere) {
  for (const Errc code : {Errc::lost, Errc::unknown_outcome, Errc::tls, Errc::wrong_type, Errc::unsupported_by_server,
                          Errc::server_error, Errc::forked, Errc::closed}) {
    EXPECT_EQ(make_error_code(code).default_error_condition().category(), error_category());
  }
}

TEST(ErrorCodes, DoNotEqualEachOther) {
  for (const Errc a : kAll) {
    for (const Errc b : kAll) EXPECT_EQ(make_error_code(a) == make_error_code(b), a == b);
  }
}

TEST(Error, IsSafeForALogWhateverAServerSays) {
  const Error error(Errc::server_error, "a\nb", "node\x1b",
                    "ERR \x9b"
                    "31m\r\n\xe2\x80\xae\xff");
  EXPECT_EQ(error.cause(), R"(ERR \x9b31m  \xe2\x80\xae\xff)");
  EXPECT_EQ(error.what(), R"(lock "a\nb" on node\x1b: the server reported an error: ERR \x9b31m  \xe2\x80\xae\xff)"s);
}

}  // namespace
}  // namespace holdfast::error_test
