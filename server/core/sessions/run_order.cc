#include "server/core/sessions/run_order.h"

#include <optional>

#include "base/json.h"
#include "optimizer/experiment/point_order.h"

namespace stripline::server {
namespace {

// Within a string a quotation mark has a backslash before it, so that these match members only.
constexpr std::string_view kFenceMember = R"("fence":0)";
constexpr std::string_view kDeadlineMember = R"("deadline_s":)";
constexpr std::string_view kPointsMember = R"("points":[)";

// Past the end of the string that begins at `at`.
size_t skip_string(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at + 1;
}

struct List {
  size_t cut = 0;  // where the elements end that are kept
  size_t end = 0;  // its closing bracket
};

// The list whose first element begins at `at`.
std::optional<List> find_list(std::string_view text, size_t at, uint32_t kept) {
  List list{at, at};
  bool cut = kept == 0;
  uint32_t elements = 0;
  for (size_t depth = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      continue;
    }
    const bool boundary = depth == 0 && (c == ',' || c == ']');
    if (boundary && !cut && (++elements == kept || c == ']')) {
      list.cut = at;
      cut = true;
    }
    if (boundary && c == ']') {
      list.end = at;
      return list;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> order_text(std::string_view plan, uint64_t fence, uint32_t points,
                               double deadline_s,
                               const std::map<std::string, std::string>& left_out) {
  const Error damaged(ErrorCode::data_loss, "a stored plan is damaged");
  const size_t at_deadline = plan.find(kDeadlineMember);
  const size_t at_fence = plan.find(kFenceMember);
  const size_t at_points = plan.find(kPointsMember);
  // The order of keys: "deadline_s" stands before "fence", and that before "points".
  if (at_points == std::string_view::npos || at_fence > at_points || at_deadline > at_fence) {
    return damaged;
  }
  const size_t at_seconds = at_deadline + kDeadlineMember.size();
  const size_t seconds_end = plan.find(',', at_seconds);
  if (seconds_end > at_fence) return damaged;
  const auto list = find_list(plan, at_points + kPointsMember.size(), points);
  if (!list) return damaged;
  const size_t digits = at_fence + kFenceMember.size() - 1;
  std::string order(plan.substr(0, at_seconds));
  order += Json(deadline_s).dump();
  order += plan.substr(seconds_end, digits - seconds_end);
  order += std::to_string(fence);
  if (!left_out.empty()) {
    order += ",\"" + std::string(experiment::kLeftOutMember) + "\":" + dumped(Json(left_out));
  }
  order += plan.substr(digits + 1, list->cut - (digits + 1));
  order += plan.substr(list->end);
  return order;
}

}  // namespace stripline::server
