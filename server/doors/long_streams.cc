#include "server/doors/long_streams.h"

namespace stripline::server {

Answer<LongStreams::Admitted> LongStreams::admit(const std::string& payer) {
  if (auto refusal = limits_.refusal(payer)) return std::move(*refusal);
  limits_.charge(payer, kCallCost_s);
  Admitted admitted{payer, of_payer_.take(payer), nullptr};
  if (!admitted.of_payer) {
    return Problem{ErrorCode::resource_exhausted,
                   "TOO_MANY_STREAMS",
                   payer + " is sent " + std::to_string(kOfPayer) +
                       " exports, plans or models, the maximum number for one caller; try again "
                       "when one has arrived",
                   {}};
  }
  admitted.of_all = of_all_.take("");
  if (!admitted.of_all) {
    return Problem{ErrorCode::resource_exhausted,
                   "BUSY",
                   "exports, plans and models are being sent, the maximum number at a time; try "
                   "again in a moment",
                   {}};
  }
  return admitted;
}

bool LongStreams::work(const Admitted& stream, const ReadingPool::Job& job) {
  // The stream may have ended, and its place be given back, before the job returns.
  return reading_.go_on(stream.payer, [this, payer = stream.payer, job](bool stopping) {
    const MeteredCall metered(limits_, payer, 0);
    job(stopping);
  });
}

}  // namespace stripline::server
