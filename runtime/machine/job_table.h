// What `stripline run --verbose` and STRIPLINE_VERBOSE=1 show: the ranks of a job and the settings
// they run with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/settings.h"

namespace stripline::machine {

/// What one rank tells rank 0 about itself.
struct RankDescription {
  std::string host;
  std::string boot_id;  ///< equal for ranks of one node
  int64_t pid = 0;
  std::string processors;  ///< that it may use: "0-3,8", "0-3 (quota 1.5)"
  std::string numa_nodes;  ///< of these: "0", "0-1"; empty: unknown
  std::string fabric;      ///< as the user wrote it
  std::string provider;
  std::string clock;
  std::string interface;  ///< "eth0"; empty: none (emulated)
  uint64_t segment_bytes = 0;
  std::vector<Setting> settings;

  /// One line of JSON.
  std::string encode() const;
  /// Errors: data_loss for text that encode() has not written.
  static Result<RankDescription> decode(std::string_view text);
};

/// Fills in what this process knows by itself: host, boot_id, pid, processors, numa_nodes and
/// settings. Reads the machine below `root`.
RankDescription describe_process(const std::filesystem::path& root = "/");

/// Numbers as the kernel lists them, e.g. "0-3,8"; they must ascend.
std::string list_text(std::span<const uint32_t> numbers);
/// The numbers of such a list; those before the first character that does not fit.
std::vector<uint32_t> list_numbers(std::string_view text);

/// A table of the ranks, by number, and one of the settings: rank 0's, and below them what other
/// ranks have differently. Lines end in '\n'.
std::string job_table(std::span<const RankDescription> ranks);

}  // namespace stripline::machine
