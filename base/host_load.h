// What else goes on on a host: whether a measurement on the real clock would be one of the host's
// other work. Read from /proc.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stripline {

/// A moment.
struct HostLoad {
  /// Tasks that ran or waited for a processor or a disk, exponentially weighted over a minute, ours
  /// included: what `uptime` says.
  double average = 0;
  /// Tasks of others that run or wait for a processor now: the length of the run queues, without
  /// the programs that are named as own ones.
  double running = 0;
  uint32_t processors = 0;
};

/// Looks a few times within some milliseconds, for which it sleeps. `own`: names of programs that
/// do not count, as the kernel keeps them (their first 15 characters). nullopt without a /proc that
/// says it.
std::optional<HostLoad> read_host_load(std::span<const std::string_view> own,
                                       const std::filesystem::path& proc = "/proc");

/// Processor time since the host's start, in seconds of all processors together.
struct ProcessorTimes {
  double used_s = 0;    ///< by everybody
  double stolen_s = 0;  ///< by other guests of a virtual machine's host
};
std::optional<ProcessorTimes> read_processor_times(const std::filesystem::path& proc = "/proc");

/// "load 8.1, 7 other tasks on 2 processors".
std::string host_load_text(const HostLoad& load);

}  // namespace stripline
