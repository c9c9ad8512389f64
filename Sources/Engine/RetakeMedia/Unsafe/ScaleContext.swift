import CFFmpeg
import RetakeBuffers
import RetakeCore

/// A prepared FFmpeg scaler; only one thread at a time uses it.
final class ScaleContext {
  // SAFETY: the context is made here, used by one thread at a time, and freed once, in deinit.
  let plan: ScalePlan
  private let context: OpaquePointer

  init(_ plan: ScalePlan) throws(MediaError) {
    _ = FFmpeg.quiet
    self.plan = plan
    let context = try FFmpeg.allocated(sws_alloc_context(), "scale an image")
    self.context = context
    Self.setOptions(plan, on: UnsafeMutableRawPointer(context))
    let result = sws_init_context(context, nil, nil)
    guard result >= 0 else {
      throw MediaError.of(result, "scale an image") {
        .scale(from: Self.text(plan.source), to: Self.text(plan.destination), cause: $0)
      }
    }
    setColors()
  }

  deinit {
    sws_freeContext(context)
  }

  /// Scales the planes. The destination's rows have space for 32 more pixels than the visible
  /// pixels.
  func run(
    from source: [FrameStorage.Plane], to destination: [UnsafeMutableRawBufferPointer],
    strides: [Int]
  ) throws(MediaError) {
    var sources: [UnsafePointer<UInt8>?] = [nil, nil, nil, nil]
    var sourceStrides: [Int32] = [0, 0, 0, 0]
    var targets: [UnsafeMutablePointer<UInt8>?] = [nil, nil, nil, nil]
    var targetStrides: [Int32] = [0, 0, 0, 0]
    for (index, plane) in source.enumerated() {
      sources[index] = plane.base
      sourceStrides[index] = Int32(clamping: plane.stride)
    }
    for (index, plane) in destination.enumerated() {
      targets[index] = plane.baseAddress?.assumingMemoryBound(to: UInt8.self)
      targetStrides[index] = Int32(clamping: strides[index])
    }
    // SAFETY: all arrays have four entries; the planes have the rows and strides of the plan.
    let rows = sws_scale(
      context, &sources, &sourceStrides, 0, Int32(clamping: plan.source.height), &targets,
      &targetStrides)
    guard rows == Int32(clamping: plan.destination.height) else {
      throw .scale(
        from: Self.text(plan.source), to: Self.text(plan.destination),
        cause: rows < 0 ? FFmpeg.text(rows) : counted(rows, "row"))
    }
  }

  private static func setOptions(_ plan: ScalePlan, on context: UnsafeMutableRawPointer) {
    let values: [(String, Int)] = [
      ("srcw", plan.source.width), ("srch", plan.source.height),
      ("src_format", Int(plan.source.format.rawValue)),
      ("src_range", plan.source.range == .full ? 1 : 0),
      ("dstw", plan.destination.width), ("dsth", plan.destination.height),
      ("dst_format", Int(plan.destination.format.rawValue)),
      ("dst_range", plan.destination.range == .full ? 1 : 0),
      ("sws_flags", Int(plan.algorithm.flags | SWS_ACCURATE_RND | SWS_BITEXACT)),
    ]
    for (name, value) in values {
      let result = av_opt_set_int(context, name, Int64(value), 0)
      precondition(result >= 0, "swscale knows its own options")
    }
  }

  private func setColors() {
    let unit: Int32 = 1 << 16
    // The library returns -1 for formats to which color details do not apply, which is fine.
    _ = sws_setColorspaceDetails(
      context, sws_getCoefficients(plan.source.matrix.coefficients),
      plan.source.range == .full ? 1 : 0,
      sws_getCoefficients(plan.destination.matrix.coefficients),
      plan.destination.range == .full ? 1 : 0, 0, unit, unit)
  }

  private static func text(_ side: ScalePlan.Side) -> String {
    "\(side.width)x\(side.height) \(AVPixelFormat.name(side.format))"
  }
}

extension MediaScaler.Algorithm {
  fileprivate var flags: Int32 {
    switch self {
    case .area: SWS_AREA
    case .bilinear: SWS_BILINEAR
    }
  }
}

extension ColorMatrix {
  /// Gray and RGB have no coefficients; if one side needs them, BT.601 is used.
  fileprivate var coefficients: Int32 {
    switch self {
    case .bt709: SWS_CS_ITU709
    case .bt2020: SWS_CS_BT2020
    case .bt601, .identity: SWS_CS_ITU601
    }
  }
}
