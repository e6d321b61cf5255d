// The options of one verb: their syntax, and their valid values.
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

/// The valid kinds depend on the use: kinds without holders can only be inspected.
enum class KindsFor { holding, looking };

/// Positional arguments are left to the caller, since the library would interpret names like `++` or `[a]`. If an
/// option is given several times the last one counts, as with getopt(3).
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

  /// Returns the arguments that are not options. Throws UsageError.
  Args parse(Args args);

  bool help() const { return help_; }
  /// True if this option was among the parsed arguments.
  bool has(const std::string& name) const;

 private:
  std::vector<std::string> names_of_options() const;

  CommonOptions& common_;
  std::unique_ptr<CLI::App> app_;
  std::vector<std::string> flags_;
  bool help_ = false;
};

/// The name in an argument that looks like an option, without its value.
std::string option_name(const std::string& arg);

}  // namespace holdfast::cli
