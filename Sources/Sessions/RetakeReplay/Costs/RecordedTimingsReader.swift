import RetakeCore
import RetakeTimePlane

extension RecordedTimings {
  /// Reads the file of recorded timings, line by line.
  ///
  /// - Parameter name: The file's name in messages; its path if `nil`.
  /// - Throws: `ReplayError.timings` for a file that is not timings, has another version, is
  ///   truncated or damaged.
  package init(reading path: String, named name: String? = nil) throws {
    let name = name ?? path
    do {
      self = try RecordedTimingsReader(path: path).timings(named: name)
    } catch let error as TimingsProblem {
      throw ReplayError.timings(error.fault, path: name)
    }
  }
}

/// A fault that becomes a `ReplayError`.
private struct TimingsProblem: Error {
  var fault: TimingsFault
}

/// Reads one file, and checks every block against its digest.
private struct RecordedTimingsReader {
  private static let pieceBytes = 1 << 18

  private let file: InputFile
  private var builder = RecordedTimings.Builder()
  private var session: String?
  /// The number of the current line, from 1.
  private var number = 0
  private var spans = 0
  private var spansInBlock = 0
  /// The number of lines since the last `B` line. `block` contains the same lines.
  private var linesInBlock = 0
  private var block: [UInt8] = []
  private var isEnded = false

  init(path: String) throws {
    do {
      file = try InputFile(path)
    } catch let error as InputFile.Failure {
      throw TimingsProblem(fault: .unreadable(cause: error.cause))
    }
  }

  consuming func timings(named name: String) throws -> RecordedTimings {
    defer { file.close() }
    try readLines()
    // A file that was cut between two blocks is otherwise complete: only the last line shows the
    // cut.
    guard isEnded else { throw TimingsProblem(fault: .cut(spans: spans)) }
    do {
      return try builder.finish(name: name, session: session)
    } catch {
      throw TimingsProblem(fault: .damaged(line: number, detail: error.detail))
    }
  }

  private mutating func readLines() throws {
    var rest: [UInt8] = []
    // Bounded: each turn reads a piece of a finite file.
    while true {
      let piece: [UInt8]
      do {
        piece = try file.read(upTo: Self.pieceBytes)
      } catch let error as InputFile.Failure {
        throw TimingsProblem(fault: .unreadable(cause: error.cause))
      }
      if piece.isEmpty { break }
      rest += piece
      var start = 0
      while let end = rest[start...].firstIndex(of: 0x0a) {
        try read(rest[start...end])
        start = end + 1
      }
      rest.removeFirst(start)
      // A file without line ends must not become one line in memory. In the first line it shows
      // that this is not timings.
      guard rest.count <= TimingsFormat.lineBytesMax else {
        if number == 0 { throw TimingsProblem(fault: .notTimings) }
        throw damaged("it has no end", line: number + 1)
      }
    }
    guard number > 0 else { throw TimingsProblem(fault: .notTimings) }
    guard !isEnded || rest.isEmpty else {
      throw damaged("it comes after the end", line: number + 1)
    }
  }

  /// - Parameter line: With its line end.
  private mutating func read(_ line: ArraySlice<UInt8>) throws {
    number += 1
    guard !isEnded else { throw damaged("it comes after the end") }
    guard line.count <= TimingsFormat.lineBytesMax else { throw damaged("it is too long") }
    let text = line.dropLast()
    guard number > 1 else {
      try readHeader(text)
      keep(line)
      return
    }
    switch text.first {
    case UInt8(ascii: "B"): try endBlock(text)
    case UInt8(ascii: "E"): try end(text)
    case UInt8(ascii: "S"):
      try readSpan(text)
      keep(line)
    default: keep(line)  // A letter of a later version: it is digested, and has no cost.
    }
  }

  private mutating func keep(_ line: ArraySlice<UInt8>) {
    block += line
    linesInBlock += 1
  }

  private mutating func readHeader(_ line: ArraySlice<UInt8>) throws {
    let words = String(decoding: line, as: UTF8.self)
      .split(separator: " ", omittingEmptySubsequences: false)
    guard words.count >= 3, words[0] == "#retake", let version = Int(words[1]),
      // The file of an earlier version has the old word.
      words[2] == FormerWords.costs.new || words[2] == FormerWords.costs.old
    else { throw TimingsProblem(fault: .notTimings) }
    guard version == TimingsFormat.version else {
      throw TimingsProblem(fault: version > 0 ? .newer(version: version) : .notTimings)
    }
    guard words.count >= 4, words[3].hasPrefix("key="), let key = decodedWord(words[3].dropFirst(4))
    else { throw damaged("it does not name the case") }
    let parts = key.split(separator: "/", maxSplits: 1)
    session = parts.count == 2 ? String(parts[0]) : nil
  }

  private mutating func readSpan(_ line: ArraySlice<UInt8>) throws {
    guard let span = TimingsFormat.span(line) else { throw damaged("it is not a span") }
    // The difference of two 64-bit numbers may not fit into 64 bits.
    let (cost, isTooLong) = span.endNanoseconds
      .subtractingReportingOverflow(span.startNanoseconds)
    guard !isTooLong else { throw damaged("it is not a span") }
    do {
      try builder.append(node: span.node, frame: span.frame, item: span.item, nanoseconds: cost)
    } catch {
      throw damaged(error.detail)
    }
    spans += 1
    spansInBlock += 1
    // Lines with other letters are bounded as well, because the block keeps them all until its
    // digest.
    guard spansInBlock <= TimingsFormat.blockSpans, linesInBlock <= 2 * TimingsFormat.blockSpans
    else {
      throw damaged("the digest of the spans before it is missing")
    }
  }

  private mutating func endBlock(_ line: ArraySlice<UInt8>) throws {
    var words = WordCursor(line)
    _ = words.next()
    guard let count = words.integer(), let digest = words.text(), words.isAtEnd else {
      throw damaged("it is not a digest")
    }
    guard count == spansInBlock, digest == "\(Digest128(of: block))" else {
      throw damaged("its digest does not match the \(counted(spansInBlock, "span")) before it")
    }
    block.removeAll(keepingCapacity: true)
    spansInBlock = 0
    linesInBlock = 0
  }

  private mutating func end(_ line: ArraySlice<UInt8>) throws {
    var words = WordCursor(line)
    _ = words.next()
    // Lines since the last B line would have no digest.
    guard linesInBlock == 0, let count = words.integer(), words.isAtEnd, count == spans else {
      throw damaged("it does not end the \(counted(spans, "span")) before it")
    }
    isEnded = true
  }

  private func damaged(_ detail: String, line: Int? = nil) -> TimingsProblem {
    TimingsProblem(fault: .damaged(line: line ?? number, detail: detail))
  }
}
