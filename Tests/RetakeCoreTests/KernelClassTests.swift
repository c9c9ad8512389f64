import RetakeCore
import Testing

@Suite struct KernelClassTests {
  private typealias Registers = KernelClass.Registers

  /// Nehalem, SandyBridge, Haswell, Alder Lake, Skylake-X, Ice Lake and Sapphire Rapids, as their
  /// bits are in Intel's manual (volume 2A, CPUID).
  private func registers(
    avx: Bool = true, fma: Bool = true, leaf7: UInt32 = 0, ecx: UInt32 = 0, edx: UInt32 = 0,
    part1: UInt32 = 0, saved: UInt64
  ) -> Registers {
    var registers = Registers()
    registers.leaf1ECX = (avx ? 0x1800_0000 : 0) | (fma ? 0x1000 : 0)
    registers.leaf7EBX = leaf7
    registers.leaf7ECX = ecx
    registers.leaf7EDX = edx
    registers.leaf7Part1EAX = part1
    registers.savedStates = saved
    return registers
  }

  private let avx512: UInt32 = 0xc003_0020

  @Test func `each generation of processors has its class`() {
    let cases: [(Registers, KernelClass)] = [
      (Registers(), .sse),
      (registers(fma: false, saved: 7), .avx),
      (registers(leaf7: 0x20, saved: 7), .avx2),
      (registers(leaf7: 0x20, part1: 0x10, saved: 7), .avx2vnni),
      (registers(leaf7: avx512, saved: 0xe7), .avx512),
      (registers(leaf7: 0x1_0020, ecx: 0x800, saved: 0xe7), .avx512),
      (registers(leaf7: avx512, ecx: 0x800, saved: 0xe7), .avx512vnni),
      (registers(leaf7: avx512, ecx: 0x800, edx: 0x300_0000, saved: 0x6_00e7), .amx),
    ]
    for (registers, expected) in cases { #expect(KernelClass(x86: registers) == expected) }
  }

  @Test func `instructions whose registers the system does not save do not count`() {
    #expect(KernelClass(x86: registers(leaf7: 0x20, saved: 3)) == .sse)
    #expect(KernelClass(x86: registers(leaf7: avx512, ecx: 0x800, saved: 7)) == .avx2)
    #expect(
      KernelClass(x86: registers(leaf7: avx512, ecx: 0x800, edx: 0x300_0000, saved: 0xe7))
        == .avx512vnni)
    // FMA may be switched off with AVX2 on: the kernels need both.
    #expect(KernelClass(x86: registers(fma: false, leaf7: 0x20, saved: 7)) == .avx)
  }

  @Test func `ARM processors differ by their products of eight bits`() {
    var registers = Registers()
    #expect(KernelClass(arm: registers) == .neon)
    registers.capabilities = 1 << 20
    #expect(KernelClass(arm: registers) == .neondot)
    registers.capabilities2 = 1 << 13
    #expect(KernelClass(arm: registers) == .neoni8mm)
  }

  @Test func `this processor has a class of its architecture`() {
    #if arch(x86_64)
      let own: [KernelClass] = [.sse, .avx, .avx2, .avx2vnni, .avx512, .avx512vnni, .amx]
    #elseif arch(arm64)
      let own: [KernelClass] = [.neon, .neondot, .neoni8mm]
    #else
      let own: [KernelClass] = [.other]
    #endif
    #expect(own.contains(.current))
  }
}
