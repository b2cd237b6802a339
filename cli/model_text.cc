#include "cli/model_text.h"

#include <array>
#include <cstdio>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "cli/format.h"
#include "optimizer/model/fingerprint.h"

namespace stripline::cli {
namespace {

using model::OperationModel;
using model::Parameter;
using model::Segment;
using Unit = std::string (*)(double);

std::string count_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

std::string time_text(double seconds) { return seconds_text(seconds); }

std::string share_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g %%", value * 100);
  return text.data();
}

Table parameter_table(const std::string& first_column) {
  using Align = Table::Align;
  return Table({{first_column},
                {"parameter"},
                {"value", Align::right},
                {"low", Align::right},
                {"high", Align::right},
                {"runs", Align::right},
                {"samples", Align::right},
                {"method"}});
}

void add(Table& table, const std::string& first, const std::string& name,
         const Parameter& parameter, Unit unit) {
  table.add({first, name, (parameter.at_least ? ">= " : "") + unit(parameter.value),
             unit(parameter.ci_low), unit(parameter.ci_high), std::to_string(parameter.runs),
             std::to_string(parameter.samples), parameter.method});
}

void add(Table& table, const std::string& first, const std::string& name,
         const std::optional<Parameter>& parameter, Unit unit) {
  if (parameter) add(table, first, name, *parameter, unit);
}

std::string range_text(const Segment& segment, bool last) {
  return bytes_text(segment.from_bytes) +
         (last ? " and more" : " to " + bytes_text(segment.to_bytes));
}

// "2 ranks", "2 to 8 ranks".
std::string ranks_text(const model::Domain& domain) {
  const std::string last = std::to_string(domain.max_ranks);
  if (domain.min_ranks != domain.max_ranks) {
    return std::to_string(domain.min_ranks) + " to " + last + " ranks";
  }
  return last + (domain.max_ranks == 1 ? " rank" : " ranks");
}

// "8 B", "8 B to 4 MiB".
std::string sizes_text(const model::Domain& domain) {
  const std::string last = bytes_text(domain.max_bytes);
  return domain.min_bytes == domain.max_bytes ? last : bytes_text(domain.min_bytes) + " to " + last;
}

std::string operation_text(const std::string& title, const OperationModel& operation) {
  Table table = parameter_table("size");
  for (size_t i = 0; i < operation.segments.size(); ++i) {
    const Segment& segment = operation.segments[i];
    const std::string range = range_text(segment, i + 1 == operation.segments.size());
    add(table, range, "o", segment.o_base_s, time_text);
    add(table, range, "o per byte", segment.o_per_byte_s, seconds_per_byte_text);
    add(table, range, "L", segment.L_s, time_text);
    add(table, range, "g", segment.g_s, time_text);
    add(table, range, "G", segment.G_s_per_byte, seconds_per_byte_text);
    add(table, range, "r", segment.r_base_s, time_text);
    add(table, range, "r per byte", segment.r_per_byte_s, seconds_per_byte_text);
    add(table, range, "s", segment.s_base_s, time_text);
    add(table, range, "s per byte", segment.s_per_byte_s, seconds_per_byte_text);
  }
  add(table, "any", "queue depth", operation.queue_depth, count_text);
  for (const model::BufferPoint& point : operation.buffers) {
    const std::string buffer = "buffer of " + bytes_text(point.bytes);
    add(table, buffer, "r beyond", point.retire_s_per_byte, seconds_per_byte_text);
    add(table, buffer, "first read", point.read_s_per_byte, seconds_per_byte_text);
  }
  return "\n" + title + "\n" + table.text(2);
}

std::string compute_text(const model::ComputeModel& compute) {
  Table table = parameter_table("footprint");
  const std::vector<std::pair<const char*, const std::vector<model::ComputePoint>*>> primitives = {
      {"reduction in cache", &compute.red_in},
      {"reduction out of cache", &compute.red_out},
      {"vector in cache", &compute.vec_in},
      {"vector out of cache", &compute.vec_out},
      {"floating-point operation", &compute.alu}};
  for (const auto& [name, points] : primitives) {
    for (const model::ComputePoint& point : *points) {
      add(table, point.bytes == 0 ? "none" : bytes_text(point.bytes), name,
          point.seconds_per_element, time_text);
    }
  }
  return "\ncompute, per element\n" + table.text(2);
}

std::string collective_text(const model::CollectiveModel& collective) {
  Table table(
      {{"operation"}, {"ranks"}, {"size"}, {"algorithm"}, {"time"}, {"less than the default"}});
  for (const model::CollectiveRule& rule : collective.rules) {
    const std::string ranks =
        rule.min_ranks == rule.max_ranks
            ? std::to_string(rule.min_ranks)
            : std::to_string(rule.min_ranks) + " to " + std::to_string(rule.max_ranks);
    table.add({std::string(model::to_string(rule.operation)), ranks, bytes_text(rule.bytes),
               std::string(model::to_string(rule.algorithm)), time_text(rule.time_s.value),
               rule.gain ? share_text(rule.gain->value) : "-"});
  }
  return table.empty() ? std::string() : "\ncollectives\n" + table.text(2);
}

std::string service_text(const model::ServiceModel& service) {
  Table table({{"operation"},
               {"nodes"},
               {"distance in " + std::string(model::to_string(service.scale))},
               {"size"},
               {"best served"},
               {"worst served"}});
  for (const auto& [name, levels] :
       {std::pair("get", &service.get), std::pair("put", &service.put)}) {
    for (const model::ServiceLevel& level : *levels) {
      table.add({name, std::to_string(level.nodes), std::to_string(level.distance),
                 bytes_text(level.bytes), count_text(level.best.value),
                 count_text(level.worst.value)});
    }
  }
  return "\nservice levels, times as long as between two nodes alone\n" + table.text(2);
}

std::string pack_text(const model::PackModel& pack) {
  Table table = parameter_table("span");
  for (const auto& [name, points] :
       {std::pair("pack", &pack.pack), std::pair("unpack", &pack.unpack)}) {
    for (const model::PackPoint& point : *points) {
      const std::string span = bytes_text(point.span_bytes);
      add(table, span, std::string(name) + ", per region", point.region_s, time_text);
      add(table, span, std::string(name) + ", per byte", point.s_per_byte, seconds_per_byte_text);
    }
  }
  return table.empty() ? std::string() : "\npacking of regions\n" + table.text(2);
}

size_t cells_of(const model::VisDirection& vis) {
  size_t cells = 0;
  for (const auto& [name, of_class] : model::kResidualsOfClass) {
    for (const auto& [method, residuals] : model::kResidualsOfMethod) {
      const model::VisResiduals& tables = vis.*of_class.*residuals;
      cells += tables.compact.size() + tables.spread.size();
    }
  }
  return cells;
}

std::string vis_text(const std::string& title, const model::VisDirection& vis) {
  std::string text = "\n" + title + "\n";
  if (vis.chunk_bytes || vis.window) {
    text += "  packed in messages of " + (vis.chunk_bytes ? bytes_text(*vis.chunk_bytes) : "-") +
            ", " + (vis.window ? std::to_string(*vis.window) : "-") + " in flight\n";
  }
  if (vis.pipelined_window) {
    text += "  single operations: " + std::to_string(*vis.pipelined_window) + " in flight\n";
  }
  text += "  measured against the cost model in " + std::to_string(cells_of(vis)) + " cells\n";
  Table table = parameter_table("");
  add(table, "", "region of a native operation", vis.iov_piece_s, time_text);
  add(table, "", "wait at a lightly busy target", vis.light_delay_s, time_text);
  add(table, "", "wait at a heavily busy target", vis.heavy_delay_s, time_text);
  return table.empty() ? text : text + table.text(2);
}

std::string rma_text(const model::RmaModel& rma) {
  std::string text;
  Table table = parameter_table("");
  if (rma.buffered_put) {
    text += rma.buffered_put->max_bytes == 0
                ? "  buffered puts are waited for\n"
                : "  buffered puts of up to " + bytes_text(rma.buffered_put->max_bytes) +
                      " are copied, larger ones waited for\n";
    add(table, "buffered put", "gain of the largest", rma.buffered_put->gain, share_text);
  }
  if (rma.put_combining) {
    const model::PutCombiningModel& combining = *rma.put_combining;
    text += combining.max_put_bytes == 0
                ? "  puts without handles travel alone\n"
                : "  puts without handles of up to " + bytes_text(combining.max_put_bytes) +
                      " travel together in messages of " + bytes_text(combining.message_bytes) +
                      "\n";
    add(table, "put", "cost of a message", combining.message_s, time_text);
    add(table, "put", "waits at most", combining.max_delay_s, time_text);
    add(table, "put", "gain of the largest", combining.gain, share_text);
  }
  if (rma.atomic) {
    text += "  atomic operations by " + std::string(model::to_string(rma.atomic->way)) + "\n";
    add(table, "fetch-add", "by provider", rma.atomic->provider_s, time_text);
    add(table, "fetch-add", "by message", rma.atomic->message_s, time_text);
    add(table, "fetch-add", "gain of messages", rma.atomic->gain, share_text);
  }
  if (rma.progress) {
    text += "  a thread serves peers where that pays, with STRIPLINE_PROGRESS=tuned\n";
    add(table, "progress thread", "adds to a call", rma.progress->call_s, time_text);
    add(table, "progress thread", "leaves a request waiting", rma.progress->answer_s, time_text);
  }
  return text.empty() ? std::string() : "\nsingle operations\n" + text + table.text(2);
}

std::string fingerprint_text(const model::Fingerprint& fingerprint) {
  Table table({{"field"}, {"value"}, {"a difference"}});
  for (const auto& [field, entry] : fingerprint) {
    const char* meaning = "is ignored";
    if (entry.rule == model::MatchRule::hard) meaning = "refuses the model";
    if (entry.rule == model::MatchRule::soft) meaning = "warns";
    table.add({field, entry.value, meaning});
  }
  return table.empty() ? std::string() : "\nmachine\n" + table.text(2);
}

std::string list_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "-" : text;
}

}  // namespace

std::string model_text(const model::TunedModel& model) {
  std::string text = "model      " + model.name + "\n";
  text += "campaigns  " + list_text(model.provenance.campaigns) + "\n";
  text +=
      "fitted     " + model.provenance.fitted_at + " by " + model.provenance.fitter_version + "\n";
  if (!model.provenance.provisional.empty()) {
    text += "PROVISIONAL: " + model.provenance.provisional + "\n";
  }
  text += "holds for  " + ranks_text(model.domain) + ", " + sizes_text(model.domain) + "\n";
  for (const auto& [path, operations] : model.network) {
    if (operations.get) text += operation_text(path + " get", *operations.get);
    if (operations.put) text += operation_text(path + " put", *operations.put);
    if (operations.am) text += operation_text(path + " active message", *operations.am);
  }
  if (model.compute) text += compute_text(*model.compute);
  if (model.strip) {
    Table table = parameter_table("");
    add(table, "", "overhead per strip", model.strip->strip_overhead_s, time_text);
    add(table, "", "minimum gain", model.strip->minimum_gain, share_text);
    if (!table.empty()) text += "\nstrip-mined loops\n" + table.text(2);
  }
  if (model.service_levels) text += service_text(*model.service_levels);
  if (model.collective) text += collective_text(*model.collective);
  if (model.rma) text += rma_text(*model.rma);
  if (model.pack) text += pack_text(*model.pack);
  for (const auto& [path, vis] : model.vis) {
    if (vis.get) text += vis_text(path + " get of many regions", *vis.get);
    if (vis.put) text += vis_text(path + " put of many regions", *vis.put);
  }
  text += fingerprint_text(model.fingerprint);
  for (const auto& [section, content] : model.unknown_sections) {
    text += "\nsection '" + section + "' (" + bytes_text(content.size()) +
            ") belongs to a newer version and is kept as it is\n";
  }
  return text;
}

}  // namespace stripline::cli
