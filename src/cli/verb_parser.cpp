#include "cli/verb_parser.hpp"

#include <algorithm>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/duration.hpp"
#include "base/text.hpp"
#include "cli/kind_names.hpp"
#include "cli/nearest.hpp"
#include "cli/output.hpp"
#include "cli/secrets.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

milliseconds read_duration(const std::string& option, const std::string& text, milliseconds shortest) {
  const auto parsed = base::parse_duration(text, base::BareNumber::seconds);
  const auto* value = std::get_if<milliseconds>(&parsed);
  if (value && *value >= shortest) return *value;
  if (!value && std::get<base::BadDuration>(parsed) == base::BadDuration::form) {
    throw UsageError(
        fmt::format("{}: {} is neither a number of seconds nor {}", option, shown(text), base::kDurationForm));
  }
  throw UsageError(
      fmt::format("{}: {} is out of range: from {} to 10 years (3650d)", option, shown(text), in_words(shortest)));
}

int read_number(const std::string& option, const std::string& text, int largest) {
  const auto value = base::to_number<int>(text);
  if (value.value_or(-1) < 0 || *value > largest) {
    throw UsageError(fmt::format("{}: {} is not a number from 0 to {}", option, shown(text), largest));
  }
  return *value;
}

LockKind lock_kind(const std::string& option, const std::string& text, KindsFor what) {
  const std::optional<LockKind> kind = kind_named(text);
  if (kind && (what == KindsFor::looking || !is_number(*kind))) return *kind;
  throw UsageError(fmt::format("{}: {} is not one of lock, fenced, fair, simple, spin, read-write, permit{}", option,
                               shown(text), what == KindsFor::looking ? ", semaphore, latch" : ""));
}

void refuse_empty(const std::string& option, std::string_view value) {
  if (value.empty()) throw UsageError(option + ": the value is empty");
}

std::string long_name(const std::string& names) { return names.substr(names.find("--")); }

}  // namespace

VerbParser::VerbParser(CommonOptions& common) : common_(common), app_(std::make_unique<CLI::App>()) {
  app_->set_help_flag();
  app_->allow_extras();
  flag("-h,--help", help_);
  app_->add_option("--url", common.urls)->allow_extra_args(false);
  text("--url-file", common.url_file);
  text("--password-file", common.password_file);
  flag("--json", common.json);
  flag("-q,--quiet", common.quiet);
  flag("-v,--verbose", common.verbose);
  flag("--timestamps", common.timestamps);
  flag("--syslog", common.syslog);
}

VerbParser::~VerbParser() = default;

void VerbParser::flag(const std::string& names, bool& target) {
  app_->add_flag(names, target);
  flags_.push_back(long_name(names));
}

void VerbParser::text(const std::string& names, std::optional<std::string>& target) {
  value(names, [&target](const std::string&, const std::string& text) { target = text; });
}

void VerbParser::kind(LockKind& target, KindsFor what) {
  value("--kind", [&target, what](const std::string& option, const std::string& text) {
    target = lock_kind(option, text, what);
  });
}

bool VerbParser::has(const std::string& name) const { return app_->count(name) > 0; }

void VerbParser::duration(const std::string& names, std::optional<milliseconds>& target, milliseconds shortest) {
  value(names, [&target, shortest](const std::string& option, const std::string& text) {
    target = read_duration(option, text, shortest);
  });
}

void VerbParser::number(const std::string& names, int largest, std::optional<int>& target) {
  value(names, [&target, largest](const std::string& option, const std::string& text) {
    target = read_number(option, text, largest);
  });
}

void VerbParser::value(const std::string& names, Set set) {
  const auto check = [option = long_name(names), set = std::move(set)](const std::string& text) {
    refuse_empty(option, text);
    set(option, text);
  };
  app_->add_option_function<std::string>(names, check)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

Args VerbParser::parse(Args args) {
  for (const std::string& arg : args) {
    const std::size_t equals = arg.find('=');
    if (!arg.starts_with("--") || equals == arg.npos) continue;
    const std::string name = option_name(arg);
    if (std::ranges::find(flags_, name) != flags_.end()) throw UsageError(name + " takes no value");
    // The library would take the next argument for the value.
    if (app_->get_option_no_throw(name) != nullptr) refuse_empty(name, std::string_view(arg).substr(equals + 1));
  }
  // The library expects them in reverse order.
  std::reverse(args.begin(), args.end());
  try {
    app_->parse(args);
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string_view what = error.what();
    throw UsageError(fmt::format("{}: the value is missing", what.substr(0, what.find(':'))));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  for (const std::string& url : common_.urls) refuse_empty("--url", url);
  Args rest = app_->remaining();
  for (const std::string& arg : rest) {
    if (arg.size() > 1 && arg.front() == '-') {
      throw UsageError("unknown option " + option_name(arg) + did_you_mean(option_name(arg), names_of_options()));
    }
  }
  return rest;
}

std::vector<std::string> VerbParser::names_of_options() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : static_cast<const CLI::App&>(*app_).get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string option_name(const std::string& arg) {
  if (!arg.starts_with("--")) return shown(arg.substr(0, 2));
  return shown(arg.substr(0, arg.find('=')));
}

}  // namespace holdfast::cli
