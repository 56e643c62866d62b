// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/demangle/rust_v0.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "symbolizer/demangle.h"
#include "symbolizer/demangle/rust_v0_cursor.h"
#include "symbolizer/demangle/utf8.h"

namespace firetower::symbolizer {

namespace {

// Deeper nesting than any real type, and few enough frames for a small stack.
constexpr int kMaxDepth = 200;
// Productions visited, back references included: they make a name's tree exponential in its length.
constexpr int kMaxSteps = 50'000;

// Basic types by their letter (RFC 2603, "basic-type"); empty: no such type.
std::string_view BasicType(char tag) {
  static constexpr std::string_view kNames[26] = {
      "i8",    "bool", "char", "f64", "str",  "f32",  "",    "u8", "isize",
      "usize", "",     "i32",  "u32", "i128", "u128", "_",   "",   "",
      "i16",   "u16",  "()",   "...", "",     "i64",  "u64", "!"};
  return tag >= 'a' && tag <= 'z' ? kNames[tag - 'a'] : std::string_view();
}

class Printer {
 public:
  explicit Printer(std::string_view text) : cursor_(text) {}

  std::optional<std::string> Run() {
    Path(true);
    // The instantiating crate says where a generic was compiled, not what it is.
    if (cursor_.ok() && cursor_.Peek() >= 'A' && cursor_.Peek() <= 'Z')
      Skip([this] { Path(false); });
    if (!Going()) return std::nullopt;
    std::string_view suffix = cursor_.rest();
    if (!suffix.empty() && suffix[0] != '.' && suffix[0] != '$') return std::nullopt;
    if (!suffix.starts_with(".llvm.")) out_ += suffix;
    return std::move(out_);
  }

 private:
  // One production deeper; false once the name is malformed or exceeds a bound.
  class Level {
   public:
    explicit Level(Printer& printer) : printer_(printer) {
      if (++printer_.depth_ > kMaxDepth || ++printer_.steps_ > kMaxSteps) printer_.cursor_.Fail();
    }
    ~Level() { --printer_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Printer& printer_;
  };

  bool Going() {
    if (out_.size() > kMaxDemangledBytes) cursor_.Fail();
    return cursor_.ok();
  }
  void Print(std::string_view text) {
    if (!skipping_) out_ += text;
  }
  void PrintIdentifier(const RustV0Cursor::Identifier& identifier) {
    if (!skipping_ && !AppendIdentifier(identifier, out_)) cursor_.Fail();
  }
  template <typename F>
  void Skip(F parse) {
    bool outer = std::exchange(skipping_, true);
    parse();
    skipping_ = outer;
  }
  // Runs `parse` at the place a back reference names, which must be before the reference.
  template <typename F>
  void Backref(F parse) {
    size_t reference = cursor_.position() - 1;
    uint64_t target = cursor_.Base62();
    if (!cursor_.ok() || target >= reference) return cursor_.Fail();
    if (skipping_) return;
    size_t resume = cursor_.position();
    cursor_.set_position(static_cast<size_t>(target));
    parse();
    cursor_.set_position(resume);
  }
  // Up to the closing "E", with `separator` in between; the number of items.
  template <typename F>
  size_t List(std::string_view separator, F item) {
    size_t count = 0;
    for (; Going() && !cursor_.Take('E'); ++count) {
      if (count > 0) Print(separator);
      item();
    }
    return count;
  }

  void Path(bool in_value);
  void NestedPath(bool in_value);
  void ImplPath();
  bool PathWithOpenGenerics();
  void GenericArg();
  void Lifetime(uint64_t index);
  void Type();
  void CompoundType(char tag);
  void Tuple();
  void Reference(bool is_mutable);
  void Function();
  void Dyn();
  void DynTrait();
  void Constant();
  void Integer(char type, bool negative, std::string_view nibbles);
  // Parses an optional binder, prints "for<'a> " and what `parse` does inside it.
  template <typename F>
  void InBinder(F parse) {
    uint64_t lifetimes = cursor_.OptionalBase62('G');
    if (lifetimes > 64) return cursor_.Fail();
    if (lifetimes > 0) Print("for<");
    for (uint64_t i = 0; i < lifetimes; ++i) {
      if (i > 0) Print(", ");
      ++bound_lifetimes_;
      Lifetime(1);
    }
    if (lifetimes > 0) Print("> ");
    parse();
    bound_lifetimes_ -= lifetimes;
  }

  RustV0Cursor cursor_;
  std::string out_;
  uint64_t bound_lifetimes_ = 0;
  int depth_ = 0;
  int steps_ = 0;
  bool skipping_ = false;
};

void Printer::Path(bool in_value) {
  Level level(*this);
  if (!Going()) return;
  switch (char tag = cursor_.Next()) {
    case 'C':
      return PrintIdentifier(cursor_.TakeIdentifier());
    case 'N':
      return NestedPath(in_value);
    case 'M':
    case 'X':
      ImplPath();
      [[fallthrough]];
    case 'Y':
      Print("<");
      Type();
      if (tag != 'M') {
        Print(" as ");
        Path(false);
      }
      return Print(">");
    case 'I':
      Path(in_value);
      Print(in_value ? "::<" : "<");
      List(", ", [this] { GenericArg(); });
      return Print(">");
    case 'B':
      return Backref([this, in_value] { Path(in_value); });
    default:
      return cursor_.Fail();
  }
}

void Printer::NestedPath(bool in_value) {
  char name_space = cursor_.Next();
  Path(in_value);
  RustV0Cursor::Identifier name = cursor_.TakeIdentifier();
  if (name_space >= 'A' && name_space <= 'Z') {  // special: printed as {kind:name#number}
    Print("::{");
    Print(name_space == 'C'   ? std::string_view("closure")
          : name_space == 'S' ? std::string_view("shim")
                              : std::string_view(&name_space, 1));
    if (!name.bytes.empty()) {
      Print(":");
      PrintIdentifier(name);
    }
    return Print(fmt::format("#{}}}", name.disambiguator));
  }
  if (name_space < 'a' || name_space > 'z') return cursor_.Fail();
  if (name.bytes.empty()) return;
  Print("::");
  PrintIdentifier(name);
}

// Tells two impl blocks apart; the type that follows is what a reader wants.
void Printer::ImplPath() {
  cursor_.OptionalBase62('s');
  Skip([this] { Path(false); });
}

void Printer::GenericArg() {
  if (cursor_.Take('L')) {
    Lifetime(cursor_.Base62());
  } else if (cursor_.Take('K')) {
    Constant();
  } else {
    Type();
  }
}

void Printer::Lifetime(uint64_t index) {
  if (index == 0) return Print("'_");
  if (index > bound_lifetimes_) return cursor_.Fail();
  uint64_t depth = bound_lifetimes_ - index;
  if (depth < 26) {
    char name[] = {'\'', static_cast<char>('a' + depth)};
    Print(std::string_view(name, sizeof(name)));
  } else {
    Print(fmt::format("'_{}", depth));
  }
}

void Printer::Type() {
  Level level(*this);
  if (!Going()) return;
  char tag = cursor_.Peek();
  std::string_view basic = BasicType(tag);
  if (!basic.empty()) {
    cursor_.Next();
    return Print(basic);
  }
  if (std::string_view("CNMXYI").find(tag) != std::string_view::npos) return Path(false);
  cursor_.Next();
  CompoundType(tag);
}

void Printer::CompoundType(char tag) {
  switch (tag) {
    case 'A':
    case 'S':
      Print("[");
      Type();
      if (tag == 'A') {
        Print("; ");
        Constant();
      }
      return Print("]");
    case 'T':
      return Tuple();
    case 'R':
    case 'Q':
      return Reference(tag == 'Q');
    case 'P':
    case 'O':
      Print(tag == 'P' ? "*const " : "*mut ");
      return Type();
    case 'F':
      return InBinder([this] { Function(); });
    case 'D':
      return Dyn();
    case 'B':
      return Backref([this] { Type(); });
    default:
      return cursor_.Fail();
  }
}

void Printer::Tuple() {
  Print("(");
  // A tuple of one keeps its comma, to differ from parentheses.
  if (List(", ", [this] { Type(); }) == 1) Print(",");
  Print(")");
}

void Printer::Reference(bool is_mutable) {
  Print("&");
  if (cursor_.Take('L')) {
    uint64_t index = cursor_.Base62();
    if (index != 0) {
      Lifetime(index);
      Print(" ");
    }
  }
  if (is_mutable) Print("mut ");
  Type();
}

void Printer::Function() {
  if (cursor_.Take('U')) Print("unsafe ");
  if (cursor_.Take('K')) {
    std::string abi = "C";
    if (!cursor_.Take('C')) {
      abi = cursor_.TakePlainIdentifier().bytes;
      std::replace(abi.begin(), abi.end(), '_', '-');
    }
    Print("extern \"" + abi + "\" ");
  }
  Print("fn(");
  List(", ", [this] { Type(); });
  Print(")");
  if (cursor_.Take('u')) return;  // returns ()
  Print(" -> ");
  Type();
}

void Printer::Dyn() {
  Print("dyn ");
  InBinder([this] { List(" + ", [this] { DynTrait(); }); });
  if (!cursor_.Take('L')) return cursor_.Fail();
  uint64_t index = cursor_.Base62();
  if (index == 0) return;
  Print(" + ");
  Lifetime(index);
}

// A trait's path whose generic arguments stay open for the associated types that follow; true when
// "<" has been printed.
bool Printer::PathWithOpenGenerics() {
  Level level(*this);
  if (!Going()) return false;
  bool open = false;
  if (cursor_.Take('B')) {
    Backref([this, &open] { open = PathWithOpenGenerics(); });
  } else if (cursor_.Take('I')) {
    Path(false);
    Print("<");
    List(", ", [this] { GenericArg(); });
    open = true;
  } else {
    Path(false);
  }
  return open;
}

void Printer::DynTrait() {
  bool open = PathWithOpenGenerics();
  while (Going() && cursor_.Take('p')) {
    Print(open ? ", " : "<");
    open = true;
    PrintIdentifier(cursor_.TakePlainIdentifier());
    Print(" = ");
    Type();
  }
  if (open) Print(">");
}

void Printer::Constant() {
  Level level(*this);
  if (!Going()) return;
  char type = cursor_.Next();
  if (type == 'B') return Backref([this] { Constant(); });
  if (type == 'p') return Print("_");
  bool negative = cursor_.Take('n');
  std::string_view nibbles = cursor_.HexNibbles();
  if (cursor_.ok()) Integer(type, negative, nibbles);
}

void Printer::Integer(char type, bool negative, std::string_view nibbles) {
  nibbles.remove_prefix(std::min(nibbles.find_first_not_of('0'), nibbles.size()));
  uint64_t value = 0;
  bool fits = nibbles.size() <= 16;
  if (fits) std::from_chars(nibbles.data(), nibbles.data() + nibbles.size(), value, 16);
  static constexpr std::string_view kUnsigned = "htmyoj";
  static constexpr std::string_view kSigned = "aslxni";
  bool is_signed = kSigned.find(type) != std::string_view::npos;
  if (is_signed || kUnsigned.find(type) != std::string_view::npos) {
    if (negative && !is_signed) return cursor_.Fail();
    Print(negative ? "-" : "");
    return Print(fits ? fmt::format("{}", value) : fmt::format("0x{}", nibbles));
  }
  if (negative) return cursor_.Fail();
  if (type == 'b' && value <= 1 && fits) return Print(value == 1 ? "true" : "false");
  std::string character;
  if (type == 'c' && fits && value >= 0x20 && value <= UINT32_MAX && value != 0x7f &&
      AppendUtf8(static_cast<uint32_t>(value), character)) {
    return Print("'" + character + "'");
  }
  cursor_.Fail();
}

}  // namespace

std::optional<std::string> DemangleRustV0(std::string_view mangled) {
  if (!mangled.starts_with("_R") || mangled.size() > kMaxMangledBytes) return std::nullopt;
  // A digit here is the version of a later encoding.
  std::string_view text = mangled.substr(2);
  if (text.empty() || text[0] < 'A' || text[0] > 'Z') return std::nullopt;
  return Printer(text).Run();
}

}  // namespace firetower::symbolizer
