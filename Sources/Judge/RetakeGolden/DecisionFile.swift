import Foundation
import RetakeCompare
import RetakeCore

/// Writes decisions.gold: the decisions that people review, line by line, and the others as one
/// digest for each track and 1,024 frames.
final class DecisionFileWriter {
  /// Kinds that are only part of the digests, unless a line refers to no frame.
  static let folded: Set<DecisionKind> = [.start, .done, .deliver, .block, .unblock]

  private final class Block {
    var hasher = DigestHasher()
    var count = 0
    var last = 0
  }

  private struct Place: Hashable, Comparable {
    var track: Int
    var index: Int

    static func < (left: Place, right: Place) -> Bool {
      (left.track, left.index) < (right.track, right.index)
    }
  }

  private let file: OutputFile
  private var blocks: [Place: Block] = [:]
  private var total = DigestHasher()
  /// The number of lines before folding.
  private(set) var count = 0

  init(_ url: URL, key: String, origin: Int64) throws {
    file = try OutputFile(url)
    try file.append(FileHeader(key: key, field: String(origin)).text("origin").utf8)
  }

  func append(_ line: DecisionLine) throws {
    let text = line.description + "\n"
    count += 1
    // Before folding: `decisionDigest` covers every line, also lines that are not written.
    total.append(text.utf8)
    if let frame = line.frame {
      // By frame and not by position in the log: lines of many frames interleave, and a report must
      // name the frames whose folded decisions differ.
      let place = Place(track: frame.track, index: frame.sequence / DecisionFold.size)
      let block = blocks[place] ?? Block()
      blocks[place] = block
      block.hasher.append(text.utf8)
      block.count += 1
      block.last = max(block.last, frame.sequence)
      // Inside the `if`: a line that names no frame is in no fold's digest, so it has to be
      // written.
      if Self.folded.contains(line.kind) { return }
    }
    try file.append(text.utf8)
  }

  /// The digest of all lines before folding, with their line ends.
  var digest: Digest128 { total.finish() }

  func finish() throws {
    // The order of a Dictionary would differ between runs, and equal decisions must have equal
    // bytes.
    for place in blocks.keys.sorted() {
      guard let block = blocks[place] else { continue }
      let isLast = blocks[Place(track: place.track, index: place.index + 1)] == nil
      let first = place.index * DecisionFold.size
      let fold = DecisionFold(
        track: place.track, first: first,
        last: isLast ? block.last : first + DecisionFold.size - 1, count: block.count,
        digest: block.hasher.finish())
      try file.append((fold.text + "\n").utf8)
    }
    try file.close()
  }
}

extension DecisionFold {
  /// `= 0 f0..f59 n=213 1c77…`
  var text: String { "= \(track) f\(first)..f\(last) n=\(count) \(digest)" }

  /// The inverse of `text`; `nil` for any other form.
  init?(parsing text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 5, words[0] == "=", let track = Int(words[1]), words[3].hasPrefix("n="),
      let count = Int(words[3].dropFirst(2)), let digest = Digest128(hex: words[4])
    else { return nil }
    let ends = words[2].split(separator: "..", omittingEmptySubsequences: false)
    guard ends.count == 2, ends.allSatisfy({ $0.hasPrefix("f") }),
      let first = Int(ends[0].dropFirst()), let last = Int(ends[1].dropFirst()), first <= last
    else { return nil }
    self.init(track: track, first: first, last: last, count: count, digest: digest)
    // Refuses other spellings of the same numbers (`+1`, `007`): equal facts have equal bytes.
    guard self.text == text else { return nil }
  }
}
