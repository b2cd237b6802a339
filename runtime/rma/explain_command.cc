#include "runtime/rma/explain_command.h"

#include <algorithm>
#include <limits>

#include "base/json.h"
#include "optimizer/plan/nest_json.h"

namespace stripline::detail {
namespace {

// What one argument of a program may hold on Linux, and some room.
constexpr size_t kMostDocument = 120000;

// Whether there is a model, and a file that has it.
bool can_be_named(const ContextState& state) {
  return state.model != nullptr && !state.options.model_path.empty();
}

std::string begin_of_command(const ContextState& state, const char* what) {
  return std::string("stripline explain ") + what + " " + shell_word(state.options.model_path);
}

// Of a command about one path. Empty also where the model has none, and decided nothing.
std::string begin_on_path(const ContextState& state, const char* what, model::Path path) {
  if (!can_be_named(state)) return {};
  const auto* const entry = model::find_path(*state.model, path);
  if (entry == nullptr) return {};
  return begin_of_command(state, what) + " --path " + shell_word(entry->first);
}

}  // namespace

std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+,:@%").find(c) != std::string_view::npos;
  });
  if (plain) return text;
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string explain_command(const ContextState& state, const plan::StripRequest& request,
                            model::Path path) {
  std::string command = begin_on_path(state, "loop", path);
  if (command.empty()) return {};
  const auto add = [&](const char* option, uint64_t value, uint64_t usual) {
    if (value != usual) command += " " + std::string(option) + " " + std::to_string(value);
  };
  command += " --direction " + std::string(plan::to_string(request.direction));
  command += " --bytes " + std::to_string(request.total_bytes);
  add("--element", request.element_bytes, 8);
  add("--granule", request.granule_elements, 1);
  add("--halo", request.halo_bytes, 0);
  add("--blocks", request.blocks, 1);
  add("--peers", request.peers, 1);
  if (request.uneven) command += " --uneven";
  add("--nic-ranks", request.nic_ranks, 1);
  if (request.served_between_strips) command += " --served-between-strips";
  if (request.load.nodes > 1) {
    add("--nodes", request.load.nodes, 1);
    command += " --distances ";
    for (size_t distance = 0; distance < model::kDistances; ++distance) {
      command += (distance == 0 ? "" : ",") + std::to_string(request.load.at_distance[distance]);
    }
  }
  add("--own", request.own_bytes, 0);
  if (request.placed) command += " --placed";
  add("--buffer", request.max_buffer_bytes, std::numeric_limits<uint64_t>::max());
  add("--sweeps", request.sweeps, 1);
  if (request.compute_s >= 0) return command + " --compute " + Json(request.compute_s).dump();
  add("--fp-ops", request.loop.n_fp_alu, 1);
  add("--int-ops", request.loop.n_int_alu, 0);
  add("--divisions", request.loop.n_div, 0);
  add("--local-refs", request.loop.n_local_ref, 0);
  add("--local-bytes", request.local_bytes, 0);
  return command;
}

std::string explain_command(const ContextState& state, const plan::NestRequest& request) {
  if (!can_be_named(state)) return {};
  const std::string document = plan::to_json(request).dump();
  if (document.size() > kMostDocument) return {};
  return begin_of_command(state, "nest") + " " + shell_word(document);
}

std::string explain_command(const ContextState& state, const plan::WavefrontRequest& request,
                            model::Path path) {
  std::string command = begin_on_path(state, "sweep", path);
  if (command.empty()) return {};
  command += " --stages " + std::to_string(std::max(request.stages, 1U));
  command += " --lines " + std::to_string(request.lines);
  command += " --line-bytes " + std::to_string(request.line_bytes);
  command += " --compute " + Json(request.compute_s).dump();
  if (!request.all_busy) command += " --kind pipeline";
  if (request.nic_ranks > 1) command += " --nic-ranks " + std::to_string(request.nic_ranks);
  if (request.flag_with_data) command += " --flag-with-data";
  if (request.served_between_pieces) command += " --served-between-pieces";
  return command;
}

std::string explain_command(const ContextState& state, const plan::VisRequest& request,
                            bool strided, model::Path path) {
  std::string command = begin_on_path(state, "call", path);
  if (command.empty()) return {};
  command += " --direction " + std::string(plan::to_string(request.direction));
  command += " --regions " + std::to_string(request.regions);
  command += " --region-bytes " + std::to_string(request.region_bytes);
  command += " --extent " + std::to_string(request.extent_bytes);
  if (!strided) {
    command += " --kind indexed";
  } else {
    const uint32_t described = request.message_header_bytes - plan::kStridedHeaderBytes -
                               (request.signalled ? plan::kSignalHeaderBytes : 0);
    const uint32_t dimensions = described / plan::kDimensionHeaderBytes;
    if (dimensions > 1) command += " --dimensions " + std::to_string(dimensions);
  }
  if (request.local_regions > 1) {
    command += " --local-regions " + std::to_string(request.local_regions);
  }
  if (request.compute != plan::ComputeClass::communication_only) {
    command += " --class " + std::string(plan::to_string(request.compute));
  }
  if (request.bounding_box_allowed) command += " --bounding-box";
  if (request.iov_limit > 1) command += " --iov-limit " + std::to_string(request.iov_limit);
  if (request.peers > 1) command += " --peers " + std::to_string(request.peers);
  if (request.service_delay_s > 0) {
    command += " --service-delay " + Json(request.service_delay_s).dump();
  }
  if (request.needs_target) command += " --needs-target";
  if (request.signalled) command += " --signal";
  if (request.flag_with_data) command += " --flag-with-data";
  return command;
}

}  // namespace stripline::detail
