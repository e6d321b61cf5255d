// SPDX-License-Identifier: Apache-2.0
// Where the servers are and how to log in, from the command line, the environment and files.
#pragma once

#include <vector>

#include <holdfast/config.hpp>

#include "cli/console.hpp"

namespace holdfast::cli {

/// The servers: each `--url`, else those in the file of `--url-file`, else those in HOLDFAST_URL, else those in the
/// file named by HOLDFAST_URL_FILE, else those in /etc/holdfast/url, else the default port of this machine. In files
/// and variables, URLs are separated by white space. With --verbose, the console shows which server was assumed. The
/// password: `--password-file` or `--password-command`, else the URL's, else HOLDFAST_PASSWORD, else the file named by
/// HOLDFAST_PASSWORD_FILE. Regular files, and the command, are read again at each later login. Throws UsageError or
/// Error(invalid_argument); neither repeats a password.
std::vector<Config> make_configs(const Console& console);

/// True if a `--url` has a password in it, which every user of the machine can read in the list of processes.
bool shows_password(const CommonOptions& options);

}  // namespace holdfast::cli
