// SPDX-License-Identifier: Apache-2.0
#include "support/names.hpp"

#include <condition_variable>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <netdb.h>

namespace holdfast::test {
namespace {

struct Entry {
  std::vector<Name::Address> addresses;
  bool silent = false;
  int asked = 0;
  int waiting = 0;
};

struct Names {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, Entry> entries;
};
/// Never destroyed: a look-up may be left behind at the end of the process.
Names& names() {
  static Names& all = *new Names;
  return all;
}

using LookUp = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
LookUp system_look_up() {
  static const auto found = reinterpret_cast<LookUp>(dlsym(RTLD_NEXT, "getaddrinfo"));
  return found;
}

/// Empty: not one of ours. Waits as long as it is silent.
bool look_up(const char* name, std::vector<Name::Address>& addresses) {
  if (name == nullptr) return false;
  Names& all = names();
  std::unique_lock guard(all.mutex);
  if (!all.entries.contains(name)) return false;
  ++all.entries[name].asked;
  ++all.entries[name].waiting;
  all.changed.wait(guard, [&] { return !all.entries.contains(name) || !all.entries[name].silent; });
  const auto entry = all.entries.find(name);
  if (entry == all.entries.end()) return true;
  --entry->second.waiting;
  addresses = entry->second.addresses;
  return true;
}

}  // namespace

Name::Name(std::string name, std::vector<Address> addresses) : name_(std::move(name)) { set(std::move(addresses)); }

Name::~Name() {
  Names& all = names();
  const std::scoped_lock guard(all.mutex);
  all.entries.erase(name_);
  all.changed.notify_all();
}

void Name::set(std::vector<Address> addresses) {
  const std::scoped_lock guard(names().mutex);
  names().entries[name_].addresses = std::move(addresses);
}

void Name::silent(bool on) {
  const std::scoped_lock guard(names().mutex);
  names().entries[name_].silent = on;
  names().changed.notify_all();
}

int Name::asked() const {
  const std::scoped_lock guard(names().mutex);
  return names().entries[name_].asked;
}

int Name::waiting() const {
  const std::scoped_lock guard(names().mutex);
  return names().entries[name_].waiting;
}

}  // namespace holdfast::test

/// Takes the place of the system's in every program that uses a Name.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** list) {
  using namespace holdfast::test;
  std::vector<Name::Address> addresses;
  if (!look_up(name, addresses)) return system_look_up()(name, service, hints, list);
  *list = nullptr;
  addrinfo** end = list;
  for (const Name::Address& each : addresses) {
    if (system_look_up()(each.host.c_str(), std::to_string(each.port).c_str(), hints, end) != 0) continue;
    while (*end != nullptr) end = &(*end)->ai_next;
  }
  return *list == nullptr ? EAI_NONAME : 0;
}
