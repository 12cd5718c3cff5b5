// JsonReader: a cursor on one value of a JSON document, which knows its path.
//
// Each accessor either gives the value or adds a problem that says what stands
// there, and what would be right, to a list shared by all readers of a
// document. So a reader of a whole format just goes on, and all its errors come
// at once. Readers borrow the document and the list; not thread-safe.
//
//   JsonReader root(document->root(), "", &problems);
//   if (auto object = root.Object()) {
//     if (auto name = object->Optional("name")) scenario.name = name->String();
//     auto n = object->Required("count", "an integer, at least 1");
//     if (n) scenario.count = n->Integer(1, 1000).value_or(1);
//     object->ReportUnknown(UnknownKeys::kError);
//   }
#ifndef REDIAL_CONFIG_JSON_READER_H_
#define REDIAL_CONFIG_JSON_READER_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "google/protobuf/struct.pb.h"
#include "redial/config/config_problem.h"

namespace redial {

class JsonArray;
class JsonObject;

// Whether a number may also stand in quotes, as gRPC core accepts it.
enum class NumberForm { kNumber, kNumberOrText };

enum class UnknownKeys { kError, kWarning };

class JsonReader {
 public:
  JsonReader(const google::protobuf::Value& value, std::string path,
             ProblemList* problems)
      : value_(&value), path_(std::move(path)), problems_(problems) {}

  const std::string& path() const { return path_; }
  ProblemList* problems() const { return problems_; }
  void Error(std::string message) const {
    problems_->AddError(path_, std::move(message));
  }
  void Warning(std::string message) const {
    problems_->AddWarning(path_, std::move(message));
  }
  // "is 5; must be `what`".
  void Expected(absl::string_view what) const;

  // What stands here, in short: `"abc"`, `5`, `an object`.
  std::string Shown() const;

  bool is_null() const { return value_->has_null_value(); }
  bool is_string() const { return value_->has_string_value(); }
  bool is_number() const { return value_->has_number_value(); }

  absl::optional<std::string> String() const;
  absl::optional<bool> Bool() const;
  // A whole number in [min, max], which lie within 2^53; 3.0 is one.
  absl::optional<int64_t> Integer(int64_t min, int64_t max,
                                  NumberForm form = NumberForm::kNumber) const;
  // A finite number above zero.
  absl::optional<double> PositiveNumber(
      NumberForm form = NumberForm::kNumber) const;
  // A number in [min, max].
  absl::optional<double> Fraction(double min, double max) const;
  // A number of at least 0 times 10^decimals, the digits after those cut
  // (decimal_text.h). An error where the result is below `min`.
  absl::optional<int64_t> Scaled(int decimals, int64_t min,
                                 NumberForm form = NumberForm::kNumber) const;
  // "0.5s". An error where it is below `min`.
  absl::optional<absl::Duration> Duration(
      absl::Duration min = absl::ZeroDuration()) const;
  absl::optional<JsonObject> Object() const;
  absl::optional<JsonArray> Array() const;

  // One of the names, without regard to case.
  template <typename T>
  absl::optional<T> Enum(
      std::initializer_list<std::pair<absl::string_view, T>> names) const {
    std::string known;
    for (const auto& name : names) {
      if (is_string() &&
          absl::EqualsIgnoreCase(value_->string_value(), name.first)) {
        return name.second;
      }
      absl::StrAppend(&known, known.empty() ? "" : ", ", name.first);
    }
    Expected(absl::StrCat("one of ", known));
    return absl::nullopt;
  }

 private:
  // The number here as JSON spells it; none and no error if there is none.
  absl::optional<std::string> NumberText(NumberForm form) const;

  const google::protobuf::Value* value_;
  std::string path_;
  ProblemList* problems_;
};

class JsonArray {
 public:
  JsonArray(const google::protobuf::ListValue& list, std::string path,
            ProblemList* problems)
      : list_(&list), path_(std::move(path)), problems_(problems) {}

  size_t size() const { return static_cast<size_t>(list_->values_size()); }
  bool empty() const { return size() == 0; }
  JsonReader operator[](size_t index) const;

 private:
  const google::protobuf::ListValue* list_;
  std::string path_;
  ProblemList* problems_;
};

class JsonObject {
 public:
  JsonObject(const google::protobuf::Struct& fields, std::string path,
             ProblemList* problems)
      : fields_(&fields), path_(std::move(path)), problems_(problems) {}

  const std::string& path() const { return path_; }
  ProblemList* problems() const { return problems_; }

  // Each key that is asked for is one that is known here. null counts as
  // absent.
  absl::optional<JsonReader> Optional(absl::string_view key);
  // Where absent, an error: "is missing; must be `what`".
  absl::optional<JsonReader> Required(absl::string_view key,
                                      absl::string_view what);
  bool Has(absl::string_view key) const;

  // All keys, sorted; for objects that map names to values.
  std::vector<std::string> Keys() const;

  // A problem for each key that was not asked for, with the nearest one that
  // was.
  void ReportUnknown(UnknownKeys unknown) const;

 private:
  const google::protobuf::Struct* fields_;
  std::string path_;
  ProblemList* problems_;
  std::vector<std::string> known_;
};

// Replaces `*out` by what `read` makes of the reader, if there is a reader and
// it makes something. True if there is a reader.
//
//   ReadInto(object.Optional("generate"), &key.generate, ReadBool);
template <typename Out, typename Read>
bool ReadInto(const absl::optional<JsonReader>& reader, Out* out, Read read) {
  if (!reader) return false;
  auto value = read(*reader);
  if (value) *out = static_cast<Out>(std::move(*value));
  return true;
}

}  // namespace redial

#endif  // REDIAL_CONFIG_JSON_READER_H_
