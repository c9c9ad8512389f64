import Foundation

/// How much memory pictures may take in one process, and who may take which part of it.
///
/// These are bounds on memory that a file asks for, not on what a pipeline models: they change
/// how long a run takes, or refuse a file, and never a decision.
package struct PixelBudget: Hashable, Sendable {
  /// The environment's name for another budget.
  package static let variable = "RETAKE_MEMORY"
  private static let bytesDefault = 512 << 20
  private static let bytesLimits = 64 << 20...1 << 44

  /// All pictures together.
  package let bytesMax: Int

  package init(bytesMax: Int = bytesDefault) {
    self.bytesMax = bytesMax
  }

  /// What one decoder may hold: the picture that it makes, and those that it makes it from.
  ///
  /// FFmpeg keeps motion vectors and the like beside each picture, up to half of its bytes again.
  package var decoderBytesMax: Int { bytesMax / 8 * 5 }
  /// What several decoders may hold together; a single one may hold more.
  package var decodersBytesMax: Int { bytesMax / 2 }
  /// Memory that waits for the next picture.
  package var waitingBytesMax: Int { bytesMax / 8 }
  /// Decoded frames that are read before a run asks for them.
  package var aheadBytesMax: Int { bytesMax / 32 * 5 }
  /// Frames that may be asked for ahead where few of them are decoded at a time.
  package var resultsBytesMax: Int { bytesMax / 8 * 3 }

  /// Pictures that a decoder usually holds, as an estimate before it has decoded some.
  private static let picturesUsual = 6

  /// An estimate of what a decoder holds.
  package static func decoderBytes(forFrameOf bytes: Int) -> Int {
    bytes.multipliedReportingOverflow(by: picturesUsual).partialValue
  }

  /// Whether two decoders that hold this much each may work beside each other.
  package func allowsTwoDecoders(holding bytes: Int) -> Bool { bytes <= decodersBytesMax / 2 }

  /// The budget of this process: what the environment says, or 512 MB.
  package static let ofProcess: PixelBudget = {
    let text = ProcessInfo.processInfo.environment[variable]
    return PixelBudget(bytesMax: text.flatMap { bytes(of: $0) } ?? bytesDefault)
  }()

  /// What is wrong with the environment's budget; `nil` if nothing is.
  package static func problem(with text: String?) -> String? {
    guard let text, bytes(of: text) == nil else { return nil }
    return "\(variable)='\(text)' is not an amount of memory from 64M to 16384G; use for example "
      + "\(variable)=2G"
  }

  /// Bytes, with `M` or `G` behind the number.
  static func bytes(of text: String) -> Int? {
    let shift: Int
    switch text.last {
    case "M", "m": shift = 20
    case "G", "g": shift = 30
    default: return nil
    }
    guard let number = Int(text.dropLast()), (1...1 << 20).contains(number) else { return nil }
    let bytes = number << shift
    return bytesLimits.contains(bytes) ? bytes : nil
  }
}
