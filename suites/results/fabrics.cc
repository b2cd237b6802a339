#include "suites/results/fabrics.h"

#include <algorithm>
#include <cctype>

#include "runtime/fabric/emulated/profile.h"

namespace stripline::suites::results {
namespace {

constexpr const char* kQuickNetwork = "opteron";

std::vector<Network> all_networks(bool emulated_computes,
                                  const std::vector<std::string>& providers = {}) {
  std::vector<Network> all{{.fabric = "tcp", .clock = "real"}};
  for (const std::string& provider : providers) {
    all.push_back({.fabric = provider, .clock = "real"});
  }
  for (const std::string& profile : fabric::builtin_profile_names()) {
    // Two ranks see nothing of the links that many share.
    const auto parsed = fabric::parse_profile(fabric::builtin_profile_text(profile), profile);
    if (!parsed.ok() || !parsed->tree.empty()) continue;
    all.push_back({.fabric = "emulated:" + profile + (emulated_computes ? "" : ",compute=none"),
                   .clock = "virtual",
                   .computes = emulated_computes});
  }
  return all;
}

std::string names_of(const std::vector<Network>& networks) {
  std::string names;
  for (const Network& network : networks) names += (names.empty() ? "" : ", ") + network.fabric;
  return names;
}

}  // namespace

Network declared(const Network& emulated) {
  Network network = emulated;
  network.fabric += ",compute=declared";
  network.declared = true;
  return network;
}

std::string file_name(const std::string& fabric) {
  std::string name = fabric;
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '.'; }, '-');
  return name;
}

Result<std::vector<Network>> networks(const Options& options, bool emulated_computes,
                                      const std::vector<std::string>& providers) {
  const std::string only = options.only.empty() && options.quick ? kQuickNetwork : options.only;
  const std::vector<Network> all = all_networks(emulated_computes, providers);
  std::vector<Network> chosen;
  for (const Network& network : all) {
    if (network.fabric == only) return std::vector<Network>{network};
    if (network.fabric.find(only) != std::string::npos) chosen.push_back(network);
  }
  if (!chosen.empty()) return chosen;
  return Error(ErrorCode::invalid_argument,
               "no network's name contains '" + only + "'; there are " + names_of(all));
}

Status check_models(const Options& options) {
  std::vector<Network> all = all_networks(true, {"shm"});
  for (size_t i = all.size(); i-- > 0;) {
    if (all[i].emulated()) all.push_back(declared(all[i]));
  }
  for (const auto& [fabric, file] : options.models) {
    const bool known = std::any_of(all.begin(), all.end(), [&name = fabric](const Network& one) {
      return one.fabric == name;
    });
    if (known) continue;
    return Error(ErrorCode::invalid_argument, "no decisions are judged on '" + fabric +
                                                  "'; a model can be given for " + names_of(all));
  }
  return {};
}

}  // namespace stripline::suites::results
