import CFFmpeg

/// The vector instructions of the processor that FFmpeg uses. Other instructions may produce
/// different bits; `retake verify` checks for that.
package enum ProcessorFeatures: String, Hashable, Sendable, Codable, CaseIterable {
  /// Everything that the processor supports.
  case all
  /// On x86: up to SSE4.2, without AVX, FMA and later extensions.
  case withoutAVX
  /// Plain C.
  case none

  /// Whether this setting makes FFmpeg use fewer instructions than it does by default.
  package var isReduced: Bool { flags != ProcessorFeatures.all.flags }

  /// Applies to the rest of the process. Call it before anything decodes or scales.
  package func force() {
    // First: it is read once, and afterwards FFmpeg reports the forced flags.
    _ = Self.native
    av_force_cpu_flags(flags)
  }

  /// The flags that FFmpeg detected before any were forced.
  private static let native = av_get_cpu_flags()

  private var flags: Int32 {
    switch self {
    case .all: return Self.native
    case .none: return 0
    case .withoutAVX:
      #if arch(x86_64)
        return Self.native & Self.upToSSE42
      #else
        return Self.native
      #endif
    }
  }

  private static let upToSSE42 =
    AV_CPU_FLAG_MMX | AV_CPU_FLAG_MMXEXT | AV_CPU_FLAG_CMOV | AV_CPU_FLAG_SSE | AV_CPU_FLAG_SSE2
    | AV_CPU_FLAG_SSE2SLOW | AV_CPU_FLAG_SSE3 | AV_CPU_FLAG_SSE3SLOW | AV_CPU_FLAG_SSSE3
    | AV_CPU_FLAG_SSSE3SLOW | AV_CPU_FLAG_ATOM | AV_CPU_FLAG_SSE4 | AV_CPU_FLAG_SSE42
}
