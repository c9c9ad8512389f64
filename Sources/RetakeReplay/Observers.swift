import Foundation
import RetakeCore
import RetakeRuntime

/// Several observers as one, told in turn.
final class ObserverGroup: RunObserver {
  private let members: [any RunObserver]
  let wantsDecisions: Bool
  let wantsDigests: Bool

  init(_ members: [any RunObserver]) {
    self.members = members
    wantsDecisions = members.contains { $0.wantsDecisions }
    wantsDigests = members.contains { $0.wantsDigests }
  }

  func began(nodes: [RunNode]) throws {
    for member in members { try member.began(nodes: nodes) }
  }

  func decided(_ line: DecisionLine) {
    for member in members where member.wantsDecisions { member.decided(line) }
  }

  func finished(_ frame: FinishedFrame) throws {
    for member in members { try member.finished(frame) }
  }
}

/// Digests the quantised results of a run without keeping them.
final class ResultDigester: RunObserver {
  private var writer: ResultWriter

  init(header: ResultHeader, sinks: [ResultHeader.Sink]) {
    writer = ResultWriter(header: header, sinks: sinks)
  }

  func finished(_ frame: FinishedFrame) { writer.append(frame.result) }

  /// The digest of everything; nothing may be told afterwards.
  func finish() -> Digest128 {
    _ = writer.finish()
    return writer.digest
  }
}

/// Writes every decision line, unfolded, to a file, which appears under its name only when it is
/// whole.
public final class UnfoldedDecisionWriter: RunObserver {
  /// Bytes gathered before they are written together.
  private static let batchBytes = 1 << 16

  private let path: String
  private let partialPath: String
  private let handle: FileHandle
  private var buffer = Data()
  private var failure: ReplayError?

  public var wantsDecisions: Bool { true }

  /// - Throws: `ReplayError.decisionsUnwritable`.
  public init(path: String) throws(ReplayError) {
    self.path = path
    partialPath = path + ".partial"
    guard FileManager.default.createFile(atPath: partialPath, contents: nil),
      let handle = FileHandle(forWritingAtPath: partialPath)
    else {
      throw .decisionsUnwritable(path: path, cause: String(cString: strerror(errno)))
    }
    self.handle = handle
  }

  public func decided(_ line: DecisionLine) {
    buffer.append(contentsOf: line.description.utf8)
    buffer.append(UInt8(ascii: "\n"))
    if buffer.count >= Self.batchBytes { flush() }
  }

  public func finished(_ frame: FinishedFrame) throws {
    if let failure { throw failure }
  }

  /// Puts the file in its place.
  ///
  /// - Throws: `ReplayError.decisionsUnwritable`.
  public func finish() throws(ReplayError) {
    flush()
    if let failure { throw failure }
    do {
      try handle.close()
      _ = try FileManager.default.replaceItem(at: partialPath, with: path)
    } catch {
      throw .decisionsUnwritable(path: path, cause: error.localizedDescription)
    }
  }

  /// Leaves nothing behind after a run that failed.
  public func discard() {
    try? handle.close()
    try? FileManager.default.removeItem(atPath: partialPath)
  }

  private func flush() {
    do {
      try handle.write(contentsOf: buffer)
    } catch {
      failure = .decisionsUnwritable(path: path, cause: error.localizedDescription)
    }
    buffer.removeAll(keepingCapacity: true)
  }
}

extension FileManager {
  /// Renames over whatever is there.
  fileprivate func replaceItem(at partial: String, with path: String) throws {
    guard rename(partial, path) == 0 else {
      throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path])
    }
  }
}
