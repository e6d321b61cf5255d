// A terminal that shows one page, which is redrawn repeatedly.
#pragma once

#include <optional>
#include <string>
#include <termios.h>

#include "cli/output.hpp"

namespace holdfast::cli {

/// The terminal on standard output, and its keys if standard input is a terminal too. Takes it over at construction,
/// and finally restores it with its previous contents.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// True if standard output is a terminal.
  static bool exists();

  /// The keys' descriptor, or -1.
  int keys() const { return keys_; }
  enum class Key { none, quit, suspend, sort, help, other };
  /// The next pressed key; none: no more keys. A closed terminal counts as quit.
  Key next_key() const;

  /// Draws as many of these lines as fit, each cut at the edge. Throws std::system_error.
  void draw(const Shown& lines) const;
  /// Gives the terminal back and stops this process, as the suspend key does; when continued, takes it over again.
  void suspend();
  /// To be called after another process had the terminal.
  void take_over();

 private:
  void give_back() noexcept;

  int keys_ = -1;
  std::optional<termios> found_;  // its previous modes; empty: not changed
};

}  // namespace holdfast::cli
