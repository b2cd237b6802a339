#include "runtime/rma/context_state.h"

#include <cstdio>
#include <limits>
#include <unistd.h>
#include <utility>

#include <stripline/team.h>

#include "base/exit_codes.h"
#include "base/host_name.h"
#include "runtime/fabric/shortcuts.h"
#include "runtime/machine/fingerprint.h"
#include "runtime/rma/introduction.h"
#include "runtime/rma/load_model.h"
#include "runtime/rma/model_use.h"
#include "runtime/rma/options.h"
#include "runtime/rma/reach_report.h"

namespace stripline::detail {
namespace {

// Connecting is the first contact of peers whose processes already run.
constexpr double kConnectTimeoutSeconds = 60;

// Options::progress: with a thread from where it pays.
constexpr const char* kTuned = "tuned";

// Options::trace: what each place in the program has done.
constexpr const char* kSites = "sites";

// Whatever the fabric says of a failure: this rank has lost its peers (Context's promise).
Error as_lost_peer(const Error& error) { return {ErrorCode::aborted, error.message()}; }

Result<fabric::SameNode> same_node_of(const std::string& name) {
  if (name == "mapped") return fabric::SameNode::mapped;
  if (name == "cma") return fabric::SameNode::cma;
  if (name == "network") return fabric::SameNode::network;
  return Error(ErrorCode::invalid_argument,
               "STRIPLINE_SAME_NODE='" + name +
                   "' is no way between ranks of one node; use 'mapped', 'cma' or 'network'");
}

Result<fabric::Progress> progress_of(const std::string& name) {
  if (name == "manual") return fabric::Progress::in_calls;
  if (name == "thread" || name == kTuned) return fabric::Progress::by_thread;
  if (name == "auto") return fabric::Progress::by_provider;
  return Error(ErrorCode::invalid_argument,
               "STRIPLINE_PROGRESS='" + name +
                   "' is no way to make progress; use 'manual', 'thread', 'auto' or 'tuned'");
}

Error on_this_rank(const bootstrap::Bootstrap& bootstrap, const Error& error) {
  return error.with_context("rank " + std::to_string(bootstrap.rank()) + " on " + host_name());
}

}  // namespace

ContextState::ContextState(const Options& options_in,
                           std::unique_ptr<bootstrap::Bootstrap> bootstrap_in,
                           std::unique_ptr<fabric::Fabric> fabric_in, const am::Config& am_config)
    : options(options_in),
      bootstrap(std::move(bootstrap_in)),
      rank(bootstrap->rank()),
      ranks(bootstrap->ranks()),
      fabric(std::move(fabric_in)),
      segment(fabric->segment().first(options.segment_bytes)),
      checked_bytes(options.debug || options.trace == kSites ? 0 : segment.size()),
      collective_memory(fabric->segment().subspan(collective_offset(options.segment_bytes, ranks))),
      reachable(ranks, nullptr),
      exclusion(options.threads == thread_mode::serialized,
                [this](const char* why) { fail_on_thread(why); }),
      implicit(ranks),
      bounces(rma::Tuning{}.buffered_budget_bytes),
      heap(segment.size()),
      local_heap(segment.size()),
      messages(*fabric, ranks, am_config, [this](const Error& error) { fail(error); }),
      service_delays(messages, ranks),
      owner(messages, segment, [this](const Error& error) { fail(error); }),
      vis(messages, *fabric, segment, rank, ranks, [this](const Error& error) { fail(error); }),
      combiner(messages, *fabric, vis.landing_zone(), segment, ranks,
               [this](const Error& error) { fail(error); }),
      get_combiner(vis, *fabric, ranks),
      continuations(*this),
      rpc_calls(*this),
      groups(messages, rank, ranks, [this](const Error& error) { fail(error); }),
      transfers(messages, groups, *fabric,
                collective_memory.subspan(kCollectivePart, kCollectivePart),
                collective_memory.subspan(2 * kCollectivePart, kCollectivePart), rank, ranks,
                [this](const Error& error) { fail(error); }),
      collectives(transfers, collective_memory.first(kCollectivePart),
                  [this](const Error& error) { fail(error); }),
      async_collectives(messages, groups, rank, [this](const Error& error) { fail(error); }) {
  fabric->set_failure_handler([this](const Error& error) { fail(as_lost_peer(error)); });
  fabric->set_message_sink(&messages);
  reachable[rank] = segment.data();
  messages.add_background(continuations);
  operation.attach(bootstrap->operation_memory());
  fabric->count_waits(operation.waits());
  if (options.debug) debug = std::make_unique<rma::DebugChecks>(*this);
}

Error ContextState::refuse(bootstrap::Bootstrap& bootstrap, const Error& error) {
  return bootstrap.report_failure(on_this_rank(bootstrap, error)) ? error.as_shown() : error;
}

Result<std::unique_ptr<Context>> ContextState::join(const Options& options,
                                                    std::unique_ptr<bootstrap::Bootstrap> bootstrap,
                                                    const am::Config& am_config) {
  bootstrap::Bootstrap& job = *bootstrap;
  const auto refuse = [&job](const Error& error) { return ContextState::refuse(job, error); };
  if (job.rank() == 0) rma::warn_of_unknown_variables();
  if (options.segment_bytes >= (uint64_t{1} << kOffsetBits)) {
    return refuse(Error(ErrorCode::invalid_argument,
                        "a segment of " + std::to_string(options.segment_bytes) +
                            " bytes exceeds what global pointers reach (16 TiB); ask for less"));
  }
  const auto same_node = same_node_of(options.same_node);
  if (!same_node.ok()) return refuse(same_node.error());
  auto progress = progress_of(options.progress);
  if (!progress.ok()) return refuse(progress.error());
  // Where no thread can serve, there is nothing to choose.
  if (options.progress == kTuned && options.fabric.starts_with("emulated:")) {
    progress = fabric::Progress::in_calls;
  }
  if (const Status known = rma::check_trace(options.trace); !known.ok()) {
    return refuse(known.error());
  }
  auto model = rma::load_model(options.model_path);
  if (!model.ok()) return refuse(model.error());
  auto fabric = fabric::open_fabric(
      {.fabric = options.fabric,
       .clock = options.clock,
       .rank = job.rank(),
       .ranks = job.ranks(),
       .job_id = job.job_id(),
       .segment_bytes = collective_offset(options.segment_bytes, job.ranks()) + kCollectiveBytes,
       .populate = options.populate || !job.room_is_known(),
       .seed = options.seed,
       .same_node = *same_node,
       .progress = *progress,
       .computes = [&job](fabric::Rank peer) { return job.computes(peer); },
       .watch_for_stopped = !job.notices_stopped(),
       .crew = job.crew()});
  if (!fabric.ok()) return refuse(fabric.error());

  auto state =
      std::make_unique<ContextState>(options, std::move(bootstrap), std::move(*fabric), am_config);
  const auto introduced = rma::introduce(job, *state->fabric, options, model->get(),
                                         state->messages.handlers().terms());
  if (!introduced.ok()) return refuse(introduced.error());
  const Status connected = state->fabric->connect(introduced->addresses, kConnectTimeoutSeconds);
  if (!connected.ok()) return refuse(connected.error());
  state->fingerprint = machine::machine_fingerprint(state->fabric->info());
  if (*model != nullptr) {
    const auto fit = rma::check_fit(**model, options.model_path, state->fingerprint);
    if (!fit.ok()) return refuse(fit.error());
    if (!fit->empty() && state->rank == 0) {
      std::fprintf(stderr, "warning: model file '%s':\n%s\n", options.model_path.c_str(),
                   fit->c_str());
    }
  }
  state->messages.start();
  const Status usable = state->use_model(*std::move(model));
  if (!usable.ok()) return refuse(usable.error());
  state->transfers.start();
  // Its RPCs can arrive as soon as one rank has left the barrier.
  std::unique_ptr<Context> context(new Context(std::move(state)));  // NOLINT(*-owning-memory)
  context->state().rpc_calls.serve(*context);
  context->state().groups.world().barrier.wait(sync::Collective::barrier);
  const bool maps = *same_node == fabric::SameNode::mapped;
  context->state().find_reachable(*context, maps);
  if (options.verbose) rma::report_reach(*context, introduced->all_described);
  if (context->rank_me() == 0) {
    std::fputs(rma::model_use_text(context->state()).c_str(), stderr);
  }
  if (options.progress == kTuned) {
    ContextState& joined = context->state();
    if (joined.fabric->watch()) {
      joined.messages.note_missed(rma::ProgressThread::Config{}.absence_s);
      joined.exclusion.count([&joined] { joined.consider_thread(); });
    }
  } else if (*progress == fabric::Progress::by_thread) {
    // A rank that fails in this ends the job of those that have joined.
    ContextState& joined = context->state();
    auto thread = rma::ProgressThread::start(joined);
    if (!thread.ok()) joined.fail(thread.error());
    joined.progress_thread = std::move(*thread);
  }
  return context;
}

Status ContextState::use_model(std::shared_ptr<const model::TunedModel> model_to_use) {
  STRIPLINE_ASSIGN_OR_RETURN(tuning, rma::tuning_of(model_to_use.get(), options.tuning));
  model = std::move(model_to_use);
  kept_end = 0;
  loop.reset();  // It may hold what was compiled from another model.
  collective_planner = model != nullptr && model->collective
                           ? plan::CollectivePlanner(*model->collective)
                           : plan::CollectivePlanner();
  vis_plans.reset();
  compiled = model != nullptr ? plan::CompiledModel(*model) : plan::CompiledModel();
  vis_plans = std::make_unique<rma::VisPlans>(compiled);
  if (options.trace == kSites) {  // by this model from here on
    trace = std::make_unique<decide::Trace>();
    call_trace = {};
    operations = {};
    trace_begun_s = fabric->now_s();
  }
  run_guard.reset();
  if (model != nullptr && options.guard) {
    run_guard = std::make_unique<decide::RunGuard>([this] { return fabric->now_s(); });
  }
  combiner.start(tuning.combining);
  bounces = rma::BounceRing(tuning.buffered_budget_bytes);
  return {};
}

// At the end of a call.
void ContextState::consider_thread() {
  const fabric::Missed missed = messages.missed();
  if (missed.times == missed_times_) return;
  missed_times_ = missed.times;
  const uint64_t calls = exclusion.calls();
  if (!rma::thread_pays(tuning.progress, rma::ProgressThread::Config{}.absence_s, calls, missed)) {
    return;
  }
  messages.note_missed(std::numeric_limits<double>::infinity());  // it is decided
  auto thread = rma::ProgressThread::start(*this);
  if (!thread.ok()) {
    // It only would have been better.
    exclusion.share(false);
    std::fprintf(stderr, "warning: rank %u goes on without a progress thread: %s\n", rank,
                 thread.error().message().c_str());
    return;
  }
  progress_thread = *std::move(thread);
  if (options.verbose) {
    std::fprintf(stderr,
                 "rank %u: progress thread after %llu calls: peers waited %.3g s, %llu times\n",
                 rank, static_cast<unsigned long long>(calls), missed.seconds,
                 static_cast<unsigned long long>(missed.times));
  }
}

// Finds the segments that are mapped here, and with the other ranks what all have in common: what
// depends on that must not differ between ranks. Collective, unless the fabric has no short cuts.
void ContextState::find_reachable(Context& context, bool maps) {
  fabric::Shortcuts* const shortcuts = fabric->shortcuts();
  if (ranks == 1 || shortcuts == nullptr) return;
  struct Common {
    bool any_maps = false;
    bool all_map = true;
    bool any_crowded = false;
    bool all_notify = true;
    bool all_read = true;
  } mine;
  for (rank_t peer = 0; peer < ranks; ++peer) {
    if (peer == rank) continue;
    const std::span<std::byte> there = fabric->reachable_segment(peer);
    // Offsets are checked against this rank's own size.
    const bool reached = maps && there.size() >= segment.size();
    if (reached) reachable[peer] = there.data();
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
  shares_memory = all.any_maps;
  in_node = all.all_map;
  crowded = all.any_crowded;
  transfers.use({.place = all.all_notify, .read = all.all_read});
  vis.use_notified_puts(all.all_notify);
  combiner.use_notified_puts(all.all_notify);
  // Where ranks wait for cores, messages are what counts, else rounds.
  if (crowded) {
    groups.use(sync::BarrierPattern::linear);
  } else if (in_node) {
    groups.use(sync::BarrierPattern::direct);
  }
}

void ContextState::complete_all(rma::CompletionSlots::Kind kind) {
  const auto undisturbed = continuations.forbid();
  const bool by_message = kind == rma::CompletionSlots::Kind::message;
  if (by_message) messages.ask();
  slots.for_each_pending(kind, [&](const fabric::Counter& counter) {
    if (by_message) {
      wait_for_messages(counter);
    } else {
      wait_for(counter);
    }
  });
  if (debug != nullptr) debug->settle();
}

void ContextState::complete(rank_t target, const fabric::Counter& counter) {
  wait_for(counter);
  if (combiner.unanswered(target) == 0) return;
  operation = "fence";
  messages.wait([this, target] { return combiner.unanswered(target) == 0; });
}

uint64_t ContextState::wait_for_flag(const char* name, uint64_t& flag, uint64_t value) {
  enter(name);
  const std::atomic_ref<uint64_t> word(flag);
  uint64_t seen = 0;
  messages.wait([&] {
    seen = word.load(std::memory_order_acquire);
    return seen >= value;
  });
  if (debug != nullptr) debug->learnt();
  return seen;
}

void ContextState::fence(rank_t target) {
  const auto undisturbed = continuations.forbid();
  combiner.flush(target);
  get_combiner.flush(target);
  complete(target, implicit.counter(target));
  if (debug != nullptr) debug->fenced(target);
}

void ContextState::fence() {
  const auto undisturbed = continuations.forbid();
  combiner.flush();
  get_combiner.flush();
  implicit.complete_each(
      [this](rank_t target, const fabric::Counter& counter) { complete(target, counter); });
  if (debug != nullptr) debug->fenced();
}

const std::byte* ContextState::copy_to_bounce(const std::byte* source, size_t bytes,
                                              uint32_t slot) {
  const auto undisturbed = continuations.forbid();
  const rma::BounceRing::Use use{slot, slots.generation(slot)};
  std::byte* copy = nullptr;
  while (true) {
    // Those that are complete first: the ring stays small, and warm.
    while (!bounces.empty() && is_complete(bounces.oldest())) bounces.release_oldest();
    copy = bounces.acquire(bytes, use);
    if (copy != nullptr) break;
    wait_for(slots.counter(bounces.oldest().slot));
  }
  std::memcpy(copy, source, bytes);
  return copy;
}

bool ContextState::puts_signals_by_message(rank_t target, size_t bytes) const {
  return reachable[target] == nullptr && !fabric->info().flag_with_data &&
         (bytes <= owner.largest_signalled_put() || vis.takes_signalled_chunk(target, bytes));
}

void ContextState::start_put_signal(rank_t target, uint64_t offset, const std::byte* source,
                                    size_t bytes, const fabric::Signal& signal,
                                    fabric::Counter& counter, bool& source_free) {
  stored(target, offset, bytes);
  stored(target, signal.offset, sizeof(uint64_t));
  if (!puts_signals_by_message(target, bytes)) {
    fabric->put_signal(target, offset, source, bytes, signal, counter);
  } else if (bytes <= owner.largest_signalled_put()) {
    owner.put_signal(target, offset, source, bytes, signal, counter);
    source_free = true;
  } else {
    vis.put_signalled_chunk(target, {offset, const_cast<std::byte*>(source), bytes}, signal,
                            counter, source_free);
  }
}

void ContextState::reclaim_slots() {
  const auto undisturbed = continuations.forbid();
  messages.ask();
  if (!slots.sweep()) messages.wait([this] { return slots.sweep(); });
  if (debug != nullptr) debug->settle();
}

void ContextState::complete_puts() {
  fence();
  complete_all(rma::CompletionSlots::Kind::put);
  complete_all(rma::CompletionSlots::Kind::message);
}

void ContextState::leave() {
  {
    operation = "leaving the job";
    const auto may_run = continuations.allow();
    messages.wait([this] {
      return rpc_calls.open() == 0 && !async_collectives.active() && continuations.idle();
    });
  }
  complete_puts();
  complete_all(rma::CompletionSlots::Kind::get);
  operation = "leaving the job";
  messages.wait([this] { return messages.idle(); });
  groups.world().barrier.wait(sync::Collective::leave);
  // Peers have what was put there; memory that the network reads from must outlast that.
  messages.wait([this] { return vis.has_answered() && combiner.has_sent(); });
  bootstrap->left();
}

void ContextState::fail(const Error& error) const {
  const bool names_call = error.code() == ErrorCode::invalid_argument;
  const Error located =
      on_this_rank(*bootstrap, names_call ? error
                                          : Error(error.code(), error.message() + ", during " +
                                                                    std::string(operation.name())));
  std::fflush(stdout);  // what the program printed explains how far it came
  if (!bootstrap->report_failure(located)) {
    std::fprintf(stderr, "error: %s\n", located.message().c_str());
  }
  ::_exit(exit_code_for(error.code()));
}

void ContextState::check_alignment(rma::Call call, rank_t target, uint64_t offset,
                                   size_t bytes) const {
  if (offset % bytes == 0) return;
  fail(Error(ErrorCode::invalid_argument, text(call) + " of " +
                                              rma::range_text(offset, bytes, target) +
                                              ", which is not a multiple of its size"));
}

void ContextState::check_closely(const char* name, CallSite site, rank_t target, uint64_t offset,
                                 size_t bytes, rma::Access access) const {
  if (target >= ranks || bytes > segment.size() || offset > segment.size() - bytes) {
    fail_bounds({name, site}, target, offset, bytes);
  }
  if (debug != nullptr) debug->check({name, site}, access, target, offset, bytes);
}

void ContextState::fail_bounds(rma::Call call, rank_t target, uint64_t offset, size_t bytes) const {
  std::string why;
  if (target >= ranks) {
    why = "the job has ranks 0 to " + std::to_string(ranks - 1);
  } else {
    why = "the segment has " + std::to_string(segment.size()) +
          " bytes; the global pointer or the count is wrong";
  }
  fail(Error(
      ErrorCode::invalid_argument,
      text(call) + " of " + rma::range_text(offset, bytes, target) + " is out of bounds: " + why));
}

void ContextState::fail_target(rma::Call call, rank_t target) const {
  fail(Error(ErrorCode::invalid_argument, text(call) + " names rank " + std::to_string(target) +
                                              ", but the job has ranks 0 to " +
                                              std::to_string(ranks - 1)));
}

void ContextState::fail_in_handler(const char* name, CallSite site) const {
  fail(Error(
      ErrorCode::invalid_argument,
      text(rma::Call(name, site)) +
          (messages.in_handler()
               ? " inside an active message handler; handlers may only record and reply"
               : " inside of what follows a future; that may start operations, but not wait")));
}

void ContextState::fail_on_thread(const char* why) const {
  fail(Error(ErrorCode::invalid_argument,
             "thread " + std::to_string(::gettid()) + " of this rank " + why));
}

}  // namespace stripline::detail
