#include "suites/results/fabrics.h"

#include <algorithm>
#include <cctype>

#include "runtime/fabric/emulated/profile.h"

namespace stripline::suites::results {

std::string file_name(const std::string& fabric) {
  std::string name = fabric;
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '.'; }, '-');
  return name;
}

std::vector<Network> networks(const Options& options, bool emulated_computes) {
  std::vector<Network> all{{.fabric = "tcp", .clock = "real"}};
  for (const std::string& profile : fabric::builtin_profile_names()) {
    all.push_back({.fabric = "emulated:" + profile + (emulated_computes ? "" : ",compute=none"),
                   .clock = "virtual",
                   .computes = emulated_computes});
  }
  std::vector<Network> chosen;
  for (const Network& network : all) {
    if (options.only.empty() ? options.quick && network.fabric.find("opteron") == std::string::npos
                             : network.fabric.find(options.only) == std::string::npos) {
      continue;
    }
    chosen.push_back(network);
  }
  return chosen;
}

}  // namespace stripline::suites::results
