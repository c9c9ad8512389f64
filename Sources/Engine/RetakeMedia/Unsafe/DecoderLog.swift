import CFFmpeg
import Foundation
import RetakeBuffers

/// The lines of one decoder, until they are taken; bounded.
final class DecoderLog: Sendable {
  private let codec: String
  private let reports = Locked<[DecoderReport]>([])

  init(codec: String) {
    self.codec = codec
  }

  /// Further lines between two calls of `take` are repetitions, and dropped.
  private static let countMax = 64

  func take() -> [DecoderReport] {
    reports.withLock { reports in
      defer { reports = [] }
      return reports
    }
  }

  /// - Parameters:
  ///   - line: With its line break. Decoders also write pieces of a line, such as the digits of a
  ///     checksum; only the last piece has it.
  ///   - isError: Other lines than errors are kept only if they say that pixels are damaged.
  func add(_ line: String, packet: Int, isError: Bool) {
    let isDamage = DecoderLines.areDamage(line, codec: codec)
    let text = line.trimmed
    guard isDamage || (isError && !text.isEmpty && line.utf8.last == UInt8(ascii: "\n")) else {
      return
    }
    reports.withLock { reports in
      let isKnown = reports.contains { $0.packet == packet && $0.isDamage == isDamage }
      guard !isKnown, reports.count < Self.countMax else { return }
      reports.append(DecoderReport(packet: packet, line: text, isDamage: isDamage))
    }
  }

  /// Makes FFmpeg pass the lines of all decoders to their logs.
  static func install() {
    retake_take_log(
      { opaque, isError, line in
        guard let opaque, let line else { return }
        // SAFETY: only `MediaDecoder` sets `opaque` of a decoder's context: to a mark that lives
        // longer than the context and its copies in FFmpeg's threads.
        let mark = PacketMarks.Mark(opaque)
        mark.pictures.log.add(String(cString: line), packet: mark.packet, isError: isError != 0)
      }, { line in if let line { TLSLog.add(String(cString: line)) } })
  }
}

/// FFmpeg's last error of a TLS connection. A thread opens its connections one after another, and
/// FFmpeg logs on the thread that opens.
enum TLSLog {
  private static let lines = Locked<[UInt: String]>([:])

  private static var thread: UInt { UInt(pthread_self()) }

  static func add(_ line: String) {
    lines.withLock { $0[thread] = line.trimmed }
  }

  static func begin() {
    _ = FFmpeg.quiet
    lines.withLock { $0[thread] = nil }
  }

  /// The line since `begin`; nil if no error was logged. The next call returns nil.
  static func line() -> String? {
    let line = lines.withLock { $0.removeValue(forKey: thread) }
    return line?.isEmpty == true ? nil : line
  }
}

extension String {
  /// Lines end with a line break.
  fileprivate var trimmed: String { String(prefix { !$0.isNewline }) }
}
