#include "server/store/version_json.h"

#include <string>
#include <utility>

namespace stripline::server {

Json to_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"kind", finding.kind},
                    {"subject", finding.subject},
                    {"value", finding.value},
                    {"message", finding.message}});
  }
  return list;
}

Result<std::vector<Finding>> findings_from_json(const Json& json) {
  std::vector<Finding> findings;
  try {
    for (const Json& one : json) {
      findings.push_back({one.at("kind").get<std::string>(), one.at("subject").get<std::string>(),
                          one.at("value").get<double>(), one.at("message").get<std::string>()});
    }
  } catch (const Json::exception& error) {
    return Error(ErrorCode::data_loss, std::string("stored findings: ") + error.what());
  }
  return findings;
}

Json to_json(const ValidationRecord& validation) {
  const fit::Judgement& judgement = validation.judgement;
  Json kinds = Json::array();
  for (const fit::KindJudgement& kind : judgement.kinds) {
    kinds.push_back({{"kind", kind.kind},
                     {"choices", kind.choices},
                     {"mean_regret", kind.mean_regret},
                     {"worst_regret", kind.worst_regret}});
  }
  Json times = Json::array();
  for (const fit::TimesJudgement& kind : judgement.times) {
    times.push_back(
        {{"kind", kind.kind}, {"points", kind.points}, {"mean_error", kind.mean_error}});
  }
  Json json = {{"time", validation.time_unix_s},
               {"campaigns", validation.campaigns},
               {"points", judgement.points},
               {"mean_error", judgement.mean_error},
               {"largest_error", judgement.largest_error},
               {"choices", judgement.choices},
               {"mean_regret", judgement.mean_regret},
               {"worst_regret", judgement.worst_regret},
               {"times", std::move(times)},
               {"missed", judgement.missed},
               {"kinds", std::move(kinds)},
               {"compared", judgement.compared},
               {"over_untuned", judgement.over_untuned},
               {"over_untuned_low", judgement.over_untuned_low},
               {"losses", judgement.losses},
               {"worst_loss", judgement.worst_loss},
               {"worst_loss_share", judgement.worst_loss_share}};
  if (judgement.settings) {
    json["settings"] = {{"validated", judgement.settings->validated},
                        {"probe_factor", judgement.settings->probe_factor},
                        {"inconclusive", judgement.settings->inconclusive}};
  }
  return json;
}

namespace {

// What validations hold since they judge times by kind.
void add_times(const Json& json, fit::Judgement& judgement) {
  if (!json.contains("times")) return;
  for (const Json& kind : json.at("times")) {
    judgement.times.push_back({kind.at("kind").get<std::string>(), kind.at("points").get<size_t>(),
                               kind.at("mean_error").get<double>()});
  }
}

// What validations hold since they judge decisions.
void add_decisions(const Json& json, fit::Judgement& judgement) {
  if (!json.contains("kinds")) return;
  judgement.missed = json.at("missed").get<size_t>();
  for (const Json& kind : json.at("kinds")) {
    judgement.kinds.push_back({kind.at("kind").get<std::string>(), kind.at("choices").get<size_t>(),
                               kind.at("mean_regret").get<double>(),
                               kind.at("worst_regret").get<double>()});
  }
  judgement.compared = json.at("compared").get<size_t>();
  judgement.over_untuned = json.at("over_untuned").get<double>();
  judgement.over_untuned_low = json.at("over_untuned_low").get<double>();
  judgement.losses = json.at("losses").get<size_t>();
  judgement.worst_loss = json.at("worst_loss").get<std::string>();
  judgement.worst_loss_share = json.at("worst_loss_share").get<double>();
}

}  // namespace

Result<ValidationRecord> validation_from_json(const Json& json) {
  ValidationRecord validation;
  try {
    validation.time_unix_s = json.at("time").get<double>();
    validation.campaigns = json.at("campaigns").get<std::vector<std::string>>();
    validation.judgement = {
        json.at("points").get<size_t>(),        json.at("mean_error").get<double>(),
        json.at("largest_error").get<double>(), json.at("choices").get<size_t>(),
        json.at("mean_regret").get<double>(),   json.at("worst_regret").get<double>()};
    add_times(json, validation.judgement);
    add_decisions(json, validation.judgement);
    if (const auto settings = json.find("settings"); settings != json.end()) {
      validation.judgement.settings = {settings->at("validated").get<bool>(),
                                       settings->at("probe_factor").get<double>(),
                                       // Earlier servers did not count them.
                                       settings->value("inconclusive", size_t{0})};
    }
  } catch (const Json::exception& error) {
    return Error(ErrorCode::data_loss, std::string("stored validation: ") + error.what());
  }
  return validation;
}

Json to_json(const fit::SentinelReading& reading) {
  return {{"points", reading.points},
          {"outside", reading.outside},
          {"ratio", reading.ratio},
          {"bursts", reading.bursts},
          {"bursts_outside", reading.bursts_outside},
          {"shapes", reading.shapes},
          {"shapes_outside", reading.shapes_outside}};
}

Result<fit::SentinelReading> reading_from_json(const Json& json) {
  try {
    fit::SentinelReading reading{json.at("points").get<size_t>(), json.at("outside").get<size_t>(),
                                 json.at("ratio").get<double>()};
    // Earlier checks had none.
    reading.bursts = json.value("bursts", size_t{0});
    reading.bursts_outside = json.value("bursts_outside", size_t{0});
    reading.shapes = json.value("shapes", size_t{0});
    reading.shapes_outside = json.value("shapes_outside", size_t{0});
    return reading;
  } catch (const Json::exception& error) {
    return Error(ErrorCode::data_loss, std::string("stored check: ") + error.what());
  }
}

}  // namespace stripline::server
