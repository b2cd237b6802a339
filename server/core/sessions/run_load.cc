#include "server/core/sessions/run_load.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "server/core/sessions/fingerprint_rules.h"
#include "server/store/names.h"

namespace stripline::server {
namespace {

// Below that others show in no time, and so much of the processors is all of them.
constexpr double kNoticeable = 0.25;
constexpr double kUsedUp = 0.9;
constexpr double kNoticeablyStolen = 0.05;

std::optional<double> fact(const AttemptFacts& node, std::string_view name) {
  const auto found = node.facts.find(std::string(kLoadFamily) + "." + std::string(name));
  if (found == node.facts.end()) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(found->second.c_str(), &end);
  if (end == found->second.c_str() || !(value >= 0)) return std::nullopt;
  return value;
}

}  // namespace

bool RunLoad::busy() const {
  const bool used_up = in_use >= kUsedUp * processors;
  return (used_up && others > kNoticeable) || stolen > kNoticeablyStolen;
}

std::optional<RunLoad> load_of_run(std::span<const AttemptFacts> nodes) {
  struct Host {
    RunLoad load;
    double own = 0;
  };
  std::map<std::string, Host> hosts;
  for (const AttemptFacts& node : nodes) {
    const auto average = fact(node, "average");
    if (!average) continue;
    const auto name = node.facts.find(std::string(kHostFact));
    Host& host = hosts[name == node.facts.end() ? "node " + node.node : name->second];
    host.load.run = node.run.run;
    if (host.load.node.empty()) host.load.node = node.node;
    host.load.average = std::max(host.load.average, *average);
    host.load.running = std::max(host.load.running, fact(node, "running").value_or(0));
    host.load.stolen = std::max(host.load.stolen, fact(node, "stolen").value_or(0));
    host.load.processors = static_cast<uint32_t>(fact(node, "processors").value_or(0));
    // Each agent of a host sees all that goes on there, and knows its own ranks only.
    host.load.in_use = std::max(host.load.in_use, fact(node, "in_use").value_or(0));
    host.own += fact(node, "own").value_or(0);
  }
  std::optional<RunLoad> busiest;
  for (auto& [name, host] : hosts) {
    host.load.others = std::max(0.0, host.load.in_use - host.own);
    const auto weight = [](const RunLoad& load) {
      return (load.others + load.running) / std::max(1U, load.processors) + load.stolen;
    };
    if (!busiest || weight(host.load) > weight(*busiest)) busiest = host.load;
  }
  return busiest;
}

std::vector<RunLoad> loads_of_runs(std::span<const AttemptFacts> nodes) {
  std::map<uint32_t, std::vector<AttemptFacts>> runs;
  for (const AttemptFacts& node : nodes) runs[node.run.run].push_back(node);
  std::vector<RunLoad> loads;
  for (const auto& [run, of_run] : runs) {
    if (const auto load = load_of_run(of_run)) loads.push_back(*load);
  }
  return loads;
}

std::string run_load_text(const RunLoad& load) {
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(),
                "load %.1f on %s, where others kept %.1f of %u processors busy", load.average,
                node_name(load.node).c_str(), load.others, load.processors);
  std::string all = text.data();
  if (load.stolen > kNoticeablyStolen) {
    std::snprintf(text.data(), text.size(), " and %.0f %% of the time was stolen",
                  100 * load.stolen);
    all += text.data();
  }
  return all;
}

}  // namespace stripline::server
