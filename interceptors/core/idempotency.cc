#include "redial/core/idempotency.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace redial {
namespace {

constexpr size_t kMaxKeyLength = 255;

}  // namespace

bool MaySendTwice(Idempotency descriptor, Idempotency config, bool has_key) {
  for (const Idempotency level : {descriptor, config}) {
    switch (level) {
      case Idempotency::kIdempotent:
      case Idempotency::kNoSideEffects:
        return true;
      case Idempotency::kNotIdempotent:
        return false;
      case Idempotency::kUnknown:
        break;
    }
  }
  return has_key;
}

std::string GenerateUuidV4(RandomSource& random) {
  constexpr uint64_t kVersion = 0x4000;
  constexpr uint64_t kVariant = 0x8000000000000000;
  const uint64_t high = (random.NextBits() & ~uint64_t{0xf000}) | kVersion;
  const uint64_t low =
      (random.NextBits() & ~uint64_t{0xc000000000000000}) | kVariant;
  return absl::StrFormat("%08x-%04x-%04x-%04x-%012x", high >> 32,
                         (high >> 16) & 0xffff, high & 0xffff, low >> 48,
                         low & 0xffffffffffff);
}

absl::Status ValidateIdempotencyKey(absl::string_view key) {
  if (key.empty()) {
    return absl::InvalidArgumentError("the idempotency key is empty");
  }
  if (key.size() > kMaxKeyLength) {
    return absl::InvalidArgumentError(
        absl::StrCat("the idempotency key has ", key.size(),
                     " characters, more than ", kMaxKeyLength));
  }
  const auto bad = std::find_if(key.begin(), key.end(), [](unsigned char c) {
    return !absl::ascii_isprint(c);
  });
  if (bad != key.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("character ", bad - key.begin() + 1,
                     " of the idempotency key is not printable ASCII"));
  }
  if (key.front() == ' ' || key.back() == ' ') {
    return absl::InvalidArgumentError(
        "the idempotency key begins or ends with a space");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ChooseIdempotencyKey(
    const IdempotencyKeyPolicy& policy,
    const absl::optional<std::string>& from_options, bool in_metadata,
    RandomSource& random) {
  if (in_metadata) return std::string();
  std::string key;
  if (from_options.has_value()) {
    key = *from_options;
  } else if (!policy.generate) {
    return std::string();
  } else {
    key = policy.generator ? policy.generator(random) : GenerateUuidV4(random);
  }
  absl::Status valid = ValidateIdempotencyKey(key);
  if (!valid.ok()) return valid;
  return key;
}

}  // namespace redial
