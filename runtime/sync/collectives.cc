#include "runtime/sync/collectives.h"

#include <cstring>
#include <new>

namespace stripline::sync {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

void copy(ConstBytes from, Bytes to) {
  if (!from.empty() && from.data() != to.data()) std::memmove(to.data(), from.data(), from.size());
}

void Collectives::Free::operator()(std::byte* memory) const {
  ::operator delete(memory, kAlignment);
}

Collectives::Scratch::Scratch(Collectives& owner, size_t bytes) : owner_(owner) {
  if (owner.scratch_bytes_ < bytes) {
    owner.scratch_.reset();
    owner.scratch_.reset(static_cast<std::byte*>(::operator new(bytes, kAlignment)));
    owner.scratch_bytes_ = bytes;
  }
  bytes_ = {owner.scratch_.get(), bytes};
}

Collectives::Scratch::~Scratch() {
  if (owner_.scratch_bytes_ <= kKeptScratchBytes) return;
  owner_.scratch_.reset();
  owner_.scratch_bytes_ = 0;
}

}  // namespace stripline::sync
