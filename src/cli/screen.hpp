// A terminal that shows one page, which is drawn again and again.
#pragma once

#include <optional>
#include <string>
#include <termios.h>

namespace holdfast::cli {

/// The terminal on standard output, and its keys if standard input is one too. Takes it over at construction, and
/// leaves it as it was, with what stood there before.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Standard output is one.
  static bool exists();

  /// The keys' descriptor, or -1.
  int keys() const { return keys_; }
  enum class Key { none, quit, suspend, other };
  /// The next key that was pressed; none: there is no more. A terminal that is gone quits.
  Key next_key() const;

  /// Draws as many of these lines as it has room for, each cut at the edge. Throws std::system_error.
  void draw(const std::string& lines) const;
  /// Gives the terminal back and stops this process, as the suspend key does; afterwards as before.
  void suspend();
  /// After somebody else had the terminal.
  void take_over();

 private:
  void give_back() noexcept;

  int keys_ = -1;
  std::optional<termios> found_;  // its modes before; empty: they were not changed
};

}  // namespace holdfast::cli
