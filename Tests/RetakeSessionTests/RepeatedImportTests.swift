import Foundation
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeSession

/// An error in an H.264 file must not depend on when FFmpeg's threads detect it.
struct RepeatedImportTests {
  /// A range of zeros, or one changed bit.
  struct Damage: Sendable, CustomTestStringConvertible {
    var percent: Int
    var zeros: Int

    var testDescription: String {
      zeros == 0 ? "a bit at \(percent)%" : "\(zeros) zeros at \(percent)%"
    }

    func applied(to file: Data) -> Data {
      var bytes = file
      let place = file.count * percent / 100
      if zeros == 0 {
        bytes[place] ^= 0x10
      } else {
        bytes.replaceSubrange(place..<place + zeros, with: Data(count: zeros))
      }
      return bytes
    }
  }

  private static let damages = [
    Damage(percent: 25, zeros: 600), Damage(percent: 30, zeros: 200), Damage(percent: 35, zeros: 0),
    Damage(percent: 45, zeros: 4), Damage(percent: 80, zeros: 20),
  ]

  private static func damaged(_ damage: Damage) -> Clip {
    Clip(
      name: "damaged H.264", file: "hurt.h264",
      inputs: ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=30", "-frames:v", "60"],
      output: [
        "-c:v", "libx264", "-g", "12", "-bf", "3", "-x264-params",
        "open-gop=1:scenecut=0:b-adapt=0", "-pix_fmt", "yuv420p",
      ], change: { damage.applied(to: $0) })
  }

  @Test(arguments: damages)
  func `a damaged file becomes the same session each time`(damage: Damage) throws {
    let folder = try TemporaryFolder()
    let clip = try Self.damaged(damage).make(in: folder)
    var outcomes: Set<String> = []
    for number in 0..<10 {
      let result = try SessionImporter(
        ImportOptions(file: clip.path, name: "\(number)", into: folder.file("Recordings").path)
      ).run()
      let reader = try SessionReader(opening: result.folder.path)
      outcomes.insert(
        "\(result.status) \(result.tracks[0].damaged) \(try reader.index.store.digest())")
    }

    #expect(outcomes.count == 1, "\(outcomes.sorted())")
    #expect(outcomes.allSatisfy { $0.hasPrefix("lossy") })
  }

  @Test(arguments: damages)
  func `good frames of a damaged file replay the same with several threads`(
    damage: Damage
  ) throws {
    let imported = try ImportedClip(Self.damaged(damage))
    let readers = try [1, 2, 4].map {
      try imported.reader(
        ReadOptions(verifiesPixels: true, framesPerChain: nil, decoderThreads: $0))
    }
    let good = try readers[0].entries(of: 0, sequences: 0..<200).filter { $0.damage == nil }
    #expect(!good.isEmpty && good.count < 60)
    for entry in good {
      let digests = try readers.map { try $0.frame(entry.id).pixelDigest }
      #expect(Set(digests).count == 1)
    }
  }
}
