import Foundation
import RetakeCore

/// The trace of a run that has ended, read on demand.
struct StoredTrace {
  /// The record of one frame.
  struct FrameRecord: Hashable {
    var frame: FrameID
    /// By sink; zero if the sink received no result.
    var sinks: [Digest128]
    /// By stage; zero where the stage did not run.
    var stages: [Digest128]
  }

  let facts: TraceFacts
  private let files: TraceFiles
  private let frames: FileHandle
  private let decisions: FileHandle
  private let blocks: FileHandle

  /// - Throws: Errors of the file system for an incomplete trace.
  init(reading folder: URL) throws {
    files = TraceFiles(folder: folder)
    facts = try JSONDecoder().decode(TraceFacts.self, from: Data(contentsOf: files.facts))
    frames = try FileHandle(forReadingFrom: files.frames)
    decisions = try FileHandle(forReadingFrom: files.decisions)
    blocks = try FileHandle(forReadingFrom: files.blocks)
  }

  func remove() { try? FileManager.default.removeItem(at: files.folder) }

  /// The digest of all frames up to and including this one.
  func digest(throughFrame index: Int) throws -> Digest128 {
    var record = try record(of: frames, index, length: facts.frameBytes)
    return record.digest()
  }

  func frame(_ index: Int) throws -> FrameRecord {
    var record = try record(of: frames, index, length: facts.frameBytes)
    _ = record.digest()
    let frame = FrameID(track: record.number(), sequence: record.number())
    let sinks = facts.sinks.map { _ in record.digest() }
    return FrameRecord(
      frame: frame, sinks: sinks, stages: facts.stages.map { _ in record.digest() })
  }

  /// The place of a frame in the order of capture; `nil` if the run has no such frame. It reads all
  /// frames before it, so call it only for the frame of a divergence.
  func position(of frame: FrameID) throws -> Int? {
    for index in 0..<facts.frames where try self.frame(index).frame == frame { return index }
    return nil
  }

  var blockCount: Int {
    (facts.decisions + TraceFiles.linesPerBlock - 1) / TraceFiles.linesPerBlock
  }

  /// The digest of all decision lines up to the end of a block.
  func digest(throughBlock index: Int) throws -> Digest128 {
    var record = try record(of: blocks, index, length: TraceFiles.blockBytes)
    return record.digest()
  }

  /// The decision lines of a block.
  func lines(ofBlock index: Int) throws -> [String] {
    let start = try index == 0 ? 0 : end(ofBlock: index - 1)
    let bytes = try read(decisions, at: start, count: try end(ofBlock: index) - start)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private func end(ofBlock index: Int) throws -> Int {
    var record = try record(of: blocks, index, length: TraceFiles.blockBytes)
    _ = record.digest()
    return record.number()
  }

  private func record(of file: FileHandle, _ index: Int, length: Int) throws -> RecordReader {
    RecordReader(bytes: try read(file, at: index * length, count: length)[...])
  }

  private func read(_ file: FileHandle, at offset: Int, count: Int) throws -> [UInt8] {
    try file.seek(toOffset: UInt64(offset))
    let bytes = try file.read(upToCount: count) ?? Data()
    // A short file is an error, and must not look like a difference between two runs.
    guard bytes.count == count else { throw CocoaError(.fileReadCorruptFile) }
    return Array(bytes)
  }
}

/// Reads the fields of a record in order.
private struct RecordReader {
  var bytes: ArraySlice<UInt8>

  mutating func number() -> Int {
    let number = bytes.prefix(TraceFiles.numberBytes).reduce(0) { $0 << 8 | UInt64($1) }
    bytes = bytes.dropFirst(TraceFiles.numberBytes)
    return Int(truncatingIfNeeded: number)
  }

  mutating func digest() -> Digest128 {
    let high = UInt64(truncatingIfNeeded: number())
    return Digest128(high: high, low: UInt64(truncatingIfNeeded: number()))
  }
}
