// SPDX-License-Identifier: Apache-2.0
// Replies as bytes, and bytes as replies, for targets that take either.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/resp.hpp"
#include "fuzz/fuzz.hpp"

namespace holdfast::fuzz {

/// As a server sends it.
std::string encoded(const base::Reply& reply);
/// The messages that these bytes hold, up to the first that makes no sense or is not complete.
std::vector<base::Reply> decoded(std::string_view bytes);
bool same(const base::Reply& a, const base::Reply& b);

/// One that the input describes, with what servers say more often than chance would.
base::Reply made_reply(Input& input, std::size_t depth = 0);

}  // namespace holdfast::fuzz
