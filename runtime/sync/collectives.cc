#include "runtime/sync/collectives.h"

#include <cstring>
#include <new>
#include <string>

#include "base/exception_text.h"

namespace stripline::sync {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

void copy(ConstBytes from, Bytes to) {
  if (!from.empty() && from.data() != to.data()) std::memmove(to.data(), from.data(), from.size());
}

Error function_has_thrown(const std::string& call) {
  return {ErrorCode::invalid_argument,
          call + ": the function that combines elements has thrown: " + exception_text() +
              "; it must not, as the other ranks wait for what this one sends"};
}

void Collectives::Free::operator()(std::byte* memory) const {
  ::operator delete(memory, kAlignment);
}

Collectives::Scratch::Scratch(Collectives& owner, size_t bytes) {
  if (bytes <= owner.scratch_.size()) {
    bytes_ = owner.scratch_.first(bytes);
    return;
  }
  allocated_.reset(static_cast<std::byte*>(::operator new(bytes, kAlignment, std::nothrow)));
  if (allocated_ == nullptr) {
    owner.fail_(Error(ErrorCode::resource_exhausted,
                      "this rank has no " + std::to_string(bytes) +
                          " bytes of memory for the scratch of its algorithm; work on parts of the "
                          "data, choose an algorithm that needs less (<stripline/team.h>), run "
                          "fewer ranks per host, or raise 'ulimit -v' or the job's memory limit"));
  }
  bytes_ = {allocated_.get(), bytes};
}

}  // namespace stripline::sync
