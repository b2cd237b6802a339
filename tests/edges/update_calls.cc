// Calls of update.h: runs of cells, fetches of elements of arrays, settings.
#include <cstdint>
#include <span>
#include <vector>

#include <stripline/update.h>

#include "tests/edges/edges.h"

namespace stripline::edges {
namespace {

using enum Argument;

void add_runs(std::vector<Call>& calls) {
  // Where the segment has fewer cells, none of the values is read: there are not as many.
  calls.push_back({"update.h", "UpdateEpoch", true, {place, count}, [](Trial& t) {
                     UpdateEpoch<uint64_t, op_add> epoch(t.context);
                     epoch.update_run(t.place(0),
                                      std::span<const uint64_t>(t.own.data(), t.count(1)));
                     epoch.end();
                     for (size_t i = 0; i < t.count(1); ++i) {
                       t.right(t.context.rget(t.place(0) + static_cast<std::ptrdiff_t>(i)) >=
                               t.value_at(0, i) + t.own[i]);
                     }
                     t.context.barrier();
                   }});
  calls.push_back({"update.h", "UpdateEpoch", true, {array, element, memory}, [](Trial& t) {
                     UpdateEpoch<uint64_t, op_bit_or> epoch(t.context);
                     const auto cells = epoch.into(t.handle(0));
                     cells.fetch(t.element(1), 0, t.memory(2)).wait();
                     t.right(*t.memory(2) == Trial::first(0, t.element(1)));
                     t.right(cells.fetch_async(t.element(1), 0).wait() ==
                             Trial::first(0, t.element(1)));
                     epoch.end();
                     t.own[0] = 5000;
                   }});
}

// An epoch with these settings, in which each rank adds 1 to a cell of the other one.
void update_by(Trial& t, const UpdateSettings& settings) {
  UpdateOptions options;
  options.settings = settings;
  UpdateEpoch<uint64_t, op_add> epoch(t.context, options);
  const global_ptr<uint64_t> there = t.context.on_rank(t.array, t.other);
  t.right(epoch.in_use().method != UpdateMethod::automatic);
  for (size_t i = 0; i < Trial::kCount; ++i) {
    epoch.update(there + static_cast<std::ptrdiff_t>(i), 1);
  }
  epoch.end();
  t.right(epoch.statistics().fetches == 0);
  for (size_t i = 0; i < Trial::kCount; ++i) {
    t.right(t.context.local(t.array)[i] > Trial::first(t.me, i));
  }
  t.context.barrier();
}

void add_settings(std::vector<Call>& calls) {
  calls.push_back({"update.h", "UpdateEpoch", true, {option}, [](Trial& t) {
                     UpdateSettings settings;
                     settings.method = t.option<UpdateMethod>(0);
                     update_by(t, settings);
                   }});
  calls.push_back({"update.h", "UpdateEpoch", true, {option}, [](Trial& t) {
                     UpdateSettings settings;
                     settings.method = UpdateMethod::buffers;
                     settings.encoding = t.option<UpdateEncoding>(0);
                     update_by(t, settings);
                   }});
}

}  // namespace

void add_update_calls(std::vector<Call>& calls) {
  add_runs(calls);
  add_settings(calls);
}

}  // namespace stripline::edges
