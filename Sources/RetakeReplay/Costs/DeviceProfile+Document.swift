import Foundation
import RetakeCore
import RetakeRuntime
import RetakeTimePlane

extension DeviceProfile {
  /// The largest document that is read, in bytes.
  static let documentBytesMax = 1 << 20

  /// Reads a JSON document.
  ///
  /// - Parameter name: The file's name in messages; its path if `nil`.
  /// - Throws: `ReplayError.profile` with the JSON pointer of the problem.
  package init(reading path: String, named name: String? = nil) throws(ReplayError) {
    let bytes: [UInt8]
    do throws(InputFile.Failure) {
      let file = try InputFile(path)
      defer { file.close() }
      // One byte more than allowed shows that the document is too large, without reading all of it.
      bytes = try file.read(upTo: Self.documentBytesMax + 1)
    } catch {
      throw .profile(.unreadable(cause: error.cause), path: name ?? path)
    }
    do throws(DocumentProblem) {
      try self.init(ProfileDecoder(parsing: Data(bytes), bytesMax: Self.documentBytesMax))
    } catch {
      throw .profile(
        .malformed(message: error.message, advice: error.advice, pointer: error.pointer),
        path: name ?? path)
    }
  }

  /// The limits of pipelines: see `Pipeline.checkNumbers`.
  private static let serversMax = 1_024
  private static let buffersMax = 4_096

  private init(_ decoder: ProfileDecoder) throws(DocumentProblem) {
    let fields = try decoder.document(["name", "scale", "executors", "pools", "thermal"])
    let given = try fields.required("name")
    let name = try given.string()
    guard name.isSafeName else {
      throw given.wrong(
        "'\(name)' cannot be a profile's name",
        advice: "Use up to 64 letters, digits, '-', '_' and '.'")
    }
    self.init(name: name)
    for (node, scale) in try fields.members("scale") { self.scale[node] = try scale.ratio() }
    for (id, count) in try fields.members("executors") {
      executors[id] = try count.integer(
        in: 1...Self.serversMax, "the number of servers is 1 to \(Self.serversMax)")
    }
    for (id, count) in try fields.members("pools") {
      pools[id] = try count.integer(
        in: 1...Self.buffersMax, "the number of buffers is 1 to \(Self.buffersMax)")
    }
    for json in try fields.elements("thermal") {
      let step = try json.object(["after", "scale"])
      let start = try step.required("after")
      let after = try start.duration()
      // Two steps at one time would leave open which of them holds.
      guard thermal.last.map({ $0.after < after }) ?? true else {
        throw start.wrong("the steps come in the order of their time")
      }
      thermal.append(.init(after: after, scale: try step.required("scale").ratio()))
    }
  }
}

private typealias ProfileDecoder = StrictDecoder<DocumentProblem>

extension ProfileDecoder {
  fileprivate func ratio() throws(DocumentProblem) -> DecimalRatio {
    guard let ratio = DecimalRatio(json) else {
      throw wrong(
        "a scale is \(DecimalRatio.rangeText)", advice: "2 is twice as slow, 0.5 twice as fast")
    }
    return ratio
  }
}
