// Where UCX takes its settings from here: the environment, and ucx.conf in several folders, of
// which the later ones beat the earlier: $HOME, $UCX_CONFIG_DIR, the working folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "optimizer/targets/sources.h"

namespace stripline::suites::tune {

/// The name of all of its files.
inline constexpr const char* kUcxFileName = "ucx.conf";

/// Sources that beat a file, the strongest first. A file that is in none of these folders counts as
/// that of $UCX_CONFIG_DIR, by which an exported one is loaded. `unread`: a sentence for each of
/// them that the strict reader refuses.
std::vector<targets::Source> ucx_sources_above(const std::filesystem::path& file,
                                               std::vector<std::string>& unread);

/// $HOME/ucx.conf; empty without such a folder.
std::filesystem::path ucx_file_of_user();

/// That of $UCX_CONFIG_DIR; empty where there is none.
std::filesystem::path ucx_file_of_variable();

/// That of the working folder; empty where there is none.
std::filesystem::path ucx_file_of_working_folder();

}  // namespace stripline::suites::tune
