import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeInference
import RetakeMedia
import RetakeStages
import RetakeTestSupport
import Testing

/// Published models and clips, and the results of onnxruntime, OpenCV and NumPy for them:
/// `Tests/Judges/models.py`.
struct ReferenceModels {
  static let hasLibrary = (try? OnnxLibrary.load()) != nil
  static let hasCommands = ["ffmpeg", "ffprobe"].allSatisfy { (try? executable($0)) != nil }
  /// The missing parts, for `.enabled(if:)`.
  static let noJudge: Comment = "python3 has no cv2, numpy, onnx and onnxruntime here"
  static let noModels: Comment = "the models are not here: Scripts/setup --with-models"
  static let noClips: Comment = "the shared clips are not on this machine"
  static let hasJudge = Judges.has("cv2, numpy, onnx, onnxruntime")

  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder("retake-reference-models") }

  /// A copy of a fetched model with the sidecar of Scripts/models.json: the sidecar in .models may
  /// have been changed.
  func model(_ name: String) throws -> String {
    let copy = folder.file("\(name).onnx")
    if FileManager.default.fileExists(atPath: copy.path) { return copy.path }
    try FileManager.default.copyItem(at: try #require(fetchedModel(name)), to: copy)
    var sidecar = try #require(try Self.sidecars()["\(name).onnx"])
    sidecar["v"] = 1
    try JSONSerialization.data(withJSONObject: sidecar)
      .write(to: folder.file("\(name).model.json"))
    return copy.path
  }

  /// The sidecars of Scripts/models.json, by the names of the models.
  static func sidecars() throws -> [String: [String: Any]] {
    let list = try Data(contentsOf: packageRoot.appending(path: "Scripts/models.json"))
    let document = try JSONSerialization.jsonObject(with: list) as? [String: Any]
    let wheels = try #require(document?["wheels"] as? [[String: Any]])
    var sidecars: [String: [String: Any]] = [:]
    for file in wheels.flatMap({ $0["files"] as? [[String: Any]] ?? [] }) {
      guard let name = file["file"] as? String else { continue }
      sidecars[name] = file["sidecar"] as? [String: Any]
    }
    return sidecars
  }

  /// The judge's answer to a question.
  func ask<Answer: Decodable>(
    _ type: Answer.Type, _ question: String, _ values: [String: Any]
  ) throws -> Answer {
    let result = try runCommand(
      Judges.python,
      arguments: [packageRoot.appending(path: "Tests/Judges/models.py").path, question],
      input: try JSONSerialization.data(withJSONObject: values))
    try #require(result.status == 0, "\(result.stderr)")
    return try JSONDecoder().decode(type, from: result.stdoutBytes)
  }

  /// The first frames of a clip's first video track.
  static func frames(of clip: URL, count: Int) throws -> [Frame] {
    let demuxer = try MediaDemuxer(path: clip.path)
    let stream = try demuxer.videoStream()
    let decoder = try MediaDecoder(stream: stream, file: clip.path)
    var frames: [Frame] = []
    // Ends with the clip.
    while frames.count < count, let packet = try demuxer.nextPacket() {
      guard packet.stream == stream.index else { continue }
      frames += try decoder.decode(packet).map(\.frame)
    }
    if frames.count < count { frames += try decoder.decode(nil).map(\.frame) }
    return Array(frames.prefix(count))
  }
}

/// How the boxes that the stage found agree with the judge's boxes.
struct BoxAgreement: CustomStringConvertible {
  var frames = 0
  var pairs = 0
  var missing = 0
  var extra = 0
  var worstOverlap = 1.0
  var worstScore = 0.0

  /// The required agreement: an overlap (intersection over union) of 0.99, and scores within 0.001.
  var isClose: Bool {
    missing == 0 && extra == 0 && worstOverlap >= 0.99 && worstScore <= 1e-3
  }

  var description: String {
    "\(frames) frames, \(pairs) pairs, \(missing) missing, \(extra) extra, "
      + "worst overlap \(worstOverlap), worst difference of scores \(worstScore)"
  }

  /// - Parameter expected: The score, left, top, width and height of each box.
  mutating func add(_ found: [Detection], expected: [[Double]]) {
    frames += 1
    var rest = found
    for row in expected {
      let box = Box(x: row[1], y: row[2], width: row[3], height: row[4])
      let overlaps = rest.map { Self.overlap($0.box, box) }
      guard let best = overlaps.max(), best > 0.5, let index = overlaps.firstIndex(of: best) else {
        missing += 1
        continue
      }
      pairs += 1
      worstOverlap = min(worstOverlap, best)
      worstScore = max(worstScore, abs(rest.remove(at: index).score - row[0]))
    }
    extra += rest.count
  }

  private static func overlap(_ left: Box, _ right: Box) -> Double {
    let across = min(left.x + left.width, right.x + right.width) - max(left.x, right.x)
    let down = min(left.y + left.height, right.y + right.height) - max(left.y, right.y)
    guard across > 0, down > 0 else { return 0 }
    let shared = across * down
    return shared / (left.width * left.height + right.width * right.height - shared)
  }
}
