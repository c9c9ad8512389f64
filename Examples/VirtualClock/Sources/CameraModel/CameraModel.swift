/// The model behind a screen with a camera: it reads frames, says when a face has been still for a
/// while, and gives up waiting for a recognizer that does not answer.
public actor CameraModel<C: Clock> where C.Duration == Duration {
  /// What the screen shows, line by line.
  public private(set) var shown: [String] = []

  private let clock: C
  private let recognize: @Sendable (Int) async throws -> String
  private var settling: Task<Void, Never>?

  /// - Parameter recognize: Names the face of a frame; it may take long.
  public init(clock: C, recognize: @escaping @Sendable (Int) async throws -> String) {
    self.clock = clock
    self.recognize = recognize
  }

  /// Reads frames until the stream ends, and returns when the last face is named. An odd frame is one in
  /// which the face moves.
  public func read(_ frames: AsyncStream<Int>) async {
    for await frame in frames {
      shown.append("frame \(frame)")
      guard !frame.isMultiple(of: 2) else { continue }
      settling?.cancel()
      settling = Task { await settle(frame) }
    }
    await settling?.value
  }

  /// Half a second after the last movement, the face is named; that may take two seconds.
  private func settle(_ frame: Int) async {
    guard (try? await clock.sleep(for: .milliseconds(500))) != nil else { return }
    shown.append("still since frame \(frame)")
    shown.append(await name(of: frame))
  }

  private func name(of frame: Int) async -> String {
    let (clock, recognize) = (clock, recognize)
    return await withTaskGroup(of: String?.self) { race in
      race.addTask { try? await recognize(frame) }
      race.addTask {
        try? await clock.sleep(for: .seconds(2))
        return nil
      }
      let name = await race.next() ?? nil
      race.cancelAll()
      return name ?? "no name in time"
    }
  }
}
