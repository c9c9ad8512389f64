import Foundation
import RetakeBuffers
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeSuite

/// The labels of a session as the page that corrects them receives them.
struct ServedLabels: Encodable, Sendable {
  /// The labels of one frame. The page sends a corrected frame in the same form.
  struct Frame: Codable, Sendable {
    /// `true` for a draft, and absent otherwise.
    var draft: Bool?
    /// Absent if only numbers of the frame are known.
    var boxes: [Item]?
    var scalars: [String: Double]?
  }

  struct Item: Codable, Sendable {
    /// In pixels of the stored frame.
    var box: Box
    var label: String
    var identity: Int?
    /// `true` for an ignored region, and absent otherwise.
    var ignored: Bool?
    var text: String?
  }

  /// A request to save corrected frames.
  struct Correction: Decodable, Sendable {
    /// The digest of the labels that the page has.
    var digest: Digest128
    /// By frame, such as `0:26`; `nil` for a frame that is not labelled any more.
    var frames: [String: Frame?]

    init(_ body: Data) throws {
      do {
        self = try JSONDecoder().decode(Self.self, from: body)
      } catch {
        throw ServeError.badRequest(
          "the request must be {\"digest\": …, \"frames\": {\"0:26\": {\"boxes\": […]}}}")
      }
    }

    /// - Throws: `ServeError` for a name that names no frame.
    func labels() throws -> [FrameID: LabelDocument.Frame?] {
      var labels: [FrameID: LabelDocument.Frame?] = [:]
      for (name, frame) in frames {
        guard let id = FrameID(labelled: name) else {
          throw ServeError.badRequest("a frame is TRACK:NUMBER, such as 0:26")
        }
        labels.updateValue(frame.map { LabelDocument.Frame($0) }, forKey: id)
      }
      return labels
    }
  }

  /// The response to a correction.
  struct Saved: Encodable, Sendable {
    var digest: Digest128
    var classes: [String]
  }

  /// The name of this program in commands to type.
  var program: String
  var isCI: Bool
  var tracks: [ServedState.Session.Track]
  var digest: Digest128
  var classes: [String]
  var frames: [String: Frame]

  init(_ document: LabelDocument, tracks: [TrackDescription], options: ReportServer.Options) {
    program = options.name.word
    isCI = options.isCI
    self.tracks = tracks.map { ServedState.Session.Track($0) }
    digest = document.digest
    classes = document.classes
    frames = Dictionary(
      uniqueKeysWithValues: document.frames.map { ("\($0.key)", Frame($0.value)) })
  }
}

extension ServedLabels.Frame {
  init(_ frame: LabelDocument.Frame) {
    draft = frame.isDraft ? true : nil
    boxes = frame.labels.hasBoxes ? frame.labels.boxes.map { ServedLabels.Item($0) } : nil
    scalars = frame.labels.scalars.isEmpty ? nil : frame.labels.scalars
  }
}

extension ServedLabels.Item {
  init(_ box: LabelBox) {
    self.box = box.box
    label = box.label
    identity = box.identity
    ignored = box.isIgnored ? true : nil
    text = box.text
  }
}

extension LabelDocument.Frame {
  fileprivate init(_ frame: ServedLabels.Frame) {
    let boxes = frame.boxes?.map {
      LabelBox(
        box: $0.box, label: $0.label, identity: $0.identity,
        isIgnored: $0.ignored == true || $0.label == LabelBox.ignoreLabel, text: $0.text)
    }
    self.init(
      FrameLabels(boxes: boxes ?? [], hasBoxes: boxes != nil, scalars: frame.scalars ?? [:]),
      isDraft: frame.draft == true)
  }
}
