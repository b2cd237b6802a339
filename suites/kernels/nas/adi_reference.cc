#include "suites/kernels/nas/adi_reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace stripline::suites::nas {
namespace {

constexpr double kTolerance = 1e-8;

constexpr std::array<AdiClass, 4> kBt = {{
    {NasClass::s,
     12,
     60,
     0.01,
     {{1.7034283709541311e-01, 1.2975252070034097e-02, 3.2527926989486055e-02,
       2.6436421275166801e-02, 1.9211784131744430e-01},
      {4.9976913345811579e-04, 4.5195666782961927e-05, 7.3973765172921357e-05,
       7.3821238632439731e-05, 8.9269630987491446e-04}}},
    {NasClass::w,
     24,
     200,
     0.0008,
     {{0.1125590409344e+03, 0.1180007595731e+02, 0.2710329767846e+02, 0.2469174937669e+02,
       0.2638427874317e+03},
      {0.4419655736008e+01, 0.4638531260002e+00, 0.1011551749967e+01, 0.9235878729944e+00,
       0.1018045837718e+02}}},
    {NasClass::a,
     64,
     200,
     0.0008,
     {{1.0806346714637264e+02, 1.1319730901220813e+01, 2.5974354511582465e+01,
       2.3665622544678910e+01, 2.5278963211748344e+02},
      {4.2348416040525025e+00, 4.4390282496995698e-01, 9.6692480136345650e-01,
       8.8302063039765474e-01, 9.7379901770829278e+00}}},
    {NasClass::b,
     102,
     200,
     0.0003,
     {{1.4233597229287254e+03, 9.9330522590150238e+01, 3.5646025644535285e+02,
       3.2485447959084092e+02, 3.2707541254659363e+03},
      {5.2969847140936856e+01, 4.4632896115670668e+00, 1.3122573342210174e+01,
       1.2006925323559144e+01, 1.2459576151035986e+02}}},
}};

constexpr std::array<AdiClass, 4> kSp = {{
    {NasClass::s,
     12,
     100,
     0.015,
     {{2.7470315451339479e-02, 1.0360746705285417e-02, 1.6235745065095532e-02,
       1.5840557224455615e-02, 3.4849040609362460e-02},
      {2.7289258557377227e-05, 1.0364446640837285e-05, 1.6154798287166471e-05,
       1.5750704994480102e-05, 3.4177666183390531e-05}}},
    {NasClass::w,
     36,
     400,
     0.0015,
     {{0.1893253733584e-02, 0.1717075447775e-03, 0.2778153350936e-03, 0.2887475409984e-03,
       0.3143611161242e-02},
      {0.7542088599534e-04, 0.6512852253086e-05, 0.1049092285688e-04, 0.1128838671535e-04,
       0.1212845639773e-03}}},
    {NasClass::a,
     64,
     400,
     0.0015,
     {{2.4799822399300195e+00, 1.1276337964368832e+00, 1.5028977888770491e+00,
       1.4217816211695179e+00, 2.1292113035138280e+00},
      {1.0900140297820550e-04, 3.7343951769282091e-05, 5.0092785406541633e-05,
       4.7671093939528255e-05, 1.3621613399213001e-04}}},
    {NasClass::b,
     102,
     400,
     0.001,
     {{0.6903293579998e+02, 0.3095134488084e+02, 0.4103336647017e+02, 0.3864769009604e+02,
       0.5643482272596e+02},
      {0.9810006190188e-02, 0.1022827905670e-02, 0.1720597911692e-02, 0.1694479428231e-02,
       0.1847456263981e-01}}},
}};

}  // namespace

std::span<const AdiClass> bt_classes() { return kBt; }
std::span<const AdiClass> sp_classes() { return kSp; }

const AdiClass* find_class(std::span<const AdiClass> classes, NasClass problem_class) {
  const auto found = std::ranges::find(classes, problem_class, &AdiClass::problem_class);
  return found == classes.end() ? nullptr : &*found;
}

double largest_deviation(const AdiClass& expected, const AdiNorms& norms) {
  double largest = 0;
  for (size_t m = 0; m < kComponents; ++m) {
    for (const auto& [is, right] : {std::pair{norms.residual[m], expected.reference.residual[m]},
                                    std::pair{norms.error[m], expected.reference.error[m]}}) {
      if (!std::isfinite(is)) return std::numeric_limits<double>::infinity();
      largest = std::max(largest, std::abs((is - right) / right));
    }
  }
  return largest;
}

bool verify(const AdiClass& expected, const AdiNorms& norms) {
  return largest_deviation(expected, norms) <= kTolerance;
}

}  // namespace stripline::suites::nas
