// Who this process is: what a session says about where it comes from.
//
// Keys: pid, rank (absent if there is none), host, command (quoted for a shell), executable,
// working_directory, preload, version (of vramscope), stacks, overflow (absent for `wait`),
// start_unix_ns, start_ticks, clock
// (clock_name()); at the end of a session also end_unix_ns, end_ticks, finished (0, 1),
// lost_events, and with VRAMSCOPE_VERIFY_UNWIND unwinds_compared, unwinds_different,
// unwinds_by_libgcc. (start_*) and (end_*) are two ClockPoints: times between and after them follow
// linearly.
#pragma once

#include <string>

#include "recorder/configuration.h"
#include "recorder/info_text.h"

namespace vramscope {

std::string host_name();

// Everything that is known when the session opens. Long values are cut ("...") so that the text
// fits the ring file's information page.
InfoMap describe_process(const Configuration& configuration, ClockKind clock,
                         const ClockPoint& start);

// Takes over end_unix_ns and end_ticks.
void set_end_point(InfoMap& info, const ClockPoint& end);

// The words of /proc/PID/cmdline (separated by NUL bytes), quoted for a shell where needed.
std::string quote_command(std::string_view cmdline);

}  // namespace vramscope
