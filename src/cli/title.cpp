#include "cli/title.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <sys/prctl.h>

namespace holdfast::cli {
namespace {

char* begin = nullptr;  // the arguments, one after another, each ended by a zero
std::size_t size = 0;

}  // namespace

void remember_arguments(int argc, char** argv) noexcept {
  if (argc < 1) return;
  begin = argv[0];
  const char* end = begin;
  for (int i = 0; i < argc && argv[i] == end; ++i) end += std::strlen(argv[i]) + 1;
  size = static_cast<std::size_t>(end - begin);
}

void set_title(const char* title) noexcept {
  prctl(PR_SET_NAME, title);
  if (size == 0) return;
  std::memset(begin, 0, size);
  std::copy_n(title, std::min(std::strlen(title), size - 1), begin);
}

}  // namespace holdfast::cli
