// SPDX-License-Identifier: Apache-2.0
// Turns the records of a run into docs/records/interop.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record.hpp"

namespace holdfast::test {

/// What stands before the tables: interop.md.in.
std::string interop_introduction();

/// The whole page. `date` is when the tests ran.
std::string interop_page(std::vector<Record> records, const std::string& date);

/// `AWaiterEntersSoon` as `A waiter enters soon`.
std::string as_sentence(std::string_view camel_case);

}  // namespace holdfast::test
