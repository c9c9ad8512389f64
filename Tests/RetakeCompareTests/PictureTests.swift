import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeCompare

@Suite struct PictureTests {
  private func pixels(
    _ width: Int, _ height: Int, _ level: (Int, Int) -> Int
  ) -> ImagePixels {
    let plane = (0..<height).flatMap { y in
      (0..<width).map { x in UInt8(clamping: level(x, y)) }
    }
    return ImagePixels(width: width, height: height, planes: [plane])
  }

  private func pattern(_ width: Int = 64, _ height: Int = 48) -> ImagePixels {
    pixels(width, height) { x, y in (x * 7 + y * 13 + x * y) % 256 }
  }

  /// The values of FFmpeg's filters `psnr` and `ssim` for two gray images.
  private func ffmpeg(
    _ filter: String, _ left: ImagePixels, _ right: ImagePixels
  ) throws -> Double? {
    let folder = try TemporaryFolder("retake-pictures")
    var arguments = ["-hide_banner", "-nostdin"]
    for (name, picture) in [("left", left), ("right", right)] {
      let file = folder.file(name + ".pgm")
      let head = "P5\n\(picture.width) \(picture.height)\n255\n"
      try (Data(head.utf8) + Data(picture.planes[0])).write(to: file)
      arguments += ["-i", file.path]
    }
    let text = try runCommand(
      "/usr/bin/ffmpeg", arguments: arguments + ["-lavfi", filter, "-f", "null", "-"]
    ).stderr
    let key = filter == "psnr" ? "average:" : "All:"
    return text.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix(key) }
      .flatMap { Double($0.dropFirst(key.count)) }
  }

  @Test(
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg"),
      "ffmpeg is not on this machine"))
  func `PSNR and SSIM are those of FFmpeg's filters`() throws {
    let golden = pattern()
    let changes: [(Int, Int, Int) -> Int] = [
      { x, _, level in level + (x % 5) }, { _, y, level in y > 20 ? level / 2 : level },
      { _, _, level in 255 - level }, { x, y, level in x == 9 && y == 9 ? 255 - level : level },
    ]
    for (index, change) in changes.enumerated() {
      let actual = pixels(golden.width, golden.height) { x, y in
        change(x, y, Int(golden.planes[0][y * golden.width + x]))
      }
      let found = try #require(ImageDifference(golden: golden, actual: actual))
      let psnr = try #require(try ffmpeg("psnr", golden, actual))
      let ssim = try #require(try ffmpeg("ssim", golden, actual))
      #expect(abs(found.psnr - psnr) < 1e-4, "\(index)")
      // The filter's constant for the means is 64 times smaller than the paper's.
      #expect(abs(found.ssim - ssim) < 1e-4, "\(index)")
    }
  }

  @Test func `equal pictures are equal by every measure`() throws {
    let found = try #require(ImageDifference(golden: pattern(), actual: pattern()))
    #expect(found.psnr == .infinity && found.ssim == 1 && found.densest == 0)
    #expect(found.changedPixels == 0 && found.levelsMax == 0 && found.rms == 0)
  }

  @Test func `the densest window tells a spot from the same number of scattered pixels`() throws {
    let golden = pattern(128, 96)
    func changed(_ isChanged: @escaping (Int, Int) -> Bool) throws -> ImageDifference {
      let actual = pixels(128, 96) { x, y in
        let level = Int(golden.planes[0][y * 128 + x])
        return isChanged(x, y) ? (level < 128 ? level + 40 : level - 40) : level
      }
      return try #require(ImageDifference(golden: golden, actual: actual))
    }
    let spot = try changed { (64..<72).contains($0) && (40..<46).contains($1) }
    let scattered = try changed { $0 % 16 == 0 && $1 % 16 == 0 }
    #expect(spot.changedPixels == 48 && scattered.changedPixels == 48)
    #expect(spot.densest == 48.0 / 256 && scattered.densest == 1.0 / 256)
    #expect((56...64).contains(spot.densestX) && (30...40).contains(spot.densestY))
    let noise = pixels(128, 96) { x, y in
      let level = Int(golden.planes[0][y * 128 + x])
      return level == 255 ? level : level + 1
    }
    #expect(ImageDifference(golden: golden, actual: noise)?.densest == 0)
  }

  @Test func `pictures of two sizes have no difference, and small ones do`() throws {
    #expect(ImageDifference(golden: pattern(8, 8), actual: pattern(8, 9)) == nil)
    let small = pixels(3, 2) { x, _ in x }
    let other = pixels(3, 2) { x, _ in x + 9 }
    let found = try #require(ImageDifference(golden: small, actual: other))
    #expect(found.changedPixels == 6 && found.densest == 1 && found.ssim == 0)
    #expect(abs(found.rms - 9) < 1e-9)
  }

  @Test func `a spot in the last corner is the densest window`() throws {
    let golden = pattern(120, 90)
    let actual = pixels(120, 90) { x, y in
      let level = Int(golden.planes[0][y * 120 + x])
      return x >= 104 && y >= 74 ? (level < 128 ? level + 40 : level - 40) : level
    }
    let found = try #require(ImageDifference(golden: golden, actual: actual))
    #expect(found.densest == 1 && (found.densestX, found.densestY) == (104, 74))
  }

  @Test func `every plane counts`() throws {
    let gray = pattern().planes[0]
    var other = gray
    other[70] = other[70] < 128 ? 255 : 0
    for plane in 0..<3 {
      var planes = [gray, gray, gray]
      planes[plane] = other
      let found = try #require(
        ImageDifference(
          golden: ImagePixels(width: 64, height: 48, planes: [gray, gray, gray]),
          actual: ImagePixels(width: 64, height: 48, planes: planes)))
      #expect(found.changedPixels == 1 && found.psnr.isFinite && found.ssim < 1)
    }
  }

  // MARK: rules

  @Test func `a picture of another form is told by its form`() throws {
    func facts(_ width: Int, _ range: String) -> [ResultFact] {
      [
        .frame(
          FramePrint(
            width: width, height: 4, format: "gray", range: range, matrix: "bt601",
            digest: Digest128(of: "\(width)")))
      ]
    }
    #expect(
      try CompareSamples.findings([facts(4, "full")], [facts(8, "full")], rule).map(\.message)
        == ["the image is 8x4 gray full bt601 instead of 4x4 gray full bt601"])
    #expect(
      try CompareSamples.findings([facts(4, "full")], [facts(4, "limited")], rule).map(\.message)
        == ["the image is 4x4 gray limited bt601 instead of 4x4 gray full bt601"])
  }

  private func findings(
    _ rule: SinkRule, _ difference: ImageDifference?
  ) throws -> (findings: [Finding], headroom: [ErrorHeadroom], notes: [String]) {
    func frames(_ seed: String) -> [FrameResult] {
      let print = FramePrint(
        width: 4, height: 4, format: "gray", range: "full", matrix: "bt601",
        digest: Digest128(of: seed))
      return CompareSamples.frames([[.frame(print)], [.frame(print)]])
    }
    let header = CompareSamples.header()
    var comparator = ResultComparator(
      golden: header, actual: header, rules: CompareRules(["boxes": rule]),
      images: StoredImages { _, _ in
        difference
      } arrays: { _, _ in
        (.absent, .absent)
      })
    try comparator.compare(
      golden: CompareSamples.chunks(frames("a"))[0], actual: CompareSamples.chunks(frames("b"))[0])
    let headroom = comparator.finish()
    return (comparator.log.findings, headroom, comparator.notes)
  }

  private var rule: SinkRule {
    var rule = SinkRule(mode: .pictures)
    (rule.psnrMin, rule.ssimMin, rule.densestMax) = (30, 0.9, 0.25)
    return rule
  }

  @Test func `all three measures must hold`() throws {
    let golden = pattern()
    let noisy = pixels(64, 48) { x, y in Int(golden.planes[0][y * 64 + x]) / 8 * 8 + 4 }
    let found = try #require(ImageDifference(golden: golden, actual: noisy))
    var good = found
    (good.psnr, good.ssim, good.densest) = (35, 0.95, 0.2)
    let allowed = try findings(rule, good)
    #expect(allowed.findings.isEmpty)
    let row = try #require(allowed.headroom.first { $0.quantity == "densest window" })
    #expect(row.largest == 0.2 && row.allowed == 0.25 && row.used == 0.8)
    for change: (inout ImageDifference) -> Void in [
      { $0.psnr = 29 }, { $0.ssim = 0.89 }, { $0.densest = 0.3 },
    ] {
      var bad = good
      change(&bad)
      let outcome = try findings(rule, bad)
      #expect(outcome.findings.map(\.kind) == [.pictureChanged, .pictureChanged])
      #expect(outcome.findings[0].message.contains("PSNR"))
    }
  }

  @Test func `pictures that were not kept are never passed in silence`() throws {
    let missing = try findings(rule, nil)
    #expect(
      missing.findings.map(\.message)
        == Array(repeating: "the image differs, and its pixels were not kept", count: 2))
    var sparse = rule
    sparse.pictureEvery = 2
    let some = try findings(sparse, nil)
    #expect(some.findings.map { $0.frame?.sequence } == [0])
    #expect(
      some.notes == [
        "boxes: 1 image differs by digest; the pixels were not compared, because of pictureEvery"
      ])
  }
}
