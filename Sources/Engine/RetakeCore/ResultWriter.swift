/// Writes frames as results text, in files of 1,024 frames, and digests them meanwhile.
///
/// The result digest is XXH3-128 of all lines except headers and B lines, with their line ends.
package struct ResultWriter: ~Copyable {
  private var header: ResultHeader
  private let sinks: [ResultHeader.Sink]
  private let writesTrack: Bool
  private let writesSink: Bool
  private var text = TextBuffer()
  private var rounder = ResultRounder()
  private var lines: [ResultLine] = []
  private var rolling = DigestHasher()
  private var blockStart = 0
  private var framesInBlock = 0
  private var framesInChunk = 0
  private var chunkIndex = 0
  private var chunkIsBound = false
  /// The number of frames so far.
  package private(set) var frames = 0
  /// The number of lines so far that state a fact: all except F, O, X and B.
  package private(set) var facts = 0

  /// - Parameters:
  ///   - header: `platform` is written to the files that contain P, N or U lines.
  ///   - sinks: One for each sink of the header.
  package init(header: ResultHeader, sinks: [ResultHeader.Sink]) {
    self.header = header
    self.sinks = sinks.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    precondition(self.sinks.map(\.path) == header.sinks, "the header names the sinks")
    writesTrack = header.tracks.count > 1
    writesSink = sinks.count > 1
  }

  /// Sets the names of a sink's classes, once they are known. They are written to the headers of
  /// the files that are not complete yet.
  package mutating func setClasses(_ names: [String], of sink: String) {
    header.classes[index(of: sink)] = names
  }

  /// Sets the platform on which P, N and U lines are valid, for the files that are not complete
  /// yet.
  package mutating func setPlatform(_ platform: String) { header.platform = platform }

  /// Appends a frame. Frames are in (time, track, sequence) order.
  ///
  /// - Returns: A file that is complete with this frame, once per 1,024 frames.
  @discardableResult
  package mutating func append(_ frame: FrameResult) -> ResultChunkText? {
    begin(frame.id, pts: frame.pts)
    for outcome in frame.outcomes {
      let sink = index(of: outcome.sink)
      begin(sink: sink)
      switch outcome.content {
      case .facts(let facts): write(facts, of: sink)
      case .ended(let fate, let node): write(.ended(fate, node: node))
      }
    }
    return end()
  }

  /// Appends a frame that was read from results text.
  @discardableResult
  package mutating func append(_ frame: ResultFrame) -> ResultChunkText? {
    begin(frame.id, pts: frame.pts)
    for outcome in frame.outcomes {
      begin(sink: outcome.sink)
      for line in outcome.lines { write(line) }
    }
    return end()
  }

  /// The last file; `nil` if the file before it ended with the last frame.
  package mutating func finish() -> ResultChunkText? {
    closeBlock()
    // A run without frames has one file, which contains only a header. After a full last file, no
    // empty file follows.
    return framesInChunk > 0 || chunkIndex == 0 ? takeChunk() : nil
  }

  /// The digest of all complete blocks; after `finish()`, of everything.
  package var digest: Digest128 { rolling.finish() }

  private func index(of sink: String) -> Int {
    guard let index = sinks.firstIndex(where: { $0.path == sink }) else {
      preconditionFailure("every sink is declared to the writer: \(sink)")
    }
    return index
  }

  private mutating func begin(_ id: FrameID, pts: Int64?) {
    text.append("F ")
    if writesTrack {
      text.append(id.track)
      text.append(UInt8(ascii: ":"))
    }
    text.append(id.sequence)
    text.append(UInt8(ascii: " "))
    if let pts { text.append(Int(pts)) } else { text.append(UInt8(ascii: "-")) }
    text.append(UInt8(ascii: "\n"))
  }

  private mutating func begin(sink: Int) {
    guard writesSink else { return }
    text.append("O ")
    text.append(word: sinks[sink].path)
    text.append(UInt8(ascii: "\n"))
  }

  private mutating func write(_ line: ResultLine) {
    // By the format, `summary.facts` in golden.yml does not count X lines.
    if case .ended = line {} else { facts += 1 }
    if line.isPlatformBound { chunkIsBound = true }
    text.append(line)
  }

  private mutating func write(_ facts: [ResultFact], of sink: Int) {
    lines.removeAll(keepingCapacity: true)
    rounder.append(facts, of: sinks[sink], to: &lines)
    for line in lines { write(line) }
  }

  private mutating func end() -> ResultChunkText? {
    frames += 1
    framesInChunk += 1
    framesInBlock += 1
    let chunkIsFull = framesInChunk == header.chunk
    // Each file ends with a B line, even if its last block is not full.
    if chunkIsFull || framesInBlock == ResultHeader.blockSize { closeBlock() }
    return chunkIsFull ? takeChunk() : nil
  }

  private mutating func closeBlock() {
    guard framesInBlock > 0 else { return }
    // B lines are in neither digest, so the result digest does not depend on where blocks end.
    let digest = text.withBytes(from: blockStart) { bytes in
      rolling.append(bytes)
      return Digest128(of: bytes)
    }
    text.append("B ")
    text.append(framesInBlock)
    text.append(UInt8(ascii: " "))
    text.append(digest)
    text.append(UInt8(ascii: "\n"))
    blockStart = text.count
    framesInBlock = 0
  }

  private mutating func takeChunk() -> ResultChunkText {
    var header = header
    // A file without P, N and U lines holds on every platform. With the name it could not be
    // compared on another one.
    if !chunkIsBound { header.platform = nil }
    // The header is made last: classes and the platform may become known while frames are written.
    var bytes = Array(header.text.utf8)
    bytes.append(UInt8(ascii: "\n"))
    text.withBytes { bytes.append(contentsOf: $0) }
    defer {
      text.removeAll()
      blockStart = 0
      framesInChunk = 0
      chunkIsBound = false
      chunkIndex += 1
    }
    return ResultChunkText(index: chunkIndex, bytes: bytes)
  }
}

// SAFETY: the hasher is noncopyable and the only owner of its state, so it may move between
// threads.
extension DigestHasher: @unchecked Sendable {}
