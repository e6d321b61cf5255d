// The verbs of the tool. Each returns the exit code; failures are exceptions. `run` and `elect` report their own, and
// end the process themselves unless the command line is wrong.
#pragma once

#include "cli/options.hpp"
#include "cli/output.hpp"

namespace holdfast::cli {

int run(const CommonOptions& common, const RunOptions& options, const Console& console);
int elect(const CommonOptions& common, const ElectOptions& options, const Console& console);
int watch_election(const CommonOptions& common, const std::string& name, const Console& console);
int acquire(const CommonOptions& common, const TakeOptions& options, const Console& console);
int renew(const CommonOptions& common, const RenewOptions& options, const Console& console);
int release(const CommonOptions& common, const ReleaseOptions& options, const Console& console);
int ls(const CommonOptions& common, const LsOptions& options, const Console& console);
int inspect(const CommonOptions& common, const InspectOptions& options, const Console& console);
int wait(const CommonOptions& common, const WaitOptions& options, const Console& console);
int doctor(const CommonOptions& common, const DoctorOptions& options, const Console& console);
/// Does not return.
int top(const CommonOptions& common, const TopOptions& options, const Console& console);
/// Does not return, unless it cannot listen.
int exporter(const CommonOptions& common, const ExporterOptions& options, const Console& console);
int break_lock(const CommonOptions& common, const BreakOptions& options, const Console& console);

}  // namespace holdfast::cli
