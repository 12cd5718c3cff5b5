// Idempotency: may a request run twice, and the key that makes it so (features
// 1.5, 5.1).
#ifndef REDIAL_CORE_IDEMPOTENCY_H_
#define REDIAL_CORE_IDEMPOTENCY_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "redial/core/random_source.h"

namespace redial {

enum class Idempotency {
  kUnknown,
  kNotIdempotent,
  kIdempotent,
  kNoSideEffects,
};

inline constexpr char kIdempotencyKeyName[] = "idempotency-key";

struct IdempotencyKeyPolicy {
  // Make a key for each call that does not bring its own.
  bool generate = false;
  // Metadata or header name, lower case.
  std::string name = kIdempotencyKeyName;
  // Replaces the UUID v4. Runs once per call, on the caller's thread.
  std::function<std::string(RandomSource&)> generator;
};

// Whether a request may be sent again although the server may have seen it: the
// method's own descriptor first, then config, then a key, else no. The first
// that is not kUnknown decides: no key makes a method safe of which the
// descriptor or config says that it is not.
bool MaySendTwice(Idempotency descriptor, Idempotency config, bool has_key);

// "f47ac10b-58cc-4372-a567-0e02b2c3d479": version 4, variant 1 (RFC 9562).
std::string GenerateUuidV4(RandomSource& random);

// A key is 1 to 255 printable ASCII characters, with no space at its ends; the
// error says what is wrong without quoting the key.
absl::Status ValidateIdempotencyKey(absl::string_view key);

// The key to send: the caller's (`from_options`), else a generated one if the
// policy says so, else none (an empty string). `in_metadata` is true where the
// caller set the key as plain metadata; that one is never replaced, and the
// result is empty. An error if the key is not valid.
absl::StatusOr<std::string> ChooseIdempotencyKey(
    const IdempotencyKeyPolicy& policy,
    const absl::optional<std::string>& from_options, bool in_metadata,
    RandomSource& random);

}  // namespace redial

#endif  // REDIAL_CORE_IDEMPOTENCY_H_
