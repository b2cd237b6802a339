#include "tests/plans/models.h"

#include "optimizer/model/model_fixture.h"
#include "runtime/fabric/emulated/profile.h"
#include "runtime/loop/testing/exact_costs.h"
#include "tests/plans/draw.h"

namespace stripline::plan_corpus {
namespace {

constexpr int kSynthetic = 5;
constexpr const char* kPath = "inter-node";

void widen(std::optional<model::Parameter>& parameter, double half_width) {
  if (!parameter) return;
  parameter->ci_low = parameter->value * (1 - half_width);
  parameter->ci_high = parameter->value * (1 + half_width);
}

void widen(std::optional<model::OperationModel>& operation, double half_width) {
  for (model::Segment& s : operation->segments) {
    for (auto* parameter : {&s.o_base_s, &s.o_per_byte_s, &s.L_s, &s.g_s, &s.G_s_per_byte,
                            &s.r_base_s, &s.r_per_byte_s, &s.s_base_s, &s.s_per_byte_s}) {
      widen(*parameter, half_width);
    }
  }
}

Network compiled(std::string name, const model::TunedModel& m) {
  return {std::move(name), plan::CompiledPath(m, *m.network.begin()), m.shared_update};
}

model::PathModel path_of(const std::string& profile_name) {
  const auto request = fabric::resolve_profile("emulated:" + profile_name);
  EXPECT_TRUE(request.ok());
  const fabric::Profile& profile = request->profile;
  return {exactly(profile.put, profile.queue_depth), exactly(profile.get, profile.queue_depth),
          exactly(profile.am, profile.injection_limit)};
}

Network exact(const std::string& profile) {
  model::TunedModel m;
  m.network[kPath] = path_of(profile);
  m.strip = exact_strip("emulated:" + profile);
  m.update = model::example_model().update;
  return compiled(profile, m);
}

Network measured(const std::string& profile, Draw& draw) {
  model::TunedModel m = model::example_model();
  model::PathModel path = path_of(profile);
  for (auto* operation : {&path.put, &path.get, &path.am}) {
    widen(*operation, 0.01 * static_cast<double>(draw.between(1, 15)));
  }
  if (!draw.one_in(3)) path.get->buffers = model::example_buffers();
  m.network = {{kPath, path}};
  m.pack = model::example_pack();
  m.vis = {{kPath, model::example_vis()}};
  return compiled(profile + ",measured", m);
}

model::OperationModel synthetic_operation(Draw& draw) {
  const double width = 0.001 * static_cast<double>(draw.between(1, 100));
  const auto parameter = [&](double value) { return model::example_parameter(value, width); };
  const double L = draw.scaled(0.5e-6, 7);
  const double G = draw.scaled(0.05e-9, 8);
  const double o = draw.scaled(0.1e-6, 5);
  const bool serves = draw.one_in(2);
  model::OperationModel operation;
  const auto segments = static_cast<int>(draw.between(1, 3));
  uint64_t from = 0;
  for (int i = 0; i < segments; ++i) {
    model::Segment s;
    s.from_bytes = from;
    from = i + 1 == segments ? uint64_t{64} << 20 : uint64_t{1} << (8 + 4 * i + draw.below(3));
    s.to_bytes = from;
    s.o_base_s = parameter(o);
    s.o_per_byte_s = parameter(draw.scaled(0.001, 6) * G);
    s.L_s = parameter(L * (1 + 0.3 * i));
    s.g_s = parameter(draw.scaled(0.05, 4) * o);
    s.G_s_per_byte = parameter(G * draw.scaled(0.9, 1));
    s.r_base_s = parameter(draw.scaled(0.1, 3) * o);
    s.r_per_byte_s = parameter(draw.scaled(0.001, 8) * G);
    if (serves) {
      s.s_base_s = parameter(draw.scaled(0.1, 3) * o);
      s.s_per_byte_s = parameter(draw.scaled(0.001, 8) * G);
    }
    operation.segments.push_back(s);
  }
  operation.queue_depth = parameter(static_cast<double>(uint64_t{4} << draw.below(8)));
  return operation;
}

Network synthetic(int number, Draw& draw) {
  model::TunedModel m = model::example_model();
  model::PathModel path{synthetic_operation(draw), synthetic_operation(draw), std::nullopt};
  if (!draw.one_in(3)) path.am = synthetic_operation(draw);
  if (draw.one_in(2)) path.get->buffers = model::example_buffers();
  m.network = {{kPath, path}};
  if (draw.one_in(3)) m.compute.reset();
  if (draw.one_in(3)) m.strip.reset();
  if (draw.one_in(2)) m.pack = model::example_pack();
  if (draw.one_in(2)) m.vis = {{kPath, model::example_vis()}};
  if (draw.one_in(2)) m.service_levels.reset();
  return compiled("synthetic-" + std::to_string(number), m);
}

}  // namespace

std::vector<Network> networks() {
  std::vector<Network> all;
  all.push_back({"no-model", std::nullopt});
  Draw draw(1);
  for (const std::string& profile : fabric::builtin_profile_names()) {
    all.push_back(exact(profile));
    all.push_back(measured(profile, draw));
  }
  for (int i = 0; i < kSynthetic; ++i) all.push_back(synthetic(i, draw));
  return all;
}

}  // namespace stripline::plan_corpus
