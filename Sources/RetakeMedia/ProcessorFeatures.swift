import CFFmpeg

/// Which of the processor's vector instructions FFmpeg uses. Other instructions may give other
/// bits; `retake verify` looks for that.
public enum ProcessorFeatures: String, Hashable, Sendable, Codable, CaseIterable {
  /// Whatever the processor has.
  case all
  /// On x86: up to SSE4.2, without AVX, FMA and what came after them.
  case withoutAVX
  /// Plain C.
  case none

  /// Whether FFmpeg would run with fewer instructions here than it does by itself.
  package var isReduced: Bool { flags != ProcessorFeatures.all.flags }

  /// For the rest of the process's life. Call before anything decodes or scales.
  package func force() { av_force_cpu_flags(flags) }

  /// The flags that FFmpeg found when it was first asked, before any were forced.
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
