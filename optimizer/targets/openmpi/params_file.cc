#include "optimizer/targets/openmpi/params_file.h"

#include <algorithm>
#include <set>

#include "base/cut_text.h"
#include "optimizer/targets/lines.h"

namespace stripline::targets::openmpi {
namespace {

bool is_parameter_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  return !name.empty() && std::ranges::all_of(name, allowed);
}

bool is_value(std::string_view value) {
  const auto printable = [](char c) { return c >= ' ' && c <= '~' && c != '#' && c != '"'; };
  return std::ranges::all_of(value, printable) && value.find("/*") == std::string_view::npos &&
         value.find("//") == std::string_view::npos && trimmed(value) == value;
}

}  // namespace

Result<std::vector<Setting>> read_params(std::string_view text, std::string_view what) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto lines, lines_of(text, what));
  std::vector<Setting> settings;
  std::set<std::string_view> names;
  bool in_comment = false;
  for (const Line& line : lines) {
    const std::string_view rest = trimmed(line.text);
    if (in_comment || rest.starts_with("/*")) {
      const size_t end = rest.find("*/", in_comment ? 0 : 2);
      in_comment = end == std::string_view::npos;
      if (!in_comment && !trimmed(rest.substr(end + 2)).empty()) {
        return bad_line(what, line, "has a setting after the end of a comment");
      }
      continue;
    }
    if (rest.empty() || rest.front() == '#' || rest.starts_with("//")) continue;
    const size_t equals = rest.find('=');
    if (equals == std::string_view::npos) return bad_line(what, line, "is not 'name = value'");
    const std::string_view name = trimmed(rest.substr(0, equals));
    const std::string_view value = trimmed(rest.substr(equals + 1));
    if (!is_parameter_name(name)) {
      return bad_line(what, line, quoted_text(name) + " is not a valid name of a parameter");
    }
    if (!is_value(value)) {
      return bad_line(what, line,
                      "has a quote, or a comment behind a value, which Open MPI takes "
                      "as part of it");
    }
    if (!names.insert(name).second) {
      return bad_line(what, line, std::string(name) + " comes a second time");
    }
    settings.push_back({std::string(name), std::string(value)});
  }
  if (in_comment) return Error(ErrorCode::data_loss, std::string(what) + " ends within a comment");
  return settings;
}

Result<std::string> write_params(const std::vector<Setting>& settings,
                                 const std::vector<std::string>& comments) {
  std::string text = comment_block(comments);
  std::set<std::string_view> names;
  for (const auto& [name, value] : settings) {
    if (!is_parameter_name(name) || !is_value(value)) {
      return Error(ErrorCode::invalid_argument, "the parameter " + quoted_text(name) +
                                                    " with the value " + quoted_text(value) +
                                                    " cannot be written for Open MPI");
    }
    if (!names.insert(name).second) {
      return Error(ErrorCode::invalid_argument, "the parameter " + name + " has two values");
    }
    text.append(name).append(" = ").append(value).append("\n");
  }
  return text;
}

}  // namespace stripline::targets::openmpi
