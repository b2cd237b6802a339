#include "optimizer/targets/environment_file.h"

#include <algorithm>
#include <set>

#include "base/cut_text.h"
#include "optimizer/targets/lines.h"

namespace stripline::targets {
namespace {

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool needs_no_quotes(std::string_view value) {
  constexpr std::string_view kOthers = "_./:,+-^@%=";
  return std::ranges::all_of(value, [&](char c) {
    return is_alphanumeric(c) || kOthers.find(c) != std::string_view::npos;
  });
}

// Within quotes of either kind a shell leaves these characters alone.
bool may_be_quoted(std::string_view value) {
  constexpr std::string_view kSpecial = "$`\\\"'!";
  return std::ranges::all_of(value, [&](char c) {
    return c >= ' ' && c <= '~' && kSpecial.find(c) == std::string_view::npos;
  });
}

}  // namespace

bool is_variable_name(std::string_view name) {
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return false;
  return std::ranges::all_of(name, [](char c) { return is_alphanumeric(c) || c == '_'; });
}

Result<std::vector<Setting>> read_environment(std::string_view text, std::string_view what) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto lines, lines_of(text, what));
  if (text.find('\r') != std::string_view::npos) {
    return Error(ErrorCode::data_loss,
                 std::string(what) +
                     " has carriage returns, which a shell takes as part of values; write it with "
                     "the line ends of Unix");
  }
  std::vector<Setting> settings;
  std::set<std::string_view> names;
  for (const Line& line : lines) {
    std::string_view rest = trimmed(line.text);
    if (rest.empty() || rest.front() == '#') continue;
    if (rest.starts_with("export ")) rest = trimmed(rest.substr(7));
    const size_t equals = rest.find('=');
    if (equals == std::string_view::npos) return bad_line(what, line, "is not NAME=VALUE");
    const std::string_view name = rest.substr(0, equals);
    std::string_view value = rest.substr(equals + 1);
    if (!is_variable_name(name)) {
      return bad_line(what, line, quoted_text(name) + " is not a valid name of a variable");
    }
    const bool quoted = value.size() >= 2 && (value.front() == '\'' || value.front() == '"') &&
                        value.back() == value.front();
    if (quoted) value = value.substr(1, value.size() - 2);
    if (quoted ? !may_be_quoted(value) : !needs_no_quotes(value)) {
      return bad_line(what, line,
                      "the value has characters that a shell would take for something else");
    }
    if (!names.insert(name).second) {
      return bad_line(what, line, std::string(name) + " comes a second time");
    }
    settings.push_back({std::string(name), std::string(value)});
  }
  return settings;
}

Result<std::string> write_environment(const std::vector<Setting>& settings,
                                      const std::vector<std::string>& comments) {
  std::string text = comment_block(comments);
  std::set<std::string_view> names;
  for (const auto& [name, value] : settings) {
    if (!is_variable_name(name) || !may_be_quoted(value)) {
      return Error(ErrorCode::invalid_argument, "the variable " + quoted_text(name) +
                                                    " with the value " + quoted_text(value) +
                                                    " cannot be written for a shell");
    }
    if (!names.insert(name).second) {
      return Error(ErrorCode::invalid_argument, "the variable " + name + " has two values");
    }
    const bool bare = needs_no_quotes(value);
    text.append("export ").append(name).append(bare ? "=" : "='").append(value);
    text.append(bare ? "\n" : "'\n");
  }
  return text;
}

Status check_settings(const Target& target, const std::vector<Setting>& settings) {
  for (const auto& [name, value] : settings) {
    const Knob* const knob = find_knob(target, name);
    if (knob == nullptr) {
      return Error(ErrorCode::invalid_argument, std::string(target.title) + " has no setting " +
                                                    quoted_text(name) + " that is known here");
    }
    STRIPLINE_RETURN_IF_ERROR(check_value(*knob, value));
  }
  return {};
}

}  // namespace stripline::targets
