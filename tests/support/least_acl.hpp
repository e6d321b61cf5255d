// SPDX-License-Identifier: Apache-2.0
// What docs/least-acl.acl says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// The words of its one `user` line, from the third on, with this password: what the user may do.
std::vector<std::string> least_rights(const std::string& password);

/// Commands, keys and channels that the paragraph `KIND needs ...` names; empty: there is none.
std::vector<std::string> rights_named_for(std::string_view kind);

}  // namespace holdfast::test
