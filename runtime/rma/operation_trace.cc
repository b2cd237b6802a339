#include "runtime/rma/operation_trace.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/formatted.h"
#include "base/place_text.h"
#include "base/quantity.h"

namespace stripline::rma {
namespace {

// Lines that a person reads.
constexpr size_t kMostLines = 20;
// This many operations are worth a thought about their form, if they are no larger than this on the
// average: a network's bandwidth is far from being used.
constexpr uint64_t kMany = 16;
constexpr uint64_t kSmallBytes = 4096;
// A part of all that stands for all of them: the first operation of a run differs.
constexpr double kNearlyAll = 0.9;

bool nearly_all(uint64_t part, uint64_t count) {
  return static_cast<double>(part) >= kNearlyAll * static_cast<double>(count - 1);
}

std::string grouped(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string percent(double part) {
  return formatted(part < 0.1 ? "%.1f %%" : "%.0f %%", 100 * part);
}

std::string_view file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

// True for a distance that was there before, or for which there is room; else it takes the place of
// the oldest.
bool OperationTrace::is_known(Row& row, uint64_t step) {
  const auto known = std::span(row.steps).first(std::min(row.step_count, row.steps.size()));
  if (std::ranges::find(known, step) != known.end()) return true;
  row.steps[row.step_count++ % row.steps.size()] = step;
  return known.size() < row.steps.size();
}

OperationTrace::Row& OperationTrace::note(const Operation& operation, double seconds) {
  const std::string_view file = operation.call.file == nullptr ? "" : operation.call.file;
  Row& row = rows_[{file, operation.call.line, operation.call.name}];
  if (row.count++ == 0) {
    row.kind = operation.kind;
    row.least_bytes = row.most_bytes = operation.bytes;
  } else {
    const uint64_t step = operation.offset - row.offset;
    const bool same = operation.target == row.target;
    row.awaited += row.complete ? 1 : 0;
    row.continued += same && operation.offset == row.end ? 1 : 0;
    row.in_step += same && step == row.step ? 1 : 0;
    row.regular += same && is_known(row, step) ? 1 : 0;
    row.least_bytes = std::min(row.least_bytes, operation.bytes);
    row.most_bytes = std::max(row.most_bytes, operation.bytes);
    row.step = step;
  }
  row.bytes += operation.bytes;
  row.seconds += seconds;
  row.target = operation.target;
  row.offset = operation.offset;
  row.end = operation.offset + operation.bytes;
  row.complete = false;
  return row;
}

void OperationTrace::done(const Operation& operation, double seconds, bool complete) {
  note(operation, seconds).complete = complete;
}

void OperationTrace::begun(const Operation& operation, double seconds, uint32_t slot,
                           uint32_t generation) {
  Row& row = note(operation, seconds);
  in_flight_[slot] = {generation, &row, row.count};
}

void OperationTrace::waited(uint32_t slot, uint32_t generation, double seconds) {
  const auto found = in_flight_.find(slot);
  if (found == in_flight_.end() || found->second.generation != generation) return;
  Row& row = *found->second.row;
  row.seconds += seconds;
  if (found->second.number == row.count) row.complete = true;
  in_flight_.erase(found);
}

// What takes the place of the operations of a row; empty: nothing that is known.
std::string OperationTrace::hint(const Row& row, std::string_view name) {
  if (row.count < kMany || row.bytes / row.count > kSmallBytes) return {};
  const bool blocking = nearly_all(row.awaited, row.count);
  if (row.kind == Kind::message) {
    return "several in one message, of up to am_max_bytes(), cost as much as one";
  }
  if (row.kind == Kind::atomic) {
    return blocking ? "begin several before waiting for the first, or combine what goes to one "
                      "variable here"
                    : "";
  }
  if (name.find("_nbi") != std::string_view::npos) return {};  // small ones travel together
  const std::string call = row.kind == Kind::get ? "rget" : "rput";
  if (nearly_all(row.continued, row.count)) {
    const uint64_t calls = row.count - row.continued;
    return (calls == 1 ? "one " + call + " of " + bytes_text(row.bytes)
                       : grouped(calls) + " " + call + " of " + bytes_text(row.bytes / calls)) +
           " would do";
  }
  if (nearly_all(row.in_step, row.count)) return "one " + call + "_strided would do";
  if (nearly_all(row.regular, row.count)) {
    return "one " + call + "_regular of a list of places would do";
  }
  if (!blocking) return {};
  // Elements in no order, of one rank or several, are mostly those that an index names.
  return row.kind == Kind::get ? "for_each_indirect() or gather() where an index says which "
                                 "elements; else begin them all before wait_all()"
                               : "rput_nbi() and one fence(); or an UpdateEpoch where cells are "
                                 "updated";
}

std::string OperationTrace::text(double total_s) const {
  std::vector<const std::pair<const Key, Row>*> order;
  order.reserve(rows_.size());
  for (const auto& entry : rows_) order.push_back(&entry);
  std::ranges::sort(
      order, [](const auto* a, const auto* b) { return a->second.seconds > b->second.seconds; });
  std::string text;
  for (size_t i = 0; i < std::min(order.size(), kMostLines); ++i) {
    const auto& [key, row] = *order[i];
    const auto& [file, line, name] = key;
    text += "  ";
    text += file.empty() ? "in the runtime (locks)" : place_text(file_name(file), line);
    text += ": " + grouped(row.count) + " ";
    if (row.count > 1 && nearly_all(row.awaited, row.count)) {
      text += "blocking ";
    }
    text += std::string(name) + " of " +
            (row.least_bytes == row.most_bytes
                 ? exact_bytes_text(row.least_bytes)
                 : exact_bytes_text(row.least_bytes) + " to " + exact_bytes_text(row.most_bytes)) +
            ", " + seconds_text(row.seconds);
    if (total_s > 0) text += ", " + percent(std::min(row.seconds / total_s, 1.0)) + " of the time";
    if (const std::string faster = hint(row, name); !faster.empty()) text += "; " + faster;
    text += "\n";
  }
  if (order.size() > kMostLines) {
    text += "  and " + std::to_string(order.size() - kMostLines) + " more places\n";
  }
  return text;
}

}  // namespace stripline::rma
