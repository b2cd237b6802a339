#include "runtime/rma/context_state.h"

#include <charconv>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <stripline/team.h>

#include "base/cut_text.h"
#include "runtime/bootstrap/job_watch.h"
#include "runtime/fabric/shortcuts.h"
#include "runtime/machine/fingerprint.h"
#include "runtime/rma/debug_checks.h"
#include "runtime/rma/introduction.h"
#include "runtime/rma/load_model.h"
#include "runtime/rma/model_use.h"
#include "runtime/rma/options.h"
#include "runtime/rma/program_trace.h"
#include "runtime/rma/reach_report.h"
#include "runtime/rma/run_report.h"

namespace stripline::detail {
namespace {

// Connecting is the first contact of peers whose processes already run.
constexpr double kConnectTimeoutSeconds = 60;

// Options::progress: with a thread from where it pays.
constexpr const char* kTuned = "tuned";

// Options::trace: what each place in the program has done.
constexpr const char* kSites = "sites";

// Options::same_node.
struct NodeReach {
  fabric::SameNode path = fabric::SameNode::mapped;
  rank_t node_ranks = 0;
};
Result<NodeReach> node_reach_of(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string_view name = std::string_view(text).substr(0, colon);
  NodeReach reach;
  bool known = true;
  if (name == "cma") {
    reach.path = fabric::SameNode::cma;
  } else if (name == "network") {
    reach.path = fabric::SameNode::network;
  } else {
    known = name == "mapped";
  }
  if (known && colon != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + colon + 1, end, reach.node_ranks);
    known = read.ec == std::errc() && read.ptr == end && reach.node_ranks > 0;
  }
  if (known) return reach;
  return Error(
      ErrorCode::invalid_argument,
      "STRIPLINE_SAME_NODE=" + quoted_text(text) +
          " is not a path between ranks of one node; use 'mapped', 'cma' or 'network', with "
          "':N' behind it to take every N ranks of a host for a node");
}

Result<fabric::Progress> progress_of(const std::string& name) {
  if (name == "manual") return fabric::Progress::in_calls;
  if (name == "thread" || name == kTuned) return fabric::Progress::by_thread;
  if (name == "auto") return fabric::Progress::by_provider;
  return Error(ErrorCode::invalid_argument,
               "STRIPLINE_PROGRESS=" + quoted_text(name) +
                   " is not a mode of progress; use 'manual', 'thread', 'auto' or 'tuned'");
}

}  // namespace

ContextState::ContextState(const Options& options, std::unique_ptr<bootstrap::Bootstrap> bootstrap,
                           std::unique_ptr<fabric::Fabric> fabric, const am::Config& am_config)
    : job(options, std::move(bootstrap), std::move(fabric)),
      memory(job),
      operations(job, memory, am_config),
      mechanisms(job, memory, operations),
      stall_notice_(job, operations.messages()) {
  if (options.debug) job.observers().watch(std::make_unique<rma::DebugChecks>(*this));
}

// Observers use all the parts.
ContextState::~ContextState() { job.observers().clear(); }

Error ContextState::refuse(bootstrap::Bootstrap& bootstrap, const Error& error) {
  return bootstrap.report_failure(rma::on_this_rank(bootstrap, error)) ? error.as_shown() : error;
}

Result<std::unique_ptr<Context>> ContextState::join(const Options& options,
                                                    std::unique_ptr<bootstrap::Bootstrap> bootstrap,
                                                    const am::Config& am_config) {
  bootstrap::Bootstrap& job = *bootstrap;
  const auto refuse = [&job](const Error& error) { return ContextState::refuse(job, error); };
  if (job.rank() == 0) rma::warn_of_unknown_variables();
  // The upper half of the offsets is that of pointers which were moved out of their segment.
  if (options.segment_bytes >= (uint64_t{1} << (kOffsetBits - 1))) {
    return refuse(Error(ErrorCode::invalid_argument,
                        "a segment of " + std::to_string(options.segment_bytes) +
                            " bytes exceeds what global pointers reach (8 TiB); ask for less"));
  }
  const auto node_reach = node_reach_of(options.same_node);
  if (!node_reach.ok()) return refuse(node_reach.error());
  auto progress = progress_of(options.progress);
  if (!progress.ok()) return refuse(progress.error());
  // Where no thread can serve, there is nothing to choose; where threads inject, those serve.
  if (options.progress == kTuned &&
      (options.fabric.starts_with("emulated:") || options.threads == thread_mode::injecting)) {
    progress = fabric::Progress::in_calls;
  }
  if (const Status known = rma::check_trace(options.trace); !known.ok()) {
    return refuse(known.error());
  }
  if (const Status known = rma::check_threads(options.threads); !known.ok()) {
    return refuse(known.error());
  }
  std::optional<double> stall_notice_s;
  if (!job.tells_of_stalls() && options.clock == "real") {
    const auto watch = bootstrap::watch_settings({});
    if (!watch.ok()) return refuse(watch.error());
    stall_notice_s = watch->stall_notice_s;
  }
  auto model = rma::load_model(options.model_path);
  if (!model.ok() && options.model_may_not_fit) {
    if (job.rank() == 0) rma::say_left_aside(options.model_path, model.error().message());
    model = rma::SharedModel();
  }
  if (!model.ok()) return refuse(model.error());
  auto fabric = fabric::open_fabric(
      {.fabric = options.fabric,
       .clock = options.clock,
       .rank = job.rank(),
       .ranks = job.ranks(),
       .job_id = job.job_id(),
       .segment_bytes = rma::Memory::registered_bytes(options.segment_bytes, job.ranks()),
       .populate = options.populate || !job.room_is_known(),
       .seed = options.seed,
       .same_node = node_reach->path,
       .node_ranks = node_reach->node_ranks,
       .progress = *progress,
       .computes = [&job](fabric::Rank peer) { return job.computes(peer); },
       .watch_for_stopped = !job.notices_stopped(),
       .crew = job.crew()});
  if (!fabric.ok()) return refuse(fabric.error());

  auto state =
      std::make_unique<ContextState>(options, std::move(bootstrap), std::move(*fabric), am_config);
  const auto introduced =
      rma::introduce(job, state->job.fabric(), options, model->get(),
                     state->operations.messages().handlers().terms(), state->place_of_facts());
  if (!introduced.ok()) return refuse(introduced.error());
  if (!introduced->models_differ.empty()) {
    // Where rank 0 has read none it has said why.
    const bool said = *model == nullptr && !options.model_path.empty();
    if (job.rank() == 0 && !said) {
      rma::say_left_aside(options.model_path, introduced->models_differ);
    }
    model = rma::SharedModel();
  }
  const Status connected =
      state->job.fabric().connect(introduced->addresses, kConnectTimeoutSeconds);
  if (!connected.ok()) {
    const Error& error = connected.error();
    return refuse(introduced->variables_differ.empty()
                      ? error
                      : Error(error.code(), error.message() + "; " + introduced->variables_differ +
                                                ", which may be why"));
  }
  state->job.set_fingerprint(machine::machine_fingerprint(state->job.fabric().info()));
  state->operations.messages().start();
  // Rank 0 speaks for all where they differ: what another rank has differently, it says.
  const bool differ = introduced->digests.size() > 1;
  if (*model != nullptr && (job.rank() == 0 || !differ)) {
    const auto facts = differ ? rma::fetch_facts(state->job.fabric(), state->offset_of_facts(),
                                                 introduced->facts, introduced->digests)
                              : Result<machine::Facts>(state->job.fingerprint());
    if (!facts.ok()) return refuse(facts.error());
    const auto fit = rma::check_fit(**model, options.model_path, *facts);
    if (!fit.ok() && !options.model_may_not_fit) return refuse(fit.error());
    if (fit.ok() && !fit->empty() && job.rank() == 0) {
      std::fprintf(stderr, "warning: model file '%s':\n%s\n", options.model_path.c_str(),
                   fit->c_str());
    }
  }
  // One that may not fit is used once all ranks have said that it does.
  const bool asks = *model != nullptr && options.model_may_not_fit;
  const Status usable = state->use_model(asks ? rma::SharedModel() : *model);
  if (!usable.ok()) return refuse(usable.error());
  state->mechanisms.transfers().start();
  // Its RPCs can arrive as soon as one rank has left the barrier.
  auto context = std::make_unique<Context>(std::move(state));
  ContextState& joined = context->state();
  joined.operations.rpc_calls().serve(*context);
  joined.mechanisms.groups().world().barrier.wait(sync::Collective::barrier);
  if (asks) joined.use_if_it_fits(*context, *std::move(model));
  joined.find_reachable(*context, node_reach->path == fabric::SameNode::mapped);
  if (options.verbose) rma::report_reach(*context, introduced->all_described);
  if (context->rank_me() == 0) std::fputs(rma::model_use_text(joined).c_str(), stderr);
  if (stall_notice_s) joined.stall_notice_.watch(*stall_notice_s);
  if (options.progress == kTuned) {
    if (joined.job.fabric().watch()) {
      joined.operations.messages().note_missed(rma::ProgressThread::kAbsence_s);
      joined.job.exclusion().count([&joined] { joined.consider_thread(); });
    }
  } else if (*progress == fabric::Progress::by_thread) {
    // A rank that fails in this ends the job of those that have joined.
    auto thread = rma::ProgressThread::start(joined);
    if (!thread.ok()) joined.fail(thread.error());
    joined.progress_thread_ = std::move(*thread);
  }
  joined.job.activity() = "Context::init, after which it has not called";
  return context;
}

// Scratch memory of collectives that move data. The barrier in which ranks first meet keeps its
// flags elsewhere, and rank 0 enters it once it has fetched what it needs, so that no collective
// operation writes here before.
std::span<std::byte> ContextState::place_of_facts() const {
  return memory.collective().first(rma::Memory::kCollectivePart);
}

uint64_t ContextState::offset_of_facts() const {
  return static_cast<uint64_t>(place_of_facts().data() - job.fabric().segment().data());
}

Status ContextState::use_model(std::shared_ptr<const model::TunedModel> model) {
  STRIPLINE_RETURN_IF_ERROR(job.use_model(std::move(model)));
  mechanisms.use_model();
  operations.use(job.tuning());
  const bool traces = job.options().trace == kSites;
  if (traces || !rma::report_destination().empty()) {  // by this model from here on
    using Of = rma::ProgramTrace::Of;
    job.observers().watch(
        std::make_unique<rma::ProgramTrace>(*this, traces ? Of::all_operations : Of::choices));
  }
  return {};
}

// Ranks that plan by different models would disagree.
void ContextState::use_if_it_fits(Context& context,
                                  std::shared_ptr<const model::TunedModel> model) {
  const std::string misfit = rma::misfit_text(*model, job.fingerprint());
  const uint32_t misfits =
      team::world(context).allreduce(misfit.empty() ? uint32_t{0} : uint32_t{1}, std::plus<>());
  if (misfits == 0) {
    if (const Status usable = use_model(std::move(model)); !usable.ok()) fail(usable.error());
  } else if (job.rank() == 0) {
    rma::say_left_aside(job.options().model_path,
                        misfit.empty() ? "it does not fit where other ranks are"
                                       : "it was not made for this machine and fabric:\n" + misfit);
  }
}

// At the end of a call.
void ContextState::consider_thread() {
  const fabric::Missed missed = operations.messages().missed();
  if (missed.times == missed_times_) return;
  missed_times_ = missed.times;
  const uint64_t calls = job.exclusion().calls();
  const plan::ProgressPlan plan =
      plan::plan_progress({.calls = calls,
                           .missed = missed.times,
                           .waited_s = missed.seconds,
                           .absence_s = rma::ProgressThread::kAbsence_s},
                          job.tuning().single);
  if (plan.method == plan::ProgressMethod::calls) return;
  operations.messages().note_missed(std::numeric_limits<double>::infinity());  // it is decided
  auto thread = rma::ProgressThread::start(*this);
  if (!thread.ok()) {
    // It only would have been better.
    job.exclusion().share(false);
    std::fprintf(stderr, "warning: rank %u goes on without a progress thread: %s\n", job.rank(),
                 thread.error().message().c_str());
    return;
  }
  progress_thread_ = *std::move(thread);
  if (job.options().verbose) {
    std::fprintf(stderr,
                 "rank %u: progress thread after %llu calls: peers waited %.3g s, %llu times\n",
                 job.rank(), static_cast<unsigned long long>(calls), missed.seconds,
                 static_cast<unsigned long long>(missed.times));
  }
}

// Finds the segments that are mapped here, and with the other ranks what all have in common: what
// depends on that must not differ between ranks. Collective, unless the fabric has no short cuts.
void ContextState::find_reachable(Context& context, bool maps) {
  fabric::Shortcuts* const shortcuts = job.fabric().shortcuts();
  if (job.ranks() == 1 || shortcuts == nullptr) return;
  struct Common {
    bool any_maps = false;
    bool all_map = true;
    bool any_crowded = false;
    bool all_notify = true;
    bool all_read = true;
  } mine;
  if (maps) memory.find_reachable();
  for (rank_t peer = 0; peer < job.ranks(); ++peer) {
    if (peer == job.rank()) continue;
    const bool reached = memory.reachable(peer) != nullptr;
    mine.any_maps = mine.any_maps || reached;
    mine.all_map = mine.all_map && reached;
    if (shortcuts->shares_node(peer) && !shortcuts->reads_memory_of(peer)) mine.all_read = false;
  }
  mine.any_crowded = shortcuts->shares_cores();
  mine.all_notify = shortcuts->notifies();
  const Common all = team::world(context).allreduce(mine, [](const Common& a, const Common& b) {
    return Common{.any_maps = a.any_maps || b.any_maps,
                  .all_map = a.all_map && b.all_map,
                  .any_crowded = a.any_crowded || b.any_crowded,
                  .all_notify = a.all_notify && b.all_notify,
                  .all_read = a.all_read && b.all_read};
  });
  memory.set_shared(all.any_maps, all.all_map);
  job.set_crowded(all.any_crowded);
  mechanisms.use_shortcuts(all.all_notify, all.all_read);
  operations.use_notified_puts(all.all_notify);
  // Where ranks wait for cores, messages are what counts, else rounds.
  if (job.crowded()) {
    mechanisms.groups().use(sync::BarrierPattern::linear);
  } else if (memory.all_shared()) {
    mechanisms.groups().use(sync::BarrierPattern::direct);
  }
}

future ContextState::start_barrier(Context& context, sync::Group& group, CallSite site) {
  const auto inside = exclusive();
  operations.enter("barrier_async");
  operations.complete_puts();
  rma::CollectiveScope scope(*this, "barrier", site);
  scope.returns_early();
  const uint32_t slot = operations.acquire_slot(rma::CompletionSlots::Kind::collective);
  job.activity() = "barrier_async";
  group.barrier.begin(sync::Collective::barrier, operations.counter(slot));
  if (operations.counter(slot).pending == 0) {
    operations.release(slot);
    return {};
  }
  const rma::SlotUse use = operations.use_of(slot);
  return future({&context, use.slot, use.generation});
}

void ContextState::leave(Context& context) {
  progress_thread_.reset();  // from here on, calls do it all
  {
    // Ranks that come later may wait for what follows a future of this one.
    const auto may_run = operations.continuations().allow();
    std::fputs(rma::unapplied_rules_text(context).c_str(), stderr);
    if (job.options().trace != "off") mechanisms.report(context);
    if (!rma::report_destination().empty()) rma::hand_in_report(context);
  }
  mechanisms.leave();
  am::ActiveMessages& messages = operations.messages();
  {
    job.activity() = "leaving the job";
    const auto may_run = operations.continuations().allow();
    messages.wait([this] {
      return operations.rpc_calls().open() == 0 && !mechanisms.async_collectives().active() &&
             operations.continuations().idle();
    });
  }
  operations.complete_everything();
  job.activity() = "leaving the job";
  messages.wait([&messages] { return messages.idle(); });
  mechanisms.groups().world().barrier.wait(sync::Collective::leave);
  // Peers have what was put there; memory that the network reads from must outlast that.
  messages.wait([this] { return operations.bulk().is_idle() && operations.combiner().has_sent(); });
  job.bootstrap().left();
}

}  // namespace stripline::detail
