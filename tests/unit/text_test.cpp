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
    testing::Values(Case{"\xc2\xa0", "\"\xc2\xa0\""}, Case{"\xc3\xbc", "\"\xc3\xbc\""},
                    Case{"\xdf\xbf", "\"\xdf\xbf\""}, Case{"\xe0\xa0\x80", "\"\xe0\xa0\x80\""},
                    Case{"\xe2\x82\xac", "\"\xe2\x82\xac\""}, Case{"\xed\x9f\xbf", "\"\xed\x9f\xbf\""},
                    Case{"\xee\x80\x80", "\"\xee\x80\x80\""}, Case{"\xef\xbf\xbf", "\"\xef\xbf\xbf\""},
                    Case{"\xf0\x90\x80\x80", "\"\xf0\x90\x80\x80\""}, Case{"\xf0\x9f\x94\x92", "\"\xf0\x9f\x94\x92\""},
                    Case{"\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\""}));

// Shown by nothing, obeyed by terminals: C1 controls, marks and changes of direction, line and paragraph separators.
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
                                         Case{"\xe2\x81\xaa", "\"\xe2\x81\xaa\""}));

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
  for (const char* seen : {"", "a", " ", "\xc2\xa0", "\xe2\x80\x90", "\xf0\x9f\x94\x92", "\x80", "\xe2\x80"}) {
    EXPECT_EQ(unseen_length(seen), 0U) << quote(seen);
  }
  EXPECT_EQ(unseen_length("\n"), 1U);
  EXPECT_EQ(unseen_length("\x7fz"), 1U);
  EXPECT_EQ(unseen_length("\xc2\x9bz"), 2U);
  EXPECT_EQ(unseen_length("\xd8\x9cz"), 2U);
  EXPECT_EQ(unseen_length("\xe2\x80\xaez"), 3U);
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
