// What the user must hear and can mend: a file that cannot be read, an option that makes no sense.
#pragma once

#include <stdexcept>
#include <string>

namespace vramscope {

// The command ends with status 2 after printing `vramscope: ` and this one line:
// "FILE: what (where); hint".
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace vramscope
