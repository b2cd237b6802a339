// What processor and memory this machine has, read from /proc and /sys. That takes a millisecond
// and no library, where hwloc would add a dependency to everything that links the runtime.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stripline::machine {

struct Topology {
  std::string cpu_model;         ///< "AMD EPYC 7763 64-Core Processor"; "unknown" if not stated
  std::string cpu_architecture;  ///< "x86_64"
  uint32_t sockets = 0;
  uint32_t cores = 0;    ///< physical ones
  uint32_t threads = 0;  ///< online logical processors
  /// Processors that the quota of this process's control groups is worth; 0: no limit.
  double processor_quota = 0;
  uint32_t numa_nodes = 0;
  /// Bytes of one cache as the first processor sees it, by name: "l1d", "l1i", "l2", "l3".
  std::map<std::string, uint64_t> cache_bytes;
  uint64_t memory_bytes = 0;
  std::string kernel;  ///< release: "6.1.0-18-amd64"
};

/// An online logical processor, and what it is part of, by the kernel's numbers.
struct ProcessorPlace {
  uint32_t number = 0;
  uint32_t core = 0;  ///< of the package
  uint32_t package = 0;
};
std::vector<ProcessorPlace> read_processor_places(const std::filesystem::path& root = "/");
/// One of them; none if there is no such processor, or it is offline.
std::optional<ProcessorPlace> read_processor_place(uint64_t number,
                                                   const std::filesystem::path& root = "/");
/// The processor with the lowest number of each core, core by core and package by package, so that
/// neighbours in the list are near each other.
std::vector<ProcessorPlace> one_of_each_core(std::vector<ProcessorPlace> places);
/// The numbers of the processors that the calling thread may run on, in order; empty if the kernel
/// does not say.
std::vector<uint32_t> allowed_processors();

/// Reads the machine, or a copy of its /proc and /sys below `root`. What cannot be read stays 0 or
/// empty.
Topology read_topology(const std::filesystem::path& root = "/");

}  // namespace stripline::machine
