#include "optimizer/plan/product.h"

#include <algorithm>
#include <array>

#include "optimizer/plan/product_mechanism.h"

namespace stripline::plan {
namespace {

// Entries are multiplied with elements that their numbers name: a value, a number, and an addition.
constexpr cost::LoopClass kOfAnEntry{.n_local_ref = 2, .n_int_alu = 0, .n_fp_alu = 1, .n_div = 0};

// What the parts of a product take.
class ProductParts {
 public:
  ProductParts(const ProductRequest& request, const CompiledPath& path, const Ends& ends)
      : request_(request),
        path_(path),
        ends_(ends),
        span_bytes_(bytes_of(request.own_elements + request.elements)),
        entry_s_(entry_s()) {}

  double sums_s(double rows, double entries) const {
    return path_.vis.pack().pack(rows, 0, span_bytes_, ends_.of(Source::regions)) +
           entries * static_cast<double>(request_.vectors) * entry_s_;
  }
  double copy_s(uint64_t elements) const {
    return path_.vis.pack().pack(1, static_cast<double>(bytes_of(elements)), span_bytes_,
                                 ends_.of(Source::regions));
  }
  // Seconds until the last owner's elements are here.
  double arrival_s() const {
    if (request_.reachable || request_.owners == 0 || !path_.vis.has(Direction::put)) return 0;
    const uint64_t bytes = bytes_of(request_.elements / request_.owners);
    const cost::LinkCosts& put = path_.vis.link(Direction::put);
    const cost::MessageCosts one =
        detail::at_ends(put.at(bytes), put.at(bytes, ends_.corner), ends_);
    const auto size = static_cast<double>(bytes);
    const double messages =
        static_cast<double>(request_.owners) * std::max(request_.surroundings.nic_ranks, 1U);
    return one.one_way(size) + (messages - 1) * one.gap(size);
  }

 private:
  uint64_t bytes_of(uint64_t elements) const {
    return elements * request_.element_bytes * request_.vectors;
  }
  double entry_s() const {
    const cost::Corner corner = ends_.of(Source::compute);
    const uint64_t entries = request_.own_entries + request_.other_entries;
    return detail::estimate_factor(corner) * path_.strip.compute().seconds_per_element(
                                                 kOfAnEntry,
                                                 {.sweeps = 1,
                                                  .remote_bytes = span_bytes_,
                                                  .local_bytes = entries * request_.element_bytes},
                                                 corner);
  }

  const ProductRequest& request_;
  const CompiledPath& path_;
  const Ends& ends_;
  const uint64_t span_bytes_;
  const double entry_s_;
};

// Rows with entries of this rank's elements and of others.
uint64_t mixed_rows(const ProductRequest& request) {
  const uint64_t both = request.own_rows + request.other_rows;
  return both - std::min(both, request.rows);
}

}  // namespace

bool allows(const ProductRequest& request, ProductMethod method) noexcept {
  switch (method) {
    case ProductMethod::by_owner:
      return true;
    case ProductMethod::together:
      return request.owners > 0;
    case ProductMethod::whole:
      // Elements of several vectors do not lie side by side where they are this rank's own.
      return request.owners > 0 && request.vectors == 1 && (request.reachable || !request.ordered);
  }
  return false;
}

ProductMethod usual_product(const ProductRequest& request) noexcept {
  const bool mixed = 2 * mixed_rows(request) > request.rows;
  if (request.reachable && mixed && allows(request, ProductMethod::whole)) {
    return ProductMethod::whole;
  }
  const bool scattered = request.owners > 1 && request.visits >= 2 * request.other_rows;
  return scattered ? ProductMethod::together : ProductMethod::by_owner;
}

double predict_product(const ProductRequest& request, const CompiledPath& path,
                       ProductMethod method, const Ends& ends) noexcept {
  const ProductParts parts(request, path, ends);
  const auto own_entries = static_cast<double>(request.own_entries);
  const auto entries = static_cast<double>(request.other_entries);
  const double arrival_s = parts.arrival_s();
  if (method == ProductMethod::whole) {
    return std::max(parts.copy_s(request.own_elements), arrival_s) +
           parts.copy_s(request.elements) +
           parts.sums_s(static_cast<double>(request.rows), own_entries + entries);
  }
  const double own_s = parts.sums_s(static_cast<double>(request.own_rows), own_entries);
  if (method == ProductMethod::together) {
    return std::max(own_s, arrival_s) +
           parts.sums_s(static_cast<double>(request.other_rows), entries);
  }
  const double others_s = parts.sums_s(static_cast<double>(request.visits), entries);
  return std::max(own_s + others_s, arrival_s + others_s / std::max(request.owners, 1U));
}

ProductPlan plan_product(const ProductRequest& request, const CompiledPath* path) noexcept {
  NoRecord record;
  return choose<ProductMechanism>(request, path, record);
}

ProductPlan plan_product(const ProductRequest& request, const CompiledPath* path,
                         ProductRecord& record) {
  return choose<ProductMechanism>(request, path, record);
}

ProductPlan force_product(const ProductRequest& request, const CompiledPath* path,
                          ProductMethod method, Reason reason) noexcept {
  return plan_of<ProductMechanism>(request, path, method, reason);
}

std::span<const Field<ProductRequest>> ProductMechanism::fields() {
  using Rows = ProductRequest;
  static constexpr std::array<Field<Rows>, 13> kFields = {
      field<Rows, &Rows::rows>("rows", "--rows", "{} rows", "Rows of the rank that have entries")
          .within(0, kMostNumber)
          .required(),
      field<Rows, &Rows::own_rows>("own_rows", "--own-rows", ", {} with own elements",
                                   "Rows with entries of the rank's own elements")
          .within(0, kMostNumber),
      field<Rows, &Rows::own_entries>("own_entries", "--own-entries", ", {} entries of those",
                                      "Entries of the rank's own elements")
          .within(0, kMostNumber)
          .always(),
      field<Rows, &Rows::own_elements>("own_elements", "--own-elements", " with {} elements",
                                       "The rank's own elements")
          .within(0, kMostNumber),
      field<Rows, &Rows::other_rows>("other_rows", "--other-rows", ", {} rows with other ranks'",
                                     "Rows with entries of other ranks' elements")
          .within(0, kMostNumber),
      field<Rows, &Rows::visits>("visits", "--visits", ", {} owner by owner",
                                 "These rows, those of each owner counted by themselves")
          .within(0, kMostNumber),
      field<Rows, &Rows::other_entries>("other_entries", "--entries", ", {} entries of others'",
                                        "Entries of other ranks' elements")
          .within(0, kMostNumber)
          .always(),
      field<Rows, &Rows::elements>("elements", "--elements", " with {} elements",
                                   "Elements that are received")
          .within(0, kMostNumber)
          .always(),
      field<Rows, &Rows::owners>("owners", "--owners", " of {} ranks",
                                 "Other ranks whose elements are received")
          .always(),
      plan::bytes<Rows, &Rows::element_bytes>("element_bytes", "--element-bytes", ", of {} each",
                                              "The size of an element")
          .within(1, kMostExtent),
      field<Rows, &Rows::vectors>("vectors", "--vectors", ", of {} vectors at a time",
                                  "Vectors that the matrix is multiplied with at a time")
          .from(1),
      field<Rows, &Rows::reachable>("reachable", "--reachable", ", all reached by loads",
                                    "All owners are reached by loads and stores"),
      field<Rows, &Rows::ordered>("ordered", "--ordered", ", in order",
                                  "Sums are added up in the same order each time")};
  return kFields;
}

Result<ProductRequest> ProductMechanism::request_of(const ProductRequest& asked) {
  if (asked.own_rows > asked.rows || asked.other_rows > asked.rows) {
    return refused("--own-rows and --other-rows are some of the --rows");
  }
  if (asked.visits < asked.other_rows) {
    return refused("--visits counts each of the --other-rows at least once");
  }
  if (asked.owners == 0 && (asked.elements > 0 || asked.other_entries > 0)) {
    return refused("--elements and --entries of other ranks need --owners");
  }
  const uint64_t most = kMostExtent / asked.element_bytes / asked.vectors;
  if (asked.own_elements > most || asked.elements > most) {
    return refused("elements of more than 16 TiB, which no segment has");
  }
  return asked;
}

}  // namespace stripline::plan
