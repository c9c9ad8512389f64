#pragma once
#include <stdint.h>

// A process that restricts itself, for good: Landlock for files, seccomp for system calls, and a limit
// of its memory. The functions return -errno on failure.

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
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

// Memory over the limit ends the process. If the call failed instead, a library could ignore that:
// FFmpeg without memory for the index of a file finds no frames in the file.
//
// The filter of calls passes calls for large blocks to a handler in the process. It repeats the call
// and ends the process if there is no memory. Before the C library reports the failure of a smaller
// allocation, it tries a block of this size.
enum { retake_block_min = 1 << 20 };

#if defined(__x86_64__)
typedef greg_t retake_register;
#define RETAKE_ARGUMENT(context, n) \
  (context)->uc_mcontext.gregs[(const int[]){8, 9, 12, 2, 0, 1}[n]]
#define RETAKE_RESULT(context) (context)->uc_mcontext.gregs[13]
#elif defined(__aarch64__)
typedef unsigned long long retake_register;
#define RETAKE_ARGUMENT(context, n) (context)->uc_mcontext.regs[n]
#define RETAKE_RESULT(context) (context)->uc_mcontext.regs[0]
#endif

// Makes a system call and stores its address, where the filter allows calls for large blocks. The
// compiler must make one copy of this function.
static __attribute__((noinline)) long retake_call(long number, const long arguments[6],
                                                  uint64_t *address) {
#if defined(__x86_64__)
  long result;
  register long fourth __asm__("r10") = arguments[3];
  register long fifth __asm__("r8") = arguments[4];
  register long sixth __asm__("r9") = arguments[5];
  __asm__ volatile("lea 1f(%%rip), %1\n\tsyscall\n1:"
                   : "=a"(result), "=&r"(*address)
                   : "0"(number), "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]),
                     "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long call __asm__("x8") = number;
  register long first __asm__("x0") = arguments[0];
  register long second __asm__("x1") = arguments[1];
  register long third __asm__("x2") = arguments[2];
  register long fourth __asm__("x3") = arguments[3];
  register long fifth __asm__("x4") = arguments[4];
  register long sixth __asm__("x5") = arguments[5];
  __asm__ volatile("adr %1, 1f\n\tsvc #0\n1:"
                   : "+r"(first), "=&r"(*address)
                   : "r"(call), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "memory");
  return first;
#else
  return -ENOSYS;
#endif
}

// The line on standard input, a socket, before a process over its limit ends.
static const char retake_memory_line[] = "memory\n";

// Repeats a call for a large block; -ENOMEM without memory, 1 for another signal.
static inline int32_t retake_repeat(siginfo_t *facts, void *state) {
#if defined(__x86_64__) || defined(__aarch64__)
  // SYS_SECCOMP: the filter sent the signal.
  if (facts->si_code != 1) return 1;
  ucontext_t *context = state;
  long arguments[6];
  for (int i = 0; i < 6; i++) arguments[i] = (long)RETAKE_ARGUMENT(context, i);
  uint64_t address;
  long result = retake_call(facts->si_syscall, arguments, &address);
  RETAKE_RESULT(context) = (retake_register)result;
  return result == -ENOMEM ? -ENOMEM : 0;
#else
  return 1;
#endif
}

static void retake_on_block(int number, siginfo_t *facts, void *state) {
  if (retake_repeat(facts, state) != -ENOMEM) return;
  // Only system calls: the thread may hold any lock.
  ssize_t written = write(0, retake_memory_line, sizeof retake_memory_line - 1);
  (void)written;
  _exit(2);
}

// From now on the process may have `bytes` of private memory, and no more later.
static inline int32_t retake_limit_memory(uint64_t bytes,
                                          void (*handler)(int, siginfo_t *, void *)) {
  struct sigaction action = {0};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  if (sigaction(SIGSYS, &action, NULL) != 0) return -errno;
  struct rlimit limit = {bytes, bytes};
  return setrlimit(RLIMIT_DATA, &limit) == 0 ? 0 : -errno;
}

// Whether the process already has a limit of its address space or private memory below `bytes`.
static inline int32_t retake_has_lower_limit(uint64_t bytes) {
  struct rlimit space, data;
  if (getrlimit(RLIMIT_AS, &space) != 0 || getrlimit(RLIMIT_DATA, &data) != 0) return -errno;
  return space.rlim_cur < bytes || data.rlim_max < bytes;
}

// From now on the process gets EPERM for the calls above and starts threads, but no processes. All
// other threads of the process are restricted, too. With `limits`, calls for large blocks of memory
// go to the handler of `retake_limit_memory`.
static inline int32_t retake_deny_calls(int32_t limits) {
  if (retake_processor == 0) return -ENOSYS;
  struct sock_filter code[2 * retake_denied_count + 64];
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
  if (limits) {
    const long harmless[6] = {0};
    uint64_t address;
    if (retake_call(SYS_getpid, harmless, &address) < 0) return -ENOSYS;
    const struct {
      int32_t number, size, access;
    } calls[] = {{SYS_mmap, 1, 2}, {SYS_mprotect, 1, 2}, {SYS_mremap, 2, -1}};
    for (int i = 0; i < 3; i++) {
      // To the next call's instructions, 13 after this one, or 11 without a check of access.
      const uint8_t rest = calls[i].access < 0 ? 11 : 13;
      code[n++] =
          (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, rest);
      RETAKE_LOAD(instruction_pointer);
      code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)address, 0, 3);
      RETAKE_DO(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4);
      RETAKE_IF(BPF_JEQ, (uint32_t)(address >> 32));
      RETAKE_RETURN(SECCOMP_RET_ALLOW);
      if (calls[i].access >= 0) {
        RETAKE_LOAD(args[calls[i].access]);
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_WRITE, 0, 5);
      }
      RETAKE_DO(BPF_LD | BPF_W | BPF_ABS,
                offsetof(struct seccomp_data, args) + 8 * calls[i].size + 4);
      code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2);
      RETAKE_LOAD(args[calls[i].size]);
      RETAKE_IF(BPF_JGE, retake_block_min);
      RETAKE_RETURN(SECCOMP_RET_TRAP);
      RETAKE_RETURN(SECCOMP_RET_ALLOW);
    }
  }
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
  retake_trial_memory = 1 << 6,
};

// Reports a lack of memory as an error without another cause.
static void retake_on_trial_block(int number, siginfo_t *facts, void *state) {
#if defined(__x86_64__) || defined(__aarch64__)
  if (retake_repeat(facts, state) == -ENOMEM)
    RETAKE_RESULT((ucontext_t *)state) = (retake_register)-EDQUOT;
#endif
}

static inline int32_t retake_try(const char *own, const char *foreign) {
  int32_t version = retake_landlock_version(), rules = retake_landlock_begin(version);
  if (version < 1 || rules < 0 || retake_landlock_allow(rules, version, own, 1) != 0 ||
      retake_landlock_enter(rules) != 0 ||
      retake_limit_memory(retake_block_min, retake_on_trial_block) != 0 ||
      retake_deny_calls(1) != 0)
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
  // MAP_ANONYMOUS, which is a GNU extension.
  const int flags = MAP_PRIVATE | 0x20;
  const size_t size = 2 * retake_block_min;
  if (syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0) != -1 ||
      errno != EDQUOT)
    found |= retake_trial_memory;
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
