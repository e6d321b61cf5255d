// SPDX-License-Identifier: Apache-2.0
// Replies and pushes as bytes, and commands out of bytes, without copies.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// A command, or a part of one; into the bytes of its session.
using Args = std::span<const std::string_view>;

void put_number(std::string& out, std::int64_t value);
void put_text(std::string& out, std::string_view value);
void put_word(std::string& out, std::string_view word);  ///< A simple string: `+OK`.
void put_error(std::string& out, std::string_view text);
void put_null(std::string& out);
/// `*` for an array, `%` for a map of so many pairs, `>` for a push.
void put_head(std::string& out, char type, std::size_t count);
void put_push(std::string& out, std::string_view kind, std::string_view channel, std::string_view text);
/// The same to who has not asked for RESP3: nulls, maps and pushes are what they were before it.
std::string in_resp2(std::string_view replies);

/// The command that begins at `position`, which moves behind it. False: not all of it is there.
bool take_command(std::string_view bytes, std::size_t& position, std::vector<std::string_view>& args);

}  // namespace holdfast::test
