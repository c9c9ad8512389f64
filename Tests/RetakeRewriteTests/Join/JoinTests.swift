import Foundation
import RetakeCore
import RetakeSession
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeRewrite

/// Two cameras whose clocks are 237 ms and 80 ppm apart, as files that ffmpeg encodes from images
/// and sound that are computed here. The images of the second camera have 10 bits.
private enum MadeCameras {
  static let frames = 900
  static let rate = 16_000

  /// The time of the first clock at a time of a camera's own clock.
  static func world(_ camera: Int, _ own: Double) -> Double {
    camera == 0 ? own : own * (1 + 80e-6) + 0.237
  }

  /// When a lamp is switched, and a sound begins: about three times a second.
  private static let instants: [Double] = {
    var numbers = SeededGenerator(seed: 11)
    var instants: [Double] = []
    var next = 0.6
    while next < 32 {
      instants.append(next)
      next += Double.random(in: 0.25..<0.45, using: &numbers)
    }
    return instants
  }()

  static func make(_ camera: Int, in folder: TemporaryFolder) throws -> URL {
    let (images, sound) = (folder.file("\(camera).raw"), folder.file("\(camera).f32"))
    try self.images(camera).write(to: images)
    try self.sound(camera).write(to: sound)
    let url = folder.file("camera\(camera).mkv")
    let result = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-y", "-f", "rawvideo", "-pix_fmt", "gray", "-s", "32x32", "-r",
        "30", "-i", images.path, "-f", "f32le", "-ar", "\(rate)", "-ac", "1", "-i", sound.path,
        "-c:v", "ffv1", "-pix_fmt", camera == 0 ? "gray" : "gray10le", "-c:a", "pcm_s16le",
        url.path,
      ])
    guard result.status == 0 else { throw ClipFailed(message: result.stderr) }
    return url
  }

  /// Each frame is exposed until the next frame begins.
  private static func images(_ camera: Int) -> Data {
    var data = Data()
    var lit = 0
    for frame in 0..<frames {
      let start = world(camera, Double(frame) / 30)
      let end = world(camera, Double(frame + 1) / 30)
      while lit < instants.count, instants[lit] <= start { lit += 1 }
      // A lamp is on between an odd and the next even instant.
      var (bright, from, number) = (0.0, start, lit)
      while number < instants.count, instants[number] < end {
        if number % 2 == 1 { bright += instants[number] - from }
        from = instants[number]
        number += 1
      }
      if number % 2 == 1 { bright += end - from }
      let level = UInt8((40 + 150 * bright / (end - start)).rounded())
      data.append(contentsOf: [UInt8](repeating: level, count: 32 * 32))
    }
    return data
  }

  /// A chirp at each instant, and some noise of each camera's own.
  private static func sound(_ camera: Int) -> Data {
    var numbers = SeededGenerator(seed: UInt64(camera) + 1)
    var next = 0
    var data = Data()
    for index in 0..<frames * rate / 30 {
      let now = world(camera, Double(index) / Double(rate))
      while next < instants.count, instants[next] < now - 0.1 { next += 1 }
      var value = Double.random(in: -0.01...0.01, using: &numbers)
      for (place, instant) in instants[next...].enumerated() where instant <= now {
        guard place < 2 else { break }
        let age = now - instant
        let pitch = 300 + 137 * Double((next + place) % 11)
        value += 0.4 * (1 - age / 0.1) * sin(2 * .pi * (pitch + 9_000 * age) * age)
      }
      withUnsafeBytes(of: Float(value)) { data.append(contentsOf: $0) }
    }
    return data
  }

  /// Both as sessions `one` and `two`; the second with a sensor.
  static func sessions(in folder: TemporaryFolder) throws -> (String, String) {
    let into = folder.file("Recordings").path
    let log = try folder.write("t,x\n0,1\n1,2\n", to: "imu.csv")
    for (camera, name) in [(0, "one"), (1, "two")] {
      let file = try make(camera, in: folder)
      _ = try SessionImporter(
        ImportOptions(
          file: file.path, name: name, into: into, sensors: camera == 0 ? [] : [log.path])
      ).run()
    }
    return (into + "/one", into + "/two")
  }
}

/// Sessions of two cameras on one clock.
@Suite struct JoinTests {
  @Test func `two cameras are joined by their sound and by what they saw`() throws {
    let folder = try TemporaryFolder()
    let (one, two) = try MadeCameras.sessions(in: folder)
    for method in [SessionJoin.Method.audio, .flash] {
      let found = try SessionJoin(one, two, method: method).compare().alignment
      #expect(abs(found.offsetNanoseconds - 237_000_000) < 2_000_000, "\(found)")
      #expect(abs(found.driftPPM - 80) < 5, "\(found)")
      #expect(found.confidence > SessionJoin.confidenceMin, "\(found)")
      print("\(method.name): \(found)")
    }
    let wall = #expect(throws: SessionError.self) {
      try SessionJoin(one, two, method: .wall).compare()
    }
    #expect(wall?.code == "session.join.notAligned")

    let target = SessionTarget(into: folder.file("Joined").path, name: "both")
    let result = try SessionJoin(one, two, method: .audio).run(to: target)
    let path = try #require(result.path)
    #expect(result.frames == 1_800)
    #expect(result.tracks?.map(\.track) == [0, 1])
    try check(path, one, two, result.alignment)
  }

  @Test func `silent sound is called silent, and no way is advised that cannot work`() throws {
    let folder = try TemporaryFolder()
    let made = try runFFmpeg(arguments: [
      "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=1",
      "-f", "lavfi", "-i", "anullsrc=duration=1", "-pix_fmt", "yuv420p", "-c:v", "mpeg4", "-c:a",
      "aac", "-t", "1", folder.file("clip.mkv").path,
    ])
    try #require(made.status == 0, "\(made.stderr)")
    let paths = try ["a", "b"].map { name in
      try SessionImporter(
        ImportOptions(
          file: folder.file("clip.mkv").path, name: name, into: folder.file("R").path)
      ).run().folder.path
    }
    let error = #expect(throws: SessionError.self) {
      try SessionJoin(paths[0], paths[1], method: .audio).compare()
    }
    #expect(error?.cause == "the sound of a and b is silent")
    #expect(error?.advice?.hasPrefix("Try --align flash, or ") == true, "\(error?.advice ?? "")")
  }

  private func check(
    _ path: String, _ one: String, _ two: String, _ found: SessionJoin.Alignment
  ) throws {
    let (joined, first, second) = (
      try SessionReader(opening: path), try SessionReader(opening: one),
      try SessionReader(opening: two)
    )
    #expect(try SessionCheck(path: path, decodes: true).run().isHealthy)
    for sequence in [0, 1, 450, 899] {
      let own = FrameID(track: 0, sequence: sequence)
      let moved = FrameID(track: 1, sequence: sequence)
      #expect(try joined.frame(own).digest == first.frame(own).digest)
      #expect(try joined.frame(moved).digest == second.frame(own).digest)
      let row = try #require(try joined.index.store.frame(moved))
      let before = try #require(try second.index.store.frame(own))
      let expected =
        Double(before.ptsNanoseconds) * (1 + found.driftPPM / 1e6)
        + Double(found.offsetNanoseconds)
      // The drift is reported to a thousandth of a part per million.
      #expect(abs(Double(row.ptsNanoseconds) - expected) < 50, "\(sequence)")
      #expect(row.pts == before.pts && row.assumed.contains(.moved))
    }
    // The sound of each camera, and the sensor of the second camera.
    #expect(joined.sensors.map(\.name) == ["sound", "imu", "sound-2"])
    let sample = try #require(try joined.index.store.samples(sensor: 1, from: 0, count: 1).first)
    #expect(sample.timeNanoseconds == found.offsetNanoseconds)
  }

  @Test func `a known offset needs neither sound nor light, and a weak one is refused`() throws {
    let folder = try TemporaryFolder()
    let into = folder.file("Recordings").path
    for (clip, name) in [(Clip.oddSize, "a"), (Clip.lateStart, "b")] {
      let file = try clip.make(in: folder)
      _ = try SessionImporter(ImportOptions(file: file.path, name: name, into: into)).run()
    }
    let (a, b) = (into + "/a", into + "/b")
    let target = SessionTarget(into: folder.file("Joined").path, name: "ab")
    let method = SessionJoin.Method.offset(-3_500_000_000, driftPPM: 0)
    let result = try SessionJoin(a, b, method: method).run(to: target, link: true)
    let joined = try SessionReader(opening: try #require(result.path))
    #expect(try joined.index.store.frame(FrameID(track: 1, sequence: 0))?.ptsNanoseconds == 0)
    #expect(joined.mediaFiles() == ["media/a-original.mkv", "media/b-original.mkv"])

    let path = try #require(result.path)
    #expect(try SessionRecovery(path, fromMedia: true).run().rebuiltFrames == 0)
    try FileManager.default.removeItem(atPath: SessionFolder(path: path).database)
    let recovered = #expect(throws: SessionError.self) {
      try SessionRecovery(path, fromMedia: true).run()
    }
    #expect(recovered?.code == "session.recover.joined")
    #expect(recovered?.advice?.contains("retake session join A B") == true)

    for method in [SessionJoin.Method.audio, .flash] {
      let error = #expect(throws: SessionError.self) {
        try SessionJoin(a, b, method: method).run(
          to: SessionTarget(into: folder.file("Joined").path, name: "none"))
      }
      #expect(error?.code == "session.join.notAligned", "\(method)")
    }
    #expect(throws: SessionError.self) { try SessionJoin(a, a, method: method).compare() }
    // Failed joins leave no file next to the joined session.
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.file("Joined").path)
    #expect(left == ["ab"])
  }
}
