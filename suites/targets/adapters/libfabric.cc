// libfabric 1.17, by a program of its own.
#include "optimizer/targets/libfabric/libfabric.h"

#include "base/command_output.h"
#include "suites/targets/adapters/knobs_adapter.h"

namespace stripline::suites::tune {
namespace {

using targets::Path;
using targets::Setting;

class Libfabric : public VariablesAdapter {
 public:
  const targets::Target& target() const override { return targets::libfabric::target(); }

  std::string compiler() const override { return "cc"; }
  std::string driver_folder() const override { return "fabric"; }
  Result<std::vector<std::string>> libraries() const override {
    return std::vector<std::string>{"-lfabric"};
  }

  // The driver starts its ranks itself.
  std::vector<std::string> launch(uint32_t ranks, const std::string& program,
                                  const std::vector<std::string>& arguments) const override {
    std::vector<std::string> argv = {program};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    argv.push_back(std::to_string(ranks));
    return argv;
  }

  Result<Environment> environment(Path path,
                                  const std::filesystem::path& /*folder*/) const override {
    STRIPLINE_RETURN_IF_ERROR(check_environment());
    Environment variables;
    if (path == Path::shared_memory) variables["STRIPLINE_TUNE_PROVIDER"] = "shm";
    if (path == Path::tcp) {
      variables["STRIPLINE_TUNE_PROVIDER"] = "tcp;ofi_rxm";
      variables["FI_TCP_IFACE"] = "lo";
    }
    return variables;
  }

  // Variables that the installed version does not list, as "# NAME: type".
  Result<std::set<std::string>> unsettable(const std::vector<Setting>& settings) const override {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string listed, output_of({"fi_info", "-e"}));
    std::set<std::string> names;
    for (const Setting& one : settings) {
      if (listed.find("# " + one.name + ":") == std::string::npos) names.insert(one.name);
    }
    return names;
  }

  // The provider shm makes files named by process. It removes them itself when the driver closes
  // its endpoints, and at SIGTERM, but not where a rank crashes or is killed.
  std::vector<std::string_view> shared_memory_prefixes() const override { return {}; }
  bool names_memory_by_process() const override { return true; }

  Result<std::string> configuration() const override { return output_of({"fi_info", "--version"}); }
};

}  // namespace

const Adapter& libfabric_adapter() {
  static const Libfabric kAdapter;
  return kAdapter;
}

}  // namespace stripline::suites::tune
