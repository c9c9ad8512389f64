import Foundation
import RetakeCore
import RetakeMedia
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeSession

/// The notes and the content of an import do not depend on threads or on the order of a Dictionary.
@Suite struct ImportOrderTests {
  private let first = SessionError.mediaMissing(file: "first")
  private let second = SessionError.mediaMissing(file: "second")

  private func error(_ entries: SharedEntries) -> SessionError? {
    do {
      _ = try entries.result()
      return nil
    } catch {
      return error as? SessionError
    }
  }

  @Test func `of two shares that fail the earlier one is reported, whichever fails first`() {
    for order in [[0, 1], [1, 0]] {
      let entries = SharedEntries(count: 1) { _ in true }
      for worker in order { entries.fail(worker == 0 ? first : second, worker: worker) }
      #expect(error(entries)?.place?.file == "first", "\(order)")
    }
  }

  @Test func `a failure ends the shares behind it, and not those before`() {
    let entries = SharedEntries(count: 1) { _ in true }
    entries.fail(second, worker: 1)
    #expect(entries.goesOn(0) && !entries.goesOn(1))
    entries.fail(first, worker: 0)
    #expect(!entries.goesOn(0))
    #expect(error(entries)?.place?.file == "first")
  }

  @Test func `an interruption ends all shares`() {
    let entries = SharedEntries(count: 1) { _ in false }
    entries.add([], worker: 1)
    #expect(!entries.goesOn(0) && !entries.goesOn(1))
    #expect(error(entries)?.code == "session.interrupted")
  }

  @Test func `a track of several files without a frame names the first of them`() throws {
    let folder = try TemporaryFolder()
    let clip = try Clip.lateStart.make(in: folder)
    let stream = try MediaDemuxer(path: clip.path).videoStream()
    var views: [Int: SegmentView] = [:]
    for number in 0..<16 {
      let copy = folder.file("\(number).mkv")
      try FileManager.default.copyItem(at: clip, to: copy)
      views[number] = SegmentView(file: try MediaFile(path: copy.path), stream: stream)
    }
    let indexing = TrackIndexing(
      track: 0, stream: stream, views: views, packets: PacketList(), memory: ImageMemory()
    ) { _ in true }

    let error = #expect(throws: SessionError.self) { try indexing.run() }

    #expect(error?.code == "session.import.noFrames")
    #expect(error?.place?.file == folder.file("0.mkv").path)
  }

  @Test func `each picture keeps its own size, however many sizes there are`() {
    var facts = FactList()
    func fact(_ number: Int) -> DecodedFact {
      DecodedFact(
        packet: number, shown: 0, pts: nil, bestEffort: nil, duration: 0, digest: .zero,
        damage: number.isMultiple(of: 7) ? "media.decode.damaged" : nil,
        shape: DecodedFact.Shape(
          width: 1 + number % 1_000, height: 1 + number / 1_000, format: .i420))
    }
    for number in 0..<40_000 { facts.append(fact(number)) }

    #expect(facts.shapeCount == 40_000 && facts.hasDamage)
    #expect([0, 7, 8, 32_767, 32_768, 39_999].allSatisfy { facts[$0] == fact($0) })
  }
}
