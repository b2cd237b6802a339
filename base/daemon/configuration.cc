#include "base/daemon/configuration.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <string_view>
#include <toml++/toml.h>
#include <unistd.h>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/command_line.h"
#include "base/toml_settings.h"

namespace stripline {
namespace {

constexpr const char* kFile = "config";
constexpr const char* kCheck = "check-config";
constexpr const char* kPrint = "print-config";
constexpr const char* kCommandLine = "command line";

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

Error wrong(const std::string& what) { return {ErrorCode::invalid_argument, what}; }

std::string toml_text(const std::string& text) {
  std::ostringstream out;
  out << toml::value<std::string>(text);
  return out.str();
}

std::string default_text(const CLI::Option& option) {
  std::string text = option.get_default_str();
  const bool quotes = text.size() > 1 && text.front() == '"' && text.back() == '"';
  return quotes ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

Configuration::Configuration(CLI::App& app, ConfigurationNames names)
    : app_(&app), names_(std::move(names)) {
  add_value(app, "--config", file_,
            "Read settings from this file (TOML; keys are the names of options)", "FILE");
  app.add_flag("--check-config", check_, "Check the settings, wherever they come from, and exit");
  app.add_flag("--print-config", print_,
               "Print the settings as TOML, each with where it comes from, and exit");
}

Status Configuration::settle() { return settle(environment_of_process()); }

Status Configuration::settle(const Environment& environment) {
  std::set<std::string> others = {"help", "version", kFile, kCheck, kPrint};
  others.insert(names_.commands.begin(), names_.commands.end());
  for (CLI::Option* option : app_->get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (!others.contains(name)) options_[name] = option;
      if (option->count() > 0) origins_[name] = kCommandLine;
    }
  }
  STRIPLINE_RETURN_IF_ERROR(take_environment(environment));
  return file_.empty() ? Status() : take_file();
}

Status Configuration::take_environment(const Environment& environment) {
  std::map<std::string, std::string> by_variable = {{names_.prefix + "CONFIG", kFile}};
  std::vector<std::string> known = {names_.prefix + "CONFIG"};
  for (const auto& [name, option] : options_) {
    by_variable[variable_of(name)] = name;
    known.push_back(variable_of(name));
  }
  for (const auto& [variable, value] : environment) {
    if (!variable.starts_with(names_.prefix) || value.empty()) continue;
    const auto found = by_variable.find(variable);
    if (found == by_variable.end()) {
      return wrong("unknown variable " + variable + " in the environment" +
                   guess_of_name(variable, known));
    }
    if (found->second == kFile) {
      if (file_.empty()) file_ = value;
    } else {
      STRIPLINE_RETURN_IF_ERROR(take({found->second, variable, {value}}));
    }
  }
  for (const auto& [name, variable] : names_.aliases) {
    const auto found = environment.find(variable);
    if (found == environment.end() || found->second.empty()) continue;
    STRIPLINE_RETURN_IF_ERROR(take({name, variable, {found->second}}));
  }
  return {};
}

Status Configuration::take_file() {
  STRIPLINE_ASSIGN_OR_RETURN(const auto settings, read_toml_settings(file_));
  for (const TomlSetting& setting : settings) {
    if (!options_.contains(setting.name)) {
      const bool command =
          std::ranges::find(names_.commands, setting.name) != names_.commands.end();
      return wrong(setting.place + ": " +
                   (command
                        ? "this is an option of the command line alone"
                        : "there is no such setting" + guess_of_name(setting.name, known_names())));
    }
    STRIPLINE_RETURN_IF_ERROR(take(setting));
  }
  return {};
}

// What was taken before counts.
Status Configuration::take(const TomlSetting& setting) {
  if (!origins_.emplace(setting.name, setting.place).second) return {};
  return set_option(*options_.at(setting.name), setting);
}

std::string Configuration::text() const {
  std::string out;
  for (const CLI::Option* option : app_->get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (!options_.contains(name)) continue;
      const auto origin = origins_.find(name);
      std::vector<std::string> values = option->results();
      if (values.empty()) values = {default_text(*option)};
      std::string value;
      if (is_flag(*option)) {
        value = option->count() > 0 ? "true" : "false";
      } else if (option->get_items_expected_max() > 1) {
        for (const std::string& element : values) {
          if (!element.empty()) value += (value.empty() ? "" : ", ") + toml_text(element);
        }
        value = "[" + value + "]";
      } else {
        value = toml_text(values.front());
      }
      out += origin == origins_.end() ? "# " + name + " = " + value + "  # default\n"
                                      : name + " = " + value + "  # " + origin->second + "\n";
    }
  }
  return out;
}

std::vector<std::string> Configuration::known_names() const {
  std::vector<std::string> names;
  for (const auto& [name, option] : options_) names.push_back(name);
  return names;
}

std::string Configuration::variable_of(const std::string& name) const {
  std::string variable = names_.prefix;
  for (const char c : name) {
    variable += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return variable;
}

Configuration::Environment environment_of_process() {
  Configuration::Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

}  // namespace stripline
