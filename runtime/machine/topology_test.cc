#include "runtime/machine/topology.h"

#include <algorithm>
#include <fstream>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/machine/fingerprint.h"

namespace stripline::machine {
namespace {

namespace fs = std::filesystem;

/// A made-up machine: two sockets of two cores with two threads each, one of them offline.
class MadeUpMachine : public testing::Test {
 protected:
  MadeUpMachine() : root_(fs::temp_directory_path() / ("topology-" + std::to_string(getpid()))) {
    write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Example 9000 @ 2.0GHz\n");
    write("proc/meminfo", "MemFree:   5 kB\nMemTotal:       131900000 kB\nBuffers: 1 kB\n");
    write("proc/sys/kernel/osrelease", "6.1.0-test\n");
    for (int cpu = 0; cpu < 8; ++cpu) {
      const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/";
      write(folder + "topology/physical_package_id", std::to_string(cpu / 4 % 2) + "\n");
      write(folder + "topology/core_id", std::to_string(cpu / 2 % 2) + "\n");
      if (cpu > 0) write(folder + "online", cpu == 7 ? "0\n" : "1\n");
    }
    write("sys/devices/system/cpu/cpufreq/policy0", "");  // not a processor
    write("sys/devices/system/node/node0/cpulist", "0-3\n");
    write("sys/devices/system/node/node1/cpulist", "4-7\n");
    cache(0, "1", "Data", "32K");
    cache(1, "1", "Instruction", "64K");
    cache(2, "2", "Unified", "1024K");
    cache(3, "3", "Unified", "32M");
  }
  ~MadeUpMachine() override { fs::remove_all(root_); }

  void cache(int index, const std::string& level, const std::string& type,
             const std::string& size) {
    const std::string folder =
        "sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    write(folder + "level", level + "\n");
    write(folder + "type", type + "\n");
    write(folder + "size", size + "\n");
  }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  fs::path root_;
};

TEST_F(MadeUpMachine, IsCounted) {
  const Topology topology = read_topology(root_);
  EXPECT_EQ(topology.cpu_model, "Example 9000 @ 2.0GHz");
  EXPECT_EQ(topology.sockets, 2U);
  EXPECT_EQ(topology.cores, 4U);
  EXPECT_EQ(topology.threads, 7U);
  EXPECT_EQ(topology.numa_nodes, 2U);
  EXPECT_EQ(topology.memory_bytes, uint64_t{131900000} << 10);
  EXPECT_EQ(topology.kernel, "6.1.0-test");
  EXPECT_EQ(topology.cache_bytes.at("l1d"), 32U << 10);
  EXPECT_EQ(topology.cache_bytes.at("l1i"), 64U << 10);
  EXPECT_EQ(topology.cache_bytes.at("l2"), 1U << 20);
  EXPECT_EQ(topology.cache_bytes.at("l3"), 32U << 20);
}

TEST_F(MadeUpMachine, TellsWhereItsProcessorsAre) {
  const std::vector<ProcessorPlace> places = read_processor_places(root_);
  ASSERT_EQ(places.size(), 7U);
  EXPECT_EQ(places[6].number, 6U);
  EXPECT_EQ(places[6].package, 1U);
  EXPECT_EQ(places[6].core, 1U);
  EXPECT_EQ(read_processor_place(3, root_)->core, 1U);
  EXPECT_FALSE(read_processor_place(7, root_)) << "it is offline";
  EXPECT_FALSE(read_processor_place(8, root_));
}

// Two threads each, of which the first are taken; those that are left are the cores' then.
TEST_F(MadeUpMachine, HasOneProcessorOfEachCore) {
  const auto numbers_of = [](const std::vector<ProcessorPlace>& places) {
    std::vector<uint32_t> numbers;
    for (const ProcessorPlace& place : places) numbers.push_back(place.number);
    return numbers;
  };
  std::vector<ProcessorPlace> places = read_processor_places(root_);
  EXPECT_EQ(numbers_of(one_of_each_core(places)), (std::vector<uint32_t>{0, 2, 4, 6}));
  std::ranges::reverse(places);
  EXPECT_EQ(numbers_of(one_of_each_core(places)), (std::vector<uint32_t>{0, 2, 4, 6}));
  std::erase_if(places, [](const ProcessorPlace& place) { return place.number % 4 == 0; });
  EXPECT_EQ(numbers_of(one_of_each_core(places)), (std::vector<uint32_t>{1, 2, 5, 6}));
  EXPECT_TRUE(one_of_each_core({}).empty());
}

// Packages whose processors the kernel counts in turns.
TEST_F(MadeUpMachine, HasCoresOfOnePackageAfterThoseOfAnother) {
  const std::vector<ProcessorPlace> places =
      one_of_each_core({{.number = 0, .core = 0, .package = 0},
                        {.number = 1, .core = 0, .package = 1},
                        {.number = 2, .core = 1, .package = 0},
                        {.number = 3, .core = 1, .package = 1}});
  ASSERT_EQ(places.size(), 4U);
  EXPECT_EQ(places[1].number, 2U);
  EXPECT_EQ(places[2].number, 1U);
}

TEST_F(MadeUpMachine, GivesFacts) {
  const auto facts = machine_facts(read_topology(root_));
  EXPECT_EQ(facts.at("cpu.model"), "Example 9000 @ 2.0GHz");
  EXPECT_EQ(facts.at("cpu.cores"), "4");
  EXPECT_EQ(facts.at("memory_bytes"), std::to_string(uint64_t{126} << 30));
  EXPECT_EQ(facts.at("cache.l2_bytes"), "1048576");
}

TEST(TopologyTest, OfAnEmptyRootIsUnknownAndNoError) {
  const Topology topology = read_topology("/nonexistent");
  EXPECT_EQ(topology.cpu_model, "unknown");
  EXPECT_EQ(topology.cores, 0U);
}

TEST(TopologyTest, OfThisMachineMakesSense) {
  const Topology topology = read_topology();
  EXPECT_EQ(topology.threads, static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  EXPECT_GE(topology.threads, topology.cores);
  EXPECT_GE(topology.cores, topology.sockets);
  EXPECT_GE(topology.sockets, 1U);
  EXPECT_GT(topology.memory_bytes, 0U);
  EXPECT_FALSE(topology.kernel.empty());
}

TEST(FingerprintTest, NamesTheQuotaOfProcessors) {
  Topology topology;
  EXPECT_FALSE(machine_facts(topology).contains("cpu.quota"));
  topology.processor_quota = 1.5;
  EXPECT_EQ(machine_facts(topology).at("cpu.quota"), "1.5");
}

TEST(FingerprintTest, JoinsMachineAndFabric) {
  fabric::Info info;
  info.name = "tcp";
  info.provider = "tcp;ofi_rxm";
  info.clock = "real";
  info.attributes = {{"libfabric.version", "1.17"}, {"fabric.provider", "tcp;ofi_rxm"}};
  const auto fingerprint = machine_fingerprint(info);
  EXPECT_EQ(fingerprint.at("fabric"), "tcp");
  EXPECT_EQ(fingerprint.at("fabric.provider"), "tcp;ofi_rxm");
  EXPECT_EQ(fingerprint.at("clock"), "real");
  EXPECT_EQ(fingerprint.at("libfabric.version"), "1.17");
  EXPECT_FALSE(fingerprint.at("cpu.model").empty());
  for (const auto& [field, value] : fingerprint) EXPECT_FALSE(value.empty()) << field;
}

}  // namespace
}  // namespace stripline::machine
