import RetakeBuffers
import RetakeCore

/// A decoder of one track, in this process (`FrameRun`) or in a restricted one (`RemoteRun`).
///
/// Only one thread at a time uses it.
protocol PictureRun: AnyObject {
  var track: Int { get }
  var position: RunPosition { get }

  /// The picture, or nil when the decoder does not return it although it received all its packets.
  func decode(_ picture: FrameRun.Picture, id: FrameID) throws -> Frame?
}

/// How far a decoder has come, and its memory.
struct RunPosition: Hashable, Sendable {
  /// A picture that the decoder returned before its request.
  struct Stashed: Hashable, Sendable {
    var packet: Int
    var shown: Int
  }

  /// The packet at which the run began.
  var start: Int
  /// The next packet to read.
  var next: Int
  /// The last requested sequence.
  var served = -1
  /// Whether the run encountered invalid bytes and cannot continue.
  var isSpent = false
  /// Memory of the decoder and the stashed pictures, in bytes.
  var bytesHeld = 0
  /// Peak memory of the decoder, in bytes.
  var decoderBytes = 0
  var stash: [Stashed] = []

  /// The number of packets to decode until the run returns the picture.
  ///
  /// - Returns: nil if the run cannot return the exact picture, or if decoding from the picture's
  ///   entry is sooner.
  func distance(to picture: FrameRun.Picture, sequence: Int) -> Int? {
    // A decoder returns pictures in order: a picture before the last request has passed, unless it
    // is stashed.
    guard
      sequence > served
        || stash.contains(Stashed(packet: picture.packet, shown: picture.shown))
    else { return nil }
    // A run that began after the entry may return other pixels. A run that has not reached the
    // entry would decode more than a new run.
    guard start <= picture.entry, picture.entry <= next else { return nil }
    return max(0, picture.packet - next)
  }

  /// One line of words.
  var text: String {
    let numbers = [start, next, served, isSpent ? 1 : 0, bytesHeld, decoderBytes]
    return (numbers + stash.flatMap { [$0.packet, $0.shown] }).map(String.init)
      .joined(separator: " ")
  }

  init(
    start: Int, next: Int, served: Int = -1, isSpent: Bool = false, bytesHeld: Int = 0,
    decoderBytes: Int = 0, stash: [Stashed] = []
  ) {
    (self.start, self.next, self.served, self.isSpent) = (start, next, served, isSpent)
    (self.bytesHeld, self.decoderBytes, self.stash) = (bytesHeld, decoderBytes, stash)
  }

  /// - Returns: `nil` unless the text is a position.
  init?(text: Substring) {
    let words = text.split(separator: " ")
    let numbers = words.compactMap { Int($0) }
    guard numbers.count == words.count, numbers.count >= 6, numbers.count % 2 == 0,
      // Bounded, because the pool adds and subtracts these numbers.
      numbers.allSatisfy({ (-1...1 << 44).contains($0) })
    else { return nil }
    self.init(
      start: numbers[0], next: numbers[1], served: numbers[2], isSpent: numbers[3] == 1,
      bytesHeld: numbers[4], decoderBytes: numbers[5],
      stash: stride(from: 6, to: numbers.count, by: 2).map {
        Stashed(packet: numbers[$0], shown: numbers[$0 + 1])
      })
  }
}
