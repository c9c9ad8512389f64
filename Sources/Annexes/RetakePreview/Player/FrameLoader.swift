import RetakeBuffers
import RetakeRuntime

/// Reads frames on its own thread, so that the window responds while a frame is decoded: first the
/// newest requested frame, then a few ahead.
final class FrameLoader: Sendable {
  /// The most frames that are kept, if they are small.
  static let keptMax = 8
  /// The frame that is shown, and the next frame.
  private static let keptMin = 2

  typealias Loaded = Result<Frame, any Error>

  fileprivate struct State: Sendable {
    var wanted = 0
    var direction = 1
    /// The newest last.
    var kept: [(index: Int, frame: Loaded)] = []
    var isClosed = false
    let keptMax: Int

    var aheadMax: Int { keptMax / 2 }
  }

  private let content: PlayerContent
  private let state: Locked<State>
  private let asked = ThreadCondition()

  init(_ content: PlayerContent) {
    self.content = content
    // Large images are few, so that reading ahead keeps within its share of the memory.
    let room = PixelBudget.ofProcess.aheadBytesMax / max(1, content.description.frameBytes)
    state = Locked(State(keptMax: max(Self.keptMin, min(Self.keptMax, room))))
  }

  /// - Throws: `RuntimeError.noThread`.
  func start() throws -> NamedThread { try NamedThread("retake-frames") { self.run() } }

  /// Requests a frame, and the frames after it in the direction of play.
  func want(_ index: Int) {
    state.withLock { state in
      // The last move decides, so that reading ahead follows a user who steps back.
      if index != state.wanted { state.direction = index < state.wanted ? -1 : 1 }
      state.wanted = index
    }
    asked.signal()
  }

  /// The frame, if it has been read.
  func frame(_ index: Int) -> Loaded? {
    state.withLock { state in state.kept.last { $0.index == index }?.frame }
  }

  /// The latest frame of a range that has been read; `nil` if no frame of the range has been read.
  func latest(in range: Range<Int>) -> (index: Int, frame: Loaded)? {
    state.withLock { state in
      state.kept.filter { range.contains($0.index) }.max { $0.index < $1.index }
    }
  }

  func close() {
    state.withLock { $0.isClosed = true }
    asked.signal()
  }

  private func run() {
    // Ends: `close`.
    while true {
      let (next, isClosed) = state.withLock { ($0.next(of: content.entries.count), $0.isClosed) }
      if isClosed { return }
      guard let next else {
        asked.wait()
        continue
      }
      // Outside the lock, so that the window can ask for other frames meanwhile. An error is kept
      // like a frame, and is shown in its place.
      let frame = Loaded { try content.reader.frame(content.entries[next].id) }
      state.withLock { state in
        state.kept.append((next, frame))
        state.forget()
      }
    }
  }
}

extension FrameLoader.State {
  /// The next frame to read.
  fileprivate func next(of count: Int) -> Int? {
    (0...aheadMax).map { wanted + $0 * direction }
      .first { index in
        (0..<count).contains(index) && !kept.contains { $0.index == index }
      }
  }

  /// Removes the frames that are farthest from the requested one.
  fileprivate mutating func forget() {
    while kept.count > keptMax {
      let worst = kept.indices.max { distance(kept[$0].index) < distance(kept[$1].index) } ?? 0
      kept.remove(at: worst)
    }
  }

  private func distance(_ index: Int) -> Int {
    let ahead = (index - wanted) * direction
    // Frames against the direction of play count twice, because play moves away from them.
    return ahead >= 0 ? ahead : 2 * -ahead
  }
}
