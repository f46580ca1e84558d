#include "tools/formats/pickle_reader.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "tools/formats/pickle_opcodes.h"

namespace vramscope {

// The pickle machine: a stack of nodes, marks into it, and a memo.
class PickleParser {
 public:
  using Kind = PickleDocument::Kind;

  explicit PickleParser(PickleDocument& document) : document_(document), input_(document.input_) {}

  void run() {
    if (input_.empty()) fail("the file is empty");
    if (static_cast<uint8_t>(input_[0]) != kProto) fail("not a pickle of protocol 2 or later");
    while (!stopped_) step();
    if (stack_.size() != 1 || !marks_.empty()) fail("a damaged pickle: no single value at its end");
    document_.root_ = stack_.back();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw PickleError(what, opcode_at_); }

  std::string_view take(uint64_t bytes) {
    if (bytes > input_.size() - at_) fail("cut off");
    const std::string_view taken = input_.substr(at_, bytes);
    at_ += bytes;
    return taken;
  }

  template <typename T>
  T take_little_endian() {
    static_assert(std::endian::native == std::endian::little);
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  void step() {
    opcode_at_ = at_;
    const auto opcode = take_little_endian<uint8_t>();
    if (!step_machine(opcode) && !step_scalar(opcode) && !step_container(opcode)) {
      char code[8];
      std::snprintf(code, sizeof code, "0x%02x", opcode);
      fail(std::string("pickle opcode ") + code +
           (executes(opcode) ? " would import or call something" : " is not one of a snapshot's"));
    }
  }

  bool step_machine(uint8_t opcode) {
    switch (opcode) {
      case kProto:
        if (take_little_endian<uint8_t>() > 5) fail("pickle protocol above 5");
        return true;
      case kFrame:
        take_little_endian<uint64_t>();
        return true;
      case kStop:
        stopped_ = true;
        return true;
      case kMark:
        marks_.push_back(stack_.size());
        return true;
      case kBinput:
        memo_[take_little_endian<uint8_t>()] = top();
        return true;
      case kLongBinput:
        memo_[take_little_endian<uint32_t>()] = top();
        return true;
      case kMemoize:
        memo_[static_cast<uint32_t>(memo_.size())] = top();
        return true;
      case kBinget:
        push_memo(take_little_endian<uint8_t>());
        return true;
      case kLongBinget:
        push_memo(take_little_endian<uint32_t>());
        return true;
      default:
        return false;
    }
  }

  bool step_scalar(uint8_t opcode) {
    switch (opcode) {
      case kNone:
        push(Kind::kNone);
        return true;
      case kNewTrue:
      case kNewFalse:
        push(Kind::kBool).integer = opcode == kNewTrue;
        return true;
      case kBinint:
        push_integer(take_little_endian<int32_t>());
        return true;
      case kBinint1:
        push_integer(take_little_endian<uint8_t>());
        return true;
      case kBinint2:
        push_integer(take_little_endian<uint16_t>());
        return true;
      case kLong1:
        push_integer(take_long(take_little_endian<uint8_t>()));
        return true;
      case kBinfloat:
        push(Kind::kReal).real = take_big_endian_double();
        return true;
      case kShortBinunicode:
        push_text(take_little_endian<uint8_t>());
        return true;
      case kBinunicode:
        push_text(take_little_endian<uint32_t>());
        return true;
      case kBinunicode8:
        push_text(take_little_endian<uint64_t>());
        return true;
      default:
        return false;
    }
  }

  bool step_container(uint8_t opcode) {
    switch (opcode) {
      case kEmptyList:
        push(Kind::kList).begin = 0;
        return true;
      case kEmptyTuple:
        push(Kind::kTuple).begin = 0;
        return true;
      case kEmptyDict:
        push(Kind::kDict).begin = 0;
        return true;
      case kTuple1:
      case kTuple2:
      case kTuple3:
        collect(Kind::kTuple, below_top(opcode - kTuple1 + 1));
        return true;
      case kTuple:
      case kList:
      case kDict:
        collect(opcode == kTuple  ? Kind::kTuple
                : opcode == kList ? Kind::kList
                                  : Kind::kDict,
                pop_mark());
        return true;
      case kAppend:
        extend(Kind::kList, below_top(1));
        return true;
      case kAppends:
        extend(Kind::kList, pop_mark());
        return true;
      case kSetitem:
        extend(Kind::kDict, below_top(2));
        return true;
      case kSetitems:
        extend(Kind::kDict, pop_mark());
        return true;
      default:
        return false;
    }
  }

  PickleDocument::Node& push(Kind kind) {
    if (document_.nodes_.size() >= std::numeric_limits<NodeId>::max()) fail("too many values");
    stack_.push_back(static_cast<NodeId>(document_.nodes_.size()));
    PickleDocument::Node node{};
    node.kind = kind;
    node.offset = opcode_at_;
    return document_.nodes_.emplace_back(node);
  }

  void push_integer(int64_t value) { push(Kind::kInteger).integer = value; }

  void push_text(uint64_t bytes) {
    if (bytes > std::numeric_limits<uint32_t>::max()) fail("cut off");
    const size_t begin = at_;
    take(bytes);
    PickleDocument::Node& node = push(Kind::kText);
    node.begin = begin;
    node.count = static_cast<uint32_t>(bytes);
  }

  int64_t take_long(size_t bytes) {
    const std::string_view digits = take(bytes);
    if (bytes > sizeof(int64_t)) fail("an integer of more than 64 bits");
    if (bytes == 0) return 0;
    uint64_t value = digits.back() < 0 ? ~uint64_t{0} : 0;  // two's complement: the sign extends
    std::memcpy(&value, digits.data(), bytes);
    return static_cast<int64_t>(value);
  }

  double take_big_endian_double() {
    uint64_t bits = 0;
    for (const char byte : take(sizeof bits)) bits = bits << 8 | static_cast<uint8_t>(byte);
    return std::bit_cast<double>(bits);
  }

  // Values above the innermost mark belong to whoever collects them; nobody else may touch those
  // below it.
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  NodeId top() const {
    if (stack_.size() <= floor()) fail("a damaged pickle: nothing on the stack");
    return stack_.back();
  }

  size_t below_top(size_t count) const {
    if (stack_.size() - floor() < count) fail("a damaged pickle: too little on the stack");
    return stack_.size() - count;
  }

  size_t pop_mark() {
    if (marks_.empty()) fail("a damaged pickle: no mark");
    const size_t begin = marks_.back();
    marks_.pop_back();
    return begin;
  }

  void push_memo(uint32_t id) {
    const auto found = memo_.find(id);
    if (found == memo_.end())
      fail("a damaged pickle: memo entry " + std::to_string(id) + " is missing");
    stack_.push_back(found->second);
  }

  // stack_[begin...] become the items of a new container.
  void collect(Kind kind, size_t begin) {
    const auto count = static_cast<uint32_t>(stack_.size() - begin);
    if (kind == Kind::kDict && count % 2 != 0) fail("a damaged pickle: a key without a value");
    const size_t items_begin = document_.items_.size();
    document_.items_.insert(document_.items_.end(), stack_.begin() + static_cast<ptrdiff_t>(begin),
                            stack_.end());
    stack_.resize(begin);
    PickleDocument::Node& node = push(kind);
    node.begin = items_begin;
    node.count = node.capacity = count;
  }

  // stack_[begin...] become further items of the container that lies below them.
  void extend(Kind kind, size_t begin) {
    if (begin <= floor()) fail("a damaged pickle: items for no container");
    PickleDocument::Node& node = document_.nodes_[stack_[begin - 1]];
    if (node.kind != kind) fail("a damaged pickle: items for a value of another kind");
    const size_t added = stack_.size() - begin;
    if (kind == Kind::kDict && added % 2 != 0) fail("a damaged pickle: a key without a value");
    reserve(node, node.count + added);
    std::copy(stack_.begin() + static_cast<ptrdiff_t>(begin), stack_.end(),
              document_.items_.begin() + static_cast<ptrdiff_t>(node.begin + node.count));
    node.count += static_cast<uint32_t>(added);
    stack_.resize(begin);
  }

  // Most containers are filled once and get exactly their room at the end of items_; those that
  // grow move there and double.
  void reserve(PickleDocument::Node& node, size_t count) {
    if (count <= node.capacity) return;
    const size_t capacity =
        node.capacity == 0 ? count : std::max<size_t>(count, node.capacity * 2ul);
    if (capacity > std::numeric_limits<uint32_t>::max()) fail("a container with too many items");
    const size_t begin = document_.items_.size();
    document_.items_.resize(begin + capacity);
    std::copy_n(document_.items_.begin() + static_cast<ptrdiff_t>(node.begin), node.count,
                document_.items_.begin() + static_cast<ptrdiff_t>(begin));
    node.begin = begin;
    node.capacity = static_cast<uint32_t>(capacity);
  }

  PickleDocument& document_;
  std::string_view input_;
  size_t at_ = 0;
  size_t opcode_at_ = 0;
  bool stopped_ = false;
  std::vector<NodeId> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint32_t, NodeId> memo_;
};

PickleDocument::PickleDocument(std::string_view input) : input_(input) {
  PickleParser(*this).run();
}

}  // namespace vramscope
