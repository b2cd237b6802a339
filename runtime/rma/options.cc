#include "runtime/rma/options.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <stripline/context.h>

#include "base/cut_text.h"
#include "base/exit_codes.h"
#include "base/number_text.h"
#include "base/quantity.h"
#include "base/settings.h"
#include "base/suggest.h"

namespace stripline {
namespace {

// Empty when it is not set. Read at start-up only, before the program has reason to change its
// environment.
std::string_view variable(const char* name) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? std::string_view() : std::string_view(text);
}

Status read_switch(const char* name, bool& value) {
  const auto text = variable(name);
  if (text.empty()) return {};
  if (text != "0" && text != "1") {
    return Error(ErrorCode::invalid_argument,
                 std::string(name) + "=" + quoted_text(text) + " is neither 0 nor 1");
  }
  value = text == "1";
  return {};
}

}  // namespace

Status rma::check_trace(std::string_view trace) {
  if (trace == "off" || trace == "summary" || trace == "sites") return {};
  return Error(ErrorCode::invalid_argument,
               "STRIPLINE_TRACE=" + quoted_text(trace) + " is none of 'off', 'summary', 'sites'");
}

Status rma::check_threads(thread_mode threads) {
  if (threads <= thread_mode::injecting) return {};
  return Error(ErrorCode::invalid_argument,
               "Options::threads is " + std::to_string(static_cast<int>(threads)) +
                   ", which is not a valid thread_mode; use single, serialized or injecting");
}

std::string rma::report_destination() { return std::string(variable("STRIPLINE_REPORT")); }

void rma::warn_of_unknown_variables() {
  std::vector<std::string> names;
  for (const Variable& known : variables()) names.emplace_back(known.name);
  for (const Setting& setting : settings()) {
    if (setting.origin != "unknown") continue;
    std::fprintf(stderr, "warning: %s is not a variable of Stripline%s; it has no effect\n",
                 setting.name.c_str(), did_you_mean(setting.name, names).c_str());
  }
}

Result<Options> Options::from_environment() {
  Options options;
  if (const auto text = variable("STRIPLINE_FABRIC"); !text.empty()) options.fabric = text;
  if (const auto text = variable("STRIPLINE_CLOCK"); !text.empty()) options.clock = text;
  if (options.clock != "real" && options.clock != "virtual") {
    return Error(ErrorCode::invalid_argument, "STRIPLINE_CLOCK=" + quoted_text(options.clock) +
                                                  " is not a clock; use 'real' or 'virtual'");
  }
  options.model_path = variable("STRIPLINE_MODEL");
  if (const auto text = variable("STRIPLINE_SAME_NODE"); !text.empty()) options.same_node = text;
  options.tuning = variable("STRIPLINE_TUNING");
  if (const auto text = variable("STRIPLINE_PROGRESS"); !text.empty()) options.progress = text;
  if (const auto text = variable("STRIPLINE_SEGMENT_BYTES"); !text.empty()) {
    STRIPLINE_ASSIGN_OR_RETURN(options.segment_bytes, parse_bytes(text, "STRIPLINE_SEGMENT_BYTES"));
    if (options.segment_bytes == 0) {
      return Error(ErrorCode::invalid_argument,
                   "STRIPLINE_SEGMENT_BYTES is zero; a segment has at least one byte");
    }
  }
  if (const auto text = variable("STRIPLINE_SEED"); !text.empty()) {
    const auto seed = number_from_text<uint64_t>(text);
    if (!seed) {
      return Error(ErrorCode::invalid_argument,
                   "STRIPLINE_SEED=" + quoted_text(text) + " is not a non-negative integer");
    }
    options.seed = *seed;
  }
  STRIPLINE_RETURN_IF_ERROR(read_switch("STRIPLINE_POPULATE", options.populate));
  STRIPLINE_RETURN_IF_ERROR(read_switch("STRIPLINE_DEBUG", options.debug));
  STRIPLINE_RETURN_IF_ERROR(read_switch("STRIPLINE_GUARD", options.guard));
  STRIPLINE_RETURN_IF_ERROR(read_switch("STRIPLINE_LOAD_ESTIMATION", options.load_estimation));
  if (const auto text = variable("STRIPLINE_TRACE"); !text.empty()) options.trace = text;
  STRIPLINE_RETURN_IF_ERROR(rma::check_trace(options.trace));
  if (const auto text = variable("STRIPLINE_LOOP_BUFFERS"); !text.empty()) {
    STRIPLINE_ASSIGN_OR_RETURN(options.loop_buffer_bytes,
                               parse_bytes(text, "STRIPLINE_LOOP_BUFFERS"));
    if (options.loop_buffer_bytes == 0) {
      return Error(ErrorCode::invalid_argument,
                   "STRIPLINE_LOOP_BUFFERS is zero; loops over remote data need buffers");
    }
  }
  STRIPLINE_RETURN_IF_ERROR(read_switch("STRIPLINE_DATA_CACHE", options.data_cache));
  STRIPLINE_RETURN_IF_ERROR(read_switch("STRIPLINE_BULK", options.bulk));
  STRIPLINE_RETURN_IF_ERROR(read_switch("STRIPLINE_COALESCE", options.coalesce));
  STRIPLINE_RETURN_IF_ERROR(read_switch("STRIPLINE_VERBOSE", options.verbose));
  STRIPLINE_RETURN_IF_ERROR(read_switch("STRIPLINE_MODEL_MAY_NOT_FIT", options.model_may_not_fit));
  return options;
}

int report(const Error& error) {
  if (!error.shown()) {
    std::string_view rank = variable("STRIPLINE_RANK");
    if (rank.empty()) rank = variable("PMIX_RANK");
    std::fprintf(stderr, "rank %s: error: %s\n", rank.empty() ? "0" : rank.data(),
                 error.message().c_str());
  }
  return exit_code_for(error.code());
}

}  // namespace stripline
