#include "optimizer/plan/vis_mechanism.h"

#include <algorithm>
#include <array>

#include "base/quantity.h"

namespace stripline::plan {

AskedVis VisMechanism::usual() {
  AskedVis usual;
  usual.max_buffer_bytes = kUsualBoxBytes;
  usual.medium_bytes = kLandingSlotBytes;
  usual.message_bytes = kUsualMessageBytes;
  return usual;
}

std::span<const Field<AskedVis>> VisMechanism::fields() {
  using Vis = AskedVis;
  static constexpr std::array<Field<Vis>, 13> kFields = {
      field<Vis, &Vis::direction>("direction", "--direction", "{}", "Direction of the transfers")
          .always(),
      field<Vis, &Vis::regions>("regions", "--regions", " of {} regions",
                                "Contiguous remote pieces")
          .within(1, kMostNumber)
          .required(),
      bytes<Vis, &Vis::region_bytes>("region_bytes", "--region-bytes", " of {}",
                                     "Bytes of each; the mean for lists")
          .from(1)
          .required(),
      bytes<Vis, &Vis::extent_bytes>(
          "extent_bytes", "--extent", " within {}",
          "From the first byte of all regions to the last (default: by --stride)")
          .from(1),
      bytes<Vis, &Vis::stride_bytes>("stride_bytes", "--stride", nullptr,
                                     "From region to region; the mean for lists (default: "
                                     "twice --region-bytes)"),
      field<Vis, &Vis::shape>("kind", "--kind", ", {}",
                              "strided: one shape says where they are; indexed: a list of "
                              "addresses")
          .always(),
      field<Vis, &Vis::dimensions>("dimensions", "--dimensions", " in {} dimensions",
                                   "Dimensions of a shape, beside that within a region")
          .from(1),
      field<Vis, &Vis::local_regions>("local_regions", "--local-regions",
                                      ", {} regions at this rank", "Contiguous local pieces")
          .within(1, kMostNumber),
      field<Vis, &Vis::compute>("compute", "--class", ", {}", "What the program computes meanwhile")
          .always(),
      field<Vis, &Vis::bounding_box_allowed>("bounding_box_allowed", "--bounding-box", nullptr,
                                             "Gets may read what lies between the regions"),
      field<Vis, &Vis::iov_limit>("iov_limit", "--iov-limit", nullptr,
                                  "Remote pieces that one operation of the network takes")
          .from(1),
      field<Vis, &Vis::signalled>("signalled", "--signal", ", until the target sees a flag",
                                  "The put raises a flag at the target when its data are "
                                  "visible"),
      field<Vis, &Vis::peers>("peers", "--peers", ", with {} ranks at once",
                              "Ranks that this rank has such transfers with at once")
          .from(1),
  };
  return kFields;
}

Result<VisRequest> VisMechanism::request_of(const AskedVis& asked) {
  VisRequest request = asked;
  const bool by_stride = asked.extent_bytes == 0;
  if (!by_stride && asked.stride_bytes != kAnyBytes) {
    return refused(
        "--extent says how far apart the regions are, as --stride does; give one of them");
  }
  const uint64_t stride =
      asked.stride_bytes == kAnyBytes ? 2 * asked.region_bytes : asked.stride_bytes;
  if (asked.region_bytes > kMostExtent || asked.extent_bytes > kMostExtent ||
      asked.regions > kMostExtent / std::max({stride, asked.region_bytes, uint64_t{1}})) {
    return refused(
        "the regions span more than 16 TiB, which no segment has; take fewer "
        "--regions, or a smaller --region-bytes, --stride or --extent");
  }
  if (!by_stride && asked.extent_bytes < asked.region_bytes) {
    return refused("--extent " + std::to_string(asked.extent_bytes) +
                   " does not hold one region; it is at least --region-bytes, " +
                   std::to_string(asked.region_bytes));
  }
  if (stride < asked.region_bytes) {
    return refused("--stride " + std::to_string(stride) +
                   " makes regions overlap; it is at least --region-bytes, " +
                   std::to_string(asked.region_bytes));
  }
  if (asked.signalled && asked.direction == Direction::get) {
    return refused("gets raise no flag; --signal goes with --direction put");
  }
  if (asked.surroundings.flag_with_data && !asked.signalled) {
    return refused("--flag-with-data is about the flag of a put; it goes with --signal");
  }
  if (by_stride) request.extent_bytes = (asked.regions - 1) * stride + asked.region_bytes;
  if (asked.shape == RegionShape::strided) {
    request.message_header_bytes = kStridedHeaderBytes + asked.dimensions * kDimensionHeaderBytes;
  } else {
    request.message_header_bytes = kListHeaderBytes;
    request.region_header_bytes = kListRegionHeaderBytes;
  }
  if (asked.signalled) request.message_header_bytes += kSignalHeaderBytes;
  return request;
}

AskedVis VisMechanism::asked_of(const VisRequest& request) {
  AskedVis asked = usual();
  static_cast<VisRequest&>(asked) = request;
  const uint32_t signal = request.signalled ? kSignalHeaderBytes : 0;
  const uint32_t least = kStridedHeaderBytes + kDimensionHeaderBytes + signal;
  if (request.region_header_bytes > 0) {
    asked.shape = RegionShape::indexed;
  } else if (request.message_header_bytes > least) {
    asked.dimensions += (request.message_header_bytes - least) / kDimensionHeaderBytes;
  }
  return asked;
}

VisPlan VisMechanism::unfold(const VisRequest&, const VisAlternative& alternative) {
  const VisCandidate& candidate = alternative.candidate;
  return {
      .method = candidate.method, .window = candidate.window, .chunk_bytes = candidate.chunk_bytes};
}

void VisMechanism::show(const VisRequest& request, const VisPlan& plan, Row& row) {
  const bool packed = plan.method == VisMethod::packed;
  const bool lands = packed && vis_lands(request, plan.chunk_bytes);
  row.word("method", to_string(plan.method), "{}")
      .bytes("chunk_bytes", plan.chunk_bytes,
             lands    ? ", chunks of {} that land"
             : packed ? ", chunks of {}"
                      : "")
      .number("window", plan.window, plan.method == VisMethod::bounding_box ? "" : ", window {}");
}

std::string VisMechanism::brief(const VisPlan& plan, std::string_view /*why*/) {
  if (plan.reason == Reason::guarded) return "as without a model";
  std::string text(to_string(plan.method));
  if (plan.method == VisMethod::bounding_box) return text;
  if (plan.method == VisMethod::packed) text += ", " + exact_bytes_text(plan.chunk_bytes);
  return text + ", window " + std::to_string(plan.window);
}

void VisMechanism::add_to(Explanation::Alternative& alternative, const VisRequest&, const VisCosts&,
                          const VisAlternative& candidate) {
  alternative.interval = {candidate.model_s * candidate.residual_low,
                          candidate.model_s * candidate.residual_high};
  alternative.more.seconds("model_s", candidate.model_s, " (cost model {}")
      .factor("residual", candidate.residual, ", measured to take {}")
      .factor("residual_low", candidate.residual_low, " [{}")
      .factor("residual_high", candidate.residual_high, ", {}] times as long)");
}

void VisMechanism::add_to(Explained<VisMechanism>& e, const VisRequest& request, const VisCosts*) {
  const VisPlan& plan = e.decision;
  std::vector<std::string_view> excluded;
  for (size_t i = 0; i < kVisMethods; ++i) {
    const auto method = static_cast<VisMethod>(i);
    if (vis_allowed(request, method)) continue;
    excluded.push_back(to_string(method));
    e.remarks.say("    " + std::string(excluded.back()) + ": not possible here\n");
  }
  e.remarks.json("excluded", excluded);
  if (!e.has_times) {
    e.why += plan.method == VisMethod::packed ? "; small regions are packed without one"
                                              : "; regions are moved one by one without one";
    return;
  }
  e.plan.word("runner_up", to_string(plan.runner_up))
      .seconds("runner_up_s", plan.runner_up_s)
      .flag("uncertain", plan.uncertain);
  if (e.alternatives.size() < 2) {
    e.why = "no other method is possible";
    return;
  }
  e.why = plan.uncertain
              ? "which of the two fastest is faster is not known, and this one loses "
                "least if the model errs; losses against the method without a model count twice"
              : "the fastest";
  e.why += "; " + std::string(to_string(plan.runner_up)) + ", the next, takes " +
           time_text(plan.runner_up_s);
}

}  // namespace stripline::plan
