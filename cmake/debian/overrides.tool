# Not in the archive, so nobody asked there for it to be packaged.
initial-upload-closes-no-bugs
