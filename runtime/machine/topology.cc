#include "runtime/machine/topology.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sched.h>
#include <set>
#include <string_view>
#include <sys/utsname.h>
#include <system_error>
#include <utility>

#include "base/control_groups.h"
#include "base/whole_file.h"

namespace stripline::machine {
namespace {

namespace fs = std::filesystem;

std::optional<uint64_t> number_at_start(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

/// The numbers of entries called PREFIX<number> in a folder, e.g. "cpu" for cpu0, cpu1.
std::vector<uint64_t> numbered_entries(const fs::path& folder, std::string_view prefix) {
  std::vector<uint64_t> numbers;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const std::string_view digits = std::string_view(name).substr(prefix.size());
    if (digits.empty() || !std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; }))
      continue;
    if (const auto number = number_at_start(digits)) numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

/// "48K", "2048K", "32M" as the kernel writes cache sizes.
uint64_t parse_size(std::string_view text) {
  const auto number = number_at_start(text);
  if (!number) return 0;
  if (text.ends_with('K')) return *number << 10;
  if (text.ends_with('M')) return *number << 20;
  return *number;
}

constexpr const char* kProcessors = "sys/devices/system/cpu";

fs::path processor_folder(const fs::path& root, uint64_t number) {
  return root / kProcessors / ("cpu" + std::to_string(number));
}

std::string cpu_model(const fs::path& root) {
  std::ifstream file(root / "proc/cpuinfo");
  std::string fallback = "unknown";
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || colon + 2 > line.size()) continue;
    std::string value = line.substr(colon + 2);
    if (line.starts_with("model name")) return value;
    // ARM has no model names, POWER says "cpu".
    if (line.starts_with("CPU part") || line.starts_with("cpu\t")) fallback = std::move(value);
  }
  return fallback;
}

void read_processors(const fs::path& root, Topology& topology) {
  const std::vector<ProcessorPlace> places = read_processor_places(root);
  std::set<uint32_t> sockets;
  std::set<std::pair<uint32_t, uint32_t>> cores;
  for (const ProcessorPlace& place : places) {
    sockets.insert(place.package);
    cores.emplace(place.package, place.core);
  }
  topology.threads = static_cast<uint32_t>(places.size());
  topology.sockets = static_cast<uint32_t>(sockets.size());
  topology.cores = static_cast<uint32_t>(cores.size());
  if (places.empty()) return;
  const fs::path caches = processor_folder(root, places.front().number) / "cache";
  for (const uint64_t index : numbered_entries(caches, "index")) {
    const fs::path cache = caches / ("index" + std::to_string(index));
    const std::string type = first_line(cache / "type");
    std::string name = "l" + first_line(cache / "level");
    if (type == "Data") name += "d";
    if (type == "Instruction") name += "i";
    topology.cache_bytes[name] = parse_size(first_line(cache / "size"));
  }
}

uint64_t memory_bytes(const fs::path& root) {
  std::ifstream file(root / "proc/meminfo");
  std::string key;
  uint64_t kibibytes = 0;
  while (file >> key >> kibibytes) {
    if (key == "MemTotal:") return kibibytes << 10;
    std::string rest;
    std::getline(file, rest);
  }
  return 0;
}

}  // namespace

std::optional<ProcessorPlace> read_processor_place(uint64_t number, const fs::path& root) {
  const fs::path folder = processor_folder(root, number);
  const std::string online = first_line(folder / "online");  // absent: cannot be switched off
  const std::string package = first_line(folder / "topology/physical_package_id");
  if (online == "0" || package.empty()) return std::nullopt;
  const std::string core = first_line(folder / "topology/core_id");
  return ProcessorPlace{static_cast<uint32_t>(number),
                        static_cast<uint32_t>(number_at_start(core).value_or(0)),
                        static_cast<uint32_t>(number_at_start(package).value_or(0))};
}

std::vector<ProcessorPlace> read_processor_places(const fs::path& root) {
  std::vector<ProcessorPlace> places;
  for (const uint64_t number : numbered_entries(root / kProcessors, "cpu")) {
    if (const auto place = read_processor_place(number, root)) places.push_back(*place);
  }
  return places;
}

std::vector<ProcessorPlace> one_of_each_core(std::vector<ProcessorPlace> places) {
  const auto core_of = [](const ProcessorPlace& place) {
    return std::pair(place.package, place.core);
  };
  std::ranges::sort(places, {}, [&](const ProcessorPlace& place) {
    return std::pair(core_of(place), place.number);
  });
  const auto others = std::ranges::unique(places, {}, core_of);
  places.erase(others.begin(), others.end());
  return places;
}

std::vector<uint32_t> allowed_processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<uint32_t> numbers;
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0) return numbers;
  for (uint32_t number = 0; number < CPU_SETSIZE; ++number) {
    if (CPU_ISSET(number, &mask)) numbers.push_back(number);
  }
  return numbers;
}

Topology read_topology(const fs::path& root) {
  Topology topology;
  topology.cpu_model = cpu_model(root);
  read_processors(root, topology);
  topology.numa_nodes =
      static_cast<uint32_t>(numbered_entries(root / "sys/devices/system/node", "node").size());
  if (const auto quota = processor_quota(group_membership(root), root / "sys/fs/cgroup")) {
    topology.processor_quota = quota->processors;
  }
  topology.memory_bytes = memory_bytes(root);
  topology.kernel = first_line(root / "proc/sys/kernel/osrelease");
  utsname name{};
  if (uname(&name) == 0) topology.cpu_architecture = name.machine;
  return topology;
}

}  // namespace stripline::machine
