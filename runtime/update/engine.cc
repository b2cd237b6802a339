#include "runtime/update/engine.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <stripline/team.h>

#include "runtime/update/epoch.h"
#include "runtime/update/parcel.h"

namespace stripline::update {

EpochEngine::EpochEngine(detail::ContextState& state) : state_(state) {
  rma::Operations::User& user = state_.operations.user(MessageUser::updates);
  state_.operations.bulk().serve(
      user.channel, [this](const am::Bulk::Parcel& parcel) { arrived(parcel); },
      [this](fabric::Rank target, uint32_t slot, uint64_t note) { returned(target, slot, note); });
  am::ActiveMessages& messages = state_.operations.messages();
  messages.serve(message_names::kFetchedUpdates, am::Purpose::answer,
                 [this](fabric::Rank source, std::span<const std::byte> message) {
                   Fetched head;
                   Epoch& epoch = named(source, message, sizeof head);
                   std::memcpy(&head, message.data(), sizeof head);
                   epoch.fetched(source, head.sequence, message.subspan(sizeof head));
                 });
  messages.serve(message_names::kSingleUpdates, am::Purpose::work,
                 [this](fabric::Rank source, std::span<const std::byte> message) {
                   Single head;
                   Epoch& epoch = named(source, message, sizeof head);
                   std::memcpy(&head, message.data(), sizeof head);
                   epoch.arrived(source, head, message.subspan(sizeof head));
                 });
  const auto take_asked = [this](fabric::Rank source, std::span<const std::byte> message,
                                 void (Epoch::*take)(rank_t, const Asked&)) {
    Asked asked;
    Epoch& epoch = named(source, message, sizeof asked);
    std::memcpy(&asked, message.data(), sizeof asked);
    (epoch.*take)(source, asked);
  };
  messages.serve(message_names::kAskUpdates, am::Purpose::work,
                 [take_asked](fabric::Rank source, std::span<const std::byte> message) {
                   take_asked(source, message, &Epoch::asked);
                 });
  messages.serve(message_names::kAnswerUpdates, am::Purpose::answer,
                 [take_asked](fabric::Rank source, std::span<const std::byte> message) {
                   take_asked(source, message, &Epoch::answered);
                 });
  user.work.serve(this);
}

EpochEngine::~EpochEngine() {
  rma::Operations::User& user = state_.operations.user(MessageUser::updates);
  user.work.serve(nullptr);
  for (const char* handler : {message_names::kFetchedUpdates, message_names::kSingleUpdates,
                              message_names::kAskUpdates, message_names::kAnswerUpdates}) {
    state_.operations.messages().serve(handler, am::Purpose::answer, nullptr);
  }
  state_.operations.bulk().serve(user.channel, nullptr, nullptr);
}

uint32_t EpochEngine::node_ranks(Context& context, CallSite site) {
  if (node_ranks_) return *node_ranks_;
  node_ranks_ = 1;
  if (!state_.memory.any_shared() || state_.memory.all_shared()) return 1;
  const team all = team::world(context);
  uint32_t mates = 0;
  for (rank_t rank = 0; rank < context.rank_n(); ++rank) mates += context.is_local(rank) ? 1 : 0;
  const auto most = all.allreduce(mates, op_max{}, collective_algorithm::automatic, site);
  // The ranks of this node are those of one row.
  bool in_row = true;
  for (rank_t rank = 0; rank < context.rank_n(); ++rank) {
    in_row &= context.is_local(rank) == (rank / most == context.rank_me() / most);
  }
  const uint32_t rows =
      all.allreduce(uint32_t{in_row ? 1U : 0U}, op_min{}, collective_algorithm::automatic, site);
  if (rows == 1) node_ranks_ = most;
  return *node_ranks_;
}

void EpochEngine::add_to(rma::MechanismReport& report) const {
  report.savings.add(sites_.savings());
}

void EpochEngine::frees(const rma::Call& call, uint64_t offset, uint64_t bytes) {
  for (Epoch* const epoch : epochs_) {
    if (epoch != nullptr) epoch->frees(call, offset, bytes);
  }
}

void EpochEngine::leaves() {
  for (Epoch* const epoch : epochs_) {
    if (epoch != nullptr) epoch->outlives_context();
  }
}

uint32_t EpochEngine::open(Epoch& epoch) {
  epochs_.push_back(&epoch);
  return first_ + static_cast<uint32_t>(epochs_.size() - 1);
}

void EpochEngine::close(uint32_t number) {
  epochs_[number - first_] = nullptr;
  while (!epochs_.empty() && epochs_.front() == nullptr) {
    epochs_.pop_front();
    ++first_;
  }
}

uint64_t EpochEngine::buffer_bytes() const {
  uint64_t bytes = 0;
  for (const Epoch* epoch : epochs_) {
    if (epoch != nullptr) bytes += epoch->buffer_bytes();
  }
  return bytes;
}

Epoch* EpochEngine::find(uint32_t number) const {
  const uint32_t place = number - first_;
  return place < epochs_.size() ? epochs_[place] : nullptr;
}

void EpochEngine::arrived(const am::Bulk::Parcel& parcel) {
  Head head;
  if (parcel.head.size() == sizeof head) std::memcpy(&head, parcel.head.data(), sizeof head);
  Epoch* const epoch = parcel.head.size() == sizeof head ? find(head.epoch) : nullptr;
  if (epoch == nullptr) fail_unknown(parcel.source, head.epoch);
  epoch->arrived(parcel, head);
}

void EpochEngine::returned(fabric::Rank target, uint32_t slot, uint64_t note) {
  // An epoch is closed when all of its parcels are back.
  find(static_cast<uint32_t>(note >> 32U))->returned(target, slot, static_cast<uint32_t>(note));
}

// The epoch of a message that begins with its number and is this long at least.
Epoch& EpochEngine::named(fabric::Rank source, std::span<const std::byte> message,
                          size_t head_bytes) const {
  uint32_t number = 0;
  if (message.size() >= head_bytes) std::memcpy(&number, message.data(), sizeof number);
  Epoch* const epoch = message.size() >= head_bytes ? find(number) : nullptr;
  if (epoch == nullptr) fail_unknown(source, number);
  return *epoch;
}

bool EpochEngine::ready() const {
  return std::ranges::any_of(epochs_, [this](const Epoch* epoch) {
    return epoch != nullptr && (epoch->can_go_on() || epoch->can_send_backlog() ||
                                (sending_ == 0 && epoch->can_send_fetches()));
  });
}

void EpochEngine::advance() {
  for (Epoch* const epoch : epochs_) {
    if (epoch == nullptr) continue;
    epoch->go_on();
    epoch->send_backlog();
    if (sending_ == 0) epoch->send_fetches();
  }
}

void EpochEngine::fail_unknown(fabric::Rank source, uint32_t number) const {
  state_.fail(Error(ErrorCode::invalid_argument,
                    "rank " + std::to_string(source) + " sent updates of its epoch number " +
                        std::to_string(number) +
                        ", which this rank has not begun, or has ended; all ranks make and destroy "
                        "their UpdateEpochs in the same order"));
}

}  // namespace stripline::update
