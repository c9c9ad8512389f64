#pragma once
#include <spawn.h>
#include <sys/resource.h>

#if defined(__linux__)
// The C library declares these functions only as GNU extensions, so Swift does not see them.
int pipe2(int descriptors[2], int flags);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *folder);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);
int memfd_create(const char *name, unsigned int flags);
int prlimit(pid_t process, int resource, const struct rlimit *limit, struct rlimit *before);
#endif
