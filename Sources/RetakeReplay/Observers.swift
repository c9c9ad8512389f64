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

  func measured(_ span: CostSpan) {
    for member in members { member.measured(span) }
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
/// whole. A device or a pipe, such as /dev/stdout, is written to as it is.
public final class UnfoldedDecisionWriter: RunObserver {
  /// Bytes gathered before they are written together.
  private static let batchBytes = 1 << 16

  private let path: String
  /// `nil` where the lines go straight to `path`.
  private let partialPath: String?
  private let handle: FileHandle
  private var buffer = Data()
  private var failure: ReplayError?

  public var wantsDecisions: Bool { true }

  /// - Throws: `ReplayError.decisionsUnwritable`.
  public init(path: String) throws(ReplayError) {
    self.path = path
    partialPath = try Self.partialPath(path)
    let opened = partialPath ?? path
    if let partialPath, !FileManager.default.createFile(atPath: partialPath, contents: nil) {
      throw .decisionsUnwritable(path: path, cause: String(cString: strerror(errno)))
    }
    guard let handle = FileHandle(forWritingAtPath: opened) else {
      throw .decisionsUnwritable(path: path, cause: String(cString: strerror(errno)))
    }
    self.handle = handle
  }

  private static func partialPath(_ path: String) throws(ReplayError) -> String? {
    let attributes = try? FileManager.default.attributesOfItem(
      atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
    switch attributes?[.type] as? FileAttributeType {
    case nil, .typeRegular?: return path.hasPrefix("/dev/") ? nil : path + ".partial"
    case .typeDirectory?: throw .decisionsUnwritable(path: path, cause: "it is a folder")
    default: return nil
    }
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
    } catch {
      throw .decisionsUnwritable(path: path, cause: error.localizedDescription)
    }
    guard let partialPath else { return }
    guard rename(partialPath, path) == 0 else {
      throw .decisionsUnwritable(path: path, cause: String(cString: strerror(errno)))
    }
  }

  /// Leaves nothing behind after a run that failed.
  public func discard() {
    try? handle.close()
    if let partialPath { try? FileManager.default.removeItem(atPath: partialPath) }
  }

  private func flush() {
    defer { buffer.removeAll(keepingCapacity: true) }
    guard failure == nil else { return }
    do {
      try handle.write(contentsOf: buffer)
    } catch {
      failure = .decisionsUnwritable(path: path, cause: error.localizedDescription)
    }
  }
}
