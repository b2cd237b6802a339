// What else goes on on a host: whether a measurement on the real clock would be one of the host's
// other work. Read from /proc.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace stripline {

/// Programs whose work is not that of others, as the kernel names them (by 15 characters): workers
/// and agents, of other nodes of the host, too; a server on it, which works between runs; and a
/// bench, which waits for its workers.
inline constexpr std::array<std::string_view, 4> kOwnPrograms = {
    "stripline-worke", "stripline-agent", "stripline-serve", "stripline-bench"};

/// A moment.
struct HostLoad {
  /// Tasks that ran or waited for a processor or a disk, exponentially weighted over a minute, ours
  /// included: what `uptime` says.
  double average = 0;
  /// Tasks of others that run or wait for a processor now: the length of the run queues, without
  /// this process and kOwnPrograms.
  double running = 0;
  uint32_t processors = 0;
};

/// Looks a few times within some milliseconds, for which it sleeps. nullopt without a /proc that
/// says it.
std::optional<HostLoad> read_host_load(const std::filesystem::path& proc = "/proc");

/// Processor time since the host's start, in seconds of all processors together.
struct ProcessorTimes {
  double used_s = 0;    ///< by everybody
  double stolen_s = 0;  ///< by other guests of a virtual machine's host
};
std::optional<ProcessorTimes> read_processor_times(const std::filesystem::path& proc = "/proc");

/// "load 8.1, 7 other tasks on 2 processors".
std::string host_load_text(const HostLoad& load);

}  // namespace stripline
