import CProcessor

/// The class of kernels that a library of models chooses on a processor. Two processors of one class
/// compute the same bits with the same library; processors of two classes may differ in the last
/// bits.
///
/// Flags such as FMA are not enough: a kernel for wider registers adds the products of a sum in
/// another order. The classes, and the bits that decide, follow ONNX Runtime's kernels
/// (onnxruntime/core/mlas/lib/platform.cpp). The bits are read from the processor itself, because
/// an emulator shows the host's `/proc/cpuinfo`.
package enum KernelClass: String, Hashable, Sendable, CaseIterable {
  case sse, avx, avx2, avx2vnni, avx512, avx512vnni, amx
  case neon, neondot, neoni8mm
  /// Another architecture.
  case other

  /// The class of the processor on which this process runs.
  package static let current = KernelClass(Registers.current)

  /// The feature bits of the processor that determine the class: CPUID and the saved states on x86,
  /// hardware capabilities on ARM.
  package struct Registers: Hashable, Sendable {
    /// Leaf 1, ECX.
    package var leaf1ECX: UInt32 = 0
    /// Leaf 7, part 0: EBX, ECX and EDX.
    package var leaf7EBX: UInt32 = 0
    package var leaf7ECX: UInt32 = 0
    package var leaf7EDX: UInt32 = 0
    /// Leaf 7, part 1, EAX.
    package var leaf7Part1EAX: UInt32 = 0
    /// The registers that the system saves.
    package var savedStates: UInt64 = 0
    /// ARM: AT_HWCAP and AT_HWCAP2.
    package var capabilities: UInt64 = 0
    package var capabilities2: UInt64 = 0

    /// The feature bits of the processor on which this process runs.
    package static let current = Registers(retake_read_processor())

    package init() {}

    /// Whether an x86 processor rounds once after a multiplication and an addition: FMA, which uses
    /// the registers of AVX.
    package var hasFusedMultiplyAdd: Bool {
      leaf1ECX.has(0x1800_1000) && savedStates & 6 == 6
    }

    init(_ processor: retake_processor) {
      leaf1ECX = processor.leaf1_ecx
      leaf7EBX = processor.leaf7_ebx
      leaf7ECX = processor.leaf7_ecx
      leaf7EDX = processor.leaf7_edx
      leaf7Part1EAX = processor.leaf7_1_eax
      savedStates = processor.xcr0
      capabilities = processor.hwcap
      capabilities2 = processor.hwcap2
    }
  }

  private init(_ registers: Registers) {
    #if arch(x86_64)
      self.init(x86: registers)
    #elseif arch(arm64)
      self.init(arm: registers)
    #else
      self = .other
    #endif
  }

  package init(x86 registers: Registers) {
    let saved = registers.savedStates
    // Instructions count only if the system saves their registers: 6 is XMM and YMM, 0xe0 the
    // masks and ZMM, bits 17 and 18 the tiles.
    let hasAVX = registers.leaf1ECX.has(0x1800_0000) && saved & 6 == 6
    let hasAVX2 = hasAVX && registers.leaf7EBX.has(0x20) && registers.leaf1ECX.has(0x1000)
    let hasAVX512 = hasAVX2 && registers.leaf7EBX.has(0x1_0000) && saved & 0xe0 == 0xe0
    // DQ, BW and VL, without which the kernels for eight bits do not use VNNI.
    let hasCore = hasAVX512 && registers.leaf7EBX.has(0xc002_0000)
    let hasTiles = hasAVX2 && registers.leaf7EDX.has(0x300_0000) && saved & 0x6_0000 == 0x6_0000
    if hasTiles {
      self = .amx
    } else if hasCore && registers.leaf7ECX.has(0x800) {
      self = .avx512vnni
    } else if hasAVX512 {
      self = .avx512
    } else if hasAVX2 {
      self = registers.leaf7Part1EAX.has(0x10) ? .avx2vnni : .avx2
    } else {
      self = hasAVX ? .avx : .sse
    }
  }

  /// Linux names the bits in asm/hwcap.h. Other systems pass no bits, so all of their processors
  /// count as one class.
  package init(arm registers: Registers) {
    if registers.capabilities2 & 1 << 13 != 0 {
      self = .neoni8mm
    } else {
      self = registers.capabilities & 1 << 20 != 0 ? .neondot : .neon
    }
  }
}

extension UInt32 {
  fileprivate func has(_ bits: UInt32) -> Bool { self & bits == bits }
}
