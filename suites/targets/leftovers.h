// What a launch that was ended may leave behind: processes that its launcher put into groups of
// their own, and files in shared memory. Only what a launch of ours has made is touched.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stripline::suites::tune {

/// The variable by which processes of a launch are recognised: all of them inherit it.
inline constexpr const char* kLaunchVariable = "STRIPLINE_TUNE_LAUNCH";

/// Kills every process of this user whose environment gives that variable this value. Returns how
/// many there were.
size_t kill_processes_of(const std::string& launch);

/// Names in /dev/shm that begin with one of `prefixes` and belong to this user.
std::set<std::string> shared_memory_files(const std::vector<std::string_view>& prefixes);

/// Removes those that are not in `before` and that no process has mapped. Returns how many.
size_t remove_shared_memory_files(const std::vector<std::string_view>& prefixes,
                                  const std::set<std::string>& before);

}  // namespace stripline::suites::tune
