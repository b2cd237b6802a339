// What methods of updating shared cells take on this machine, measured by the workers that are to
// make the updates, or by those of an experiment (micro.shared_update).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <stripline/shared_cells.h>
#include <stripline/worker_team.h>

#include "base/result.h"
#include "optimizer/plan/shared_update.h"
#include "runtime/update/team_blocks.h"

namespace stripline::update {

using plan::SharedPart;

/// A worker's part of measuring. Its team must outlive it.
class SharedProbe {
 public:
  /// Collective. `replica_bytes`: what replicas would take, which decides whether they are combined
  /// in a cache. The same on all workers. Errors: resource_exhausted.
  static Result<SharedProbe> create(worker_team& team, const detail::CellOperations& operations,
                                    size_t replica_bytes);

  /// Collective; takes a millisecond at most. The mean over the workers; infinite for what the type
  /// of the cells does not have.
  double seconds(SharedPart part);

 private:
  SharedProbe(worker_team& team, const detail::CellOperations& operations, size_t cells,
              TeamBlocks cells_of_workers, size_t folded, TeamBlocks folded_of_workers);
  double mine_s(SharedPart part);
  double plain_s();
  double words_s(std::byte* at);
  double box_s();
  double transfer_s();

  worker_team* team_;
  detail::CellOperations operations_;
  size_t cells_;
  TeamBlocks blocks_;
  size_t folded_cells_;
  TeamBlocks folded_;
  std::vector<std::byte> value_;
  std::vector<uint16_t> at_;
};

/// Collective; takes some milliseconds. All parts. Errors as SharedProbe::create().
Result<plan::SharedCosts> measure_shared_costs(worker_team& team,
                                               const detail::CellOperations& operations,
                                               size_t replica_bytes);

/// Collective: what the workers are in together, by the processors that they run on.
model::SharedPlacement placement_of(worker_team& team);

}  // namespace stripline::update
