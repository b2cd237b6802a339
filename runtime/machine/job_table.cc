#include "runtime/machine/job_table.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <unistd.h>

#include "base/control_groups.h"
#include "base/host_name.h"
#include "base/json.h"
#include "base/quantity.h"
#include "base/whole_file.h"
#include "runtime/fabric/ofi/ofi_variables.h"
#include "runtime/machine/topology.h"

namespace stripline::machine {
namespace {

namespace fs = std::filesystem;

using Row = std::vector<std::string>;

/// The nodes of memory that these processors belong to.
std::vector<uint32_t> nodes_of(const std::vector<uint32_t>& processors, const fs::path& root) {
  std::set<uint32_t> nodes;
  std::error_code error;
  const fs::path folder = root / "sys/devices/system/node";
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with("node")) continue;
    const auto number = list_numbers(std::string_view(name).substr(4));
    if (number.size() != 1) continue;
    for (const uint32_t processor : list_numbers(first_line(entry->path() / "cpulist"))) {
      if (std::ranges::find(processors, processor) != processors.end()) nodes.insert(number[0]);
    }
  }
  return {nodes.begin(), nodes.end()};
}

/// Columns as wide as their longest text, two spaces apart.
std::string aligned(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows.at(0).size());
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string ranks_table(std::span<const RankDescription> ranks) {
  std::map<std::string, std::vector<uint32_t>> nodes;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) nodes[ranks[rank].boot_id].push_back(rank);
  std::vector<Row> rows = {{"rank", "host", "pid", "processors", "NUMA", "fabric", "provider",
                            "interface", "segment", "same node"}};
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    const RankDescription& one = ranks[rank];
    std::vector<uint32_t> peers = nodes[one.boot_id];
    std::erase(peers, rank);
    rows.push_back({std::to_string(rank), one.host, std::to_string(one.pid),
                    or_dash(one.processors), or_dash(one.numa_nodes), one.fabric, one.provider,
                    or_dash(one.interface), bytes_text(one.segment_bytes),
                    or_dash(list_text(peers))});
  }
  return std::to_string(ranks.size()) + (ranks.size() == 1 ? " rank on " : " ranks on ") +
         std::to_string(nodes.size()) + (nodes.size() == 1 ? " node, " : " nodes, ") +
         ranks[0].clock + " clock\n" + aligned(rows);
}

std::string meaning_of(const std::string& name) {
  const auto known = std::ranges::find(variables(), name, &Variable::name);
  if (known != variables().end()) return std::string(known->meaning);
  return name.starts_with("FI_") ? "a variable of libfabric" : "no variable of Stripline";
}

std::string settings_table(std::span<const RankDescription> ranks) {
  std::vector<Row> rows = {{"variable", "value", "from", "meaning"}};
  for (const Setting& setting : ranks[0].settings) {
    rows.push_back(
        {setting.name, or_dash(setting.value), setting.origin, meaning_of(setting.name)});
  }
  std::string text = aligned(rows);
  for (uint32_t rank = 1; rank < ranks.size(); ++rank) {
    for (const Setting& setting : ranks[rank].settings) {
      if (std::ranges::find(ranks[0].settings, setting) != ranks[0].settings.end()) continue;
      text += "rank " + std::to_string(rank) + ": " + setting.name + " is " +
              or_dash(setting.value) + " (" + setting.origin + ")\n";
    }
  }
  return text;
}

}  // namespace

std::string RankDescription::encode() const {
  Json list = Json::array();
  for (const Setting& setting : settings) {
    list.push_back({setting.name, setting.value, setting.origin});
  }
  const Json json = {{"host", host},
                     {"boot_id", boot_id},
                     {"pid", pid},
                     {"processors", processors},
                     {"numa_nodes", numa_nodes},
                     {"fabric", fabric},
                     {"provider", provider},
                     {"clock", clock},
                     {"interface", interface},
                     {"segment_bytes", segment_bytes},
                     {"settings", std::move(list)}};
  // Environment variables may hold any bytes.
  return dumped(json);
}

Result<RankDescription> RankDescription::decode(std::string_view text) {
  const Error malformed(ErrorCode::data_loss, "a rank has sent no description of itself");
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return malformed;
  RankDescription one;
  bool whole = true;
  const auto read = [&](const char* key, auto& value, auto is_type) {
    const auto found = json.find(key);
    whole = whole && found != json.end() && ((*found).*is_type)();
    if (whole) found->get_to(value);
  };
  for (const auto& [key, value] :
       {std::pair("host", &one.host), std::pair("boot_id", &one.boot_id),
        std::pair("processors", &one.processors), std::pair("numa_nodes", &one.numa_nodes),
        std::pair("fabric", &one.fabric), std::pair("provider", &one.provider),
        std::pair("clock", &one.clock), std::pair("interface", &one.interface)}) {
    read(key, *value, &Json::is_string);
  }
  read("pid", one.pid, &Json::is_number_integer);
  read("segment_bytes", one.segment_bytes, &Json::is_number_unsigned);
  const auto list = json.find("settings");
  if (!whole || list == json.end() || !list->is_array()) return malformed;
  for (const Json& item : *list) {
    const bool texts = item.is_array() && item.size() == 3 &&
                       std::ranges::all_of(item, [](const Json& part) { return part.is_string(); });
    if (!texts) return malformed;
    one.settings.push_back({item[0], item[1], item[2]});
  }
  return one;
}

RankDescription describe_process(const fs::path& root) {
  RankDescription one;
  one.host = host_name();
  one.boot_id = first_line(root / "proc/sys/kernel/random/boot_id");
  one.pid = ::getpid();
  const auto processors = allowed_processors();
  one.processors = list_text(processors);
  const auto quota = processor_quota(group_membership(root), root / "sys/fs/cgroup");
  if (quota && quota->processors < static_cast<double>(processors.size())) {
    one.processors += " (quota " + quota_text(quota->processors) + ")";
  }
  one.numa_nodes = list_text(nodes_of(processors, root));
  one.settings = settings();
  for (const auto& [name, value] : fabric::libfabric_variables()) {
    one.settings.push_back({name, value, "environment"});
  }
  return one;
}

std::string list_text(std::span<const uint32_t> numbers) {
  std::string text;
  for (size_t begin = 0; begin < numbers.size();) {
    size_t end = begin + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[begin]);
    if (end - begin > 1) text += "-" + std::to_string(numbers[end - 1]);
    begin = end;
  }
  return text;
}

std::vector<uint32_t> list_numbers(std::string_view text) {
  std::vector<uint32_t> numbers;
  const char* at = text.data();
  const char* const last = text.data() + text.size();
  while (at != last) {
    uint32_t from = 0;
    auto [end, error] = std::from_chars(at, last, from);
    if (error != std::errc()) break;
    uint32_t to = from;
    if (end != last && *end == '-') {
      const auto upper = std::from_chars(end + 1, last, to);
      if (upper.ec != std::errc() || to < from || to >= CPU_SETSIZE) break;
      end = upper.ptr;
    }
    for (uint32_t number = from; number <= to; ++number) numbers.push_back(number);
    if (end == last || *end != ',') break;
    at = end + 1;
  }
  return numbers;
}

std::string job_table(std::span<const RankDescription> ranks) {
  return ranks_table(ranks) + settings_table(ranks);
}

}  // namespace stripline::machine
