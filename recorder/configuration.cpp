#include "recorder/configuration.h"

#include <array>
#include <bit>
#include <charconv>
#include <limits>

namespace vramscope {
namespace {

constexpr std::string_view kPrefix = "VRAMSCOPE_";

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// Each takes a value over, or says what is wrong with it.
constexpr const char* kAccepted = nullptr;

const char* set_output(std::string_view value, Configuration& configuration) {
  if (value.empty()) return "empty (example: out/%h-%p)";
  configuration.output = value;
  return kAccepted;
}

const char* set_stacks(std::string_view value, Configuration& configuration) {
  if (parse_stacks(value, configuration.python_stacks, configuration.native_stacks)) {
    return kAccepted;
  }
  return "not one of python,native, python, native, none";
}

const char* set_ring(std::string_view value, Configuration& configuration) {
  if (!parse_size(value)) return "not a size (example: 1MiB)";
  const auto bytes = parse_ring_size(value);
  if (!bytes) return "not a power of two from 64KiB to 64MiB (example: 1MiB)";
  configuration.ring_bytes = *bytes;
  return kAccepted;
}

const char* set_overflow(std::string_view value, Configuration& configuration) {
  const auto overflow = parse_overflow(value);
  if (!overflow) return "not one of wait, flight-recorder";
  configuration.overflow = *overflow;
  return kAccepted;
}

const char* set_log(std::string_view value, Configuration& configuration) {
  if (value == "off") {
    configuration.log_level = LogLevel::kOff;
  } else if (value == "warn") {
    configuration.log_level = LogLevel::kWarn;
  } else if (value == "info") {
    configuration.log_level = LogLevel::kInfo;
  } else {
    return "not one of off, warn, info";
  }
  return kAccepted;
}

const char* set_verify_unwind(std::string_view value, Configuration& configuration) {
  if (value != "0" && value != "1") return "not 0 or 1";
  configuration.verify_unwind = value == "1";
  return kAccepted;
}

const char* set_drainer(std::string_view value, Configuration& configuration) {
  const size_t colon = value.find(':');
  const auto pid = parse_number<uint32_t>(value.substr(0, colon));
  if (!pid) return "not a process id";
  configuration.drainer_pid = *pid;
  if (colon == std::string_view::npos) return kAccepted;
  configuration.drainer_doorbell = parse_number<int>(value.substr(colon + 1)).value_or(-1);
  return kAccepted;
}

// Read again by the core, which starts the audit.
const char* set_cupti(std::string_view value, Configuration&) {
  return value == "0" || value == "1" ? kAccepted : "not 0 or 1";
}

const char* leave_to_others(std::string_view, Configuration&) { return kAccepted; }

// One row per variable. A name that ends in '*' stands for all that begin so.
struct Variable {
  std::string_view name;
  const char* (*set)(std::string_view value, Configuration&);
  const char* fallback;  // what is used instead of a malformed value
};

constexpr Variable kVariables[] = {
    {"OUTPUT", set_output, "vramscope-%h-%p"},
    {"STACKS", set_stacks, "python,native"},
    {"RING", set_ring, "1MiB"},
    {"OVERFLOW", set_overflow, "wait"},
    {"LOG", set_log, "warn"},
    {"VERIFY_UNWIND", set_verify_unwind, "0"},
    {"DRAINER", set_drainer, "a thread of this process"},
    {"DISABLE", leave_to_others, ""},
    {"OOM", leave_to_others, ""},
    {"CUPTI", set_cupti, "0"},
    {"POOL*", leave_to_others, ""},
    {"SIM_*", leave_to_others, ""},
};

bool matches(const Variable& variable, std::string_view name) {
  if (variable.name.ends_with('*')) {
    return name.starts_with(variable.name.substr(0, variable.name.size() - 1));
  }
  return name == variable.name;
}

const Variable* find_variable(std::string_view name) {
  for (const Variable& variable : kVariables) {
    if (matches(variable, name)) return &variable;
  }
  return nullptr;
}

std::string list_of_names() {
  std::string names;
  for (const Variable& variable : kVariables) {
    if (!names.empty()) names += ", ";
    names.append(kPrefix).append(variable.name);
  }
  return names;
}

void apply(std::string_view assignment, Configuration& configuration) {
  const size_t equals = assignment.find('=');
  if (!assignment.starts_with(kPrefix) || equals == std::string_view::npos) return;
  const std::string_view name = assignment.substr(kPrefix.size(), equals - kPrefix.size());
  const Variable* variable = find_variable(name);
  const std::string_view value = assignment.substr(equals + 1);
  std::string warning(assignment.substr(0, std::min<size_t>(assignment.size(), 200)));
  if (variable == nullptr) {
    warning.append(": unknown name (known: ").append(list_of_names()).append("); ignored");
  } else if (const char* complaint = variable->set(value, configuration)) {
    warning.append(": ").append(complaint).append("; using ").append(variable->fallback);
  } else {
    return;
  }
  configuration.warnings.push_back(std::move(warning));
}

std::string_view value_of(const char* const* environment, std::string_view name) {
  for (; *environment != nullptr; ++environment) {
    const std::string_view assignment(*environment);
    if (assignment.starts_with(name) && assignment.substr(name.size()).starts_with('=')) {
      return assignment.substr(name.size() + 1);
    }
  }
  return {};
}

struct Unit {
  std::string_view name;
  uint64_t bytes;
};
constexpr Unit kUnits[] = {{"gib", 1 << 30}, {"mib", 1 << 20}, {"kib", 1 << 10}, {"b", 1}, {"", 1}};

}  // namespace

Configuration read_configuration(const char* const* environment) {
  Configuration configuration;
  for (; *environment != nullptr; ++environment) apply(*environment, configuration);
  return configuration;
}

bool parse_stacks(std::string_view text, bool& python, bool& native) {
  struct Choice {
    std::string_view text;
    bool python;
    bool native;
  };
  constexpr Choice kChoices[] = {{"python,native", true, true},
                                 {"native,python", true, true},
                                 {"python", true, false},
                                 {"native", false, true},
                                 {"none", false, false}};
  for (const Choice& choice : kChoices) {
    if (text != choice.text) continue;
    python = choice.python;
    native = choice.native;
    return true;
  }
  return false;
}

std::optional<Overflow> parse_overflow(std::string_view text) {
  if (text == "wait") return Overflow::kWait;
  if (text == "flight-recorder") return Overflow::kFlightRecorder;
  return std::nullopt;
}

std::optional<uint64_t> parse_size(std::string_view text) {
  const size_t digits = text.find_first_not_of("0123456789");
  const auto number = parse_number<uint64_t>(text.substr(0, digits));
  if (!number) return std::nullopt;
  std::string unit(digits == std::string_view::npos ? std::string_view() : text.substr(digits));
  for (char& c : unit) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const Unit& known : kUnits) {
    if (unit != known.name) continue;
    if (*number > std::numeric_limits<uint64_t>::max() / known.bytes) return std::nullopt;
    return *number * known.bytes;
  }
  return std::nullopt;
}

std::optional<uint64_t> parse_ring_size(std::string_view text) {
  const auto bytes = parse_size(text);
  if (!bytes || !std::has_single_bit(*bytes)) return std::nullopt;
  if (*bytes < kMinRingBytes || *bytes > kMaxRingBytes) return std::nullopt;
  return bytes;
}

std::string format_size(uint64_t bytes) {
  constexpr Unit kSpelled[] = {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}};
  for (const Unit& unit : kSpelled) {
    if (bytes >= unit.bytes && bytes % unit.bytes == 0) {
      return std::to_string(bytes / unit.bytes).append(unit.name);
    }
  }
  return std::to_string(bytes).append("B");
}

std::optional<uint32_t> detect_rank(const char* const* environment) {
  constexpr std::array kNames = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
  for (const char* name : kNames) {
    if (const auto rank = parse_number<uint32_t>(value_of(environment, name))) return rank;
  }
  return std::nullopt;
}

std::string expand_pattern(std::string_view pattern, const PatternValues& values) {
  std::string expanded;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (pattern[i] != '%' || (next != 'h' && next != 'p' && next != 'r' && next != '%')) {
      expanded += pattern[i];
      continue;
    }
    ++i;
    if (next == 'h') expanded += values.host;
    if (next == 'p') expanded += std::to_string(values.pid);
    if (next == 'r') expanded += values.rank ? std::to_string(*values.rank) : "none";
    if (next == '%') expanded += '%';
  }
  return expanded;
}

}  // namespace vramscope
