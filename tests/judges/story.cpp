// SPDX-License-Identifier: Apache-2.0
#include "judges/story.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <boost/json.hpp>

namespace holdfast::test {
namespace {

namespace json = boost::json;

struct Time {
  const char* name;
  Microseconds StorySettings::* time;
};
constexpr Time kTimes[] = {
    {"lease", &StorySettings::lease},
    {"safety_poll", &StorySettings::safety_poll},
    {"command_timeout", &StorySettings::command_timeout},
    {"release_timeout", &StorySettings::release_timeout},
    {"patience", &StorySettings::patience},
    {"wait", &StorySettings::wait},
    {"allowance", &StorySettings::allowance},
};

json::array texts(const std::vector<Text>& from) {
  json::array made;
  for (const Text each : from) made.emplace_back(each.str());
  return made;
}

std::vector<Text> texts(const json::value& from) {
  std::vector<Text> made;
  for (const json::value& each : from.as_array()) made.emplace_back(std::string_view(each.as_string()));
  return made;
}

json::object written(const StruckFault& fault) {
  return {{"kind", fault.kind.str()},
          {"began", fault.began},
          {"ended", fault.ended},
          {"names", texts(fault.names)},
          {"clients", texts(fault.clients)},
          {"stands_still", fault.stands_still},
          {"kills", fault.kills},
          {"exclusion_promised", fault.exclusion_promised},
          {"counted_until", fault.counted_until},
          {"told_within", fault.told_within},
          {"tokens_promised", fault.tokens_promised},
          {"counts_promised", fault.counts_promised},
          {"counts_until", fault.counts_until}};
}

StruckFault read_fault(const json::object& from) {
  StruckFault fault;
  fault.kind = std::string_view(from.at("kind").as_string());
  fault.began = from.at("began").to_number<Microseconds>();
  fault.ended = from.at("ended").to_number<Microseconds>();
  fault.names = texts(from.at("names"));
  fault.clients = texts(from.at("clients"));
  fault.stands_still = from.at("stands_still").as_bool();
  fault.kills = from.at("kills").as_bool();
  fault.exclusion_promised = from.at("exclusion_promised").as_bool();
  fault.counted_until = from.at("counted_until").to_number<Microseconds>();
  fault.told_within = from.at("told_within").to_number<Microseconds>();
  fault.tokens_promised = from.at("tokens_promised").as_bool();
  fault.counts_promised = from.at("counts_promised").as_bool();
  fault.counts_until = from.at("counts_until").to_number<Microseconds>();
  return fault;
}

bool has(const std::vector<Text>& texts, Text text) { return std::ranges::find(texts, text) != texts.end(); }

}  // namespace

Microseconds StruckFault::works_until() const { return ended == 0 ? HeldOnce::kNever : std::max(ended, counted_until); }
bool StruckFault::concerns(Text name) const { return names.empty() || has(names, name); }
bool StruckFault::strikes(Text client) const { return clients.empty() || has(clients, client); }

bool Story::is_other(Text client) const {
  return std::ranges::any_of(settings.others, [&](const std::string& prefix) { return client.starts_with(prefix); });
}

bool Story::is_plain(Text name) const {
  const auto found = permits.find(name.str());
  return found != permits.end() && found->second.plain;
}

void write_story(const Story& story, const std::string& folder) {
  json::object times, numbers, permits;
  for (const Time& each : kTimes) times[each.name] = story.settings.*each.time;
  for (const auto& [name, number] : story.numbers) numbers[name] = number;
  for (const auto& [name, each] : story.permits) {
    permits[name] = json::object{{"all", each.all}, {"left", each.left}, {"plain", each.plain}};
  }
  json::array faults, others, standstills;
  for (const StruckFault& each : story.faults) faults.push_back(written(each));
  for (const std::string& each : story.settings.others) others.emplace_back(each);
  for (const Standstill& each : story.standstills) standstills.push_back(json::array{each.began, each.ended});
  const json::object all{
      {"microseconds", times}, {"others", others},          {"split_votes", story.settings.split_votes},
      {"numbers", numbers},    {"permits", permits},        {"safety_poll_wakes", story.safety_poll_wakes},
      {"faults", faults},      {"standstills", standstills}};
  std::ofstream out(std::filesystem::path(folder) / "story.json");
  out << json::serialize(all) << '\n';
  if (!out.flush()) throw std::runtime_error("cannot write story.json in " + folder);
}

Story read_story(const std::string& folder) {
  std::ifstream in(std::filesystem::path(folder) / "story.json");
  if (!in) throw std::runtime_error("no story.json in " + folder);
  std::ostringstream text;
  text << in.rdbuf();
  const json::value all = json::parse(text.str());
  Story story;
  for (const Time& each : kTimes) {
    story.settings.*each.time = all.at("microseconds").at(each.name).to_number<Microseconds>();
  }
  story.settings.split_votes = all.at("split_votes").as_bool();
  for (const json::value& each : all.at("others").as_array()) story.settings.others.emplace_back(each.as_string());
  for (const auto& [name, number] : all.at("numbers").as_object()) {
    story.numbers[name] = number.to_number<long long>();
  }
  for (const auto& [name, each] : all.at("permits").as_object()) {
    story.permits[name] = {each.at("all").to_number<long long>(), each.at("left").to_number<long long>(),
                           each.at("plain").as_bool()};
  }
  story.safety_poll_wakes = all.at("safety_poll_wakes").to_number<long long>();
  for (const json::value& each : all.at("faults").as_array()) story.faults.push_back(read_fault(each.as_object()));
  for (const json::value& each : all.at("standstills").as_array()) {
    story.standstills.push_back({each.at(0).to_number<Microseconds>(), each.at(1).to_number<Microseconds>()});
  }
  story.history = History::read(folder);
  return story;
}

}  // namespace holdfast::test
