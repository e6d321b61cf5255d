// SPDX-License-Identifier: Apache-2.0
// The text of a hold on its way: the same hold comes out, and nothing else is taken for one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/error.hpp>
#include <holdfast/hold.hpp>

namespace holdfast::test::ticket_test {
namespace {

using namespace std::chrono_literals;

const std::string kOwner = "99999999-2222-8333-8444-555555555555:7";

std::vector<Ticket> some() {
  std::string all_bytes;
  for (int byte = 0; byte < 256; ++byte) all_bytes += static_cast<char>(byte);
  return {{Ticket::Kind::lock, "orders:42", kOwner, std::nullopt, 30s},
          {Ticket::Kind::fenced, "a.b c/%'\"$", kOwner, 17, 10ms},
          {Ticket::Kind::fenced, "x", kOwner, -1, 87600h},
          {Ticket::Kind::fair, all_bytes, kOwner, std::nullopt, 1h},
          {Ticket::Kind::simple, ".", std::string(20, '\xff'), std::nullopt, 1min},
          {Ticket::Kind::permit, "gpus", "00112233445566778899aabbccddeeff,ffeeddccbbaa99887766554433221100", {}, 1h}};
}

bool is_refused(const std::string& text) {
  try {
    Ticket::parse(text);
  } catch (const Error& error) {
    return error.code() == Errc::invalid_argument;
  }
  return false;
}

TEST(TicketTest, ComesOutAsItWentIn) {
  for (const Ticket& ticket : some()) EXPECT_EQ(Ticket::parse(ticket.text()), ticket) << ticket.text();
}

TEST(TicketTest, IsOneWordForEveryShell) {
  for (const Ticket& ticket : some()) {
    const std::string text = ticket.text();
    EXPECT_TRUE(std::ranges::all_of(text, [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("-_:.%").find(c) != std::string::npos;
    })) << text;
    EXPECT_TRUE(text.starts_with("hf1."));
  }
}

/// So the text of one release is read by the next.
TEST(TicketTest, HasAFormThatStays) {
  EXPECT_EQ(some()[0].text(), "hf1.lock.99999999-2222-8333-8444-555555555555:7.-.30000.orders:42.18c87a38");
}

TEST(TicketTest, ChangedByOneCharacterIsNone) {
  const std::string text = some()[1].text();
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char c : {'0', 'a', 'F', '.', '%', '-', '\0'}) {
      std::string changed = text;
      changed[i] = c;
      EXPECT_EQ(is_refused(changed), changed != text) << changed;
    }
    EXPECT_TRUE(is_refused(text.substr(0, i)));
    EXPECT_TRUE(is_refused(text.substr(i + 1)));
  }
  for (const char* other : {"", "hf1", "hf1......", " ", "redis://host"}) EXPECT_TRUE(is_refused(other));
  EXPECT_TRUE(is_refused(text + "\n"));
}

/// A text that was made by hand may have a sum that fits.
TEST(TicketTest, WithPartsOutOfRangeIsNone) {
  std::vector<Ticket> wrong(4, some()[0]);
  wrong[0].name.clear();
  wrong[1].owner.clear();
  wrong[2].lease = 9ms;
  wrong[3].lease = 87601h;
  for (const Ticket& ticket : wrong) EXPECT_TRUE(is_refused(ticket.text())) << ticket.text();
}

}  // namespace
}  // namespace holdfast::test::ticket_test
