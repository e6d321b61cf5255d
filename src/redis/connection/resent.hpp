// Commands whose script the server did not know: only those are resent, with the script's text.
#pragma once

#include <cstddef>

#include "redis/connection/op.hpp"

namespace holdfast::redis {

/// If commands of this request, just answered for the first time, were refused because the server does not know their
/// script, notes which must be resent. The server refuses them before it does anything.
inline bool begin_resending(Op& op) {
  if (!op.resent.empty()) return false;
  const std::vector<base::Reply>& replies = op.builder.replies;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const bool script = op.request.commands[i].script != nullptr;
    if (script && replies[i].is_error() && replies[i].text.starts_with("NOSCRIPT")) op.resent.push_back(i);
  }
  if (op.resent.empty()) return false;
  op.answered = std::move(op.builder.replies);
  return true;
}

/// Only some commands were resent; the others were executed the first time.
inline bool resends_a_part(const Op& op) { return !op.resent.empty() && op.resent.size() < op.request.commands.size(); }

/// Everything is answered: replaces the refusals by the replies to the resent commands.
inline void end_resending(Op& op) {
  if (op.resent.empty()) return;
  for (std::size_t i = 0; i < op.resent.size(); ++i) {
    op.answered[op.resent[i]] = std::move(op.builder.replies[i]);
  }
  op.builder.replies = std::move(op.answered);
}

}  // namespace holdfast::redis
