// Batches of rows on contenders that live in the same two processes: rank 0 says which is next, by
// memory that both share (turns.h), and both look whether it had its effect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "suites/harness/contender.h"
#include "suites/harness/data.h"
#include "suites/harness/rows.h"
#include "suites/harness/turns.h"

namespace stripline::suites::harness {

/// The same on both ranks.
using Contenders = std::vector<std::unique_ptr<Contender>>;

/// Rank 0.
class Batches {
 public:
  /// All of them live longer.
  Batches(const Contenders& contenders, const std::vector<Row>& rows, Turns& turns)
      : contenders_(contenders), rows_(rows), turns_(turns) {}

  /// A batch of rows[row] by contenders[contender], which offers it: seconds per operation, and
  /// whether the data are right on both ranks.
  std::pair<double, bool> run(size_t contender, size_t row);
  /// Ends attend() of rank 1.
  void stop();

 private:
  const Contenders& contenders_;
  const std::vector<Row>& rows_;
  Turns& turns_;
  Data data_;
  uint64_t turn_ = 0;
};

/// Rank 1: attends to what rank 0 asks for, until it stops.
void attend(const Contenders& contenders, const std::vector<Row>& rows, Turns& turns);

/// Keeps this process, and threads that libraries start later, on a core; warns where it cannot.
void pin_to(unsigned core);

}  // namespace stripline::suites::harness
