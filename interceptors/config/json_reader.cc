#include "redial/config/json_reader.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "google/protobuf/struct.pb.h"
#include "redial/config/decimal_text.h"
#include "redial/config/duration_text.h"
#include "redial/config/json_path.h"
#include "redial/config/json_scanner.h"

namespace redial {
namespace {

using ::google::protobuf::Value;

constexpr size_t kMaxShown = 40;

}  // namespace

std::string JsonReader::Shown() const {
  switch (value_->kind_case()) {
    case Value::kNullValue:
      return "null";
    case Value::kNumberValue:
      return ShortestDecimal(value_->number_value());
    case Value::kStringValue: {
      const absl::string_view text = value_->string_value();
      return absl::StrCat("\"", absl::CEscape(text.substr(0, kMaxShown)),
                          text.size() > kMaxShown ? "...\"" : "\"");
    }
    case Value::kBoolValue:
      return value_->bool_value() ? "true" : "false";
    case Value::kStructValue:
      return "an object";
    case Value::kListValue:
      return "an array";
    case Value::KIND_NOT_SET:
      break;
  }
  return "nothing";
}

void JsonReader::Expected(absl::string_view what) const {
  Error(absl::StrCat("is ", Shown(), "; must be ", what));
}

absl::optional<std::string> JsonReader::String() const {
  if (is_string()) return value_->string_value();
  Expected("a string");
  return absl::nullopt;
}

absl::optional<bool> JsonReader::Bool() const {
  if (value_->has_bool_value()) return value_->bool_value();
  Expected("true or false, without quotes");
  return absl::nullopt;
}

absl::optional<std::string> JsonReader::NumberText(NumberForm form) const {
  if (is_number() && std::isfinite(value_->number_value())) {
    return ShortestDecimal(value_->number_value());
  }
  if (form == NumberForm::kNumberOrText && is_string() &&
      IsJsonNumber(value_->string_value())) {
    return value_->string_value();
  }
  return absl::nullopt;
}

absl::optional<int64_t> JsonReader::Integer(int64_t min, int64_t max,
                                            NumberForm form) const {
  const absl::optional<std::string> text = NumberText(form);
  double number = 0;
  if (text && absl::SimpleAtod(*text, &number) &&
      number == std::floor(number) && number >= static_cast<double>(min) &&
      number <= static_cast<double>(max)) {
    return static_cast<int64_t>(number);
  }
  Expected(number > static_cast<double>(max)
               ? absl::StrCat("an integer from ", min, " to ", max)
               : absl::StrCat("an integer, at least ", min));
  return absl::nullopt;
}

absl::optional<double> JsonReader::PositiveNumber(NumberForm form) const {
  const absl::optional<std::string> text = NumberText(form);
  double number = 0;
  if (text && absl::SimpleAtod(*text, &number) && std::isfinite(number) &&
      number > 0) {
    return number;
  }
  Expected("a number above 0, such as 2 or 1.6");
  return absl::nullopt;
}

absl::optional<double> JsonReader::Fraction(double min, double max) const {
  if (is_number() && value_->number_value() >= min &&
      value_->number_value() <= max) {
    return value_->number_value();
  }
  Expected(absl::StrCat("a number from ", ShortestDecimal(min), " to ",
                        ShortestDecimal(max)));
  return absl::nullopt;
}

absl::optional<int64_t> JsonReader::Scaled(int decimals, int64_t min,
                                           NumberForm form) const {
  const absl::optional<std::string> text = NumberText(form);
  if (text && !IsNegativeDecimal(*text)) {
    const absl::optional<int64_t> scaled = ScaledDecimal(*text, decimals);
    if (scaled && *scaled >= min) return scaled;
  }
  Expected(absl::StrCat(
      "a number of at least ",
      ShortestDecimal(static_cast<double>(min) / std::pow(10, decimals)),
      " (decimals after the ", decimals == 3 ? "third" : "sixth",
      " do not count), such as 0.1"));
  return absl::nullopt;
}

absl::optional<absl::Duration> JsonReader::Duration(absl::Duration min) const {
  if (is_string()) {
    const auto duration = ParseDurationText(value_->string_value());
    if (duration && *duration >= min) return duration;
    if (duration) {
      Expected(min <= absl::Nanoseconds(1)
                   ? std::string("above 0, such as \"0.5s\"")
                   : absl::StrCat("at least \"", DurationText(min), "\""));
      return absl::nullopt;
    }
  }
  Expected(
      "a duration: seconds with up to 9 decimals and the letter s, in quotes, "
      "such as \"0.5s\"");
  return absl::nullopt;
}

absl::optional<JsonObject> JsonReader::Object() const {
  if (value_->has_struct_value()) {
    return JsonObject(value_->struct_value(), path_, problems_);
  }
  Expected("an object {...}");
  return absl::nullopt;
}

absl::optional<JsonArray> JsonReader::Array() const {
  if (value_->has_list_value()) {
    return JsonArray(value_->list_value(), path_, problems_);
  }
  Expected("an array [...]");
  return absl::nullopt;
}

JsonReader JsonArray::operator[](size_t index) const {
  return JsonReader(list_->values(static_cast<int>(index)),
                    JsonPathOfIndex(path_, index), problems_);
}

}  // namespace redial
