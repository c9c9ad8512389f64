import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeProcess
import RetakeRuntime

/// The last bytes that a program wrote to its standard output and standard error.
final class ProgramTail: Sendable {
  /// Bytes that are kept.
  static let bytesMax = 4 << 10
  /// Characters that are part of a message. `StageFailure` keeps 1,000 characters of a message.
  static let charactersMax = 600

  let pipe: ChildPipe
  /// Rings when the last writer has closed the pipe.
  let closed = ThreadCondition()
  private let tail = Locked([UInt8]())
  private let listener: ProgramListener?
  var hasListener: Bool { listener != nil }
  private let program: String
  /// The bytes of a line that has no end yet, if someone listens.
  private let line = Locked([UInt8]())

  init(_ program: ForeignProgram) throws {
    (listener, self.program) = (program.listener, program.title)
    pipe = try ChildPipe()
  }

  func start() {
    // Holds this object until the pipe ends, which may be after the program's end.
    pipe.readToEnd { [self] bytes in
      guard let bytes else {
        hear([], isLast: true)
        return closed.signal()
      }
      append(bytes)
    }
  }

  /// Adds output of the program.
  func append(_ bytes: [UInt8]) {
    keep(bytes)
    hear(bytes, isLast: false)
  }

  private func keep(_ bytes: [UInt8]) {
    tail.withLock { $0 = Array(($0 + bytes).suffix(Self.bytesMax)) }
  }

  /// Passes complete lines to the listener.
  private func hear(_ bytes: [UInt8], isLast: Bool) {
    guard let listener else { return }
    let lines = line.withLock { line -> [[UInt8]] in
      line += bytes
      var lines = line.split(separator: 0x0a, omittingEmptySubsequences: false).map { Array($0) }
      line = lines.removeLast()
      if line.count >= Self.bytesMax || isLast && !line.isEmpty {
        lines.append(line)
        line = []
      }
      return lines
    }
    for line in lines { tell(String(decoding: line, as: UTF8.self)[...], to: listener) }
  }

  /// A message of the program that it did not write to a stream. It is heard at once, also if a
  /// line of a stream has no end yet.
  func append(line: String) {
    keep(Array("\(line)\n".utf8))
    guard let listener else { return }
    for line in line.split(separator: "\n", omittingEmptySubsequences: false) {
      tell(line, to: listener)
    }
  }

  private func tell(_ line: Substring, to listener: ProgramListener) {
    listener.hear(Self.shown(line), of: program)
  }

  /// The last lines, on one line.
  var text: String { Self.text(of: tail.withLock { $0 }) }

  /// As many of the last lines as fit, or the end of the last one. Control characters are escaped,
  /// because a terminal would obey them.
  static func text(of bytes: [UInt8]) -> String {
    let lines = String(decoding: bytes, as: UTF8.self)
      .split(whereSeparator: \.isNewline).map { shown($0) }.filter { !$0.isEmpty }
    var kept: [String] = []
    var count = 0
    for line in lines.reversed() {
      count += line.count + separator.count
      guard count <= charactersMax || kept.isEmpty else { break }
      kept.append(String(line.suffix(charactersMax)))
    }
    return kept.reversed().joined(separator: separator)
  }

  private static let separator = " | "

  private static func shown(_ line: Substring) -> String {
    visible(String(line).replacing("\t", with: " "))
  }
}
