// SPDX-License-Identifier: Apache-2.0
#include "cli/json.hpp"

#include "base/text.hpp"

namespace holdfast::cli {

boost::json::object to_json(const Problem& problem) {
  boost::json::object out;
  out["code"] = problem.code;
  put_text(out, "message", base::without_logins(problem.message));
  out["key"] = nullptr;
  out["node"] = nullptr;
  if (!problem.key.empty()) put_text(out, "key", problem.key);
  if (!problem.node.empty()) put_text(out, "node", problem.node);
  return out;
}

}  // namespace holdfast::cli
