import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeReport
import RetakeRuntime

/// The pictures of the frames that a report shows, with the boxes that golden and run share.
struct FramePictures {
  /// Pictures of one root cause.
  private static let perRootMax = 10
  /// Pixels; larger frames are scaled down.
  private static let widthMax = 480

  let result: CaseResult

  /// The frames of the first findings of each root cause, in the order of the findings.
  func choose(_ most: Int) -> [FrameID] {
    var counts: [Int: Int] = [:]
    var chosen: [FrameID] = []
    for finding in result.comparison.findings where chosen.count < most {
      guard let frame = finding.frame, !chosen.contains(frame) else { continue }
      let root = finding.root ?? -1
      guard counts[root, default: 0] < Self.perRootMax else { continue }
      counts[root, default: 0] += 1
      chosen.append(frame)
    }
    return chosen
  }

  /// The input pictures; frames that cannot be read are left out.
  func make(_ frames: [FrameID]) -> [ReportPicture] {
    let common = commonBoxes(frames)
    return frames.compactMap { id in
      guard let reader = result.reader, let frame = try? reader.frame(id),
        let png = try? FramePicture.png(of: frame, widthMax: Self.widthMax)
      else { return nil }
      return ReportPicture(
        frame: id, width: frame.width, height: frame.height, png: png, boxes: common[id] ?? [])
    }
  }

  /// The boxes that are the same on both sides.
  private func commonBoxes(_ frames: [FrameID]) -> [FrameID: [ReportBox]] {
    let wanted = Set(frames)
    guard let golden = try? result.golden.frames(wanted).frames,
      let actual = try? result.actual.frames(wanted).frames
    else { return [:] }
    var boxes: [FrameID: [ReportBox]] = [:]
    for id in frames {
      let shared = Set(Self.lines(golden[id])).intersection(Self.lines(actual[id]))
      boxes[id] = Self.lines(golden[id]).filter { shared.contains($0) }.compactMap { line in
        ReportBox(.both, line: line, classes: result.classNames)
      }
    }
    return boxes
  }

  private static func lines(_ frame: ResultFrame?) -> [String] {
    frame?.outcomes.flatMap(\.lines).compactMap { line in
      guard case .detection = line else { return nil }
      return line.text
    } ?? []
  }
}
