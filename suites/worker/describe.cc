#include "suites/worker/describe.h"

#include "optimizer/experiment/json.h"
#include "runtime/fabric/emulated/profile.h"
#include "runtime/fabric/ofi/ofi_fabric.h"
#include "runtime/machine/fingerprint.h"
#include "runtime/machine/topology.h"
#include "suites/registry.h"

namespace stripline::suites {

Json describe() {
  Json fabrics = Json::array();
  if (const auto providers = fabric::list_ofi_providers(); providers.ok()) {
    for (const fabric::ProviderInfo& provider : *providers) {
      if (provider.usable) fabrics.push_back(provider.name);
    }
  }
  for (const std::string& name : fabric::builtin_profile_names()) {
    fabrics.push_back("emulated:" + name);
  }
  Json experiments = Json::array();
  for (const Benchmark& benchmark : benchmarks()) {
    experiments.push_back(experiment::to_json(benchmark.declaration));
  }
  return {{"version", STRIPLINE_VERSION},
          {"fabrics", std::move(fabrics)},
          {"fingerprint", machine::machine_facts(machine::read_topology())},
          {"experiments", std::move(experiments)}};
}

}  // namespace stripline::suites
