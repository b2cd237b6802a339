// OpenSHMEM of Open MPI 4.1, on UCX. Its settings for UCX have a prefix of their own, so that they
// act on nothing else.
#include "optimizer/targets/oshmem/oshmem.h"

#include <unistd.h>

#include "base/command_output.h"
#include "suites/targets/adapters/knobs_adapter.h"

namespace stripline::suites::tune {
namespace {

namespace fs = std::filesystem;
using targets::Path;
using targets::Setting;

constexpr std::string_view kPrefix = "UCX_OSHMEM_";

class Oshmem : public VariablesAdapter {
 public:
  const targets::Target& target() const override { return targets::oshmem::target(); }

  std::string compiler() const override { return "oshcc"; }
  std::string driver_folder() const override { return "shmem"; }

  std::vector<std::string> launch(uint32_t ranks, const std::string& program,
                                  const std::vector<std::string>& arguments) const override {
    std::vector<std::string> argv = {"oshrun", "--oversubscribe", "-n", std::to_string(ranks),
                                     program};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return argv;
  }

  Result<Environment> environment(Path path, const fs::path& folder) const override {
    STRIPLINE_RETURN_IF_ERROR(check_environment());
    Environment variables = {{"TMPDIR", folder.string()}, {"SHMEM_SYMMETRIC_SIZE", "64M"}};
    // Where only some of them use UCX, shmem_finalize() crashes in 4.1.4.
    for (const char* const component : {"spml", "pml", "osc", "atomic"}) {
      variables[std::string("OMPI_MCA_") + component] = "ucx";
    }
    // Otherwise Open MPI takes UCX for the networks of one vendor alone.
    variables["OMPI_MCA_opal_common_ucx_tls"] = "any";
    variables["OMPI_MCA_opal_common_ucx_devices"] = "any";
    if (::geteuid() == 0) {
      variables["OMPI_ALLOW_RUN_AS_ROOT"] = "1";
      variables["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
    }
    if (path == Path::shared_memory) variables["UCX_TLS"] = "posix,sysv,cma,self";
    if (path == Path::tcp) {
      variables["UCX_TLS"] = "tcp,self";
      variables["UCX_NET_DEVICES"] = "lo";
    }
    return variables;
  }

  // Variables of Sandia's, and those that the installed UCX does not list.
  Result<std::set<std::string>> unsettable(const std::vector<Setting>& settings) const override {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string listed, output_of({"ucx_info", "-c"}));
    std::set<std::string> names;
    for (const Setting& one : settings) {
      const bool is_ucx = one.name.starts_with(kPrefix);
      const std::string line =
          is_ucx ? "\nUCX_" + one.name.substr(kPrefix.size()) + "=" : std::string();
      if (!is_ucx || ("\n" + listed).find(line) == std::string::npos) names.insert(one.name);
    }
    return names;
  }

  std::vector<std::string_view> shared_memory_prefixes() const override {
    return {"ucx_shm_posix_", "vader_segment."};
  }

  Result<std::string> configuration() const override {
    STRIPLINE_ASSIGN_OR_RETURN(std::string text, output_of({"ucx_info", "-v"}));
    STRIPLINE_ASSIGN_OR_RETURN(const std::string own, output_of({"oshmem_info", "--parsable"}));
    return text + own;
  }
};

}  // namespace

const Adapter& oshmem_adapter() {
  static const Oshmem kAdapter;
  return kAdapter;
}

}  // namespace stripline::suites::tune
