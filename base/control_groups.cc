#include "base/control_groups.h"

#include <fstream>
#include <iterator>
#include <sstream>

namespace stripline {
namespace {

/// True if "cpu,memory" lists a controller.
bool lists(std::string_view controllers, std::string_view controller) {
  std::istringstream list{std::string(controllers)};
  for (std::string one; std::getline(list, one, ',');) {
    if (one == controller) return true;
  }
  return false;
}

/// Microseconds in each period. Without a limit the quota is "max" or -1.
std::optional<double> quota_in(const std::string& folder, GroupVersion version) {
  double quota = 0;
  double period = 0;
  if (version == GroupVersion::second) {
    std::ifstream file(folder + "/cpu.max");
    if (!(file >> quota >> period)) return std::nullopt;
  } else {
    std::ifstream quota_file(folder + "/cpu.cfs_quota_us");
    std::ifstream period_file(folder + "/cpu.cfs_period_us");
    if (!(quota_file >> quota) || !(period_file >> period)) return std::nullopt;
  }
  if (quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

}  // namespace

std::string group_membership(const std::string& root) {
  std::ifstream file(root + (root.ends_with('/') ? "" : "/") + "proc/self/cgroup");
  return {std::istreambuf_iterator<char>(file), {}};
}

void for_each_group(std::string_view membership, std::string_view controller,
                    const std::string& root,
                    const std::function<void(const std::string& folder, GroupVersion)>& visit) {
  // From the group up to the root. In a container the root is its own group, and the path that the
  // host gives it is not there.
  const auto climb = [&](const std::string& top, std::string path, GroupVersion version) {
    while (true) {
      visit(top + path, version);
      if (path.empty()) return;
      path.erase(path.rfind('/'));
    }
  };
  std::istringstream lines{std::string(membership)};
  // "NUMBER:CONTROLLERS:/PATH", of version 2 without controllers.
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(":/", first == std::string::npos ? 0 : first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    if (controllers.empty()) climb(root, path, GroupVersion::second);
    if (lists(controllers, controller)) {
      climb(root + "/" + std::string(controller), path, GroupVersion::first);
    }
  }
}

std::optional<ProcessorQuota> processor_quota(std::string_view membership,
                                              const std::string& root) {
  std::optional<ProcessorQuota> least;
  for_each_group(membership, "cpu", root, [&](const std::string& folder, GroupVersion version) {
    const auto quota = quota_in(folder, version);
    if (quota && (!least || *quota < least->processors)) least = ProcessorQuota{*quota, folder};
  });
  return least;
}

std::string quota_text(double processors) {
  std::ostringstream text;
  text.precision(3);
  text << processors;
  return text.str();
}

}  // namespace stripline
