// SPDX-License-Identifier: Apache-2.0
// MULTI and EXEC, as every server knows them.
#include <utility>

#include "sim/model/node.hpp"

namespace holdfast::test {

/// False: it is to be carried out now.
bool ModelNode::in_transaction(Session& session, Args command, std::string& out) {
  const std::string_view verb = command.front();
  if (mode() == "sentinel") return false;
  if (verb == "MULTI") {
    if (session.queued) throw Refused("ERR MULTI calls can not be nested");
    session.queued.emplace();
    session.spoilt = false;
    put_word(out, "OK");
    return true;
  }
  if (verb == "EXEC") {
    exec(session, out);
    return true;
  }
  if (!session.queued) return false;
  check_to_queue(session, command);
  session.queued->emplace_back(command.begin(), command.end());
  put_word(out, "QUEUED");
  return true;
}

void ModelNode::exec(Session& session, std::string& out) {
  if (!session.queued) throw Refused("ERR EXEC without MULTI");
  const std::vector<std::vector<std::string>> commands = *std::exchange(session.queued, std::nullopt);
  if (std::exchange(session.spoilt, false)) {
    throw Refused("EXECABORT Transaction discarded because of previous errors.");
  }
  put_head(out, '*', commands.size());
  for (const std::vector<std::string>& words : commands) {
    const std::vector<std::string_view> command(words.begin(), words.end());
    std::string reply;
    try {
      perform(session, command, reply);
    } catch (const Refused& refused) {
      reply.clear();
      put_error(reply, refused.text());
    }
    out += reply;
    on_command_done(session);
  }
}

}  // namespace holdfast::test
