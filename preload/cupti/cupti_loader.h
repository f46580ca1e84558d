// Starts the CUPTI audit where VRAMSCOPE_CUPTI=1 asks for it.
#pragma once

namespace vramscope {

// Called after each thread's first event, outside the recorder; the first call of a process acts.
// What stands in the way is one line on stderr, and the job goes on.
void start_cupti_audit_if_asked();

}  // namespace vramscope
