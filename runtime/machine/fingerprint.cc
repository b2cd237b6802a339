#include "runtime/machine/fingerprint.h"

#include <cstdint>

#include "base/control_groups.h"
#include "base/network_name.h"

namespace stripline::machine {
namespace {

uint64_t rounded_memory(uint64_t bytes) {
  constexpr uint64_t kGibibyte = uint64_t{1} << 30;
  const uint64_t step = bytes < 4 * kGibibyte ? kGibibyte / 2 : kGibibyte;
  return (bytes + step / 2) / step * step;
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
  return facts;
}

std::map<std::string, std::string> machine_fingerprint(const fabric::Info& info) {
  std::map<std::string, std::string> facts = machine_facts(read_topology());
  for (const auto& [name, value] : info.attributes) facts[name] = value;
  facts["fabric"] = network_name(info.name);
  facts["fabric.provider"] = info.provider;
  facts["clock"] = info.clock;
  return facts;
}

}  // namespace stripline::machine
