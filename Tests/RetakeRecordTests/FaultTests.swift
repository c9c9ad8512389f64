import Foundation
import RetakeCore
import RetakeSession
import RetakeTestSupport
import Testing

/// Bits are flipped in media, database and log, and their ends are cut off. Every change is
/// detected and named, and everything else still replays.
///
/// Use `RETAKE_FLIPS=1000 RETAKE_CUTS=500 swift test --filter FaultTests` for the full run; it
/// prints its figures.
@Suite(.serialized) struct FaultTests {
  private static func count(_ name: String, _ usual: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? usual
  }

  @Test func `a flipped bit is harmless, or found and named, and the rest replays`() throws {
    let samples = try FaultSample.all()
    let folder = try TemporaryFolder()
    var random = SeededGenerator(seed: 2_026)
    var figures = Figures()
    for _ in 0..<Self.count("RETAKE_FLIPS", 60) {
      let sample = random.pick(samples)
      let file = random.pick(sample.files)
      let place = random.pick(0...(try sample.byteCount(of: file) - 1))
      let bit = random.pick(0...7)
      let path = folder.file("flipped").path
      try sample.copy(to: path, changing: file) { $0[place] ^= 1 << UInt8(bit) }
      let name = "\(sample.name)/\(file) byte \(place) bit \(bit)"
      try check(path, sample, name, &figures)
    }
    print(figures.text("flips"))
    #expect(figures.harmed > 0)
  }

  @Test func `a file cut short is found and named, and the rest replays`() throws {
    let samples = try FaultSample.all()
    let folder = try TemporaryFolder()
    var random = SeededGenerator(seed: 6_202)
    var figures = Figures()
    for _ in 0..<Self.count("RETAKE_CUTS", 30) {
      let sample = random.pick(samples)
      let file = random.pick(sample.files)
      let length = random.pick(0...(try sample.byteCount(of: file) - 1))
      let path = folder.file("cut").path
      try sample.copy(to: path, changing: file) { $0 = $0.prefix(length) }
      let name = "\(sample.name)/\(file) cut to \(length)"
      try check(path, sample, name, &figures)
      if file.hasPrefix("media/") { try checkRest(path, sample, length, name) }
    }
    print(figures.text("cuts"))
    #expect(figures.harmed > 0)
  }

  private func check(
    _ path: String, _ sample: FaultSample, _ name: String, _ figures: inout Figures
  ) throws {
    let verdict = try FaultVerdict(path, sample.truth)
    #expect(verdict.silentlyWrong.isEmpty, "\(name): frames \(verdict.silentlyWrong)")
    guard !verdict.isHarmless else {
      figures.harmless.append(name)
      return
    }
    figures.harmed += 1
    if verdict.isNamed { figures.named += 1 }
    #expect(verdict.isNamed, "\(name): \(verdict.diagnosis.findings)")
    if name.contains("/media/") {
      let lost = verdict.lostFrames
      let rest = sample.truth.pixels.indices.filter { !lost.contains($0) }
      #expect(
        rest.allSatisfy { verdict.pixels[$0] == sample.truth.pixels[$0] }, "\(name): the rest")
    } else {
      try checkRebuild(path, sample, name, &figures)
    }
  }

  /// If the media is intact, the index can be rebuilt, and every frame is restored.
  private func checkRebuild(
    _ path: String, _ sample: FaultSample, _ name: String, _ figures: inout Figures
  ) throws {
    do {
      let result = try SessionRecovery(path, fromMedia: true).run()
      let again = try SessionRecovery(path, fromMedia: true).run()
      #expect(again.sessionDigest == result.sessionDigest, "\(name): done twice")
      // A killed recorder leaves packets after its last commit.
      #expect(result.frames >= sample.truth.pixels.count, "\(name): \(result)")
      let found = Truth.pixels(path, count: sample.truth.pixels.count)
      #expect(found == sample.truth.pixels, "\(name): pixels after a rebuild")
      #expect(try SessionCheck(path: path).run().isHealthy, "\(name): after a rebuild")
      figures.rebuilt += 1
    } catch {
      // A newer schema number is damage that cannot be distinguished from a newer version.
      #expect(error.facts.code == "store.schema.tooNew", "\(name): \(error)")
      figures.newer += 1
    }
  }

  /// Frames whose packets are before the cut replay as before.
  private func checkRest(
    _ path: String, _ sample: FaultSample, _ length: Int, _ name: String
  ) throws {
    let packets = sample.truth.rows.packets
    let found = Truth.pixels(path, count: sample.truth.pixels.count)
    for frame in sample.truth.rows.frames {
      guard let packet = frame.packet, let entry = frame.entry else { continue }
      let isWhole = packets[entry...packet].allSatisfy { packet in
        packet.offset.map { Int($0) + packet.size <= length } ?? false
      }
      guard isWhole else { continue }
      #expect(
        found[frame.sequence] == sample.truth.pixels[frame.sequence],
        "\(name): frame \(frame.sequence)")
    }
  }

  private struct Figures {
    var harmed = 0
    var named = 0
    var rebuilt = 0
    var newer = 0
    var harmless: [String] = []

    func text(_ what: String) -> String {
      let listed = harmless.prefix(1_000).map { "\n    harmless: \($0)" }.joined()
      return "\(what): \(harmed + harmless.count); changed something: \(harmed), named: \(named); "
        + "index made again from the media: \(rebuilt); taken for a newer schema: \(newer); "
        + "harmless: \(harmless.count)\(listed)"
    }
  }
}
