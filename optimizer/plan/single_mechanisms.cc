#include "optimizer/plan/single_mechanisms.h"

#include <array>

namespace stripline::plan {

std::span<const Field<AtomicRequest>> AtomicMechanism::fields() {
  static constexpr std::array<Field<AtomicRequest>, 3> kFields = {
      field<AtomicRequest, &AtomicRequest::mapped>(
          "mapped", "--mapped", "atomic operations on mapped memory",
          "Some rank reaches another's variables by loads and stores"),
      field<AtomicRequest, &AtomicRequest::lacking>(
          "lacking", "--lacking", ", one of which the provider lacks",
          "The provider lacks an operation of the domain"),
      field<AtomicRequest, &AtomicRequest::together>(
          "together", "--together", ", those without a result together",
          "Operations without a result may wait for each other, as with stripline run "
          "--coalesce")};
  return kFields;
}

std::span<const Field<PutRequest>> PutMechanism::fields() {
  static constexpr std::array<Field<PutRequest>, 3> kFields = {
      bytes<PutRequest, &PutRequest::bytes>("bytes", "--bytes", "put of {}", "Bytes of the put")
          .required(),
      field<PutRequest, &PutRequest::implicit>("implicit", "--implicit", " without a handle",
                                               "Only a fence waits for it"),
      field<PutRequest, &PutRequest::buffered>("buffered", "--buffered", " that is buffered",
                                               "The program may change its source at once")};
  return kFields;
}

std::span<const Field<ProgressRequest>> ProgressMechanism::fields() {
  using Asked = ProgressRequest;
  static constexpr std::array<Field<Asked>, 4> kFields = {
      field<Asked, &Asked::calls>("calls", "--calls", "{} calls that waited",
                                  "Calls of the program that have waited")
          .within(0, kMostNumber)
          .required(),
      field<Asked, &Asked::missed>("missed", "--missed", ", {} times that peers had to wait",
                                   "Times that peers waited for the rank's attention")
          .within(0, kMostNumber)
          .always(),
      field<Asked, &Asked::waited_s>("waited_s", "--waited", ", for {}",
                                     "How long they waited, in all")
          .always(),
      field<Asked, &Asked::absence_s>("absence_s", "--absence", ", a thread looks after {}",
                                      "A thread does not serve a program that called less than "
                                      "this long ago")};
  return kFields;
}

}  // namespace stripline::plan
