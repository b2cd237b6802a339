#include "optimizer/model/feedback.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/json.h"

namespace stripline::model {
namespace {

constexpr int64_t kForm = 1;
constexpr const char* kMark = "stripline_feedback";
constexpr size_t kSha256Digits = 64;
constexpr uint32_t kMostRanks = 1U << 20;

Json to_json(const FeedbackPlace& place) {
  return {{"place", place.place},
          {"what", place.what},
          {"choice", place.choice},
          {"ranks", place.ranks},
          {"executions", place.executions},
          {"as_chosen", place.as_chosen},
          {"predicted_s", place.predicted_s},
          {"measured_s", place.measured_s},
          {"simple", place.simple},
          {"simple_s", place.simple_s},
          {"demoted_ranks", place.demoted_ranks}};
}

// To its bound, between characters of UTF-8; what is none is replaced first, as it may grow.
void cut(std::string& text) {
  const auto replace = Json::error_handler_t::replace;
  text = Json::parse(Json(text).dump(-1, ' ', false, replace)).get<std::string>();
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  size_t end = std::min(text.size(), kMaxFeedbackTextBytes);
  while (end < text.size() && end > 0 && continues(text[end])) --end;
  text.resize(end);
}

bool is_hash(const std::string& text) {
  return text.size() == kSha256Digits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Reads members one after the other; the first that is wrong is what is said.
class Reader {
 public:
  Reader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {}

  void read(const char* key, std::string& value) {
    if (!status_.ok()) return;
    auto text = get_string(object_, key, where_);
    if (!text.ok()) return fail(text.error());
    if (text->size() > kMaxFeedbackTextBytes) {
      return fail(key, "has more than " + std::to_string(kMaxFeedbackTextBytes) + " bytes");
    }
    value = *std::move(text);
  }
  template <typename Count>
  void read(const char* key, Count& value, int64_t most = std::numeric_limits<int64_t>::max()) {
    if (!status_.ok()) return;
    const auto number = get_integer(object_, key, where_);
    if (!number.ok()) return fail(number.error());
    if (*number < 0 || *number > most) return fail(key, "is out of range");
    value = static_cast<Count>(*number);
  }
  void read(const char* key, double& value) {
    if (!status_.ok()) return;
    const auto number = get_number(object_, key, where_);
    if (!number.ok()) return fail(number.error());
    if (!std::isfinite(*number) || *number < 0) return fail(key, "is not a time");
    value = *number;
  }
  void fail(const Error& error) {
    if (status_.ok()) status_ = error;
  }
  void fail(const std::string& key, const std::string& what) {
    fail(Error(ErrorCode::data_loss, where_ + "." + key + " " + what));
  }
  const Status& status() const { return status_; }

 private:
  const Json& object_;
  const std::string where_;
  Status status_;
};

Result<FeedbackPlace> place_from_json(const Json& json, const std::string& where) {
  if (!json.is_object()) return Error(ErrorCode::data_loss, where + " is not an object");
  FeedbackPlace place;
  Reader reader(json, where);
  reader.read("place", place.place);
  reader.read("what", place.what);
  reader.read("choice", place.choice);
  reader.read("ranks", place.ranks, kMostRanks);
  reader.read("executions", place.executions);
  reader.read("as_chosen", place.as_chosen);
  reader.read("predicted_s", place.predicted_s);
  reader.read("measured_s", place.measured_s);
  reader.read("simple", place.simple);
  reader.read("simple_s", place.simple_s);
  reader.read("demoted_ranks", place.demoted_ranks, kMostRanks);
  if (!reader.status().ok()) return reader.status().error();
  return place;
}

// A mean over both; of executions of which nothing is known only the number counts.
double joint_mean(double a_s, uint64_t a_count, double b_s, uint64_t b_count) {
  const double a_weight = a_s > 0 ? static_cast<double>(a_count) : 0;
  const double b_weight = b_s > 0 ? static_cast<double>(b_count) : 0;
  if (a_weight + b_weight == 0) return 0;
  return (a_s * a_weight + b_s * b_weight) / (a_weight + b_weight);
}

/// What is known of a place while ranks are brought together.
struct Together {
  FeedbackPlace place;
  std::map<std::string, uint64_t> executions_by_choice;
  // The number of the last list that it was found in, or found demoted in; 0: none.
  size_t list = 0;
  size_t demoted_in = 0;

  // List number `number` has `one`, and maybe others of this place.
  void add(const FeedbackPlace& one, size_t number) {
    executions_by_choice[one.choice] += one.executions;
    FeedbackPlace& to = place;
    to.predicted_s = joint_mean(to.predicted_s, to.as_chosen, one.predicted_s, one.as_chosen);
    to.measured_s = joint_mean(to.measured_s, to.as_chosen, one.measured_s, one.as_chosen);
    to.simple_s = joint_mean(to.simple_s, to.simple, one.simple_s, one.simple);
    to.executions += one.executions;
    to.as_chosen += one.as_chosen;
    to.simple += one.simple;
    if (std::exchange(list, number) != number) ++to.ranks;
    if (one.demoted_ranks > 0 && std::exchange(demoted_in, number) != number) ++to.demoted_ranks;
  }
  FeedbackPlace take() {
    const auto most = std::ranges::max_element(executions_by_choice, {},
                                               [](const auto& one) { return one.second; });
    place.choice = most->first;
    return std::move(place);
  }
};

double took_s(const FeedbackPlace& place) {
  return (place.measured_s > 0 ? place.measured_s : place.predicted_s) *
             static_cast<double>(place.as_chosen) +
         place.simple_s * static_cast<double>(place.simple);
}

}  // namespace

std::vector<FeedbackPlace> places_of_ranks(
    const std::vector<std::vector<FeedbackPlace>>& of_ranks) {
  std::map<std::pair<std::string, std::string>, Together> known;
  size_t number = 0;
  for (const std::vector<FeedbackPlace>& of_rank : of_ranks) {
    ++number;
    for (const FeedbackPlace& one : of_rank) {
      const auto [found, is_new] = known.try_emplace({one.place, one.what});
      if (is_new) found->second.place = {.place = one.place, .what = one.what};
      found->second.add(one, number);
    }
  }
  std::vector<FeedbackPlace> all;
  all.reserve(known.size());
  for (auto& [key, together] : known) all.push_back(together.take());
  std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return took_s(a) > took_s(b); });
  return all;
}

Json to_json(const Feedback& feedback) {
  Json places = Json::array();
  for (const FeedbackPlace& place : feedback.places) places.push_back(to_json(place));
  return {{kMark, kForm},
          {"model_sha256", feedback.model_sha256},
          {"run", feedback.run},
          {"program", feedback.program},
          {"fabric", feedback.fabric},
          {"ranks", feedback.ranks},
          {"elapsed_s", feedback.elapsed_s},
          {"guard",
           {{"checks", feedback.guard.checks},
            {"excess_s", feedback.guard.excess_s},
            {"taken_s", feedback.guard.taken_s},
            {"share", feedback.guard.share()}}},
          {"buffer_bytes", feedback.buffer_bytes},
          {"places", std::move(places)},
          {"places_left_out", feedback.places_left_out}};
}

std::string feedback_text(const Feedback& feedback) { return dumped(to_json(feedback)); }

Result<Feedback> parse_feedback(std::string_view text, std::string_view what) {
  const std::string where(what);
  if (text.size() > kMaxFeedbackBytes) {
    return Error(ErrorCode::data_loss, where + " has more than " +
                                           std::to_string(kMaxFeedbackBytes) +
                                           " bytes, which no report has");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, parse_json(text, what));
  const auto form = get_integer(json, kMark, where);
  if (!form.ok()) {
    return Error(ErrorCode::data_loss,
                 where + " is not a report of a run; 'stripline run --report FILE' writes one");
  }
  if (*form != kForm) {
    return Error(ErrorCode::failed_precondition, where + " has form " + std::to_string(*form) +
                                                     ", this build reads form " +
                                                     std::to_string(kForm));
  }
  Feedback feedback;
  Reader reader(json, where);
  reader.read("model_sha256", feedback.model_sha256);
  reader.read("run", feedback.run);
  reader.read("program", feedback.program);
  reader.read("fabric", feedback.fabric);
  reader.read("ranks", feedback.ranks, kMostRanks);
  reader.read("elapsed_s", feedback.elapsed_s);
  reader.read("places_left_out", feedback.places_left_out);
  if (json.contains("buffer_bytes")) reader.read("buffer_bytes", feedback.buffer_bytes);
  if (json.contains("guard")) {
    Reader of_guard(json["guard"], where + ".guard");
    of_guard.read("checks", feedback.guard.checks);
    of_guard.read("excess_s", feedback.guard.excess_s);
    of_guard.read("taken_s", feedback.guard.taken_s);
    if (!of_guard.status().ok()) reader.fail(of_guard.status().error());
  }
  if (!is_hash(feedback.model_sha256)) reader.fail("model_sha256", "is no SHA-256");
  if (!reader.status().ok()) return reader.status().error();
  STRIPLINE_ASSIGN_OR_RETURN(const Json* const places, get_array(json, "places", where));
  if (places->size() > kMaxFeedbackPlaces) {
    return Error(ErrorCode::data_loss,
                 where + " has more than " + std::to_string(kMaxFeedbackPlaces) + " places");
  }
  for (size_t i = 0; i < places->size(); ++i) {
    STRIPLINE_ASSIGN_OR_RETURN(
        FeedbackPlace place,
        place_from_json((*places)[i], where + ".places[" + std::to_string(i) + "]"));
    feedback.places.push_back(std::move(place));
  }
  return feedback;
}

std::string report_text(Feedback feedback) {
  for (std::string* text : {&feedback.run, &feedback.program, &feedback.fabric}) cut(*text);
  for (FeedbackPlace& place : feedback.places) {
    for (std::string* text : {&place.place, &place.what, &place.choice}) cut(*text);
  }
  size_t kept = std::min(feedback.places.size(), kMaxFeedbackPlaces);
  while (true) {
    feedback.places_left_out += feedback.places.size() - kept;
    feedback.places.resize(kept);
    std::string text = to_json(feedback).dump() + "\n";
    if (text.size() <= kMaxFeedbackBytes) return text;
    kept = kept * kMaxFeedbackBytes / (text.size() + 1);
  }
}

}  // namespace stripline::model
