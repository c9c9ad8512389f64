import Foundation
import RetakeTestSupport
import Testing

/// Footage of real cameras, if it is available next to the repository.
@Suite(.serialized) struct FootageTests {
  private static let project = """
    v: 1
    cases:
      front: {pipeline: motion.json, tracks: {camera: 0}}
      back: {pipeline: motion.json, tracks: {camera: 3}}
    suites:
      default:
        - {sessions: ["*"], cases: [front]}
        - {sessions: ["nasa_13013"], cases: [back]}
    """

  /// Imports, tests, accepts and tests again.
  private func checkRoundTrip(_ name: String, frames: [String: Int]) throws {
    let source = try #require(sharedMedia("\(name).mp4"))
    let workplace = try Workplace()
    try workplace.writePipeline()
    let known =
      name == "nasa_13013" ? Self.project : Self.project.replacing("nasa_13013", with: "-*")
    try workplace.folder.write(known, to: "retake.yml")
    let imported = try workplace.retake("import", source.path, "--json")
    #expect(imported.status == 0)
    #expect(try imported.json().tracks.count == frames.count)

    #expect(try workplace.retake("test").status == 3)
    for key in frames.keys { #expect(workplace.exists("Goldens/\(key)/golden.yml.new")) }
    #expect(try workplace.retake("accept", "--reason", "first golden").status == 0)
    let result = try workplace.retake("test", "--json")
    #expect(result.status == 0)
    let document = try result.json()
    #expect(document.cases.count == frames.count)
    for index in 0..<document.cases.count {
      let item = document.cases[index]
      #expect(item.verdict.text == "passed")
      let key = "\(item.session.text ?? "")/\(item["case"].text ?? "")"
      #expect(item.counts.same.int == frames[key])
    }
  }

  @Test(.enabled(if: sharedMedia("karma.mp4") != nil, "karma.mp4 is not on this machine"))
  func `karma is imported, tested, accepted and passes`() throws {
    try checkRoundTrip("karma", frames: ["karma/front": 362])
  }

  @Test(.enabled(if: sharedMedia("nasa_13013.mp4") != nil, "nasa_13013.mp4 is not on this machine"))
  func `nasa passes on both of its tracks`() throws {
    try checkRoundTrip(
      "nasa_13013", frames: ["nasa_13013/front": 325, "nasa_13013/back": 390])
  }

  @Test(.enabled(if: sharedMedia("nasa_13013.mp4") != nil, "nasa_13013.mp4 is not on this machine"))
  func `a track is chosen on the command line`() throws {
    let source = try #require(sharedMedia("nasa_13013.mp4"))
    let workplace = try Workplace()
    #expect(try workplace.retake("import", source.path, "--name", "nasa").status == 0)
    let words = ["replay", "nasa", "--pipeline", "example:downsample-digest", "--json"]
    var digests: [String?] = []
    for (track, frames) in [("3", 390), ("camera=3", 390), ("0", 325)] {
      let run = try workplace.retake(words: words + ["--track", track]).json()
      #expect(run.frames.captured.int == frames)
      digests.append(run.resultDigest.text)
    }
    #expect(digests[0] == digests[1])
    #expect(digests[0] != digests[2])
    #expect(try workplace.retake(words: words).json().resultDigest.text == digests[2])
  }
}
