#include "runtime/machine/fingerprint.h"

#include <algorithm>
#include <fstream>
#include <utility>
#include <vector>

#include "base/control_groups.h"
#include "base/json.h"
#include "base/network_name.h"

namespace stripline::machine {
namespace {

uint64_t rounded_memory(uint64_t bytes) {
  constexpr uint64_t kGibibyte = uint64_t{1} << 30;
  const uint64_t step = bytes < 4 * kGibibyte ? kGibibyte / 2 : kGibibyte;
  return (bytes + step / 2) / step * step;
}

// The words of a file, with one space between them, or only the one in brackets.
std::string words_of(const char* path, bool chosen) {
  std::ifstream file(path);
  std::string words;
  for (std::string word; file >> word;) {
    if (chosen && word.starts_with('[') && word.ends_with(']')) {
      return word.substr(1, word.size() - 2);
    }
    if (!chosen) words += (words.empty() ? "" : " ") + word;
  }
  return words;
}

void add(Facts& facts, const char* name, std::string value) {
  if (!value.empty()) facts[name] = std::move(value);
}

// What an administrator sets, and what is measured depends on.
void add_huge_pages(Facts& facts) {
  const std::string pages = "/sys/kernel/mm/transparent_hugepage/";
  add(facts, "memory.huge_pages.segments", words_of((pages + "shmem_enabled").c_str(), true));
  add(facts, "memory.huge_pages.private", words_of((pages + "enabled").c_str(), true));
}

void add_settings_of_tcp(Facts& facts) {
  const std::string settings = "/proc/sys/net/ipv4/tcp_";
  add(facts, "tcp.receive_bytes", words_of((settings + "rmem").c_str(), false));
  add(facts, "tcp.send_bytes", words_of((settings + "wmem").c_str(), false));
  add(facts, "tcp.congestion_control", words_of((settings + "congestion_control").c_str(), false));
}

bool uses_tcp(const std::string& provider) {
  return provider.starts_with("tcp") || provider.starts_with("net") ||
         provider.starts_with("sockets");
}

}  // namespace

std::map<std::string, std::string> machine_facts(const Topology& topology) {
  std::map<std::string, std::string> facts = {
      {"cpu.architecture", topology.cpu_architecture},
      {"cpu.model", topology.cpu_model},
      {"cpu.sockets", std::to_string(topology.sockets)},
      {"cpu.cores", std::to_string(topology.cores)},
      {"cpu.threads", std::to_string(topology.threads)},
      {"numa.nodes", std::to_string(topology.numa_nodes)},
      {"memory_bytes", std::to_string(rounded_memory(topology.memory_bytes))},
      {"kernel", topology.kernel},
  };
  if (topology.processor_quota > 0) facts["cpu.quota"] = quota_text(topology.processor_quota);
  for (const auto& [name, bytes] : topology.cache_bytes) {
    facts["cache." + name + "_bytes"] = std::to_string(bytes);
  }
  add_huge_pages(facts);
  return facts;
}

std::map<std::string, std::string> machine_fingerprint(const fabric::Info& info) {
  std::map<std::string, std::string> facts = machine_facts(read_topology());
  if (uses_tcp(info.provider)) add_settings_of_tcp(facts);
  for (const auto& [name, value] : info.attributes) facts[name] = value;
  facts["fabric"] = network_name(info.name);
  facts["fabric.provider"] = info.provider;
  facts["clock"] = info.clock;
  return facts;
}

Facts join_facts(std::span<const FactsOfRank> of_ranks) {
  constexpr size_t kMostNamed = 3;
  Facts joined;
  for (const FactsOfRank& one : of_ranks) {
    for (const auto& [name, value] : one.facts) joined[name] = value;
  }
  for (auto& [name, joined_value] : joined) {
    std::vector<std::pair<std::string, uint32_t>> first;  // rank of each value
    for (const FactsOfRank& one : of_ranks) {
      const auto found = one.facts.find(name);
      const std::string value = found == one.facts.end() ? "nothing" : found->second;
      const auto known = std::ranges::find(first, value, &std::pair<std::string, uint32_t>::first);
      if (known == first.end()) first.emplace_back(value, one.rank);
    }
    if (first.size() == 1) continue;
    joined_value.clear();
    for (size_t i = 0; i < std::min(first.size(), kMostNamed); ++i) {
      joined_value +=
          (i > 0 ? ", " : "") + first[i].first + " on rank " + std::to_string(first[i].second);
    }
    if (first.size() > kMostNamed) joined_value += ", and others";
  }
  return joined;
}

std::string encode_facts(const Facts& facts) { return dumped(Json(facts)); }

Result<Facts> decode_facts(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) {
    return Error(ErrorCode::data_loss, "a rank has not said what its machine is");
  }
  Facts facts;
  for (const auto& [name, value] : json.items()) {
    if (value.is_string()) facts[name] = value.get<std::string>();
  }
  return facts;
}

}  // namespace stripline::machine
