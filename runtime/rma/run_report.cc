#include "runtime/rma/run_report.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stripline/team.h>

#include "base/atomic_file.h"
#include "base/pushed_models.h"
#include "base/report_socket.h"
#include "base/unguessable.h"
#include "optimizer/model/feedback.h"
#include "optimizer/model/model_json.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/options.h"
#include "runtime/rma/program_trace.h"

namespace stripline::rma {
namespace {

constexpr const char* kAgent = "agent";
// One rank only: a job of thousands must not drown its first one.
constexpr size_t kMostPlacesOfRank = 64;

std::string program_name() {
  std::error_code failure;
  return std::filesystem::read_symlink("/proc/self/exe", failure).filename().string();
}

// What each rank says, on rank 0.
std::vector<std::string> gathered(Context& context, const std::string& mine) {
  const team world = team::world(context);
  const size_t size = mine.size();
  std::vector<size_t> sizes(context.rank_n());
  world.allgather(std::span(&size, 1), sizes);
  std::vector<size_t> offsets;
  size_t total = 0;
  for (const size_t one : sizes) {
    offsets.push_back(total);
    total += one;
  }
  std::string all(context.rank_me() == 0 ? total : 0, '\0');
  world.gather_v(std::span(mine.data(), mine.size()), std::span(all.data(), all.size()), sizes,
                 offsets, 0);
  std::vector<std::string> texts;
  if (context.rank_me() != 0) return texts;
  for (size_t i = 0; i < sizes.size(); ++i) texts.push_back(all.substr(offsets[i], sizes[i]));
  return texts;
}

Status hand_over(const std::string& where, const std::string& report) {
  if (where == kAgent) return send_report(pushed_model_folders(), report);
  return write_atomically(where, report);
}

}  // namespace

void hand_in_report(Context& context) {
  detail::ContextState& state = context.state();
  const auto& model = state.job.model();
  ProgramTrace* const trace = state.job.observers().trace();
  if (model == nullptr || trace == nullptr) {
    if (context.rank_me() == 0) {
      std::fputs("stripline: there is no model, so that there is nothing to report of it\n",
                 stderr);
    }
    return;
  }
  state.job.activity() = "reporting at the end of the job";
  model::Feedback report;
  report.elapsed_s = trace->seconds();
  report.places = trace->all_choices().places(kMostPlacesOfRank);
  const decide::GuardTime guard =
      decide::guard_time(state.mechanisms.site_savings(), state.mechanisms.iteration_savings());
  report.guard = {static_cast<uint64_t>(guard.checks), guard.excess_s, guard.taken_s};
  report.buffer_bytes = state.mechanisms.buffer_bytes();
  // All ranks have the same model: its hash need not travel.
  const auto sha256 = model::content_sha256(*model);
  report.model_sha256 = sha256.ok() ? *sha256 : "";
  const auto texts = gathered(context, model::report_text(report));
  if (context.rank_me() != 0) return;
  std::vector<std::vector<model::FeedbackPlace>> of_ranks;
  report.guard = {};
  for (const std::string& text : texts) {
    if (auto of_rank = model::parse_feedback(text, "a rank's report"); of_rank.ok()) {
      of_ranks.push_back(std::move(of_rank->places));
      report.guard.checks += of_rank->guard.checks;
      report.guard.excess_s += of_rank->guard.excess_s;
      report.guard.taken_s += of_rank->guard.taken_s;
      report.buffer_bytes = std::max(report.buffer_bytes, of_rank->buffer_bytes);
    }
  }
  report.places = model::places_of_ranks(of_ranks);
  report.run = unguessable_text();
  report.program = program_name();
  report.fabric = state.job.options().fabric;
  report.ranks = context.rank_n();
  const Status handed = hand_over(report_destination(), model::report_text(report));
  if (!handed.ok()) {
    std::fprintf(stderr, "stripline: warning: the report of this run is lost: %s\n",
                 handed.error().message().c_str());
  }
}

}  // namespace stripline::rma
