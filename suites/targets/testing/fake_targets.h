// Programs that stand for Open MPI, UCX and GASNet-EX (fake_*.py), for whatever is started with
// their environment. They make times up, so that what is found does not depend on this host.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>

#include "base/testing/processes.h"

namespace stripline {

class FakeTargets {
 public:
  /// In this folder, which exists: `bin`, where the programs are, and a home and a site.
  explicit FakeTargets(std::filesystem::path folder) : folder_(std::move(folder)) {
    for (const auto& one : {bin(), home(), site()}) std::filesystem::create_directory(one);
    std::filesystem::create_symlink(interpreter(), bin() / "python3");
  }

  /// Whether it is known where their sources are.
  static bool are_available() { return !source().empty(); }

  void add_openmpi() const {
    add("fake_openmpi.py", {"ompi_info", "mpicc.openmpi", "mpirun.openmpi"});
  }
  void add_ucx() const {
    add("fake_ucx.py", {"ucx_info", "mpichversion", "mpicc.mpich", "mpiexec.mpich", "oshmem_info",
                        "oshcc", "oshrun"});
  }
  void add_gasnet() const { add("fake_gasnet.py", {"pkg-config", "cc", "amudprun"}); }

  /// Variables with which they are found in place of what is installed. `wrongs`: what is wrong
  /// with them, in words of their own.
  std::map<std::string, std::string> environment(const std::string& wrongs = {}) const {
    const char* const path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
    return {{"PATH", bin().string() + ":" + (path == nullptr ? "" : path)},
            {"FAKE_OPENMPI", wrongs},
            {"FAKE_UCX", wrongs},
            {"FAKE_GASNET", wrongs},
            {"FAKE_SITE", site().string()},
            {"HOME", home().string()},
            {"XDG_STATE_HOME", (folder_ / "state").string()}};
  }

  std::filesystem::path home() const { return folder_ / "home"; }
  std::filesystem::path site() const { return folder_ / "site"; }

 private:
  static std::filesystem::path source() {
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    const char* const folder = std::getenv("STRIPLINE_TEST_SOURCE");
    return folder == nullptr ? "" : folder;
  }

  // What python3 runs in the end: that of a version manager is a script, which takes ten times as
  // long as a launch to find it.
  static const std::filesystem::path& interpreter() {
    static const std::filesystem::path kFound =
        run_program({"python3", "-S", "-E", "-c", "import sys; print(sys.executable, end='')"}).out;
    return kFound;
  }

  std::filesystem::path bin() const { return folder_ / "bin"; }

  void add(const char* program, std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      std::filesystem::create_symlink(source() / "suites/targets/testing" / program, bin() / name);
    }
  }

  std::filesystem::path folder_;
};

}  // namespace stripline
