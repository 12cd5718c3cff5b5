// The part of json_reader.h that finds members and names unknown ones.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "redial/config/config_problem.h"
#include "redial/config/json_path.h"
#include "redial/config/json_reader.h"

namespace redial {
namespace {

// Longer keys are compared with nothing.
constexpr size_t kMaxComparedLength = 64;

// max_attempts, MaxAttempts and maxAttempts are one word.
std::string Plain(absl::string_view key) {
  std::string plain;
  for (char c : key) {
    if (c != '_' && c != '-') plain.push_back(absl::ascii_tolower(c));
  }
  return plain;
}

// Letters to insert, delete or exchange.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string Nearest(absl::string_view key,
                    const std::vector<std::string>& known) {
  if (key.size() > kMaxComparedLength) return "";
  const std::string plain = Plain(key);
  std::string nearest;
  size_t best = plain.size() / 3 + 1;
  for (const std::string& candidate : known) {
    const size_t distance = EditDistance(plain, Plain(candidate));
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace

absl::optional<JsonReader> JsonObject::Optional(absl::string_view key) {
  known_.emplace_back(key);
  const auto it = fields_->fields().find(known_.back());
  if (it == fields_->fields().end() || it->second.has_null_value()) {
    return absl::nullopt;
  }
  return JsonReader(it->second, JsonPathOfKey(path_, key), problems_);
}

absl::optional<JsonReader> JsonObject::Required(absl::string_view key,
                                                absl::string_view what) {
  absl::optional<JsonReader> reader = Optional(key);
  if (!reader) {
    problems_->AddError(JsonPathOfKey(path_, key),
                        absl::StrCat("is missing; must be ", what));
  }
  return reader;
}

bool JsonObject::Has(absl::string_view key) const {
  const auto it = fields_->fields().find(std::string(key));
  return it != fields_->fields().end() && !it->second.has_null_value();
}

std::vector<std::string> JsonObject::Keys() const {
  std::vector<std::string> keys;
  for (const auto& field : fields_->fields()) keys.push_back(field.first);
  std::sort(keys.begin(), keys.end());
  return keys;
}

void JsonObject::ReportUnknown(UnknownKeys unknown) const {
  for (const std::string& key : Keys()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    const auto& list = unknown == UnknownKeys::kError ? problems_->errors()
                                                      : problems_->warnings();
    // Of what is only counted, nobody reads the advice.
    const bool counted = list.size() >= ProblemList::kMaxProblems;
    const std::string nearest = counted ? "" : Nearest(key, known_);
    const std::string advice =
        counted ? ""
        : nearest.empty()
            ? absl::StrCat("; known here: ", absl::StrJoin(known_, ", "))
            : absl::StrCat("; did you mean \"", nearest, "\"?");
    if (unknown == UnknownKeys::kError) {
      problems_->AddError(JsonPathOfKey(path_, key),
                          absl::StrCat("is no known key", advice));
    } else {
      problems_->AddWarning(
          JsonPathOfKey(path_, key),
          absl::StrCat("is no known key and is ignored", advice));
    }
  }
}

}  // namespace redial
