#include "base/toml_settings.h"

#include <array>
#include <charconv>
#include <optional>
#include <toml++/toml.h>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/suggest.h"
#include "base/whole_file.h"

namespace stripline {
namespace {

// More is no configuration.
constexpr size_t kMostBytes = size_t{1} << 20;

Error wrong(const std::string& what) { return {ErrorCode::invalid_argument, what}; }

// The value as one would write it on the command line; nullopt: it is none.
std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  if (const auto* whole = node.as_integer()) return std::to_string(whole->get());
  if (const auto* number = node.as_floating_point()) {
    std::array<char, 32> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number->get());
    if (error == std::errc()) return std::string(text.data(), end);
  }
  return std::nullopt;
}

std::optional<std::vector<std::string>> texts_of(const toml::node& node) {
  std::vector<std::string> texts;
  if (const auto* array = node.as_array()) {
    for (const toml::node& element : *array) {
      const auto text = scalar_text(element);
      if (!text) return std::nullopt;
      texts.push_back(*text);
    }
    return texts;
  }
  const auto text = scalar_text(node);
  if (!text) return std::nullopt;
  return std::vector{*text};
}

// The message of CLI11 without the option that it begins with: where the value stands is said
// instead.
std::string without_option(const std::string& message, const std::string& name) {
  const std::string start = "--" + name + ": ";
  return message.starts_with(start) ? message.substr(start.size()) : message;
}

}  // namespace

Result<std::vector<TomlSetting>> read_toml_settings(const std::string& file) {
  const std::string place = "'" + file + "'";
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, read_whole_file(file, kMostBytes));
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return wrong(place + ", line " + std::to_string(error.source().begin.line) + ": " +
                 std::string(error.description()));
  }
  std::vector<TomlSetting> settings;
  for (const auto& [key, node] : root) {
    const std::string name(key.str());
    const std::string where =
        place + ", line " + std::to_string(node.source().begin.line) + ", " + name;
    auto values = texts_of(node);
    if (!values) return wrong(where + ": expected a string, number, boolean, or list of them");
    settings.push_back({name, where, std::move(*values)});
  }
  return settings;
}

Status set_option(CLI::Option& option, const TomlSetting& setting) {
  try {
    if (option.get_items_expected_max() == 0) {  // a flag
      if (setting.values != std::vector<std::string>{"true"} &&
          setting.values != std::vector<std::string>{"false"}) {
        return wrong(setting.place + ": true or false is needed");
      }
      if (setting.values.front() == "false") return {};
    }
    for (const std::string& value : setting.values) option.add_result(value);
    if (!setting.values.empty()) option.run_callback();
  } catch (const CLI::Error& error) {
    return wrong(setting.place + ": " + without_option(error.what(), setting.name));
  }
  return {};
}

std::string guess_of_name(const std::string& name, const std::vector<std::string>& known) {
  const auto near = nearest(name, known);
  return near ? "; did you mean " + *near + "?" : std::string();
}

}  // namespace stripline
