// Random requests to the planners, and what is decided about them as text.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tests/plans/models.h"

namespace stripline::plan_corpus {

/// One request on a network.
struct Case {
  /// What was decided, everything that the runtime goes by and the predicted times, on one line.
  std::string decision;
  /// The request and the decision with its reasons, for people; only if asked for.
  std::string explanation;
};

/// The planners.
struct Mechanism {
  const char* name;
  /// The request number `number`, always the same one. Fails the test where the explained decision
  /// is not that of the planner (`explain`).
  Case (*make)(const Network& network, uint64_t number, bool explain);
};

Case strip_case(const Network& network, uint64_t number, bool explain);
Case nest_case(const Network& network, uint64_t number, bool explain);
Case vis_case(const Network& network, uint64_t number, bool explain);
Case wavefront_case(const Network& network, uint64_t number, bool explain);
Case update_case(const Network& network, uint64_t number, bool explain);
Case gather_case(const Network& network, uint64_t number, bool explain);
Case indirect_case(const Network& network, uint64_t number, bool explain);
Case product_case(const Network& network, uint64_t number, bool explain);
Case encoding_case(const Network& network, uint64_t number, bool explain);
Case shared_case(const Network& network, uint64_t number, bool explain);
Case bulk_case(const Network& network, uint64_t number, bool explain);
Case fine_case(const Network& network, uint64_t number, bool explain);

/// Decisions that are looked up in the model (collective operations, single ones, progress) have
/// tests of their own.
inline constexpr std::array<Mechanism, 12> kMechanisms = {{{"strip", strip_case},
                                                           {"nest", nest_case},
                                                           {"vis", vis_case},
                                                           {"wavefront", wavefront_case},
                                                           {"update", update_case},
                                                           {"gather", gather_case},
                                                           {"indirect", indirect_case},
                                                           {"product", product_case},
                                                           {"encoding", encoding_case},
                                                           {"shared", shared_case},
                                                           {"bulk", bulk_case},
                                                           {"fine", fine_case}}};

}  // namespace stripline::plan_corpus
