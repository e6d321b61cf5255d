// The options of one verb: how they are written, and what their values must be.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace holdfast::cli {

using Args = std::vector<std::string>;

/// What is to be done with a lock decides which kinds there are: one that nobody holds can be looked at.
enum class KindsFor { holding, looking };

/// Positional arguments are left to the caller: the library would read meaning into names like `++` or `[a]`. Of an
/// option that is given several times the last one counts, as with getopt(3).
class VerbParser {
 public:
  /// `common` is filled by parse().
  explicit VerbParser(CommonOptions& common);
  ~VerbParser();
  VerbParser(const VerbParser&) = delete;
  VerbParser& operator=(const VerbParser&) = delete;

  void flag(const std::string& names, bool& target);
  void text(const std::string& names, std::optional<std::string>& target);
  void kind(LockKind& target, KindsFor what = KindsFor::holding);
  /// From `shortest` to ten years.
  void duration(const std::string& names, std::optional<std::chrono::milliseconds>& target,
                std::chrono::milliseconds shortest = {});
  void number(const std::string& names, int largest, std::optional<int>& target);
  /// `set` has the option's long name and its value, which is not empty; it may throw UsageError.
  using Set = std::function<void(const std::string& option, const std::string& text)>;
  void value(const std::string& names, Set set);

  /// Returns what is no option. Throws UsageError.
  Args parse(Args args);

  bool help() const { return help_; }
  /// True if this option was given, in what has been parsed.
  bool has(const std::string& name) const;

 private:
  CommonOptions& common_;
  std::unique_ptr<CLI::App> app_;
  std::vector<std::string> flags_;
  bool help_ = false;
};

/// An argument that begins like an option, without what may be its value.
std::string option_name(const std::string& arg);

}  // namespace holdfast::cli
