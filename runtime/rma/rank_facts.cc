#include "runtime/rma/rank_facts.h"

#include <charconv>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/quantity.h"
#include "base/sha256.h"

namespace stripline::rma {
namespace {

std::string digest_of(std::string_view text) {
  return std::to_string(text.size()) + "-" + sha256_hex(text);
}

Error not_its_digest(fabric::Rank rank) {
  return {ErrorCode::data_loss, "the facts of the machine of rank " + std::to_string(rank) +
                                    " are not those that it has announced; run one version of the "
                                    "program on all ranks"};
}

// The facts of a rank whose digest is known.
Result<machine::Facts> fetch(fabric::Fabric& fabric, uint64_t offset, const DigestOfRank& from) {
  size_t bytes = 0;
  const char* const end = from.digest.data() + from.digest.size();
  const auto read = std::from_chars(from.digest.data(), end, bytes);
  if (read.ec != std::errc() || bytes > fabric.segment().size() ||
      offset > fabric.segment().size() - bytes) {
    return not_its_digest(from.rank);
  }
  std::string text(bytes, '\0');
  fabric::Counter counter;
  fabric.get({reinterpret_cast<std::byte*>(text.data()), text.size()}, from.rank, offset, counter);
  fabric.wait_for(counter);
  if (digest_of(text) != from.digest) return not_its_digest(from.rank);
  return machine::decode_facts(text);
}

}  // namespace

Result<std::string> leave_facts(const machine::Facts& facts, std::span<std::byte> place) {
  const std::string text = machine::encode_facts(facts);
  if (text.size() > place.size()) {
    return Error(ErrorCode::resource_exhausted,
                 "the facts of this machine take " + count_text(text.size(), "byte") + ", and " +
                     std::to_string(place.size()) + " are kept for them");
  }
  std::memcpy(place.data(), text.data(), text.size());
  return digest_of(text);
}

Result<machine::Facts> fetch_facts(fabric::Fabric& fabric, uint64_t offset,
                                   const machine::Facts& mine,
                                   std::span<const DigestOfRank> digests) {
  std::vector<machine::FactsOfRank> of_ranks;
  for (const DigestOfRank& one : digests) {
    if (of_ranks.empty()) {
      of_ranks.push_back({one.rank, mine});
      continue;
    }
    STRIPLINE_ASSIGN_OR_RETURN(machine::Facts facts, fetch(fabric, offset, one));
    of_ranks.push_back({one.rank, std::move(facts)});
  }
  return machine::join_facts(of_ranks);
}

}  // namespace stripline::rma
