// What a campaign decided about single one-sided operations that a program makes without saying
// how: the section `rma` of the tuned model (docs/model-file.md). It holds for peers that are
// reached through the fabric.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "optimizer/model/atomic_path.h"
#include "optimizer/model/parameter.h"

namespace stripline::model {

struct Section;

std::string_view to_string(AtomicPath path);

/// How atomic domains are carried out whose program does not say.
struct AtomicModel {
  AtomicPath path = AtomicPath::provider;
  Parameter provider_s;  ///< a fetch-add that is waited for
  Parameter message_s;
  /// By how much less messages take, in the mean over lone operations and streams; absent where the
  /// provider is taken.
  std::optional<Parameter> gain;
};

/// The puts without handles that travel together, and how long one may wait for others.
struct PutCombiningModel {
  uint64_t max_put_bytes = 0;  ///< larger puts travel alone; 0: all do
  uint64_t message_bytes = 0;  ///< a message takes so much
  Parameter message_s;         ///< what a message costs beyond the puts in it
  Parameter max_delay_s;       ///< age of a put at which its message leaves
  /// By how much less a put of max_put_bytes takes together with others; absent where all travel
  /// alone.
  std::optional<Parameter> gain;
};

/// The buffered puts that are copied, so that they need not be waited for.
struct BufferedPutModel {
  uint64_t max_bytes = 0;  ///< larger puts are waited for; 0: all are
  /// By how much less a put of max_bytes takes when it is copied; absent where all are waited for.
  std::optional<Parameter> gain;
};

/// What a thread costs that serves a rank's peers while its program computes, and what it leaves.
struct ProgressModel {
  Parameter call_s;    ///< it adds to a call of the program that waits
  Parameter answer_s;  ///< a request to a computing rank waits all the same
};

struct RmaModel {
  std::optional<BufferedPutModel> buffered_put;
  std::optional<PutCombiningModel> put_combining;
  std::optional<AtomicModel> atomic;
  std::optional<ProgressModel> progress;
};

Section rma_section();

}  // namespace stripline::model
