#include "redis/protocol/encode.hpp"

#include <charconv>

namespace holdfast::redis {
namespace {

void add_line(std::string& out, char type, std::size_t number) {
  char line[24] = {type};
  char* const end = std::to_chars(line + 1, line + 21, number).ptr;
  end[0] = '\r';
  end[1] = '\n';
  out.append(line, end + 2);
}

void add_bulk(std::string& out, std::string_view bytes) {
  add_line(out, '$', bytes.size());
  out.append(bytes).append("\r\n");
}

}  // namespace

void encode(std::string& out, const base::Command& command, bool full_text) {
  const base::Script* script = command.script;
  add_line(out, '*', command.args.size() + (script != nullptr ? 2 : 0));
  if (script != nullptr) {
    add_bulk(out, full_text ? "EVAL" : "EVALSHA");
    add_bulk(out, full_text ? script->text : script->sha1);
  }
  for (const std::string& arg : command.args) add_bulk(out, arg);
}

void encode(std::string& out, std::string_view verb, const std::vector<std::string>& args) {
  add_line(out, '*', 1 + args.size());
  add_bulk(out, verb);
  for (const std::string& arg : args) add_bulk(out, arg);
}

}  // namespace holdfast::redis
