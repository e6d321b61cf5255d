// SPDX-License-Identifier: Apache-2.0
// base::quote: any bytes become one printable line from which the bytes can be read back.
#include "base/text.hpp"

#include <ostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace holdfast::base::text_test {
namespace {

using namespace std::string_literals;

struct Case {
  std::string bytes;
  std::string quoted;
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.quoted; }

class Quote : public testing::TestWithParam<Case> {};

TEST_P(Quote, MakesTheBytesPrintable) { EXPECT_EQ(quote(GetParam().bytes), GetParam().quoted); }

INSTANTIATE_TEST_SUITE_P(Ascii, Quote,
                         testing::Values(Case{"", R"("")"}, Case{"orders:42", R"("orders:42")"},
                                         Case{" a b ", R"(" a b ")"}, Case{"{t}x", R"("{t}x")"},
                                         Case{"it's", R"("it's")"}, Case{R"(say "hi")", R"("say \"hi\"")"},
                                         Case{R"(a\b)", R"("a\\b")"}, Case{R"(\n)", R"("\\n")"},
                                         Case{R"(\)", R"("\\")"}, Case{R"(")", R"("\"")"}));

INSTANTIATE_TEST_SUITE_P(Control, Quote,
                         testing::Values(Case{"a\nb", R"("a\nb")"}, Case{"a\tb", R"("a\tb")"},
                                         Case{"\r\n", R"("\x0d\n")"}, Case{"a\0b"s, R"("a\x00b")"},
                                         Case{"\0"s, R"("\x00")"}, Case{"\x1b[31m", R"("\x1b[31m")"},
                                         Case{"\x1f\x20", R"("\x1f ")"}, Case{"\x7e\x7f", R"("~\x7f")"}));

INSTANTIATE_TEST_SUITE_P(
    GoodUtf8, Quote,
    testing::Values(Case{"\xc2\xa1", "\"\xc2\xa1\""}, Case{"\xc3\xbc", "\"\xc3\xbc\""},
                    Case{"\xdf\xbf", "\"\xdf\xbf\""}, Case{"\xe0\xa0\x80", "\"\xe0\xa0\x80\""},
                    Case{"\xe2\x82\xac", "\"\xe2\x82\xac\""}, Case{"\xed\x9f\xbf", "\"\xed\x9f\xbf\""},
                    Case{"\xee\x80\x80", "\"\xee\x80\x80\""}, Case{"\xef\xbf\xbd", "\"\xef\xbf\xbd\""},
                    Case{"\xf0\x90\x80\x80", "\"\xf0\x90\x80\x80\""}, Case{"\xf0\x9f\x94\x92", "\"\xf0\x9f\x94\x92\""},
                    Case{"\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\""}));

// Obeyed by terminals, and shown by nothing: C1 controls, marks and changes of direction, line and paragraph
// separators.
INSTANTIATE_TEST_SUITE_P(Unseen, Quote,
                         testing::Values(Case{"\xc2\x80", R"("\xc2\x80")"},
                                         Case{"\xc2\x9b"
                                              "31m",
                                              R"("\xc2\x9b31m")"},
                                         Case{"\xe2\x80\x8f", R"("\xe2\x80\x8f")"},
                                         Case{"\xe2\x80\xa8", R"("\xe2\x80\xa8")"},
                                         Case{"a\xe2\x80\xae"
                                              "b",
                                              R"("a\xe2\x80\xaeb")"},
                                         Case{"\xe2\x81\xa6", R"("\xe2\x81\xa6")"}, Case{"\xd8\x9c", R"("\xd8\x9c")"},
                                         Case{"\xd8\x9d", "\"\xd8\x9d\""}, Case{"\xe2\x80\x90", "\"\xe2\x80\x90\""},
                                         Case{"\xe2\x81\xaa", R"("\xe2\x81\xaa")"}));

INSTANTIATE_TEST_SUITE_P(
    BrokenUtf8, Quote,
    testing::Values(Case{"\x80", R"("\x80")"}, Case{"a\xbf z", R"("a\xbf z")"}, Case{"\xc3", R"("\xc3")"},
                    Case{"\xc3(", R"("\xc3(")"}, Case{"\xe2\x82", R"("\xe2\x82")"}, Case{"\xe2\x82z", R"("\xe2\x82z")"},
                    Case{"\xf0\x9f\x94", R"("\xf0\x9f\x94")"}, Case{"\xf0\x9f\x94z", R"("\xf0\x9f\x94z")"},
                    // Longer than needed, a surrogate, past the last code point, bytes that never occur.
                    Case{"\xc0\x80", R"("\xc0\x80")"}, Case{"\xc1\xbf", R"("\xc1\xbf")"},
                    Case{"\xe0\x9f\xbf", R"("\xe0\x9f\xbf")"}, Case{"\xf0\x8f\xbf\xbf", R"("\xf0\x8f\xbf\xbf")"},
                    Case{"\xed\xa0\x80", R"("\xed\xa0\x80")"}, Case{"\xf4\x90\x80\x80", R"("\xf4\x90\x80\x80")"},
                    Case{"\xf5\x80\x80\x80", R"("\xf5\x80\x80\x80")"}, Case{"\xff\xfe", R"("\xff\xfe")"},
                    Case{"\xc3\xbc\xc3", "\"\xc3\xbc\\xc3\""}));

TEST(UnseenLength, OfWhatATextBeginsWith) {
  for (const char* seen : {"", "a", " ", "\xc2\xa1", "\xe2\x80\x90", "\xf0\x9f\x94\x92", "\x80", "\xe2\x80"}) {
    EXPECT_EQ(unseen_length(seen), 0U) << quote(seen);
  }
  EXPECT_EQ(unseen_length("\n"), 1U);
  EXPECT_EQ(unseen_length("\x7fz"), 1U);
  EXPECT_EQ(unseen_length("\xc2\x9bz"), 2U);
  EXPECT_EQ(unseen_length("\xd8\x9cz"), 2U);
  EXPECT_EQ(unseen_length("\xe2\x80\xaez"), 3U);
}

/// The character with this number.
std::string utf8(char32_t point) {
  const auto byte = [&](unsigned first, unsigned shift) {
    return static_cast<char>(first | ((point >> shift) & 0x3fU));
  };
  if (point < 0x80) return {static_cast<char>(point)};
  if (point < 0x800) return {static_cast<char>(0xc0U | (point >> 6U)), byte(0x80, 0)};
  if (point < 0x10000) return {static_cast<char>(0xe0U | (point >> 12U)), byte(0x80, 6), byte(0x80, 0)};
  return {static_cast<char>(0xf0U | (point >> 18U)), byte(0x80, 12), byte(0x80, 6), byte(0x80, 0)};
}

TEST(CodePoint, IsTheNumberOfEachCharacter) {
  for (char32_t point = 0; point <= 0x10ffff; ++point) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const std::string character = utf8(point);
    ASSERT_EQ(utf8_length(character), character.size()) << std::uint32_t{point};
    ASSERT_EQ(code_point(character), point);
  }
}

TEST(UnseenLength, OfWhatIsNotDrawnOrLooksLikeASpace) {
  for (const char32_t point :
       {0x0,    0x1b,    0x7f,    0x80,    0x9b,    0xa0,    0xad,    0x34f,  0x61c,  0x115f, 0x1160,
        0x1680, 0x17b4,  0x180e,  0x2000,  0x200a,  0x200b,  0x200d,  0x200f, 0x2028, 0x202e, 0x202f,
        0x2060, 0x2063,  0x2066,  0x2069,  0x206f,  0x2800,  0x3000,  0x3164, 0xfe0f, 0xfeff, 0xffa0,
        0xfff9, 0x1d173, 0xe0001, 0xe0020, 0xe0041, 0xe007f, 0xe01ef, 0xe0fff}) {
    const std::string character = utf8(point);
    EXPECT_EQ(unseen_length(character + "z"), character.size()) << std::hex << std::uint32_t{point};
  }
  for (const char32_t point :
       {0x20,   0x7e,   0xa1,   0xac,   0xae,   0x3b1,  0x5d0,   0x4e00,  0x2010,  0x2070,  0x27ff,
        0x2801, 0x3001, 0x3163, 0x3165, 0xfe10, 0xfffd, 0x1f512, 0xdffff, 0xe1000, 0x10ffff}) {
    EXPECT_EQ(unseen_length(utf8(point)), 0U) << std::hex << std::uint32_t{point};
  }
}

TEST(ForTerminal, KeepsLinesAndEscapesWhatCannotBeToldByItsLooks) {
  EXPECT_EQ(for_terminal("a\nb \xc3\xbc\n"), "a\nb \xc3\xbc\n");
  EXPECT_EQ(for_terminal("a\x1b[31m\x9b"
                         "31m\xc2\x9b\r\tb\xff"),
            R"(a\x1b[31m\x9b31m\xc2\x9b\x0d\x09b\xff)");
  EXPECT_EQ(for_terminal("a\0b"s), R"(a\x00b)");
  EXPECT_EQ(for_terminal("pay\xc2\xad"
                         "ments \xf3\xa0\x81\x81"),
            R"(pay\xc2\xadments \xf3\xa0\x81\x81)");
}

TEST(ForLog, IsOneLine) {
  EXPECT_EQ(for_log("a\nb\r\nc\td"), "a b  c d");
  EXPECT_EQ(for_log("a\x1b[31m\x9b\xe2\x80\xae"), R"(a\x1b[31m\x9b\xe2\x80\xae)");
}

TEST(ForTerminalAndLog, LeaveNothingAndChangeNothingTwice) {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      const std::string text{static_cast<char>(a), static_cast<char>(b), 'x'};
      for (const std::string& safe : {for_terminal(text), for_log(text)}) {
        for (std::string_view rest = safe; !rest.empty(); rest.remove_prefix(utf8_length(rest))) {
          ASSERT_NE(utf8_length(rest), 0U) << a << ' ' << b;
          ASSERT_TRUE(unseen_length(rest) == 0 || rest.front() == '\n') << a << ' ' << b;
        }
      }
      ASSERT_EQ(for_terminal(for_terminal(text)), for_terminal(text));
      ASSERT_EQ(for_log(for_log(text)), for_log(text));
    }
  }
}

/// The bytes that a quoted text stands for.
std::string unquote(std::string_view text) {
  std::string out;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
    } else if (text[++i] == 'x') {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
    }
  }
  return out;
}

TEST(Quoted, CanBeReadBackForEveryPairOfBytes) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string bytes{static_cast<char>(first), static_cast<char>(second)};
      const std::string quoted = quote(bytes);
      ASSERT_EQ(unquote(quoted), bytes) << first << ' ' << second;
      for (const char c : quoted)
        ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << first << ' ' << second;
    }
  }
}

TEST(Printable, QuotesOnlyWhatCouldNotBeSeen) {
  for (const char* text : {"orders:42", "two words", "k\xc3\xa4se"}) EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable(""), R"("")");
  EXPECT_EQ(printable(" edge"), R"(" edge")");
  EXPECT_EQ(printable("\x1b[31m"), R"("\x1b[31m")");
}

TEST(PercentDecoded, ReadsEscapesAndRefusesWhatIsNone) {
  EXPECT_EQ(percent_decoded("a%20b%C3%a4%25"), "a b\xc3\xa4%");
  EXPECT_EQ(percent_decoded(""), "");
  for (const char* text : {"%", "%4", "%zz", "%-1", "a%4"}) EXPECT_EQ(percent_decoded(text), std::nullopt) << text;
}

}  // namespace
}  // namespace holdfast::base::text_test
