#include <string>

#include <stripline/shared_array.h>

#include "optimizer/access/saturate.h"
#include "runtime/rma/context_state.h"

namespace stripline::detail {
namespace {

constexpr uint64_t kLargestBlock = uint64_t{1} << 61;  // leaves room for signed arithmetic

std::string text(const ArrayShape& shape) {
  return std::to_string(shape.elements) + " elements of " + std::to_string(shape.element_bytes) +
         " bytes, " +
         (shape.indefinite ? "on rank " + std::to_string(shape.owner)
                           : "in blocks of " + std::to_string(shape.block));
}

Status check(const ArrayShape& shape, rank_t ranks) {
  if (shape.static_ranks != 0 && shape.static_ranks != ranks) {
    return Error(ErrorCode::invalid_argument, "a shared array compiled for " +
                                                  std::to_string(shape.static_ranks) +
                                                  " ranks in a job of " + std::to_string(ranks) +
                                                  "; start that many, or use dynamic_ranks");
  }
  if (shape.indefinite && shape.owner >= ranks) {
    return Error(ErrorCode::invalid_argument,
                 "a shared array on rank " + std::to_string(shape.owner) +
                     ", but the job has ranks 0 to " + std::to_string(ranks - 1));
  }
  if (!shape.indefinite && (shape.block == 0 || shape.block > kLargestBlock)) {
    return Error(ErrorCode::invalid_argument, "a shared array in blocks of " +
                                                  std::to_string(shape.block) +
                                                  " elements; 1 to 2^61 are possible");
  }
  return {};
}

/// Elements of the rank that has most.
uint64_t largest_part(const ArrayShape& shape, rank_t ranks) {
  if (shape.indefinite) return shape.elements;
  return distribution<block_cyclic<>>{{shape.block}, {ranks}}.count_below(shape.elements, 0);
}

}  // namespace

Result<uint64_t> create_shared_array(Context& context, const ArrayShape& shape, CallSite site) {
  // First, so that all ranks go on to the same checks.
  const ArrayShape of_root = context.broadcast(shape, 0, site);
  if (of_root != shape) {
    context.state().fail(
        Error(ErrorCode::invalid_argument, text(rma::Call("shared_array::create", site)) + " of " +
                                               text(shape) + ", but rank 0 asks for " +
                                               text(of_root) + "; all ranks create the same"));
  }
  STRIPLINE_RETURN_IF_ERROR(check(shape, context.rank_n()));
  const uint64_t part = largest_part(shape, context.rank_n());
  STRIPLINE_ASSIGN_OR_RETURN(const auto memory,
                             context.new_symmetric_array<std::byte>(
                                 access::saturating_multiply(part, shape.element_bytes), site));
  return memory.offset();
}

bool packed_phase_fits(const ArrayShape& shape, uint64_t offset, rank_t ranks) {
  // The end of the array may be in the row after the last one.
  const uint64_t end = offset + largest_part(shape, ranks) * shape.element_bytes;
  return shape.block <= uint64_t{1} << kPackedPhaseBits && ranks <= rank_t{1} << kPackedRankBits &&
         end + 1 < uint64_t{1} << kPackedRowBits;
}

namespace {

// Ends the job, or the process if the handle refers to no array: its job is unknown then. `what`
// is the call and its argument, `why` what is wrong with it for the array that there is.
[[noreturn]] void fail_argument(Context* context, const std::string& what, const std::string& why) {
  if (context == nullptr) {
    rma::fail_without_job(what + " of a handle that refers to no array; create() makes one");
  }
  context->state().fail(Error(ErrorCode::invalid_argument, what + ", but " + why));
}

std::string elements_text(uint64_t size) {
  return std::to_string(size) + (size == 1 ? " element" : " elements, counted from 0");
}

}  // namespace

void fail_element(Context* context, const char* name, uint64_t index, uint64_t size,
                  CallSite site) {
  fail_argument(context, text(rma::Call(name, site)) + " of element " + std::to_string(index),
                "the shared array has " + elements_text(size));
}

void fail_position(Context* context, const char* name, uint64_t position, uint64_t local_size,
                   CallSite site) {
  fail_argument(context, text(rma::Call(name, site)) + " of position " + std::to_string(position),
                "this rank's part of the shared array has " + elements_text(local_size));
}

void fail_elements(Context* context, const char* name, uint64_t first, uint64_t last, uint64_t size,
                   CallSite site) {
  fail_argument(context,
                text(rma::Call(name, site)) + " of elements " + std::to_string(first) + " to " +
                    std::to_string(last),
                "the shared array has " + elements_text(size));
}

void fail_rank(Context* context, const char* name, rank_t rank, CallSite site) {
  fail_argument(context, text(rma::Call(name, site)) + " of rank " + std::to_string(rank),
                context == nullptr
                    ? std::string()
                    : "the job has ranks 0 to " + std::to_string(context->rank_n() - 1));
}

// No one knows of which job.
void fail_no_array(const char* name, CallSite site) {
  rma::fail_without_job(text(rma::Call(name, site)) +
                        " of a shared_array that refers to no array; create() makes one");
}

void fail_packed_pointer(Context& context) {
  context.state().fail(
      Error(ErrorCode::invalid_argument,
            "a packed pointer cannot name the elements of this shared array (at most " +
                std::to_string(uint64_t{1} << kPackedPhaseBits) + " elements in a block, " +
                std::to_string(rank_t{1} << kPackedRankBits) + " ranks, " +
                std::to_string((uint64_t{1} << kPackedRowBits) >> 30) +
                " GiB of segment); use ptr<pointer_form::wide>"));
}

}  // namespace stripline::detail
