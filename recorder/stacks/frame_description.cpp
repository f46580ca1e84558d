#include "recorder/stacks/frame_description.h"

#include <string>
#include <string_view>

#include "recorder/stacks/dwarf_reader.h"
#include "recorder/stacks/unwind_rule.h"

namespace vramscope {
namespace {

// Pointer encodings (DW_EH_PE_*): the low bits are the size, 0x70 how it is applied.
constexpr uint8_t kEncodingSizeMask = 0x07;
constexpr uint8_t kAlignedEncoding = 0x50;
constexpr uint8_t kApplicationMask = 0x70;

// 0: not a fixed size.
uint64_t size_of_pointer(uint8_t encoding) {
  switch (encoding & kEncodingSizeMask) {
    case 0:
    case 4:
      return 8;
    case 2:
      return 2;
    case 3:
      return 4;
    default:
      return 0;
  }
}

// The bytes of an entry behind its length field.
std::optional<std::span<const uint8_t>> entry_at(const uint8_t* entry) {
  uint32_t length;
  std::memcpy(&length, entry, sizeof length);
  constexpr uint32_t k64BitLengthFollows = 0xffffffff;
  if (length == k64BitLengthFollows) return std::nullopt;
  return std::span(entry + sizeof length, length);
}

struct Augmentation {
  bool has_data = false;  // the string begins with z: so do the CIE's and the FDE's own data
  uint8_t address_encoding = 0;
  bool is_signal_frame = false;
};

// Reads what each letter of the CIE's augmentation string stands for.
bool read_augmentation(std::string_view letters, DwarfReader& cie, Augmentation& augmentation) {
  if (letters.empty()) return true;
  if (letters.front() != 'z') return false;
  augmentation.has_data = true;
  DwarfReader data(cie.bytes(cie.uleb()));
  for (const char letter : letters.substr(1)) {
    switch (letter) {
      case 'R':
        augmentation.address_encoding = data.fixed<uint8_t>();
        break;
      case 'L':
        data.fixed<uint8_t>();
        break;
      case 'P': {
        const auto encoding = data.fixed<uint8_t>();
        const uint64_t size = size_of_pointer(encoding);
        if (size == 0 || (encoding & kApplicationMask) == kAlignedEncoding) return false;
        data.bytes(size);
        break;
      }
      case 'S':
        augmentation.is_signal_frame = true;
        break;
      default:
        return false;
    }
  }
  return !data.has_failed();
}

bool read_cie(std::span<const uint8_t> bytes, FrameDescription& description,
              Augmentation& augmentation) {
  DwarfReader cie(bytes);
  if (cie.fixed<uint32_t>() != 0) return false;  // not a CIE
  const auto version = cie.fixed<uint8_t>();
  if (version != 1 && version != 3) return false;
  std::string letters;
  while (const auto letter = cie.fixed<char>()) letters += letter;
  description.code_alignment = cie.uleb();
  description.data_alignment = cie.sleb();
  const uint64_t return_column = version == 1 ? cie.fixed<uint8_t>() : cie.uleb();
  if (return_column != static_cast<uint64_t>(DwarfRegister::kReturnAddress)) return false;
  if (!read_augmentation(letters, cie, augmentation)) return false;
  description.is_signal_frame = augmentation.is_signal_frame;
  description.initial_instructions = cie.rest();
  return !cie.has_failed();
}

}  // namespace

std::optional<FrameDescription> read_frame_description(const uint8_t* entry) {
  const auto fde_bytes = entry_at(entry);
  if (!fde_bytes) return std::nullopt;
  DwarfReader fde(*fde_bytes);
  // The distance back from here to the CIE.
  const auto to_cie = fde.fixed<int32_t>();
  const auto cie_bytes = entry_at(fde_bytes->data() - to_cie);
  FrameDescription description;
  Augmentation augmentation;
  if (!cie_bytes || !read_cie(*cie_bytes, description, augmentation)) return std::nullopt;

  const uint64_t address_size = size_of_pointer(augmentation.address_encoding);
  if (address_size == 0) return std::nullopt;
  fde.bytes(2 * address_size);  // first address and length: the lookup has compared them
  if (augmentation.has_data) fde.bytes(fde.uleb());
  if (fde.has_failed()) return std::nullopt;
  description.instructions = fde.rest();
  return description;
}

}  // namespace vramscope
