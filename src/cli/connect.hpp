// Where the server is and how to log in, from the command line, the environment and files.
#pragma once

#include <holdfast/config.hpp>

#include "cli/options.hpp"

namespace holdfast::cli {

/// The server: `--url`, else `--url-file`, else HOLDFAST_URL, else the file named by HOLDFAST_URL_FILE, else the
/// default port of this machine. The password: `--password-file`, else the URL's, else HOLDFAST_PASSWORD, else the file
/// named by HOLDFAST_PASSWORD_FILE. Throws UsageError or Error(invalid_argument); neither repeats a password.
Config make_config(const CommonOptions& options);

/// True if `--url` has a password in it, which every user of the machine can read in the list of processes.
bool shows_password(const CommonOptions& options);

}  // namespace holdfast::cli
