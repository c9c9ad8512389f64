import RetakeBuffers
import RetakeCore
import RetakeGraph
import Synchronization

/// Frames in several chains. Records each violation of the guarantee of `FrameReader` that no two
/// frames of one chain are read at once.
final class GuardedFrames: FrameReader, FrameSource {
  private struct Watch {
    var open: Set<Int> = []
    var clashes = 0
    var reads = 0
  }

  private let frames: TinyFrames
  private let chains: Int
  private let watch = Mutex(Watch())

  /// Frames are distributed in runs of eight over a number of chains.
  init(_ frames: TinyFrames, chains: Int) {
    self.frames = frames
    self.chains = chains
  }

  /// How often two frames of one chain were read at once.
  var clashes: Int { watch.withLock { $0.clashes } }
  var reads: Int { watch.withLock { $0.reads } }

  var tracks: [TrackDescription] { frames.tracks }

  func entries(of track: Int, sequences: Range<Int>) throws -> [FrameEntry] {
    try frames.entries(of: track, sequences: sequences)
  }

  func chain(of id: FrameID) -> Int { id.sequence / 8 % chains }

  func frame(_ id: FrameID) throws -> Frame {
    let chain = chain(of: id)
    watch.withLock {
      if !$0.open.insert(chain).inserted { $0.clashes += 1 }
      $0.reads += 1
    }
    defer { watch.withLock { _ = $0.open.remove(chain) } }
    var hasher = DigestHasher()
    for round in 0..<2_000 { hasher.append(UInt64(round)) }
    withExtendedLifetime(hasher.finish()) {}
    return try frames.frame(id)
  }

  func open() throws -> any FrameReader { self }

  var source: AnyStage {
    AnyStage(
      signature: StageSignature(
        kind: "guarded", version: 1, role: .source, input: nil, output: .frame),
      options: .object([:]), body: .source(self))
  }
}
