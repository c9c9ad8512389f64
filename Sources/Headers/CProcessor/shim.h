#pragma once
#include <stdint.h>
#if defined(__linux__) && defined(__aarch64__)
#include <sys/auxv.h>
#endif

// The processor's own words about what it can do, and what the system saves of its registers. Each
// field is 0 where the processor does not have the leaf or the register.
typedef struct {
  // x86: cpuid.
  uint32_t leaf1_ecx;
  uint32_t leaf7_ebx, leaf7_ecx, leaf7_edx;
  uint32_t leaf7_1_eax;
  uint64_t xcr0;
  // ARM: the capabilities that the kernel passes to each process.
  uint64_t hwcap, hwcap2;
} retake_processor;

#if defined(__x86_64__)
static inline void retake_cpuid(uint32_t leaf, uint32_t part, uint32_t registers[4]) {
  __asm__ volatile("cpuid"
                   : "=a"(registers[0]), "=b"(registers[1]), "=c"(registers[2]), "=d"(registers[3])
                   : "a"(leaf), "c"(part));
}

static inline uint64_t retake_xgetbv0(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}
#endif

static inline retake_processor retake_read_processor(void) {
  retake_processor processor = {0};
#if defined(__x86_64__)
  uint32_t registers[4];
  retake_cpuid(0, 0, registers);
  uint32_t leaves = registers[0];
  retake_cpuid(1, 0, registers);
  processor.leaf1_ecx = registers[2];
  // Bit 27: without it the instruction does not exist.
  if (processor.leaf1_ecx & 1u << 27) processor.xcr0 = retake_xgetbv0();
  if (leaves >= 7) {
    retake_cpuid(7, 0, registers);
    uint32_t parts = registers[0];
    processor.leaf7_ebx = registers[1];
    processor.leaf7_ecx = registers[2];
    processor.leaf7_edx = registers[3];
    if (parts >= 1) {
      retake_cpuid(7, 1, registers);
      processor.leaf7_1_eax = registers[0];
    }
  }
#elif defined(__linux__) && defined(__aarch64__)
  processor.hwcap = getauxval(AT_HWCAP);
  processor.hwcap2 = getauxval(AT_HWCAP2);
#endif
  return processor;
}
