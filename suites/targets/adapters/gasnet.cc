// GASNet-EX, by a program of its own, which is linked with the conduit for UDP: within a node that
// uses shared memory as the conduit for one node (smp) does, unless a variable forbids that.
// Without it, the latter is taken.
#include "optimizer/targets/gasnet/gasnet.h"

#include "base/command_output.h"
#include "base/shell_words.h"
#include "base/subprocess.h"
#include "suites/targets/adapters/knobs_adapter.h"

namespace stripline::suites::tune {
namespace {

namespace fs = std::filesystem;
using targets::Path;
using targets::Setting;

bool has_udp() { return output_of({"pkg-config", "--exists", "gasnet-udp-par"}).ok(); }

std::string package() { return has_udp() ? "gasnet-udp-par" : "gasnet-smp-par"; }

// It is installed beside the libraries, and need not be in PATH.
std::string spawner() {
  const std::string name = "amudprun";
  if (!find_in_path(name).empty()) return name;
  const auto prefix = output_of({"pkg-config", "--variable=prefix", "gasnet-udp-par"});
  if (!prefix.ok()) return name;
  const fs::path program = fs::path(prefix->substr(0, prefix->find('\n'))) / "bin" / name;
  std::error_code error;
  return fs::exists(program, error) ? program.string() : name;
}

class Gasnet : public VariablesAdapter {
 public:
  const targets::Target& target() const override { return targets::gasnet::target(); }

  std::string compiler() const override { return "cc"; }
  std::string driver_folder() const override { return "gasnet"; }

  Result<std::vector<std::string>> libraries() const override {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string flags,
                               output_of({"pkg-config", "--cflags", "--libs", package()}));
    STRIPLINE_ASSIGN_OR_RETURN(auto words, split_words(flags));
    // Its headers need more than C99 has, and its layer for UDP is in C++.
    words.insert(words.begin(), "-std=gnu99");
    if (has_udp()) words.push_back("-lstdc++");
    return words;
  }

  std::vector<std::string> launch(uint32_t ranks, const std::string& program,
                                  const std::vector<std::string>& arguments) const override {
    const std::string count = std::to_string(ranks);
    std::vector<std::string> argv = {"env", "GASNET_PSHM_NODES=" + count, program};
    if (has_udp()) argv = {spawner(), "-np", count, program};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return argv;
  }

  Result<Environment> environment(Path path, const fs::path& folder) const override {
    STRIPLINE_RETURN_IF_ERROR(check_environment());
    // All ranks are started on this host, and write to the standard output that they inherit.
    Environment variables = {{"GASNET_TMPDIR", folder.string()},
                             {"GASNET_SPAWNFN", "L"},
                             {"GASNET_ROUTE_OUTPUT", "0"},
                             {"GASNET_MAX_SEGSIZE", "256MB/P"},
                             {"GASNET_QUIET", "1"}};
    if (path != Path::tcp) return variables;
    if (!has_udp()) {
      return Error(ErrorCode::failed_precondition,
                   "this GASNet-EX has no conduit for UDP (gasnet-udp-par): tune --path shm");
    }
    // Ranks that share memory do not use the network.
    variables["GASNET_SUPERNODE_MAXSIZE"] = "1";
    return variables;
  }

  // GASNET_SUPERNODE_MAXSIZE.
  bool is_one_node(Path path) const override { return path != Path::tcp; }

  // What other conduits read than that which the driver is linked with.
  Result<std::set<std::string>> unsettable(const std::vector<Setting>& settings) const override {
    const bool udp = has_udp();
    std::set<std::string> names;
    for (const Setting& one : settings) {
      const bool of_udp =
          one.name == "GASNET_NETWORKDEPTH" || one.name.starts_with("GASNET_REQUESTTIMEOUT_");
      if (one.name.starts_with("GASNET_OFI_") || (of_udp && !udp)) names.insert(one.name);
    }
    return names;
  }

  std::vector<std::string_view> shared_memory_prefixes() const override { return {"GASNT"}; }

  Result<std::string> configuration() const override {
    STRIPLINE_ASSIGN_OR_RETURN(std::string text,
                               output_of({"pkg-config", "--modversion", package()}));
    STRIPLINE_ASSIGN_OR_RETURN(const std::string flags,
                               output_of({"pkg-config", "--cflags", "--libs", package()}));
    return text + package() + "\n" + flags;
  }
};

}  // namespace

const Adapter& gasnet_adapter() {
  static const Gasnet kAdapter;
  return kAdapter;
}

}  // namespace stripline::suites::tune
