#pragma once
#include <spawn.h>

#if defined(__linux__)
// The C library has these, and hides them from Swift: it declares them only for GNU programs.
int pipe2(int descriptors[2], int flags);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *folder);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);
#endif
