// SPDX-License-Identifier: Apache-2.0
// Preloaded into a server, it moves the server's wall clock by as many milliseconds as the file says that
// HOLDFAST_CLOCK_FILE names: eight bytes, a number of this machine. The monotonic clock stays as it is.
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

/// Null: it stands at zero.
const volatile std::int64_t* mapped() {
  const char* const path = std::getenv("HOLDFAST_CLOCK_FILE");
  const int file = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const memory = mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<const volatile std::int64_t*>(memory);
}

std::int64_t moved_by() {
  static const volatile std::int64_t* const offset = mapped();
  return offset == nullptr ? 0 : *offset;
}

}  // namespace

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the system's names are reserved
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const long result = syscall(SYS_clock_gettime, clock, time);
  if (result != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return static_cast<int>(result);
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t now = std::int64_t{time->tv_sec} * kSecond + time->tv_nsec + moved_by() * 1'000'000;
  *time = {now / kSecond, now % kSecond};
  return 0;
}

extern "C" int gettimeofday(timeval* time, void*) noexcept {
  timespec now{};
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  if (result == 0) *time = {now.tv_sec, now.tv_nsec / 1000};
  return result;
}

extern "C" time_t time(time_t* seconds) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (seconds != nullptr) *seconds = now.tv_sec;
  return now.tv_sec;
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
