// micro.shared_update: what one update of a cell costs that a team of threads shares.
#include "optimizer/model/sections/shared_update.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

#include <stripline/shared_updates.h>
#include <stripline/worker_team.h>

#include "runtime/machine/topology.h"
#include "runtime/update/shared_costs.h"
#include "suites/grids.h"
#include "suites/micro/micro.h"
#include "suites/repeat.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;
using machine::ProcessorPlace;
using model::CellType;
using model::SharedPlacement;

constexpr size_t kMostWorkers = 1024;

// The processors of the machine that threads of this rank can be bound to, which the rank itself
// may not be.
std::vector<ProcessorPlace> usable_processors() {
  std::vector<ProcessorPlace> places = machine::read_processor_places();
  std::jthread([&places] {
    std::erase_if(places, [](const ProcessorPlace& place) {
      cpu_set_t mask;
      CPU_ZERO(&mask);
      CPU_SET(place.number, &mask);
      return ::sched_setaffinity(0, sizeof mask, &mask) != 0;
    });
  }).join();
  return places;
}

// The processors of as many workers that are in one core, in one package, or over all packages, one
// on each core in the latter cases; fewer where the machine has none.
std::vector<uint32_t> processors_for(const std::vector<ProcessorPlace>& places, size_t workers,
                                     SharedPlacement placement) {
  std::map<uint32_t, std::map<uint32_t, std::vector<uint32_t>>> packages;  // by core
  for (const ProcessorPlace& place : places) {
    packages[place.package][place.core].push_back(place.number);
  }
  std::vector<uint32_t> chosen;
  if (placement == SharedPlacement::node) {
    std::vector<std::vector<uint32_t>> first;  // processors of cores, by package
    for (const auto& [package, cores] : packages) {
      auto& of_package = first.emplace_back();
      for (const auto& [core, processors] : cores) of_package.push_back(processors.front());
    }
    for (size_t turn = 0; first.size() > 1 && turn < places.size(); ++turn) {
      for (const auto& of_package : first) {
        if (turn < of_package.size()) chosen.push_back(of_package[turn]);
      }
    }
  } else {
    for (const auto& [package, cores] : packages) {
      std::vector<uint32_t> of_package;
      for (const auto& [core, processors] : cores) {
        if (placement == SharedPlacement::core && processors.size() > chosen.size()) {
          chosen = processors;
        }
        of_package.push_back(processors.front());
      }
      if (placement == SharedPlacement::package && of_package.size() > chosen.size()) {
        chosen = of_package;
      }
    }
  }
  chosen.resize(std::min(chosen.size(), workers));
  return chosen;
}

template <typename T>
detail::CellOperations operations_on() {
  return detail::CellUpdates<T, op_add>::operations();
}

detail::CellOperations operations_of(const std::string& cell) {
  if (cell == to_string(CellType::float8)) return operations_on<double>();
  return operations_on<uint64_t>();
}

template <typename Names>
size_t place_in(const Names& names, const std::string& name) {
  return static_cast<size_t>(std::ranges::find(names, name) - names.begin());
}

// What one team measured; none without memory.
struct Measured {
  std::optional<double> seconds;
  bool as_placed = false;  // its threads were where they were to be
};

Measured measure(const std::vector<uint32_t>& processors, const experiment::Point& point) {
  const plan::SharedPart part = plan::shared_part(point.variant);
  const auto placement = static_cast<SharedPlacement>(
      place_in(model::kSharedPlacementNames, *experiment::text_param(point, factor::kPlacement)));
  const detail::CellOperations operations =
      operations_of(*experiment::text_param(point, factor::kCell));
  const size_t footprint_bytes = size_param(point, factor::kFootprintBytes);
  Measured measured;
  thread_workers(static_cast<uint32_t>(processors.size()), processors).run([&](worker_team& team) {
    const std::vector<uint64_t> on =
        team.allgather(static_cast<uint64_t>(std::max(0, ::sched_getcpu())));
    const SharedPlacement found = update::placement_of(team);
    auto probe = update::SharedProbe::create(team, operations, footprint_bytes);
    if (!probe.ok()) return;
    const double seconds = probe->seconds(part);
    if (team.index() != 0) return;
    const bool there = std::ranges::equal(on, processors);
    measured = {seconds, there && (processors.size() == 1 || found == placement)};
  });
  return measured;
}

// Ranks that wait in the library look for messages, on processors that the threads are to have.
void wait_asleep(future done) {
  while (!done.is_ready()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

Result<SampleSeries> run_shared_update(Session& session, const experiment::Point& point,
                                       const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const size_t workers = size_param(point, factor::kWorkers);
  const std::vector<uint32_t> processors = processors_for(
      usable_processors(), workers,
      static_cast<SharedPlacement>(place_in(model::kSharedPlacementNames,
                                            *experiment::text_param(point, factor::kPlacement))));
  const uint64_t lacking = processors.size() < workers ? 1 : 0;
  if (ctx.reduce_all(lacking, Context::ReduceOp::max) > 0) {
    return Error(ErrorCode::failed_precondition,
                 "this machine does not have " + std::to_string(workers) + " processors in one " +
                     *experiment::text_param(point, factor::kPlacement) + "; take fewer workers");
  }
  SampleSeries series;
  if (ctx.rank_me() == 0) {
    bool as_placed = true;
    repeat_alone(
        session, rule,
        [&] {
          const Measured measured = measure(processors, point);
          as_placed = as_placed && measured.as_placed;
          return measured.seconds.value_or(0);
        },
        series);
    series.verified = as_placed;
    if (!as_placed)
      series.note = "the threads did not run on the processors that they were to have";
  }
  wait_asleep(ctx.barrier_async());
  return series;
}

}  // namespace

Benchmark shared_update_benchmark() {
  return declare(
      {.known = micro::kSharedUpdate,
       .run = run_shared_update,
       .title = "Updates of cells that workers share",
       .description =
           "A team of threads of rank 0, bound to processors, updates cells that all of them "
           "reach: a cell in this worker's cache (plain), the same by an atomic operation (atomic) "
           "or under a lock that is free (lock); a cache line that another worker has changed "
           "takes the difference of what all update and what one updates (transfer); a cell in a "
           "box (box); a cell of a replica of `footprint_bytes` that is combined and cleared "
           "(fold); a barrier (barrier). A sample is the mean time of one over the workers.",
       .factors = {name_factor(factor::kCell, "Kind and bytes of a cell.", {"integer8", "float8"}),
                   name_factor(factor::kPlacement, "What the workers are in together.",
                               {"package", "node", "core"}),
                   integer_factor(factor::kWorkers, "1", "Threads of the team.", {2, 4}, 1,
                                  static_cast<double>(kMostWorkers)),
                   integer_factor(factor::kFootprintBytes, "B", "What a replica takes.",
                                  {256 << 10}, 64, double{1 << 30})},
       .metric = {"time_per_update", "s", true},
       .min_ranks = 1,
       .verification = "The threads ran on the processors that they were bound to.",
       .feeds = {"shared_update.points"}});
}

}  // namespace stripline::suites
