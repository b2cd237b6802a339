#include "runtime/rma/explain_command.h"

#include <algorithm>

#include "base/json.h"
#include "optimizer/plan/explain.h"
#include "optimizer/plan/explain_vis.h"
#include "optimizer/plan/explain_wavefront.h"
#include "optimizer/plan/nest_json.h"

namespace stripline::detail {
namespace {

// What one argument of a program may hold on Linux, and some room.
constexpr size_t kMostDocument = 120000;

// True if there is a model, and a file that has it.
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
  const std::string command = begin_on_path(state, "loop", path);
  if (command.empty()) return {};
  plan::StripRequest shown = request;
  if (request.compute_s >= 0) {  // which says what these would
    const auto usual = plan::usual_request<plan::StripRequest>();
    shown.loop = usual.loop;
    shown.local_bytes = usual.local_bytes;
  }
  return command + plan::options_text(shown);
}

std::string explain_command(const ContextState& state, const plan::NestRequest& request) {
  if (!can_be_named(state)) return {};
  const std::string document = plan::to_json(request).dump();
  if (document.size() > kMostDocument) return {};
  return begin_of_command(state, "nest") + " " + shell_word(document);
}

std::string explain_command(const ContextState& state, const plan::WavefrontRequest& request,
                            model::Path path) {
  const std::string command = begin_on_path(state, "sweep", path);
  if (command.empty()) return {};
  plan::WavefrontRequest shown = request;
  shown.stages = std::max(request.stages, 1U);
  return command + plan::options_text(shown);
}

std::string explain_command(const ContextState& state, const plan::VisRequest& request,
                            bool strided, model::Path path) {
  const std::string command = begin_on_path(state, "call", path);
  if (command.empty()) return {};
  std::string shape;
  if (!strided) {
    shape = " --kind indexed";
  } else {
    const uint32_t described = request.message_header_bytes - plan::kStridedHeaderBytes -
                               (request.signalled ? plan::kSignalHeaderBytes : 0);
    const uint32_t dimensions = described / plan::kDimensionHeaderBytes;
    if (dimensions > 1) shape = " --dimensions " + std::to_string(dimensions);
  }
  return command + shape + plan::options_text(request);
}

}  // namespace stripline::detail
