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

Collectives::Scratch::Scratch(Collectives& owner, size_t bytes) {
  if (bytes <= owner.scratch_.size()) {
    bytes_ = owner.scratch_.first(bytes);
    return;
  }
  allocated_.reset(static_cast<std::byte*>(::operator new(bytes, kAlignment)));
  bytes_ = {allocated_.get(), bytes};
}

}  // namespace stripline::sync
