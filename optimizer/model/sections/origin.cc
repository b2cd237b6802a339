#include "optimizer/model/sections/origin.h"

#include "base/quantity.h"
#include "optimizer/model/fingerprint.h"
#include "optimizer/model/section.h"

namespace stripline::model {
namespace {

constexpr size_t kMaxEntries = 4096;

std::string list_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "-" : text;
}

std::string provenance_text(const TunedModel& model) {
  const Provenance& provenance = model.provenance;
  std::string text = "campaigns  " + list_text(provenance.campaigns) + "\n";
  text += "fitted     " + provenance.fitted_at + " by " + provenance.fitter_version + "\n";
  if (!provenance.provisional.empty()) text += "PROVISIONAL: " + provenance.provisional + "\n";
  return text;
}

Status check_domain(const std::string& where, const Domain& domain) {
  if (domain.min_ranks > domain.max_ranks) {
    return wrong(where + ".max_ranks", "must be at least min_ranks");
  }
  if (domain.min_bytes > domain.max_bytes) {
    return wrong(where + ".max_bytes", "must be at least min_bytes");
  }
  return {};
}

// "2 ranks", "2 to 8 ranks".
std::string ranks_text(const Domain& domain) {
  const std::string last = count_text(domain.max_ranks, "rank");
  return domain.min_ranks == domain.max_ranks ? last
                                              : std::to_string(domain.min_ranks) + " to " +
                                                    std::to_string(domain.max_ranks) + " ranks";
}

// "8 B", "8 B to 4 MiB".
std::string sizes_text(const Domain& domain) {
  const std::string last = bytes_text(domain.max_bytes);
  return domain.min_bytes == domain.max_bytes ? last : bytes_text(domain.min_bytes) + " to " + last;
}

std::string fingerprint_text(const TunedModel& model) {
  Table table({{"field"}, {"value"}, {"a difference"}});
  for (const auto& [field, entry] : model.fingerprint) {
    const char* meaning = "is ignored";
    if (entry.rule == MatchRule::hard) meaning = "refuses the model";
    if (entry.rule == MatchRule::soft) meaning = "warns";
    table.add({field, entry.value, meaning});
  }
  return titled("machine", table);
}

}  // namespace

Section name_section() {
  return {required("name", &TunedModel::name, name()),
          [](const TunedModel& model) { return "model      " + model.name + "\n"; },
          [](TunedModel& model) { model.name = "example"; }};
}

Section provenance_section() {
  const auto form = object<Provenance>(
      nullptr, {required("campaigns", &Provenance::campaigns, list(name(), 0, kMaxEntries)),
                required("sample_sha256", &Provenance::sample_sha256, hash()),
                required("fitter_version", &Provenance::fitter_version, text()),
                required("fitted_at", &Provenance::fitted_at, text()),
                unless_empty("provisional", &Provenance::provisional, text())});
  return {required("provenance", &TunedModel::provenance, form), provenance_text,
          [](TunedModel& model) {
            model.provenance = {
                {"campaigns/17"}, std::string(64, 'a'), "0.1.0", "2024-05-01T12:00:00Z", ""};
          }};
}

Section domain_section() {
  const auto form = object<Domain>(nullptr,
                                   {required("min_ranks", &Domain::min_ranks, ranks()),
                                    required("max_ranks", &Domain::max_ranks, ranks()),
                                    required("min_bytes", &Domain::min_bytes, bytes()),
                                    required("max_bytes", &Domain::max_bytes, bytes())},
                                   check_domain);
  return {required("domain", &TunedModel::domain, form),
          [](const TunedModel& model) {
            return "holds for  " + ranks_text(model.domain) + ", " + sizes_text(model.domain) +
                   "\n";
          },
          [](TunedModel& model) {
            model.domain = {2, 8, 8, uint64_t{4} << 20};
          }};
}

Section fingerprint_section() {
  const auto field = object<FingerprintField>(
      nullptr,
      {required("value", &FingerprintField::value, text()),
       required("match", &FingerprintField::rule,
                one_of<MatchRule>({MatchRule::hard, MatchRule::soft, MatchRule::ignore}))});
  return {required("fingerprint", &TunedModel::fingerprint, by_name(field, kMaxEntries)),
          fingerprint_text, [](TunedModel& model) {
            model.fingerprint = {{"cpu_model", {"AMD Opteron 248", MatchRule::soft}},
                                 {"fabric", {"emulated:opteron-vapi", MatchRule::hard}},
                                 {"kernel", {"6.1.0", MatchRule::ignore}}};
          }};
}

}  // namespace stripline::model
