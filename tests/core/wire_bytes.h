// Protobuf wire bytes, written by hand for tests of the reader: also those that
// no serializer would write.
//
//   std::string any = Any("type.googleapis.com/google.rpc.RetryInfo",
//                         Bytes(1, Number(1, 5)));
#ifndef REDIAL_TESTS_CORE_WIRE_BYTES_H_
#define REDIAL_TESTS_CORE_WIRE_BYTES_H_

#include <cstdint>
#include <string>

namespace redial {

inline std::string Varint(uint64_t value) {
  std::string out;
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
  return out;
}

inline std::string Tag(uint32_t field, uint32_t wire_type) {
  return Varint(uint64_t{field} << 3 | wire_type);
}

inline std::string Number(uint32_t field, int64_t value) {
  return Tag(field, 0) + Varint(static_cast<uint64_t>(value));
}

inline std::string Bytes(uint32_t field, const std::string& value) {
  return Tag(field, 2) + Varint(value.size()) + value;
}

// A field `details` of google.rpc.Status.
inline std::string Any(const std::string& type_url, const std::string& value) {
  return Bytes(3, Bytes(1, type_url) + Bytes(2, value));
}

// The value of a RetryInfo that has a delay.
inline std::string RetryInfo(int64_t seconds, int64_t nanos = 0) {
  std::string duration;
  if (seconds != 0) duration += Number(1, seconds);
  if (nanos != 0) duration += Number(2, nanos);
  return Bytes(1, duration);
}

inline constexpr char kRetryInfoType[] =
    "type.googleapis.com/google.rpc.RetryInfo";
inline constexpr char kErrorInfoType[] =
    "type.googleapis.com/google.rpc.ErrorInfo";

}  // namespace redial

#endif  // REDIAL_TESTS_CORE_WIRE_BYTES_H_
