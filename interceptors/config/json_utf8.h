// UTF-8, as far as JSON needs it (RFC 3629). Pure functions.
#ifndef REDIAL_CONFIG_JSON_UTF8_H_
#define REDIAL_CONFIG_JSON_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace redial {

// Bytes of the character at the start of `text`, 1 to 4; 0 if there is none
// that is valid (overlong forms, surrogates and code points above U+10FFFF are
// not).
size_t Utf8Length(absl::string_view text);

// Appends the character `code`, which must be one.
void AppendUtf8(uint32_t code, std::string* out);

}  // namespace redial

#endif  // REDIAL_CONFIG_JSON_UTF8_H_
