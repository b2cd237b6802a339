// Values of options from a TOML file, whose keys are the names of the options without dashes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class Option;
}  // namespace CLI

namespace stripline {

/// A line of a file.
struct TomlSetting {
  std::string name;
  std::string place;                ///< of messages: "'a.toml', line 3, lease"
  std::vector<std::string> values;  ///< as one would write them on a command line; of a list, each
};

/// The settings of a file of up to 1 MiB, in the order of their names. Errors: not_found or
/// unavailable for the file; invalid_argument for what is no TOML, and for a value that is no text,
/// number, truth, or list of them.
Result<std::vector<TomlSetting>> read_toml_settings(const std::string& file);

/// Gives the option these values, which it checks as those of a command line. Errors:
/// invalid_argument.
Status set_option(CLI::Option& option, const TomlSetting& setting);

/// What was meant by a name that is not known, as the end of a sentence: "; did you mean lease?".
std::string guess_of_name(const std::string& name, const std::vector<std::string>& known);

}  // namespace stripline
