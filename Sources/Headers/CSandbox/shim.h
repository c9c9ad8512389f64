#pragma once
#include <stdint.h>

// A process that restricts itself, for good: Landlock for files, seccomp for system calls. The
// functions return -errno on failure.

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// linux/landlock.h, which older systems do not have. The numbers are the same on all processors.
enum { retake_landlock_create = 444, retake_landlock_add = 445, retake_landlock_restrict = 446 };

struct retake_landlock_rules {
  uint64_t files, network, scopes;
};

struct retake_landlock_path {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed));

// Bits of linux/landlock.h: execute, write, read a file, read a folder, …, from version 2 on refer,
// 3 truncate, 5 ioctl of devices.
static const uint64_t retake_landlock_read = 1 << 2 | 1 << 3;
// Write, remove a folder or file, make a folder, file or symbolic link, refer, truncate: no devices,
// sockets or pipes.
static const uint64_t retake_landlock_write =
    1 << 1 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 12 | 1 << 13 | 1 << 14;
// Rights that a rule for a file, and not a folder, may have.
static const uint64_t retake_landlock_file = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15;

static inline uint64_t retake_landlock_handled(int32_t version) {
  return version >= 5 ? 0xFFFF : version >= 3 ? 0x7FFF : version >= 2 ? 0x3FFF : 0x1FFF;
}

// The version of Landlock in the kernel, from 1 on.
static inline int32_t retake_landlock_version(void) {
  long version = syscall(retake_landlock_create, NULL, 0, 1);
  return version < 0 ? -errno : (int32_t)version;
}

// A descriptor for the rules of files. No connection can be made, nor a signal be sent to others, as
// far as the kernel's version knows these rules.
static inline int32_t retake_landlock_begin(int32_t version) {
  struct retake_landlock_rules rules = {retake_landlock_handled(version), version >= 4 ? 3 : 0,
                                        version >= 6 ? 3 : 0};
  size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  long descriptor = syscall(retake_landlock_create, &rules, size, 0);
  return descriptor < 0 ? -errno : (int32_t)descriptor;
}

// Allows to read a file or all files of a folder, and if `writable` to change them.
static inline int32_t retake_landlock_allow(int32_t rules, int32_t version, const char *path,
                                            int32_t writable) {
  // O_PATH, which is a GNU extension: the file is only named, not read.
  int parent = open(path, 010000000 | O_CLOEXEC);
  if (parent < 0) return -errno;
  uint64_t allowed = retake_landlock_read | (writable ? retake_landlock_write : 0);
  struct stat facts;
  if (fstat(parent, &facts) == 0 && !S_ISDIR(facts.st_mode)) allowed &= retake_landlock_file;
  struct retake_landlock_path rule = {allowed & retake_landlock_handled(version), parent};
  int32_t result =
      syscall(retake_landlock_add, rules, 1, &rule, 0) == 0 ? 0 : (int32_t)-errno;
  close(parent);
  return result;
}

// From now on this thread and the threads that it starts have only the rights of the rules.
static inline int32_t retake_landlock_enter(int32_t rules) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
  return syscall(retake_landlock_restrict, rules, 0) == 0 ? 0 : -errno;
}

// System calls that decoding and writing a session do not need: other programs and processes,
// sockets, io_uring (which has sockets, too), namespaces, owners and permissions of files by path,
// and the parts of the kernel with many faults.
static const int32_t retake_denied_calls[] = {
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
    SYS_kill, SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, 424, 434, 438,
    SYS_socket, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_sendto, SYS_sendmsg,
    SYS_sendmmsg, 425, 426, 427,
    SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, 428, 429, 430, 431,
    432, 433, 442,
    SYS_fchownat, SYS_fchmodat, 452, SYS_setxattr, SYS_lsetxattr, SYS_removexattr, SYS_lremovexattr,
    SYS_utimensat, SYS_mknodat, SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_fanotify_init,
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon,
    SYS_swapoff, SYS_quotactl, SYS_acct, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime,
    SYS_adjtimex, SYS_sethostname, SYS_setdomainname, SYS_syslog, SYS_vhangup, SYS_personality,
    SYS_shmget, SYS_shmat, SYS_msgget, SYS_semget, SYS_mq_open,
#if defined(__x86_64__)
    SYS_fork, SYS_vfork, SYS_chown, SYS_lchown, SYS_chmod, SYS_mknod, SYS_utime, SYS_utimes,
    SYS_futimesat, SYS_iopl, SYS_ioperm, SYS_modify_ldt,
#endif
};

enum {
  retake_denied_count = sizeof retake_denied_calls / sizeof retake_denied_calls[0],
  // TIOCSTI and TIOCLINUX make a terminal read characters as if they were typed.
  retake_denied_input = 0x5412,
  retake_denied_console = 0x541C,
  retake_clone3 = 435,
  retake_clone_thread = 0x00010000,
};

#if defined(__x86_64__)
enum { retake_processor = AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__)
enum { retake_processor = AUDIT_ARCH_AARCH64 };
#else
enum { retake_processor = 0 };
#endif

// From now on the process gets EPERM for the calls above and starts threads, but no processes. All
// other threads of the process are restricted, too.
static inline int32_t retake_deny_calls(void) {
  if (retake_processor == 0) return -ENOSYS;
  struct sock_filter code[2 * retake_denied_count + 24];
  uint16_t n = 0;
  const uint32_t deny = SECCOMP_RET_ERRNO | EPERM, kill = SECCOMP_RET_KILL_PROCESS;
#define RETAKE_DO(op, k) code[n++] = (struct sock_filter)BPF_STMT(op, k)
// Skips the next instruction unless the comparison holds.
#define RETAKE_IF(op, k) code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | op | BPF_K, k, 0, 1)
#define RETAKE_LOAD(field) RETAKE_DO(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETAKE_RETURN(value) RETAKE_DO(BPF_RET | BPF_K, value)
  RETAKE_LOAD(arch);
  code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, retake_processor, 1, 0);
  RETAKE_RETURN(kill);
  RETAKE_LOAD(nr);
  // The calls of x32 on x86-64.
  RETAKE_IF(BPF_JGE, 0x40000000);
  RETAKE_RETURN(kill);
  for (int i = 0; i < retake_denied_count; i++) {
    RETAKE_IF(BPF_JEQ, (uint32_t)retake_denied_calls[i]);
    RETAKE_RETURN(deny);
  }
  // Its flags are in memory; the C library then calls clone.
  RETAKE_IF(BPF_JEQ, retake_clone3);
  RETAKE_RETURN(SECCOMP_RET_ERRNO | ENOSYS);
  code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4);
  RETAKE_LOAD(args[0]);
  code[n++] =
      (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, retake_clone_thread, 1, 0);
  RETAKE_RETURN(deny);
  RETAKE_RETURN(SECCOMP_RET_ALLOW);
  code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 5);
  RETAKE_LOAD(args[1]);
  RETAKE_IF(BPF_JEQ, retake_denied_input);
  RETAKE_RETURN(deny);
  RETAKE_IF(BPF_JEQ, retake_denied_console);
  RETAKE_RETURN(deny);
  RETAKE_RETURN(SECCOMP_RET_ALLOW);
#undef RETAKE_RETURN
#undef RETAKE_LOAD
#undef RETAKE_IF
#undef RETAKE_DO
  struct sock_fprog program = {n, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
  long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  // A positive result is a thread that another filter restricts.
  return result == 0 ? 0 : result > 0 ? -EBUSY : -errno;
}

// Whether the kernel has seccomp's filters.
static inline int32_t retake_has_seccomp(void) {
  const uint32_t action = SECCOMP_RET_ERRNO;
  return retake_processor != 0 &&
         syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

// A folder of the system has an entry for each thread, and two links for itself.
static inline int32_t retake_is_single_thread(void) {
  struct stat facts;
  return stat("/proc/self/task", &facts) == 0 && facts.st_nlink == 3;
}

// Ends this process together with `parent`, and leaves no image of the memory, which has frames, on
// the disk after a fault.
static inline int32_t retake_follow_parent(int32_t parent) {
  struct rlimit none = {0, 0};
  if (getppid() != parent) return -ESRCH;
  if (setrlimit(RLIMIT_CORE, &none) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)
    return -errno;
  // The parent may have ended before the call.
  return getppid() == parent ? 0 : -ESRCH;
}

// The rules that a restricted process could break, as bits.
enum {
  retake_trial_read = 1 << 0,
  retake_trial_write = 1 << 1,
  retake_trial_socket = 1 << 2,
  retake_trial_program = 1 << 3,
  retake_trial_process = 1 << 4,
  // The process could not restrict itself, or could not write into its own folder.
  retake_trial_failed = 1 << 5,
};

static inline int32_t retake_try(const char *own, const char *foreign) {
  int32_t version = retake_landlock_version(), rules = retake_landlock_begin(version);
  if (version < 1 || rules < 0 || retake_landlock_allow(rules, version, own, 1) != 0 ||
      retake_landlock_enter(rules) != 0 || retake_deny_calls() != 0)
    return retake_trial_failed;
  int32_t found = 0;
  int folder = open(own, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0 || mkdirat(folder, "trial", 0700) != 0 ||
      unlinkat(folder, "trial", AT_REMOVEDIR) != 0)
    found |= retake_trial_failed;
  if (open(foreign, O_RDONLY | O_CLOEXEC) >= 0) found |= retake_trial_read;
  if (open(foreign, O_WRONLY | O_CLOEXEC) >= 0) found |= retake_trial_write;
  if (syscall(SYS_socket, 1, 1, 0) >= 0) found |= retake_trial_socket;
  // Without a path it fails in any case, and the error says why.
  if (syscall(SYS_execve, NULL, NULL, NULL) != 0 && errno != EPERM) found |= retake_trial_program;
  long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  if (child > 0) found |= retake_trial_process;
  return found;
}

// Tries all of it in a new process, which may read and write the folder `own` alone. The file
// `foreign` is one that this process can read and write.
static inline int32_t retake_sandbox_trial(const char *own, const char *foreign) {
  pid_t child = fork();
  if (child < 0) return -errno;
  // Only system calls: the other threads of this process may hold locks.
  if (child == 0) _exit(retake_try(own, foreign));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : retake_trial_failed;
}

#endif
