import Foundation

/// How much memory images may use in one process, and how it is divided.
///
/// These are bounds on the memory that a file requires, not on the memory that a pipeline models.
/// They change the duration of a run, or reject a file, but never change a decision.
package struct PixelBudget: Hashable, Sendable {
  /// The environment variable that sets another budget.
  package static let variable = "RETAKE_MEMORY"
  private static let bytesDefault = 512 << 20
  private static let bytesLimits = 64 << 20...1 << 44
  /// Before the unit.
  private static let numberMax = 1 << 20

  /// The bound for all images together.
  package let bytesMax: Int

  package init(bytesMax: Int = bytesDefault) {
    self.bytesMax = bytesMax
  }

  /// The bound for one decoder: the image that it decodes, and its reference images.
  ///
  /// FFmpeg stores motion vectors and similar data for each image, up to another half of its bytes.
  package var decoderBytesMax: Int { bytesMax / 8 * 5 }
  /// The bound for several decoders together. A single decoder may exceed it.
  package var decodersBytesMax: Int { bytesMax / 2 }
  /// Memory that is kept for the next image.
  package var waitingBytesMax: Int { bytesMax / 8 }
  /// Decoded frames that are read before a run needs them.
  package var aheadBytesMax: Int { bytesMax / 32 * 5 }
  /// Frames that may be requested ahead if only a few of them are decoded at the same time.
  package var resultsBytesMax: Int { bytesMax / 8 * 3 }

  /// The bound for all private memory of a process that decodes files of others: twice the bytes for
  /// images, because FFmpeg stores more data for each image and stages copy images, bytes for
  /// libraries and threads, and bytes for an index that grows with the files.
  ///
  /// - Parameter bytes: The size of the files.
  package func processBytesMax(reading bytes: Int64) -> Int {
    // In mebibytes, for a short message.
    let mebibytes = Int(max(0, bytes) / 2) >> 20
    return bytesMax * 2 + Self.processBytesMin + mebibytes << 20
  }
  /// Measured: 71 MiB for a file of 64x48, and 230 bytes for each frame of an index.
  private static let processBytesMin = 512 << 20

  /// The number of images that a decoder usually holds; an estimate before it has decoded any.
  private static let picturesUsual = 6

  /// An estimate of the memory that a decoder holds.
  package static func decoderBytes(forFrameOf bytes: Int) -> Int {
    bytes.multipliedReportingOverflow(by: picturesUsual).partialValue
  }

  /// Whether two decoders that each hold this much may work at the same time.
  package func allowsTwoDecoders(holding bytes: Int) -> Bool { bytes <= decodersBytesMax / 2 }

  /// The budget of this process: from the environment, or 512 MiB.
  package static let ofProcess: PixelBudget = {
    let text = ProcessInfo.processInfo.environment[variable]
    return PixelBudget(bytesMax: text.flatMap { bytes(of: $0) } ?? bytesDefault)
  }()

  /// The assignment of a variable that doubles the budget of this process, for advice.
  package static var doubled: String {
    let mebibytes = min(ofProcess.bytesMax, bytesLimits.upperBound / 2) >> 19
    return "\(variable)=" + (mebibytes > numberMax ? "\(mebibytes >> 10)G" : "\(mebibytes)M")
  }

  /// The problem with the environment's budget; `nil` if it is valid.
  package static func problem(with text: String?) -> String? {
    guard let text, bytes(of: text) == nil else { return nil }
    return "\(variable)='\(text)' is not an amount of memory from 64M to 16384G; use for example "
      + "\(variable)=2G"
  }

  /// Parses a number of bytes with the suffix `M` or `G`.
  static func bytes(of text: String) -> Int? {
    let shift: Int
    switch text.last {
    case "M", "m": shift = 20
    case "G", "g": shift = 30
    default: return nil
    }
    // Bounded before the shift, which would drop high bits without an error.
    guard let number = Int(text.dropLast()), (1...numberMax).contains(number) else { return nil }
    let bytes = number << shift
    return bytesLimits.contains(bytes) ? bytes : nil
  }
}
