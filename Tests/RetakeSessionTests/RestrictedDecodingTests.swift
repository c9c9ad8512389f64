import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeTestClips
import Testing

@testable import RetakeSession

/// Readers whose pictures are decoded by a server, as in a restricted process.
struct RestrictedDecodingTests {
  /// Memory of a server. Its pages use no memory until they are written.
  private final class Memory: Sendable {
    let address: UInt

    init() {
      // SAFETY: only deinit frees it.
      let block = UnsafeMutableRawPointer.allocate(
        byteCount: PictureServer.memoryBytes, alignment: 4_096)
      address = UInt(bitPattern: block)
    }

    deinit { UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
  }

  /// Counts of a reader's processes.
  private struct Counts: Sendable {
    var started = 0
    var ended = 0
    var requests = 0
    /// The most pictures that were used at the same time.
    var heldMost = 0
  }

  /// A server in this process, which behaves as a process that may end.
  private final class Peer: PictureProcess {
    let memory: PictureMemory
    private let server: PictureServer
    private let counts: Locked<Counts>
    private let answers: @Sendable (PictureRequest, () -> String) -> String?
    private var hasEnded = false

    init(
      _ folder: SessionFolder, _ counts: Locked<Counts>,
      answers: @escaping @Sendable (PictureRequest, () -> String) -> String?
    ) {
      let owner = Memory()
      memory = PictureMemory(
        address: owner.address, byteCount: PictureServer.memoryBytes, owner: owner)
      server = PictureServer(session: folder.path, poisons: false, memory: memory)
      (self.counts, self.answers) = (counts, answers)
      counts.withLock { $0.started += 1 }
    }

    func answer(to line: String) -> String? {
      guard let request = PictureRequest(text: line) else { return nil }
      let answer = answers(request) { server.answer(to: line) }
      counts.withLock { counts in
        counts.requests += 1
        counts.heldMost = max(counts.heldMost, server.heldCount)
      }
      return answer
    }

    func end() -> PictureProcessEnd {
      if !hasEnded { counts.withLock { $0.ended += 1 } }
      hasEnded = true
      return .crashed(cause: "signal 9")
    }
  }

  private func reader(
    _ imported: ImportedClip, _ counts: Locked<Counts> = Locked(Counts()),
    answers: @escaping @Sendable (PictureRequest, () -> String) -> String? = { $1() }
  ) throws -> SessionReader {
    try SessionReader(
      imported.result.folder, options: ReadOptions(verifiesPixels: true), trust: .checked
    ) { folder, _ in Peer(folder, counts, answers: answers) }
  }

  /// In order, then from the end with steps.
  private static func sequences(_ count: Int) -> [Int] {
    Array(0..<count) + Array(stride(from: count - 1, through: 0, by: -7))
  }

  @Test(arguments: [Clip.openGOP, .mpeg2, .oddSize, .motionJPEG])
  func `pictures of another process equal the pictures of this process`(clip: Clip) throws {
    let imported = try ImportedClip(clip)
    let own = try imported.reader()
    let counts = Locked(Counts())
    let remote = try reader(imported, counts)
    let count = try #require(own.tracks.first).frameCount
    for sequence in Self.sequences(count) {
      let id = FrameID(track: own.tracks[0].track, sequence: sequence)
      let (one, other) = try (own.frame(id), remote.frame(id))
      #expect(one.digest == other.digest && other.id == id, "\(id)")
      #expect(one.timestamp == other.timestamp && one.sampleAspect == other.sampleAspect)
      #expect(one.rotationDegrees == other.rotationDegrees && one.isMirrored == other.isMirrored)
    }
    #expect(remote.memory.counts.lent == 0, "no block of a released frame is kept")
    // One request a frame, and one more where a decoder had passed the picture.
    let requests = counts.withLock { $0.requests }
    #expect((count...3 * count).contains(requests), "\(requests)")
    // The next request releases the slot of the frame before.
    #expect(counts.withLock { $0.heldMost } <= 1)
  }

  @Test func `frames keep their slots, also after the end of their process`() throws {
    let imported = try ImportedClip(.openGOP)
    let own = try imported.reader()
    let counts = Locked(Counts())
    var frames: [Frame] = []
    do {
      let remote = try reader(imported, counts)
      for sequence in 0..<30 {
        frames.append(try remote.frame(FrameID(track: 0, sequence: sequence)))
      }
      #expect(counts.withLock { $0.heldMost } == 30)
      frames.removeFirst(20)
      // With the slots that are free again.
      for sequence in 30..<50 {
        _ = try remote.frame(FrameID(track: 0, sequence: sequence))
      }
      #expect(remote.memory.counts.made == 0, "no picture of an aligned stream is copied")
    }
    #expect(counts.withLock { $0.started == $0.ended && $0.heldMost == 30 })
    for frame in frames {
      #expect(try frame.digest == own.frame(frame.id).digest, "\(frame.id)")
    }
    #expect(frames.map(\.id.sequence) == Array(20..<30))
  }

  @Test func `a process that ends costs its group of pictures alone`() throws {
    let imported = try ImportedClip(.openGOP)
    let own = try imported.reader()
    let rows = try own.index.store.frames(track: 0, sequences: 0..<120)
    let counts = Locked(Counts())
    let remote = try reader(imported, counts) { request, serve in
      request.id.sequence == 50 ? nil : serve()
    }
    let entry = try #require(rows[50].entry)
    var lost: [Int] = []
    for sequence in 0..<120 {
      let id = FrameID(track: 0, sequence: sequence)
      do {
        #expect(try remote.frame(id).digest == own.frame(id).digest, "\(id)")
      } catch SessionError.undecodable(let session, let frame, let cause) {
        lost.append(sequence)
        #expect(session == imported.path && frame == id)
        #expect(cause.hasSuffix("ended by signal 9"), "\(cause)")
      }
    }
    let hit = rows.filter { $0.entry == entry && $0.sequence >= 50 }.map(\.sequence)
    #expect(lost == hit && hit.count > 1, "\(lost)")
    let (before, ended) = counts.withLock { ($0.started, $0.ended) }
    #expect(ended == 1)
    // Now also the frames of the group that were decoded before, without a new process.
    let early = try #require(rows.first { $0.entry == entry && $0.sequence < 50 })
    #expect(
      code { try remote.frame(FrameID(track: 0, sequence: early.sequence)) }
        == "session.frame.undecodable")
    #expect(counts.withLock { $0.started } == before)
    #expect(remote.memory.counts.lent == 0)
  }

  @Test func `all processes end with their reader`() throws {
    let imported = try ImportedClip(.openGOP)
    let counts = Locked(Counts())
    do {
      let remote = try reader(imported, counts)
      for sequence in Self.sequences(120) {
        _ = try remote.frame(FrameID(track: 0, sequence: sequence))
      }
    }
    let (started, ended) = counts.withLock { ($0.started, $0.ended) }
    #expect(started > 0 && started == ended, "\(started) and \(ended)")
    // A process decodes again after its run, so that a start is paid seldom.
    #expect(started <= ReadOptions().idleDecodersMax + 2, "\(started)")
  }

  @Test func `a session whose groups end many processes starts no more of them`() throws {
    let imported = try ImportedClip(.motionJPEG)
    let counts = Locked(Counts())
    let remote = try reader(imported, counts) { _, _ in nil }
    let count = remote.tracks[0].frameCount
    #expect(count > PictureProcesses.lossesMax)
    for sequence in 0..<count {
      let id = FrameID(track: remote.tracks[0].track, sequence: sequence)
      #expect(code { try remote.frame(id) } == "session.frame.undecodable")
    }
    #expect(counts.withLock { $0.started } == PictureProcesses.lossesMax)
    #expect(counts.withLock { $0.ended } == PictureProcesses.lossesMax)
  }

  @Test func `errors of the media come out as in this process`() throws {
    let imported = try ImportedClip(.openGOP)
    let path = URL(fileURLWithPath: try #require(try mediaPath(imported)))
    let packet = try #require(try imported.reader().index.packet(track: 0, index: 40))
    var bytes = try Data(contentsOf: path)
    bytes[Int(try #require(packet.offset)) + packet.size / 2] ^= 4
    try bytes.write(to: path)
    let (own, remote) = try (imported.reader(), reader(imported))
    var failed = 0
    for sequence in 0..<120 {
      let id = FrameID(track: 0, sequence: sequence)
      func text(_ reader: SessionReader) -> String {
        do {
          return try reader.frame(id).digest.description
        } catch SessionError.mediaMismatch(let file, let track, let packet, let frame, let cause) {
          failed += 1
          return "\(file) \(track) \(packet) \(String(describing: frame)) \(cause)"
        } catch {
          return "another type: \(error)"
        }
      }
      #expect(text(own) == text(remote))
    }
    #expect(failed >= 2)
    try FileManager.default.removeItem(at: path)
    let id = FrameID(track: 0, sequence: 0)
    let missing = #expect(throws: (any Error).self) { try reader(imported).frame(id) }
    #expect(missing?.facts == SessionError.mediaMissing(file: path.path).facts)
  }

  private func mediaPath(_ imported: ImportedClip) throws -> String? {
    let name = try imported.reader().mediaFiles().first
    return try name.map { try imported.result.folder.file($0) }
  }

  @Test func `a lack of memory stays one, and says nothing about the frame`() throws {
    let failure = PictureFailure(MediaError.noMemory(step: "decode an image", file: "a.mkv"))
    let line = PictureAnswer.failure(failure).line
    #expect(!line.contains("\n"))
    guard case .failure(let read) = PictureAnswer(line: line) else {
      Issue.record("\(line)")
      return
    }
    #expect(read.error.isAboutMemory)
    #expect(
      read.error.facts == MediaError.noMemory(step: "decode an image", file: "a.mkv").facts)
  }

  @Test(arguments: [
    "", "picture", "picture;;;", "none;1 2", "none;1 2 3 4 5 -7",
    "none;0 9223372036854775807 0 0 0 0",
    "failure;{}", "picture;-1;0 1 0 0 0 0;GRAY 96 64 full identity 0 0 1 1 0 9223372036854775807",
    "picture;-1;0 1 0 0 0 0;GRAY 134217728 134217728 full identity 0 0 1 1 0 134217728",
    "picture;-1;0 1 0 0 0 0;GRAY 96 64 full identity 0 0 1 1 -1 96",
    "picture;-1;0 1 0 0 0 0;GRAY 96 64 full identity 45 0 1 1 0 96",
    "picture;-1;0 1 0 0 0 0;I420 96 64 full bt601 0 0 1 1 0 96",
    "picture;-1;0 1 0 0 0 0;GRAY 96 64 full identity 0 0 1 1 0 95",
  ])
  func `an answer that is not valid ends the process`(line: String) throws {
    let imported = try ImportedClip(.openGOP)
    let counts = Locked(Counts())
    let remote = try reader(imported, counts) { _, _ in line }
    let error = #expect(throws: SessionError.self) {
      try remote.frame(FrameID(track: 0, sequence: 0))
    }
    #expect(error?.facts.code == "session.frame.undecodable")
    #expect(error?.facts.cause?.hasSuffix("an answer that is not valid") == true)
    #expect(counts.withLock { ($0.started, $0.ended) } == (1, 1))
    #expect(remote.memory.counts.lent == 0)
  }

  @Test func `a position and a request are the same after they were sent`() {
    let position = RunPosition(
      start: 3, next: 9, served: -1, isSpent: true, bytesHeld: 5, decoderBytes: 7,
      stash: [.init(packet: 4, shown: 0), .init(packet: 4, shown: 1)])
    #expect(RunPosition(text: position.text[...]) == position)
    for start in [nil, 0, 12] {
      let request = PictureRequest(
        id: FrameID(track: 1, sequence: 2), picture: .init(packet: 3, shown: 1, entry: 2),
        start: start, threads: 4)
      #expect(PictureRequest(text: request.text) == request)
    }
    #expect(PictureRequest(text: "1 2 3") == nil)
  }
}
