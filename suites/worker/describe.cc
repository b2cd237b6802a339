#include "suites/worker/describe.h"

#include "base/host_name.h"
#include "base/whole_file.h"
#include "optimizer/experiment/json.h"
#include "runtime/fabric/emulated/profile.h"
#include "runtime/fabric/network_place.h"
#include "runtime/fabric/ofi/ofi_fabric.h"
#include "runtime/machine/fingerprint.h"
#include "runtime/machine/preflight.h"
#include "runtime/machine/topology.h"
#include "suites/registry.h"

namespace stripline::suites {
namespace {

// Far above what a node of ours runs.
constexpr uint32_t kMostRanks = 1 << 16;

// How many ranks of a campaign this host has room for at once; 0: for none.
uint32_t ranks_with_room() {
  const machine::HostRoom room = machine::HostRoom::read();
  machine::JobPlan plan = machine::plan_job(1, {});
  uint32_t fits = 0;
  for (uint32_t step = kMostRanks; step > 0; step /= 2) {
    plan.ranks = fits + step;
    if (plan.ranks <= kMostRanks && !machine::check_host(plan, room).refusal) fits += step;
  }
  return fits;
}

// What a rank takes, by fabric; null where the user insists on more than there is.
Json rank_memory(const Json& fabrics) {
  const machine::JobPlan plan = machine::plan_job(1, {});
  if (plan.overcommit) return nullptr;
  Json runtime = Json::object();
  for (const Json& fabric : fabrics) {
    const auto name = fabric.get<std::string>();
    runtime[name] = machine::runtime_bytes(name, 1);
  }
  return {{"segment_bytes", plan.segment_bytes},
          {"runtime_bytes", std::move(runtime)},
          {"peer_bytes", machine::runtime_bytes("shm", 2) - machine::runtime_bytes("shm", 1)}};
}

}  // namespace

std::map<std::string, std::string> host_facts() {
  std::map<std::string, std::string> facts = {{"host", host_name()}};
  if (std::string boot = first_line("/proc/sys/kernel/random/boot_id"); !boot.empty()) {
    facts["host.boot"] = std::move(boot);
  }
  const auto switches = fabric::switches_of_environment();
  if (switches.ok() && !switches->empty()) facts["host.switches"] = *switches;
  return facts;
}

Result<Json> describe(const std::vector<std::string>& profiles) {
  Json fabrics = Json::array();
  if (const auto providers = fabric::list_ofi_providers(); providers.ok()) {
    for (const fabric::ProviderInfo& provider : *providers) {
      if (provider.usable) fabrics.push_back(provider.name);
    }
  }
  for (const std::string& name : fabric::builtin_profile_names()) {
    fabrics.push_back("emulated:" + name);
  }
  for (const std::string& file : profiles) {
    const std::string name = "emulated:" + file;
    STRIPLINE_RETURN_IF_ERROR(fabric::resolve_profile(name));
    fabrics.push_back(name);
  }
  Json experiments = Json::array();
  for (const Benchmark& benchmark : benchmarks()) {
    experiments.push_back(experiment::to_json(benchmark.declaration));
  }
  auto facts = machine::machine_facts(machine::read_topology());
  facts.merge(host_facts());
  Json memory = rank_memory(fabrics);
  Json described{{"version", STRIPLINE_VERSION},
                 {"fabrics", std::move(fabrics)},
                 {"fingerprint", std::move(facts)},
                 {"max_ranks", ranks_with_room()},
                 {"experiments", std::move(experiments)}};
  if (!memory.is_null()) described["memory"] = std::move(memory);
  return described;
}

}  // namespace stripline::suites
