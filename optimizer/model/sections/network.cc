#include "optimizer/model/sections/network.h"

#include <string>

#include "base/quantity.h"
#include "optimizer/model/section.h"

namespace stripline::model {
namespace {

constexpr size_t kMaxSegments = 256;

struct SegmentMember {
  const char* name;
  const char* symbol;
  std::optional<Parameter> Segment::*place;
  bool per_byte;
};

constexpr SegmentMember kSegmentMembers[] = {
    {"o_base_s", "o", &Segment::o_base_s, false},
    {"o_per_byte_s", "o per byte", &Segment::o_per_byte_s, true},
    {"L_s", "L", &Segment::L_s, false},
    {"g_s", "g", &Segment::g_s, false},
    {"G_s_per_byte", "G", &Segment::G_s_per_byte, true},
    {"r_base_s", "r", &Segment::r_base_s, false},
    {"r_per_byte_s", "r per byte", &Segment::r_per_byte_s, true},
    {"r_batched_s", "r batched", &Segment::r_batched_s, false},
    {"s_base_s", "s", &Segment::s_base_s, false},
    {"s_per_byte_s", "s per byte", &Segment::s_per_byte_s, true}};

Form<SwitchBand> band_form() {
  return object<SwitchBand>("switch_band",
                            {required("after_bytes", &SwitchBand::after_bytes, bytes(),
                                      "sizes up to here go as the segment before says"),
                             required("by_bytes", &SwitchBand::by_bytes, bytes(1),
                                      "sizes from here on go as this segment says")});
}

Form<Segment> segment_form() {
  std::vector<Member<Segment>> members = {
      required("from_bytes", &Segment::from_bytes, bytes()),
      required("to_bytes", &Segment::to_bytes, bytes()),
      optional("begins", &Segment::begins, band_form(),
               "The interval of from_bytes, where it was not measured exactly")};
  for (const auto& [name, symbol, place, per_byte] : kSegmentMembers) {
    members.push_back(optional(name, place, per_byte ? seconds_per_byte() : seconds()));
  }
  return object<Segment>(
      "segment", members, [](const std::string& where, const Segment& segment) -> Status {
        if (segment.from_bytes >= segment.to_bytes) {
          return wrong(where, "needs from_bytes < to_bytes");
        }
        if (segment.r_batched_s && !segment.r_base_s) {
          return wrong(where, "has r_batched_s, which needs r_base_s");
        }
        if (!segment.begins || (segment.begins->after_bytes < segment.from_bytes &&
                                segment.from_bytes <= segment.begins->by_bytes &&
                                segment.begins->by_bytes <= segment.to_bytes)) {
          return {};
        }
        return wrong(where + ".begins", "needs after_bytes < from_bytes <= by_bytes <= to_bytes");
      });
}

Form<std::vector<BufferPoint>> buffers_form() {
  return curve(
      object<BufferPoint>(
          "buffer",
          {required("bytes", &BufferPoint::bytes, bytes()),
           required("retire_s_per_byte", &BufferPoint::retire_s_per_byte, seconds_per_byte()),
           required("read_s_per_byte", &BufferPoint::read_s_per_byte, seconds_per_byte())}),
      {[](const BufferPoint& a, const BufferPoint& b) { return a.bytes < b.bytes; },
       "sizes must ascend", ".bytes"});
}

// Only data of gets come into a buffer.
Form<OperationModel> operation_form(bool get) {
  const Order<Segment> gapless = {[](const Segment& a, const Segment& b) {
                                    return a.to_bytes == b.from_bytes &&
                                           (!b.begins || b.begins->after_bytes >= a.from_bytes);
                                  },
                                  "from_bytes must equal the to_bytes of the segment before, and "
                                  "begins.after_bytes must not lie "
                                  "below that segment"};
  std::vector<Member<OperationModel>> members = {
      required("segments", &OperationModel::segments,
               list(segment_form(), 1, kMaxSegments, std::optional(gapless)),
               "Each of sizes in [from_bytes, to_bytes), ascending without gaps"),
      optional("queue_depth", &OperationModel::queue_depth, parameter(kQueueDepthRule))};
  if (get) {
    members.push_back(unless_empty(
        "buffers", &OperationModel::buffers, buffers_form(),
        "What the processor pays by the size of the buffer that data come into, ascending"));
  }
  return object<OperationModel>(get ? "get_operation" : "operation", members);
}

std::string operation_text(const std::string& title, const OperationModel& operation) {
  ParameterTable table("size");
  std::string bands;
  for (size_t i = 0; i < operation.segments.size(); ++i) {
    const Segment& segment = operation.segments[i];
    const bool last = i + 1 == operation.segments.size();
    const std::string range = bytes_text(segment.from_bytes) +
                              (last ? " and more" : " to " + bytes_text(segment.to_bytes));
    if (segment.begins) {
      bands += "  the switch at " + bytes_text(segment.from_bytes) + " lies between " +
               bytes_text(segment.begins->after_bytes) + " and " +
               bytes_text(segment.begins->by_bytes) + "\n";
    }
    for (const auto& [name, symbol, place, per_byte] : kSegmentMembers) {
      table.add(range, symbol, segment.*place, per_byte ? seconds_per_byte_text : time_text);
    }
  }
  table.add("any", "queue depth", operation.queue_depth, number_text);
  for (const BufferPoint& point : operation.buffers) {
    const std::string buffer = "buffer of " + bytes_text(point.bytes);
    table.add(buffer, "r beyond", point.retire_s_per_byte, seconds_per_byte_text);
    table.add(buffer, "first read", point.read_s_per_byte, seconds_per_byte_text);
  }
  return "\n" + title + "\n" + bands + table.text();
}

std::string network_text(const TunedModel& model) {
  std::string text;
  for (const auto& [path, operations] : model.network) {
    if (operations.get) text += operation_text(path + " get", *operations.get);
    if (operations.put) text += operation_text(path + " put", *operations.put);
    if (operations.am) text += operation_text(path + " active message", *operations.am);
  }
  return text;
}

// Buffers beyond a cache of 1 MiB are dear: twice the cost to read from, and half a nanosecond per
// byte more to get into.
void add_network_example(TunedModel& model) {
  Segment small;
  small.from_bytes = 0;
  small.to_bytes = 2048;
  small.o_base_s = example_parameter(0.8e-6);
  small.o_per_byte_s = example_parameter(0.1e-9);
  small.L_s = example_parameter(4.5e-6);
  small.G_s_per_byte = example_parameter(1.5e-9);
  small.r_base_s = example_parameter(0.4e-6);
  Segment large = small;
  large.from_bytes = 2048;
  large.begins = {1792, 2304};
  large.to_bytes = uint64_t{4} << 20;
  large.o_per_byte_s.reset();
  large.g_s = example_parameter(1.2e-6);
  large.G_s_per_byte = example_parameter(1.25e-9);
  large.r_per_byte_s = example_parameter(0.01e-9);
  large.r_batched_s = example_parameter(0.3e-6);
  large.s_base_s = example_parameter(0.5e-6);
  large.s_per_byte_s = example_parameter(0.02e-9);
  const OperationModel put{{small, large}, example_parameter(64), {}};
  OperationModel get = put;
  get.buffers = {{128 << 10, example_parameter(0), example_parameter(0.2e-9)},
                 {1 << 20, example_parameter(0), example_parameter(0.2e-9)},
                 {2 << 20, example_parameter(0.5e-9), example_parameter(0.4e-9)}};
  OperationModel message{{small}, example_parameter(256, 0), {}};
  message.queue_depth->at_least = true;
  model.network["inter-node"] = {put, get, message};
}

}  // namespace

Section network_section() {
  const auto path =
      object<PathModel>(nullptr, {optional("put", &PathModel::put, operation_form(false)),
                                  optional("get", &PathModel::get, operation_form(true)),
                                  optional("am", &PathModel::am, operation_form(false))});
  return {required("network", &TunedModel::network, by_name(path, kMaxPaths)), network_text,
          add_network_example, "loops, sweeps, transfers of many regions"};
}

}  // namespace stripline::model
