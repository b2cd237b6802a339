// The settings of a daemon: from its command line, else from the environment, else from a TOML
// file, else the default. There is one table of them, the options of its CLI::App: the option
// --log-level is the variable PREFIX_LOG_LEVEL and the key `log-level`, read, checked and described
// alike wherever it comes from.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stripline {

struct TomlSetting;

struct ConfigurationNames {
  /// With which the names of variables begin: "STRIPLINE_SERVER_". Every variable that begins so
  /// must be known.
  std::string prefix;
  /// Options, without dashes, that say what to do instead of how, and are taken from the command
  /// line alone: "backup".
  std::vector<std::string> commands = {};
  /// Options that have a second variable, which counts where the first is not set.
  std::map<std::string, std::string> aliases = {};
};

class Configuration {
 public:
  using Environment = std::map<std::string, std::string>;

  /// Adds --config, --check-config and --print-config to `app`, which must outlive this. The file
  /// is read only when it is named, by option or variable (PREFIX_CONFIG).
  Configuration(CLI::App& app, ConfigurationNames names);

  /// To be called once, when the command line has been parsed: settles what it has left open. An
  /// empty text in the environment is as if it were not there. Errors: invalid_argument, which
  /// names the place and, for a name that is not known, the nearest that is; not_found or
  /// unavailable for the file.
  Status settle(const Environment& environment);
  /// With that of this process.
  Status settle();

  bool wants_print() const { return print_; }
  /// True if anything but the log may be started.
  bool wants_start() const { return !check_ && !print_; }

  /// Every setting as a line of TOML, with a comment that says where its value comes from: the
  /// command line, a variable, or a line of a file. Those left to the default are comments.
  std::string text() const;

 private:
  Status take_environment(const Environment& environment);
  Status take_file();
  Status take(const TomlSetting& setting);
  std::vector<std::string> known_names() const;
  std::string variable_of(const std::string& name) const;

  CLI::App* app_;
  ConfigurationNames names_;
  std::map<std::string, CLI::Option*> options_;  // the settings, by name without dashes
  std::map<std::string, std::string> origins_;   // of those that are not left to the default
  std::string file_;
  bool check_ = false;
  bool print_ = false;
};

/// This process's environment.
Configuration::Environment environment_of_process();

}  // namespace stripline
