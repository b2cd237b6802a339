#include "suites/harness/batches.h"

#include <cstdio>
#include <sched.h>

namespace stripline::suites::harness {

std::pair<double, bool> Batches::run(size_t contender, size_t row) {
  data_.salt = ++turn_;
  prepare_initiator(rows_[row], data_);
  turns_.contender = contender;
  turns_.row = row;
  turns_.salt = data_.salt;
  turns_.begun.store(turn_, std::memory_order_release);
  Turns::wait_for(turns_.ready, turn_);
  const double seconds = contenders_[contender]->initiate(rows_[row], data_);
  turns_.ended.store(turn_, std::memory_order_release);
  Turns::wait_for(turns_.left, turn_);
  return {seconds, turns_.right && initiator_is_right(rows_[row], data_)};
}

void Batches::stop() {
  turns_.contender = Turns::kStop;
  turns_.begun.store(++turn_, std::memory_order_release);
}

void attend(const Contenders& contenders, const std::vector<Row>& rows, Turns& turns) {
  for (uint64_t turn = 1;; ++turn) {
    Turns::wait_for(turns.begun, turn);
    if (turns.contender == Turns::kStop) return;
    Contender& contender = *contenders[turns.contender];
    const Row& row = rows[turns.row];
    prepare_target(row, turns.salt, contender.memory());
    turns.ready.store(turn, std::memory_order_release);
    contender.attend(row, turns);
    Turns::wait_for(turns.ended, turn);
    turns.right = target_is_right(row, turns.salt, contender.memory());
    turns.left.store(turn, std::memory_order_release);
  }
}

void pin_to(unsigned core) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(core, &mask);
  if (sched_setaffinity(0, sizeof mask, &mask) != 0) {
    (void)std::fprintf(stderr, "not pinned to core %u; figures will scatter\n", core);
  }
}

}  // namespace stripline::suites::harness
