// What the control groups (version 1 or 2) of a process allow it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace stripline {

constexpr const char* kControlGroupRoot = "/sys/fs/cgroup";

enum class GroupVersion { first, second };

/// The text of /proc/self/cgroup below `root`, which names the groups of this process; empty where
/// it cannot be read.
std::string group_membership(const std::string& root = "/");

/// Calls `visit` with the folder of each group that counts for a controller ("memory", "cpu"):
/// those which `membership` names below `root`, and those around them.
void for_each_group(std::string_view membership, std::string_view controller,
                    const std::string& root,
                    const std::function<void(const std::string& folder, GroupVersion)>& visit);

/// Processor time that a control group allows.
struct ProcessorQuota {
  double processors = 0;  ///< time per time: 1.5 is that of one and a half processors
  std::string folder;     ///< whose limit that is
};

/// The least of the groups' quotas; nullopt: none has one.
std::optional<ProcessorQuota> processor_quota(std::string_view membership = group_membership(),
                                              const std::string& root = kControlGroupRoot);

/// "1.5": for how many processors a quota stands, to three digits.
std::string quota_text(double processors);

}  // namespace stripline
