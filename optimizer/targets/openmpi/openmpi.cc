#include "optimizer/targets/openmpi/openmpi.h"

#include <algorithm>

#include "optimizer/targets/openmpi/algorithms.h"

namespace stripline::targets::openmpi {
namespace {

constexpr std::string_view kTried[] = {"4.1.4"};

constexpr const char* kListed = "ompi_info --all --parsable --level 9";
constexpr uint64_t kMiB = uint64_t{1} << 20;

// Buffers of the eager limit are given out in lots, of as many as this to each peer at most.
constexpr Knob kKnobs[] = {
    {.name = "coll_tuned_use_dynamic_rules",
     .kind = KnobKind::flag,
     .default_value = "false",
     .values = "0 1 false true",
     .meaning = "whether rules of a file are used in place of the built-in decision",
     .found = kListed},
    {.name = "coll_tuned_dynamic_rules_filename",
     .kind = KnobKind::text,
     .default_value = "",
     .meaning = "the file of rules",
     .found = kListed},
    {.name = "coll_han_use_dynamic_file_rules",
     .kind = KnobKind::flag,
     .default_value = "false",
     .values = "0 1 false true",
     .meaning = "whether HAN uses rules of a file of its own",
     .found = "coll_han_component.c of 5.0"},
    {.name = "coll_han_dynamic_rules_filename",
     .kind = KnobKind::text,
     .default_value = "",
     .meaning = "the file of rules of HAN",
     .found = "coll_han_component.c of 5.0"},
    {.name = "btl_vader_single_copy_mechanism",
     .kind = KnobKind::choice,
     .default_value = "cma",
     .values = "cma none",
     .path = Path::shared_memory,
     .meaning = "how large messages are copied within a node: by the kernel, or through buffers",
     .found = kListed},
    bytes_knob("btl_vader_eager_limit", "4096", {1024, kMiB}, "8192 16384 32768",
               "the largest message within a node that is sent before it is asked for", kListed)
        .on(Path::shared_memory, 8),
    bytes_knob("btl_vader_max_send_size", "32768", {4096, kMiB}, "65536 131072",
               "the pieces of a large message within a node that is copied through buffers",
               kListed)
        .on(Path::shared_memory, 8),
    bytes_knob("btl_vader_fbox_size", "4096", {1024, kMiB}, "16384",
               "the ring for small messages of a pair of ranks within a node", kListed)
        .on(Path::shared_memory, 1),
    bytes_knob("btl_tcp_eager_limit", "65536", {1024, 4 * kMiB}, "16384 262144",
               "the largest message over TCP that is sent before it is asked for", kListed)
        .on(Path::tcp, 8),
    bytes_knob("btl_tcp_max_send_size", "131072", {4096, 16 * kMiB}, "524288",
               "the pieces of a large message over TCP", kListed)
        .on(Path::tcp, 8),
    bytes_knob("btl_tcp_sndbuf", "0", {0, 64 * kMiB}, "262144 4194304",
               "the send buffer of a socket; 0 leaves it to the kernel", kListed)
        .on(Path::tcp, 1),
    bytes_knob("btl_tcp_rcvbuf", "0", {0, 64 * kMiB}, "262144 4194304",
               "the receive buffer of a socket; 0 leaves it to the kernel", kListed)
        .on(Path::tcp, 1),
    count_knob("btl_tcp_links", "1", {1, 16}, "2", "connections to each peer and interface",
               kListed)
        .on(Path::tcp),
    bytes_knob("btl_tcp_endpoint_cache", "30720", {0, 16 * kMiB}, "131072",
               "the buffer of each connection that received data are read into first", kListed)
        .on(Path::tcp, 1),
};

// "mca:coll:tuned:param:NAME:FIELD:VALUE"
struct Fields {
  std::string_view name;
  std::string_view field;
  std::string_view value;
};

bool split_parameter(std::string_view line, Fields& fields) {
  constexpr std::string_view kParam = ":param:";
  if (!line.starts_with("mca:")) return false;
  const size_t param = line.find(kParam);
  if (param == std::string_view::npos) return false;
  std::string_view rest = line.substr(param + kParam.size());
  const size_t name_end = rest.find(':');
  if (name_end == std::string_view::npos) return false;
  fields.name = rest.substr(0, name_end);
  rest.remove_prefix(name_end + 1);
  const size_t field_end = rest.find(':');
  if (field_end == std::string_view::npos) return false;
  fields.field = rest.substr(0, field_end);
  fields.value = rest.substr(field_end + 1);
  return true;
}

}  // namespace

const Target& target() {
  static const Target kTarget{
      .name = "openmpi",
      .title = "Open MPI",
      .support = Support::tuned,
      .tried = kTried,
      .version_command = "ompi_info --parsable",
      .version_marker = "ompi:version:full",
      .knobs = kKnobs,
      // Messages of 1 KiB are asked for first then, by either transport.
      .probe_settings = "btl_vader_eager_limit=1024 btl_tcp_eager_limit=1024",
      .candidates = candidates,
      .choice_by_ranks = true,
      .choice_by_size = [](Collective collective) {
        return size_meaning(collective) != SizeMeaning::none;
      }};
  return kTarget;
}

std::vector<Setting> rules_settings(const std::string& rules_path) {
  return {{"coll_tuned_use_dynamic_rules", "1"}, {"coll_tuned_dynamic_rules_filename", rules_path}};
}

std::vector<Setting> han_settings(const std::string& rules_path) {
  return {{"coll_han_use_dynamic_file_rules", "1"},
          {"coll_han_dynamic_rules_filename", rules_path}};
}

Result<std::vector<Parameter>> parse_ompi_info(std::string_view output) {
  std::vector<Parameter> parameters;
  for (size_t at = 0; at < output.size();) {
    const size_t end = std::min(output.find('\n', at), output.size());
    Fields fields;
    if (split_parameter(output.substr(at, end - at), fields)) {
      if (fields.field == "value") {
        parameters.push_back({std::string(fields.name), std::string(fields.value), {}});
      } else if (fields.field == "source" && !parameters.empty() &&
                 parameters.back().name == fields.name) {
        parameters.back().source = fields.value;
      }
    }
    at = end + 1;
  }
  if (parameters.empty()) {
    return Error(ErrorCode::data_loss,
                 "ompi_info has printed no parameter; is it the one of Open MPI?");
  }
  return parameters;
}

std::string file_of(const Parameter& parameter) {
  constexpr std::string_view kFile = "file (";
  std::string_view source = parameter.source;
  if (!source.starts_with(kFile)) return {};
  source.remove_prefix(kFile.size());
  // The line, where it is said, comes last.
  const size_t colon = source.rfind(':');
  return std::string(source.substr(0, std::min(colon, source.rfind(')'))));
}

std::vector<std::string> differences(const std::vector<Parameter>& parameters) {
  std::vector<std::string> found;
  for (const Knob& knob : kKnobs) {
    const auto parameter = std::ranges::find(parameters, knob.name, &Parameter::name);
    if (parameter == parameters.end() || parameter->value == knob.default_value) continue;
    found.push_back(std::string(knob.name) + " is '" + parameter->value + "' (" +
                    parameter->source + "), not '" + std::string(knob.default_value) +
                    "' as in the versions that were tried");
  }
  return found;
}

}  // namespace stripline::targets::openmpi
