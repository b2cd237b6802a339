#include "runtime/machine/findings.h"

#include <algorithm>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

namespace stripline::machine {
namespace {

HostFacts healthy_host() {
  HostFacts facts;
  facts.topology.cpu_model = "Example";
  facts.topology.memory_bytes = uint64_t{64} << 30;
  facts.available_bytes = uint64_t{60} << 30;
  facts.shm_free_bytes = uint64_t{32} << 30;
  facts.transparent_hugepages = "madvise";
  facts.shared_hugepages = "advise";
  facts.allowed_processors = 8;
  facts.tcp_receive_bytes = 1 << 20;
  facts.listen_backlog = 4096;
  facts.ephemeral_ports = 28232;
  return facts;
}

Finding finding_of(const std::vector<Finding>& findings, std::string_view check) {
  const auto found = std::ranges::find(findings, check, &Finding::check);
  if (found == findings.end()) {
    ADD_FAILURE() << "no finding " << check;
    return {};
  }
  return *found;
}

TEST(FindingsTest, AHealthyHostHasNothingToFix) {
  for (const Finding& finding : judge_host(healthy_host(), true)) {
    EXPECT_EQ(finding.severity, Severity::ok) << finding.check;
    EXPECT_TRUE(finding.fix.empty()) << finding.check;
    EXPECT_FALSE(finding.detail.empty()) << finding.check;
  }
}

TEST(FindingsTest, EachLackIsNamedWithItsFix) {
  HostFacts facts = healthy_host();
  facts.available_bytes = 100 << 20;
  facts.lockable_bytes = 8 << 20;
  facts.shm_free_bytes = 64 << 20;
  facts.transparent_hugepages = "never";
  facts.ptrace_scope = 1;
  facts.allowed_processors = 1;
  facts.tcp_receive_bytes = 128 << 10;
  facts.listen_backlog = 128;
  facts.ephemeral_ports = 1000;
  const auto findings = judge_host(facts, true);
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.severity, Severity::warning) << finding.check;
    EXPECT_FALSE(finding.fix.empty()) << finding.check;
  }
  EXPECT_NE(finding_of(findings, "memory.locked").detail.find("8 MiB"), std::string::npos);
  EXPECT_NE(finding_of(findings, "memory.locked").fix.find("ulimit -l"), std::string::npos);
  EXPECT_NE(finding_of(findings, "memory.shared").detail.find("64 MiB"), std::string::npos);
  EXPECT_NE(finding_of(findings, "tcp.receive_buffer").detail.find("128 KiB"), std::string::npos);
  EXPECT_NE(finding_of(findings, "tcp.receive_buffer").fix.find("1048576"), std::string::npos);
  const Finding connections = finding_of(findings, "tcp.connections");
  EXPECT_NE(connections.fix.find("net.core.somaxconn"), std::string::npos);
  EXPECT_NE(connections.fix.find("ip_local_port_range"), std::string::npos);
}

// Segments follow another setting than private memory.
TEST(FindingsTest, HugePagesAreThoseOfSegments) {
  HostFacts facts = healthy_host();
  for (const char* const off : {"never", "deny"}) {
    facts.shared_hugepages = off;
    const Finding small = finding_of(judge_host(facts, true), "memory.huge_pages");
    EXPECT_EQ(small.severity, Severity::warning);
    EXPECT_NE(small.detail.find(std::string("(shmem_enabled): ") + off), std::string::npos)
        << small.detail;
    EXPECT_NE(small.fix.find("echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled"),
              std::string::npos)
        << small.fix;
    EXPECT_EQ(small.fix.find("hugepage/enabled"), std::string::npos) << small.fix;
  }
  for (const char* const on : {"advise", "always", "within_size", "force", ""}) {
    facts.shared_hugepages = on;
    EXPECT_EQ(finding_of(judge_host(facts, true), "memory.huge_pages").severity, Severity::ok)
        << on;
  }
}

TEST(FindingsTest, LimitsOfTheShellAreNamedWithTheirRemedy) {
  HostFacts facts = healthy_host();
  facts.limits = {.address_space_bytes = 60000 << 10,
                  .data_bytes = 1 << 20,
                  .file_bytes = 1 << 20,
                  .processes = 20,
                  .processor_s = 60,
                  .stack_bytes = 64 << 10,
                  .open_files = 64};
  const auto findings = judge_host(facts, true);
  for (const auto& [check, severity, fix] :
       {std::tuple("limit.address_space", Severity::error, "ulimit -v unlimited"),
        std::tuple("limit.data", Severity::error, "ulimit -d unlimited"),
        std::tuple("limit.file_size", Severity::error, "ulimit -f unlimited"),
        std::tuple("limit.processes", Severity::warning, "ulimit -u"),
        std::tuple("limit.open_files", Severity::warning, "ulimit -Hn"),
        std::tuple("limit.processor_time", Severity::warning, "ulimit -t"),
        std::tuple("limit.stack", Severity::warning, "ulimit -s")}) {
    const Finding finding = finding_of(findings, check);
    EXPECT_EQ(finding.severity, severity) << check;
    EXPECT_NE(finding.fix.find(fix), std::string::npos) << finding.fix;
  }
  facts.limits = {.address_space_bytes = uint64_t{8} << 30,
                  .data_bytes = uint64_t{8} << 30,
                  .file_bytes = uint64_t{8} << 30,
                  .processes = 4096,
                  .processor_s = 7 * 24 * 3600,
                  .stack_bytes = 8 << 20,
                  .open_files = 4096};
  for (const Finding& finding : judge_host(facts, true)) {
    EXPECT_EQ(finding.severity, Severity::ok) << finding.check;
  }
}

TEST(FindingsTest, TheVerdictFollowsFromTheFindings) {
  const Finding fine{.check = "memory"};
  const Finding slow{.check = "memory.huge_pages", .severity = Severity::warning};
  const Finding broken{.check = "limit.address_space", .severity = Severity::error};
  const Finding tcp{.check = "exchange.tcp"};
  const Finding shm{.check = "exchange.shm"};
  const Finding no_shm{.check = "exchange.shm", .severity = Severity::error};
  const Finding no_tcp{.check = "exchange.tcp", .severity = Severity::error};
  EXPECT_EQ(conclude({fine, tcp, shm}).text, "This host is ready.");
  EXPECT_TRUE(conclude({fine, tcp, shm}).usable);
  const Verdict warned = conclude({slow, tcp, shm});
  EXPECT_TRUE(warned.usable);
  EXPECT_NE(warned.text.find("ready. There is 1 warning of"), std::string::npos) << warned.text;
  const Verdict some = conclude({fine, tcp, no_shm});
  EXPECT_TRUE(some.usable);
  EXPECT_EQ(some.text, "This host is ready for tcp, and not for exchange.shm.");
  const Verdict limited = conclude({broken, tcp, shm});
  EXPECT_FALSE(limited.usable);
  EXPECT_EQ(limited.text, "This host is not ready: mend limit.address_space.");
  EXPECT_FALSE(conclude({fine, no_tcp, no_shm}).usable);
  EXPECT_NE(conclude({fine, no_tcp, no_shm}).text.find("no fabric carried a message"),
            std::string::npos);
}

TEST(FindingsTest, QuotasOfControlGroupsAreNamed) {
  HostFacts facts = healthy_host();
  facts.topology.processor_quota = 1.5;
  const Finding less = finding_of(judge_host(facts, true), "processors");
  EXPECT_EQ(less.severity, Severity::warning);
  EXPECT_NE(less.detail.find("quota is worth 1.5 of them"), std::string::npos) << less.detail;
  EXPECT_NE(less.fix.find("cpu.max"), std::string::npos) << less.fix;
  facts.topology.processor_quota = 4;
  EXPECT_EQ(finding_of(judge_host(facts, true), "processors").severity, Severity::ok);
  facts.topology.processor_quota = 100;
  EXPECT_EQ(finding_of(judge_host(facts, true), "processors").detail.find("quota"),
            std::string::npos);
}

TEST(FindingsTest, WithoutProcNothingIsSaidOfMemory) {
  HostFacts facts = healthy_host();
  facts.topology.memory_bytes = 0;
  const Finding memory = finding_of(judge_host(facts, true), "memory");
  EXPECT_EQ(memory.severity, Severity::warning);
  EXPECT_NE(memory.detail.find("/proc cannot be read"), std::string::npos) << memory.detail;
}

TEST(FindingsTest, VariablesOfLibfabricAreShown) {
  EXPECT_TRUE(judge_variables({}).empty());
  const auto choice = judge_variables({{"FI_PROVIDER", "tcp"}});
  ASSERT_EQ(choice.size(), 1U);
  EXPECT_EQ(choice[0].severity, Severity::info);
  EXPECT_NE(choice[0].detail.find("FI_PROVIDER=tcp"), std::string::npos);
  const auto slow = judge_variables({{"FI_LOG_LEVEL", "debug"}, {"FI_PROVIDER", "tcp"}});
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow[0].severity, Severity::warning);
  EXPECT_NE(slow[0].fix.find("FI_LOG_LEVEL=debug"), std::string::npos);
  EXPECT_EQ(slow[0].fix.find("FI_PROVIDER"), std::string::npos);
}

TEST(FindingsTest, AReceiveBufferThatIsNotKnownIsNoFault) {
  HostFacts facts = healthy_host();
  facts.tcp_receive_bytes.reset();
  EXPECT_EQ(finding_of(judge_host(facts, false), "tcp.receive_buffer").severity, Severity::ok);
}

TEST(FindingsTest, TheLockLimitMattersOnlyWhereMemoryIsLocked) {
  HostFacts facts = healthy_host();
  facts.lockable_bytes = 8 << 20;
  EXPECT_EQ(finding_of(judge_host(facts, false), "memory.locked").severity, Severity::ok);

  const fabric::ProviderInfo tcp{.name = "tcp", .provider = "tcp;ofi_rxm", .usable = true};
  fabric::ProviderInfo verbs{.name = "verbs", .provider = "verbs;ofi_rxm", .usable = false};
  EXPECT_FALSE(any_registering({tcp, verbs}));
  verbs.usable = true;
  EXPECT_TRUE(any_registering({tcp, verbs}));
}

TEST(FindingsTest, AbsentHardwareIsNoFault) {
  const std::vector<fabric::ProviderInfo> providers = {
      {.name = "tcp", .provider = "tcp;ofi_rxm", .usable = true, .detail = "fine"},
      {.name = "efa", .provider = "efa", .usable = false, .detail = "no device"}};
  const auto findings = judge_providers(providers);
  EXPECT_EQ(finding_of(findings, "provider.tcp").severity, Severity::ok);
  EXPECT_EQ(finding_of(findings, "provider.efa").severity, Severity::info);
  EXPECT_NE(finding_of(findings, "provider.efa").detail.find("no device"), std::string::npos);
}

TEST(FindingsTest, AMissingLibraryIsAnError) {
  const auto findings = judge_providers(Error(ErrorCode::unavailable, "cannot load libfabric"));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].severity, Severity::error);
  EXPECT_FALSE(findings[0].fix.empty());
}

TEST(FindingsTest, TheHostCanBeRead) {
  const HostFacts facts = HostFacts::read();
  EXPECT_GT(facts.available_bytes, 0U);
  EXPECT_GE(facts.allowed_processors, 1U);
}

}  // namespace
}  // namespace stripline::machine
