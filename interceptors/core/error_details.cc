#include "redial/core/error_details.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/match.h"

namespace redial {
namespace {

enum WireType : uint32_t {
  kVarint = 0,
  kFixed64 = 1,
  kLengthDelimited = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

struct Field {
  uint32_t number = 0;
  uint32_t wire_type = 0;
  uint64_t varint = 0;      // for kVarint
  absl::string_view bytes;  // for kLengthDelimited

  bool IsBytes(uint32_t n) const {
    return number == n && wire_type == kLengthDelimited;
  }
  bool IsVarint(uint32_t n) const {
    return number == n && wire_type == kVarint;
  }
};

// Goes through the fields of one message. Groups are stepped over as a whole
// and come out as a field without a value.
class FieldReader {
 public:
  explicit FieldReader(absl::string_view message) : rest_(message) {}

  // False at the end and where the bytes make no sense (`malformed`).
  bool Next(Field* field) {
    if (rest_.empty() || malformed_) return false;
    malformed_ = !Read(/*in_group=*/false, field) ||
                 (field->wire_type == kStartGroup && !SkipGroup(field->number));
    return !malformed_;
  }

  bool malformed() const { return malformed_; }

 private:
  // As deep as protobuf itself goes.
  static constexpr size_t kMaxDepth = 100;
  static constexpr int kMaxVarint64Bytes = 10;
  static constexpr int kMaxVarint32Bytes = 5;

  bool ReadVarint(int max_bytes, uint64_t* value) {
    *value = 0;
    for (int i = 0; i < max_bytes && !rest_.empty(); ++i) {
      const uint64_t byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      *value |= (byte & 0x7f) << (7 * i);
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool ReadBytes(uint64_t length, absl::string_view* bytes) {
    if (length > rest_.size()) return false;
    *bytes = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return true;
  }

  // One tag and its value; of a group, the tag alone.
  bool Read(bool in_group, Field* field) {
    uint64_t tag;
    if (!ReadVarint(kMaxVarint32Bytes, &tag) || tag > UINT32_MAX) return false;
    field->number = static_cast<uint32_t>(tag >> 3);
    field->wire_type = static_cast<uint32_t>(tag & 7);
    if (field->number == 0) return false;
    absl::string_view skipped;
    uint64_t length;
    switch (field->wire_type) {
      case kVarint:
        return ReadVarint(kMaxVarint64Bytes, &field->varint);
      case kFixed64:
        return ReadBytes(8, &skipped);
      case kLengthDelimited:
        return ReadVarint(kMaxVarint32Bytes, &length) &&
               ReadBytes(length, &field->bytes);
      case kStartGroup:
        return true;
      case kEndGroup:
        return in_group;
      case kFixed32:
        return ReadBytes(4, &skipped);
      default:
        return false;
    }
  }

  bool SkipGroup(uint32_t number) {
    std::array<uint32_t, kMaxDepth> open;
    size_t depth = 0;
    open[depth++] = number;
    while (depth > 0) {
      Field field;
      if (rest_.empty() || !Read(/*in_group=*/true, &field)) return false;
      if (field.wire_type == kStartGroup) {
        if (depth == kMaxDepth) return false;
        open[depth++] = field.number;
      } else if (field.wire_type == kEndGroup) {
        if (open[--depth] != field.number) return false;
      }
    }
    return true;
  }

  absl::string_view rest_;
  bool malformed_ = false;
};

// google.protobuf.Duration before it is judged.
struct WireDuration {
  int64_t seconds = 0;
  int32_t nanos = 0;

  // Adds the fields of one occurrence: of a field that comes twice the last
  // one counts.
  bool Merge(absl::string_view message) {
    FieldReader reader(message);
    Field field;
    while (reader.Next(&field)) {
      if (field.IsVarint(1)) seconds = static_cast<int64_t>(field.varint);
      if (field.IsVarint(2)) nanos = static_cast<int32_t>(field.varint);
    }
    return !reader.malformed();
  }

  // None for what is negative, too long, or no Duration at all.
  absl::optional<absl::Duration> ToDelay() const {
    constexpr int64_t kMaxSeconds = 315576000000;
    constexpr int32_t kMaxNanos = 999999999;
    if (seconds < 0 || seconds > kMaxSeconds || nanos < 0 ||
        nanos > kMaxNanos) {
      return absl::nullopt;
    }
    return absl::Seconds(seconds) + absl::Nanoseconds(nanos);
  }
};

void ReadRetryInfo(absl::string_view message, ErrorDetails* details) {
  if (details->retry_delay.has_value()) return;
  FieldReader reader(message);
  Field field;
  WireDuration delay;
  bool present = false;
  while (reader.Next(&field)) {
    if (!field.IsBytes(1)) continue;
    present = true;
    if (!delay.Merge(field.bytes)) {
      details->malformed = true;
      return;
    }
  }
  if (reader.malformed()) {
    details->malformed = true;
  } else if (present) {
    details->retry_delay = delay.ToDelay();
    if (!details->retry_delay.has_value()) details->malformed = true;
  }
}

// False if the message makes no sense.
bool ReadErrorInfo(absl::string_view message, ErrorDetails* details) {
  FieldReader reader(message);
  Field field;
  absl::string_view reason;
  absl::string_view domain;
  while (reader.Next(&field)) {
    if (field.IsBytes(1)) reason = field.bytes;
    if (field.IsBytes(2)) domain = field.bytes;
  }
  if (reader.malformed()) return false;
  details->error_reason = reason;
  details->error_domain = domain;
  return true;
}

}  // namespace

ErrorDetails ParseErrorDetails(absl::string_view status_details) {
  ErrorDetails details;
  bool has_error_info = false;
  FieldReader status(status_details);
  Field detail;
  while (status.Next(&detail)) {
    if (!detail.IsBytes(3)) continue;
    // google.protobuf.Any.
    absl::string_view type_url;
    absl::string_view value;
    FieldReader any(detail.bytes);
    Field field;
    while (any.Next(&field)) {
      if (field.IsBytes(1)) type_url = field.bytes;
      if (field.IsBytes(2)) value = field.bytes;
    }
    if (any.malformed()) {
      details.malformed = true;
    } else if (absl::EndsWith(type_url, "/google.rpc.RetryInfo")) {
      ReadRetryInfo(value, &details);
    } else if (absl::EndsWith(type_url, "/google.rpc.ErrorInfo") &&
               !has_error_info) {
      has_error_info = ReadErrorInfo(value, &details);
      if (!has_error_info) details.malformed = true;
    }
  }
  if (status.malformed()) details.malformed = true;
  return details;
}

}  // namespace redial
