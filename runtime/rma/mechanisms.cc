#include "runtime/rma/mechanisms.h"

#include <cstdio>
#include <string>

#include "runtime/rma/debug_checks.h"
#include "runtime/rma/program_trace.h"

namespace stripline::rma {

Mechanisms::Mechanisms(Job& job, Memory& memory, Operations& operations)
    : job_(job),
      memory_(memory),
      groups_(operations.messages(), job.rank(), job.ranks(), job.failure()),
      bulk_(operations.messages(), job.fabric(),
            memory.collective().subspan(2 * Memory::kCollectivePart, Memory::kCollectivePart),
            job.rank(), job.ranks(), sync::Transfers::kBulk, job.failure()),
      transfers_(operations.messages(), bulk_, groups_, job.fabric(),
                 memory.collective().subspan(Memory::kCollectivePart, Memory::kCollectivePart),
                 job.rank(), job.ranks(), job.failure()),
      collectives_(transfers_, memory.collective().first(Memory::kCollectivePart), job.failure()),
      async_collectives_(operations.messages(), groups_, job.rank(), job.failure()) {}

void Mechanisms::use_model() {
  made_.clear();
  vis_plans_ = std::make_unique<VisPlans>(job_.compiled());
  run_guard_.reset();
  if (job_.model() != nullptr && job_.options().guard) {
    run_guard_ = std::make_unique<decide::RunGuard>([this] { return job_.fabric().now_s(); });
  }
}

void Mechanisms::use_shortcuts(bool notified_puts, bool reads) {
  bulk_.use_notified_puts(notified_puts);
  transfers_.read_within_nodes(reads);
}

decide::Instruments Mechanisms::instruments() const {
  ProgramTrace* const trace = job_.observers().trace();
  return {&job_.fabric(), run_guard_.get(), trace != nullptr ? &trace->choices() : nullptr,
          job_.options().guard};
}

uint64_t Mechanisms::buffer_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [name, mechanism] : made_) bytes += mechanism->buffer_bytes();
  return bytes;
}

void Mechanisms::check_free(const Call& call, uint64_t offset, uint64_t bytes) {
  if (bytes == 0) return;  // no array begins there, which the heap finds out
  if (DebugChecks* const debug = job_.observers().debug()) debug->check_free(call, offset, bytes);
  const ArraysInUse::Use* const use = arrays_in_use_.find(memory_.segment().data() + offset, bytes);
  if (use != nullptr) {
    job_.fail(Error(ErrorCode::invalid_argument, text(call) + " of an array that is in use since " +
                                                     text(use->call) + "; wait() for that first"));
  }
  for (const auto& [name, mechanism] : made_) mechanism->frees(call, offset, bytes);
}

void Mechanisms::leave() {
  // What they communicate may make others.
  for (size_t i = 0; i < made_.size(); ++i) made_[i].second->leaves();
}

decide::Savings Mechanisms::site_savings() const {
  MechanismReport report;
  for (const auto& [name, mechanism] : made_) mechanism->add_to(report);
  return report.savings;
}

decide::Savings Mechanisms::iteration_savings() const {
  return run_guard_ != nullptr ? run_guard_->savings() : decide::Savings();
}

void Mechanisms::report(Context& context) {
  // A rank that is elsewhere learns that others are at the end, rather than in a sum.
  job_.activity() = "leaving the job";
  groups_.world().barrier.wait(sync::Collective::leave);
  MechanismReport mine;
  for (const auto& [name, mechanism] : made_) mechanism->add_to(mine);
  const auto sum = [&](double value) { return context.reduce_all(value, Context::ReduceOp::sum); };
  const auto of_all_ranks = [&](const decide::Savings& own) {
    return decide::Savings{sum(own.actual_s), sum(own.baseline_s), sum(own.squared_error),
                           sum(own.sites),    sum(own.demoted),    sum(own.checks),
                           sum(own.taken_s),  sum(own.excess_s)};
  };
  const decide::Savings all = of_all_ranks(mine.savings);
  const decide::Savings of_iterations = of_all_ranks(iteration_savings());
  const decide::GuardTime guard = decide::guard_time(all, of_iterations);
  const auto total = [&](uint64_t value) {
    return context.reduce_all(value, Context::ReduceOp::sum);
  };
  const KeptStatistics kept{total(mine.kept.kept),         total(mine.kept.hits),
                            total(mine.kept.served_bytes), total(mine.kept.acquired),
                            total(mine.kept.overwritten),  total(mine.kept.evicted)};
  if (job_.rank() != 0) return;
  ProgramTrace* const trace = job_.observers().trace();
  if (trace != nullptr && job_.options().trace == "sites") {
    std::fputs(trace->text(guard).c_str(), stderr);
  }
  std::fprintf(stderr, "stripline: %s\n", savings_text(all).c_str());
  if (const std::string text = iterations_text(of_iterations); !text.empty()) {
    std::fprintf(stderr, "stripline: %s\n", text.c_str());
  }
  if (guard.taken_s > 0) std::fprintf(stderr, "stripline: %s\n", guard_text(guard).c_str());
  if (contradict(all, of_iterations)) {
    std::fprintf(stderr,
                 "stripline: the time of a loop by itself leaves out what it saves or costs "
                 "elsewhere, which the time of iterations contains\n");
  }
  if (kept.kept > 0) std::fprintf(stderr, "stripline: %s\n", kept_text(kept).c_str());
}

}  // namespace stripline::rma
