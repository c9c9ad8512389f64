import CRetake
import Retake

/// Checks a frame of the caller, and makes a frame of the engine of it.
struct CFrame {
  // SAFETY: `given` is a copy of the caller's struct. Its planes are read only up to the length
  // that the caller states, which is compared with the size that the format needs before any byte
  // is read.
  private let given: retake_frame
  let track: Int
  private let format: PixelFormat
  private let width: Int
  private let height: Int

  private static let strideMax = 1 << 30

  /// - Throws: `Problem`.
  init(_ pointer: UnsafePointer<retake_frame>) throws {
    given = try pointer.checked("retake_frame", size: MemoryLayout<retake_frame>.size)
    guard let format = PixelFormat(given.format) else {
      throw Problem.value(
        "there is no format \(given.format.rawValue)",
        advice: "Use a retake_format, such as RETAKE_NV12")
    }
    self.format = format
    track = Int(given.track)
    (width, height) = try checkedSize(given.width, given.height)
    try checkWords()
    try checkPlanes()
  }

  /// - Throws: `Problem` if the track was declared with another format.
  func check(_ track: LiveTrack) throws {
    guard track.format == format else {
      throw Problem.value(
        "track \(track.track) was declared as \(track.format.rawValue), and this frame is "
          + format.rawValue)
    }
  }

  private func checkWords() throws {
    guard abs(Int128(given.pts_ns)) <= Int128(EventKey.nanosecondsMax) else {
      throw Problem.value(
        "\(given.pts_ns) ns is too far from zero for a presentation time",
        advice: "Use at most 2^61 nanoseconds, which are 73 years")
    }
    guard [0, 90, 180, 270].contains(given.rotation) else {
      throw Problem.value("a rotation is 0, 90, 180 or 270, not \(given.rotation)")
    }
    guard given.range.rawValue <= RETAKE_RANGE_FULL.rawValue else {
      throw Problem.value("there is no range \(given.range.rawValue)")
    }
    guard given.matrix.rawValue <= RETAKE_MATRIX_BT2020.rawValue else {
      throw Problem.value("there is no matrix \(given.matrix.rawValue)")
    }
  }

  private var planes: [retake_plane] {
    Array([given.planes.0, given.planes.1, given.planes.2].prefix(format.planeCount))
  }

  private func checkPlanes() throws {
    guard Int(given.plane_count) == format.planeCount else {
      throw Problem.value(
        "\(format.rawValue) has \(counted(format.planeCount, "plane")), not \(given.plane_count)")
    }
    for (index, plane) in planes.enumerated() { try check(plane, index) }
  }

  private func check(_ plane: retake_plane, _ index: Int) throws {
    guard let data = plane.data else { throw Problem.null("planes[\(index)].data") }
    let rowBytes = format.rowBytes(plane: index, width: width)
    guard (rowBytes...Self.strideMax).contains(plane.stride) else {
      throw Problem.value(
        "the stride of plane \(index) is \(plane.stride), and a row has \(rowBytes) bytes",
        advice: "Pass the bytes from the start of a row to the start of the next")
    }
    // Words are read where they are.
    guard
      format.bitsPerSample == 8
        || (UInt(bitPattern: data).isMultiple(of: 2) && plane.stride.isMultiple(of: 2))
    else {
      throw Problem.value(
        "the samples of \(format.rawValue) have two bytes, and plane \(index) begins at an odd "
          + "address or has an odd stride")
    }
    let needed = neededBytes(plane, index)
    guard plane.length >= needed else {
      throw Problem.value(
        "plane \(index) has \(plane.length) bytes, and its rows need \(needed)",
        advice: "Pass the number of bytes that can be read from 'data'")
    }
    let end = UInt(bitPattern: data).addingReportingOverflow(UInt(bitPattern: plane.length))
    guard !end.overflow else {
      throw Problem.value("plane \(index) is longer than the memory at 'data'")
    }
  }

  /// Up to the end of the last visible row. It cannot overflow: a side is at most 2^14, and a
  /// stride at most 2^30.
  private func neededBytes(_ plane: retake_plane, _ index: Int) -> Int {
    let rows = format.rowCount(plane: index, height: height)
    return (rows - 1) * plane.stride + format.rowBytes(plane: index, width: width)
  }

  /// The frame, and the loan of its pixels if the caller lends them.
  ///
  /// - Throws: `Problem` if there is no memory for a copy.
  func make(_ loans: BorrowedFrames) throws -> (frame: Frame, loan: Loan?) {
    guard let release = given.release else { return (frame(try copied()), nil) }
    let loan = Loan(loans, release: release, context: given.context)
    let isPadded = planes.enumerated().allSatisfy { index, plane in
      plane.length - neededBytes(plane, index) >= FrameStorage.padding
    }
    let storage = FrameStorage(
      planes: planes.compactMap { plane in
        plane.data.map { FrameStorage.Plane(base: $0, stride: plane.stride) }
      }, isPadded: isPadded
    ) { loan.end() }
    return (frame(storage), loan)
  }

  private func frame(_ storage: FrameStorage) -> Frame {
    let range: ColorRange =
      switch given.range {
      case RETAKE_RANGE_LIMITED: .limited
      case RETAKE_RANGE_FULL: .full
      default: format.isYUV ? .limited : .full
      }
    return Frame(
      timestamp: Timestamp(nanoseconds: given.pts_ns), format: format, width: width,
      height: height, range: range, matrix: matrix, rotationDegrees: Int(given.rotation),
      storage: storage)
  }

  /// `nil` = the default of the format and the height.
  private var matrix: ColorMatrix? {
    guard format.isYUV else { return nil }
    return switch given.matrix {
    case RETAKE_MATRIX_BT601: .bt601
    case RETAKE_MATRIX_BT709: .bt709
    case RETAKE_MATRIX_BT2020: .bt2020
    default: nil
    }
  }

  private func copied() throws -> FrameStorage {
    let storage = FrameStorage.makeIfRoom(format: format, width: width, height: height) {
      targets, strides in
      for (index, plane) in planes.enumerated() {
        guard let data = plane.data else { continue }
        let rowBytes = format.rowBytes(plane: index, width: width)
        for row in 0..<format.rowCount(plane: index, height: height) {
          // SAFETY: both have this row: the source because of `check`, the target by its size.
          targets[index].baseAddress?.advanced(by: row * strides[index]).copyMemory(
            from: data + row * plane.stride, byteCount: rowBytes)
        }
      }
    }
    guard let storage else {
      throw Problem(
        RETAKE_ERROR_LIMIT, "memory", "there was no memory for a copy of \(width)x\(height)",
        advice: "Lend the pixels with 'release', or push fewer frames at once")
    }
    return storage
  }
}

/// - Throws: `Problem`.
func checkedSize(_ width: Int32, _ height: Int32) throws -> (Int, Int) {
  let sides = 1...RETAKE_SIDE_MAX
  guard sides.contains(width), sides.contains(height) else {
    throw Problem.value(
      "a frame of \(width)x\(height) is too small or too large",
      advice: "A side has 1 to \(RETAKE_SIDE_MAX) pixels")
  }
  return (Int(width), Int(height))
}

extension PixelFormat {
  init?(_ format: retake_format) {
    switch format {
    case RETAKE_I420: self = .i420
    case RETAKE_I422: self = .i422
    case RETAKE_I444: self = .i444
    case RETAKE_NV12: self = .nv12
    case RETAKE_GRAY8: self = .gray
    case RETAKE_RGB24: self = .rgb
    case RETAKE_BGR24: self = .bgr
    case RETAKE_BGRA: self = .bgra
    case RETAKE_RGBA: self = .rgba
    case RETAKE_I420P10: self = .i420(bits: 10)
    case RETAKE_I422P10: self = .i422(bits: 10)
    case RETAKE_I444P10: self = .i444(bits: 10)
    case RETAKE_I420P12: self = .i420(bits: 12)
    case RETAKE_GRAY10: self = .gray(bits: 10)
    case RETAKE_GRAY12: self = .gray(bits: 12)
    case RETAKE_GRAY16: self = .gray(bits: 16)
    default: return nil
    }
  }
}

extension UnsafePointer {
  /// The struct, if its first member, `size`, is the size that this library knows.
  ///
  /// - Throws: `Problem`.
  func checked(
    _ name: String, size: Int
  ) throws -> Pointee where Pointee: BitwiseCopyable {
    // SAFETY: a caller's struct begins with its size; the rest is read only if it is as large.
    let raw = UnsafeRawPointer(self)
    let given = raw.loadUnaligned(as: Int.self)
    guard given == size else { throw Problem.size(of: name, given, expected: size) }
    return raw.loadUnaligned(as: Pointee.self)
  }
}
