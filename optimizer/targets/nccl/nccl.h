// NCCL: the descriptor, and the file of its example tuner (plugins/tuner/example). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/targets/target.h"

namespace stripline::targets::nccl {

const Target& target();

/// A line of the tuner's file: the first that fits a call decides.
struct TunerRule {
  std::string collective;  ///< "allreduce", "broadcast", "reduce", "allgather", "reducescatter"
  uint64_t least_bytes = 0;
  uint64_t most_bytes = kMostBytes;
  std::string algorithm;  ///< "ring", "tree", "nvls", ...
  std::string protocol;   ///< "ll", "ll128", "simple"
  int64_t channels = -1;  ///< -1: any, in all that follow
  int64_t nodes = -1;
  int64_t ranks = -1;
  int64_t pipelined_operations = -1;
  int64_t registered = -1;  ///< 1: of registered buffers alone, 0: of others alone

  static constexpr uint64_t kMostBytes = 4294967295;
  bool operator==(const TunerRule&) const = default;
};

/// "collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks[,numPipeOps[,regBuff]]"
/// with comments from '#' at the beginning of a line. Errors: data_loss, with the line.
Result<std::vector<TunerRule>> read_tuner_file(std::string_view text, std::string_view what);

/// Reads back as the same rules; columns at the end that are -1 in all of them are left out.
/// Errors: invalid_argument for one that the reader would refuse.
Result<std::string> write_tuner_file(const std::vector<TunerRule>& rules,
                                     const std::vector<std::string>& comments);

}  // namespace stripline::targets::nccl
