#include "redis/encode.hpp"

#include <boost/redis/resp3/serialization.hpp>

namespace holdfast::redis {
namespace {

using boost::redis::resp3::add_bulk;
using boost::redis::resp3::add_header;
using boost::redis::resp3::type;

}  // namespace

void encode(std::string& out, const base::Command& command, bool full_text) {
  const base::Script* script = command.script;
  add_header(out, type::array, command.args.size() + (script != nullptr ? 2 : 0));
  if (script != nullptr) {
    add_bulk(out, std::string_view(full_text ? "EVAL" : "EVALSHA"));
    add_bulk(out, full_text ? script->text : script->sha1);
  }
  for (const std::string& arg : command.args) add_bulk(out, std::string_view(arg));
}

void encode(std::string& out, std::string_view verb, const std::vector<std::string>& args) {
  add_header(out, type::array, 1 + args.size());
  add_bulk(out, verb);
  for (const std::string& arg : args) add_bulk(out, std::string_view(arg));
}

}  // namespace holdfast::redis
