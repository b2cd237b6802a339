#include "runtime/machine/job_table.h"

#include <cstdlib>
#include <fstream>
#include <sched.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace stripline::machine {
namespace {

namespace fs = std::filesystem;

RankDescription example(const std::string& host, const std::string& boot_id, int64_t pid) {
  return {.host = host,
          .boot_id = boot_id,
          .pid = pid,
          .processors = "0-3",
          .numa_nodes = "0",
          .fabric = "tcp",
          .provider = "tcp;ofi_rxm",
          .clock = "real",
          .interface = "eth0",
          .segment_bytes = 1 << 20,
          .settings = {{"STRIPLINE_SEED", "7", "environment"}, {"STRIPLINE_MODEL", "", "default"}}};
}

TEST(Lists, AreThoseOfTheKernel) {
  for (const char* text : {"", "0", "0-3", "0-3,8", "1,3,5-6"}) {
    EXPECT_EQ(list_text(list_numbers(text)), text);
  }
  EXPECT_EQ(list_numbers("0-2,7"), (std::vector<uint32_t>{0, 1, 2, 7}));
  EXPECT_EQ(list_numbers("4-3"), std::vector<uint32_t>{});
  EXPECT_EQ(list_numbers("2,0-99999999999"), std::vector<uint32_t>{2});
  EXPECT_EQ(list_numbers("x"), std::vector<uint32_t>{});
}

TEST(RankDescription, SurvivesTheWire) {
  RankDescription sent = example("a", "boot-a", 12);
  sent.settings.push_back({"STRIPLINE_X", "bytes \xff and \"quotes\"\n", "unknown"});
  const auto received = RankDescription::decode(sent.encode());
  ASSERT_TRUE(received.ok()) << received.error().message();
  EXPECT_EQ(received->host, "a");
  EXPECT_EQ(received->pid, 12);
  EXPECT_EQ(received->segment_bytes, uint64_t{1} << 20);
  EXPECT_EQ(received->interface, "eth0");
  ASSERT_EQ(received->settings.size(), 3U);
  EXPECT_EQ(received->settings[0], sent.settings[0]);
}

TEST(RankDescription, RefusesWhatIsNone) {
  const std::string good = example("a", "b", 1).encode();
  EXPECT_TRUE(RankDescription::decode(good).ok());
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const std::string& bad :
       {std::string(), std::string("{}"), std::string("[1]"), good.substr(0, good.size() / 2),
        changed("\"pid\":1", "\"pid\":\"1\""), changed("\"host\":\"a\"", "\"host\":3"),
        changed("\"settings\":[", "\"settings\":[3,"),
        changed("\"segment_bytes\":1048576", "\"segment_bytes\":-1")}) {
    const auto decoded = RankDescription::decode(bad);
    ASSERT_FALSE(decoded.ok()) << bad;
    EXPECT_EQ(decoded.error().code(), ErrorCode::data_loss);
  }
}

TEST(RankDescription, DescribesThisProcess) {
  const fs::path root = fs::temp_directory_path() / ("job-table-" + std::to_string(::getpid()));
  const fs::path nodes = root / "sys/devices/system/node";
  fs::create_directories(nodes / "node0");
  fs::create_directories(nodes / "node3");
  fs::create_directories(root / "proc/sys/kernel/random");
  std::ofstream(root / "proc/sys/kernel/random/boot_id") << "12-34\n";
  // All that there can be is in node 3.
  std::ofstream(nodes / "node0/cpulist") << "\n";
  std::ofstream(nodes / "node3/cpulist") << "0-" << CPU_SETSIZE - 1 << "\n";
  const RankDescription one = describe_process(root);
  fs::remove_all(root);
  EXPECT_EQ(one.boot_id, "12-34");
  EXPECT_EQ(one.pid, ::getpid());
  EXPECT_EQ(one.numa_nodes, "3");
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  EXPECT_EQ(list_numbers(one.processors).size(), static_cast<size_t>(CPU_COUNT(&mask)));
  EXPECT_GE(one.settings.size(), variables().size());
}

TEST(RankDescription, SaysTheQuotaOfItsProcessors) {
  const fs::path root = fs::temp_directory_path() / ("quota-" + std::to_string(::getpid()));
  fs::create_directories(root / "proc/self");
  fs::create_directories(root / "sys/fs/cgroup/job");
  std::ofstream(root / "proc/self/cgroup") << "0::/job\n";
  std::ofstream(root / "sys/fs/cgroup/job/cpu.max") << "50000 100000\n";
  const RankDescription one = describe_process(root);
  fs::remove_all(root);
  EXPECT_TRUE(one.processors.ends_with(" (quota 0.5)")) << one.processors;
}

TEST(JobTable, ShowsVariablesOfLibfabric) {
  ::setenv("FI_TCP_IFACE", "lo", 1);  // NOLINT(concurrency-mt-unsafe)
  const std::vector<RankDescription> ranks = {describe_process()};
  ::unsetenv("FI_TCP_IFACE");  // NOLINT(concurrency-mt-unsafe)
  const std::string table = job_table(ranks);
  const size_t row = table.find("FI_TCP_IFACE");
  ASSERT_NE(row, std::string::npos) << table;
  EXPECT_NE(table.find("a variable of libfabric", row), std::string::npos) << table;
}

TEST(JobTable, ShowsRanksAndWhoShareANode) {
  std::vector<RankDescription> ranks = {example("a", "boot-a", 10), example("b", "boot-b", 20),
                                        example("a", "boot-a", 11), example("a", "boot-a", 12)};
  ranks[1].settings[0].value = "9";
  const std::string table = job_table(ranks);
  EXPECT_TRUE(table.starts_with("4 ranks on 2 nodes, real clock\n")) << table;
  EXPECT_NE(
      table.find("0     a     10   0-3         0     tcp     tcp;ofi_rxm  eth0       1 MiB    "
                 "2-3\n"),
      std::string::npos)
      << table;
  EXPECT_NE(table.find("eth0       1 MiB    -\n"), std::string::npos) << table;
  EXPECT_NE(table.find("eth0       1 MiB    0,3\n"), std::string::npos) << table;
  EXPECT_NE(table.find("STRIPLINE_SEED   7      environment  seed of"), std::string::npos) << table;
  EXPECT_NE(table.find("STRIPLINE_MODEL  -      default"), std::string::npos) << table;
  EXPECT_NE(table.find("rank 1: STRIPLINE_SEED is 9 (environment)\n"), std::string::npos) << table;
  EXPECT_EQ(table.find("rank 2: "), std::string::npos) << table;
}

}  // namespace
}  // namespace stripline::machine
