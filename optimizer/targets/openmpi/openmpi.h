// Open MPI 4.1: the descriptor. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/targets/target.h"

namespace stripline::targets::openmpi {

const Target& target();

/// The parameters that make Open MPI read a rules file.
std::vector<Setting> rules_settings(const std::string& rules_path);
/// The parameters that make HAN read a file of its own.
std::vector<Setting> han_settings(const std::string& rules_path);

/// A line of `ompi_info --all --parsable --level 9`, about parameters.
struct Parameter {
  std::string name;
  std::string value;
  std::string source;  ///< "default", "environment", "file (/etc/openmpi/...:12)"
};

/// The file that a parameter comes from; empty where it comes from elsewhere.
std::string file_of(const Parameter& parameter);

/// Values and sources of all parameters that the program prints; other lines are skipped. Errors:
/// data_loss where there is no parameter at all.
Result<std::vector<Parameter>> parse_ompi_info(std::string_view output);

/// Knobs that have another value than the default of the versions that were tried: a sentence each,
/// with where it comes from. Those that the installed library lacks are not among them.
std::vector<std::string> differences(const std::vector<Parameter>& parameters);

}  // namespace stripline::targets::openmpi
