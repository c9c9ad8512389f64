import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeGraph
import RetakeMedia
import RetakeReport

/// The images of the frames that a report shows: the frame that the pipeline received, with the
/// boxes that golden and run share, and the image that a sink received, if the run kept it.
struct FrameImages {
  /// The most images of one root cause.
  private static let perRootCauseMax = 10
  /// In pixels; larger frames are scaled down.
  private static let widthMax = 480

  let result: CaseResult
  /// `nil` if the session has no labels.
  var labels: CaseLabels?

  /// The frames of the first findings of each root cause, in the order of the findings.
  func choose(_ most: Int) -> [FrameID] {
    var counts: [Int: Int] = [:]
    // The frames that became worse by most, or have the largest errors, are the most telling.
    var chosen = Array(
      (result.comparison.labels.map { ReportLabels($0) }?.frames.items ?? []).prefix(most / 3).map(
        \.frame))
    for finding in result.comparison.findings where chosen.count < most {
      guard let frame = finding.frame, !chosen.contains(frame) else { continue }
      let root = finding.root ?? -1
      // A single root cause may have most of the findings, and the others need images as well.
      guard counts[root, default: 0] < Self.perRootCauseMax else { continue }
      counts[root, default: 0] += 1
      chosen.append(frame)
    }
    return chosen
  }

  /// The input images without boxes, and the shapes of their frames. Frames that cannot be read are
  /// omitted.
  func inputs(_ frames: [FrameID]) -> (pictures: [ReportImage], shapes: [FrameID: ImageShape]) {
    var shapes: [FrameID: ImageShape] = [:]
    guard !frames.isEmpty, let reader = result.openSession() else { return ([], shapes) }
    let pictures = frames.compactMap { id -> ReportImage? in
      guard let frame = try? reader.frame(id),
        let png = try? FrameImage.png(of: frame, widthMax: Self.widthMax)
      else { return nil }
      shapes[id] = ImageShape(frame)
      return ReportImage(frame: id, width: frame.width, height: frame.height, png: png)
    }
    return (pictures, shapes)
  }

  /// The same images with the boxes that are equal on both sides. The images that the sinks kept of
  /// a frame follow the image of the frame.
  func complete(_ inputs: [ReportImage], _ places: BoxPlaces) -> [ReportImage] {
    let common = commonBoxes(inputs.map(\.frame), places)
    return inputs.flatMap { input in
      var picture = input
      picture.boxes = (common[input.frame] ?? []) + (labels?.boxes(of: input.frame) ?? [])
      return [picture] + kept(input, places)
    }
  }

  /// The images that golden and run kept of a frame, at the first sink that has any. Only sinks
  /// that a finding about the frame names are searched.
  private func kept(_ input: ReportImage, _ places: BoxPlaces) -> [ReportImage] {
    let sinks = result.comparison.findings.filter { $0.frame == input.frame }.compactMap(\.node)
    for sink in sinks {
      let sides: [(ReportImage.Role, ReportBox.Side, GoldenFolder)] = [
        (.golden, .golden, result.golden), (.actual, .actual, result.actual),
      ]
      let pictures = sides.compactMap { role, side, folder -> ReportImage? in
        let file = folder.file(GoldenFolder.pictureName(input.frame, sink: sink))
        guard let placement = places.placement(sink, input.frame, side),
          let frame = try? MediaImage.read(file: file.path),
          let png = try? FrameImage.png(of: frame, widthMax: Self.widthMax)
        else { return nil }
        var picture = ReportImage(
          frame: input.frame, role: role, node: sink, width: input.width, height: input.height,
          png: png)
        picture.area = placement.inSource(
          Box(x: 0, y: 0, width: Double(frame.width), height: Double(frame.height)))
        return picture
      }
      if !pictures.isEmpty { return pictures }
      let images = observed(input, sink)
      if !images.isEmpty { return images }
    }
    return []
  }

  /// The first image of a sink's observations that golden and run kept, and that differs.
  private func observed(_ input: ReportImage, _ sink: String) -> [ReportImage] {
    // Ends: neither folder has an image of the frame with this index.
    for index in 0... {
      let sides = [result.golden, result.actual].map { folder in
        folder.image(of: input.frame, sink: sink, index: index) { ImagePixels(kept: $0) }.array
      }
      guard let first = sides.compactMap(\.self).first else { return [] }
      guard sides[0] != sides[1] else { continue }
      return zip([ReportImage.Role.golden, .actual], sides).compactMap { role, array in
        guard let array, let frame = array.shown(like: first),
          let png = try? FrameImage.png(of: frame, widthMax: Self.widthMax)
        else { return nil }
        return ReportImage(
          frame: input.frame, role: role, node: sink, width: input.width, height: input.height,
          png: png)
      }
    }
    return []
  }

  /// The boxes that are equal on both sides.
  private func commonBoxes(
    _ frames: [FrameID], _ places: BoxPlaces
  ) -> [FrameID: [ReportBox]] {
    let wanted = Set(frames)
    guard let golden = try? result.golden.frames(wanted),
      let actual = try? result.actual.frames(wanted)
    else { return [:] }
    var boxes: [FrameID: [ReportBox]] = [:]
    for id in frames {
      let mine = Self.lines(golden.frames[id], golden.header)
      let shared = Set(mine).intersection(Self.lines(actual.frames[id], actual.header))
      boxes[id] = mine.filter { shared.contains($0) }.compactMap { line in
        ReportBox(.both, line: line.text, classes: result.classNames)
          .flatMap { places.place($0, sink: line.sink, frame: id) }
      }
    }
    return boxes
  }

  private struct Line: Hashable {
    var sink: String
    var text: String
  }

  private static func lines(_ frame: ResultFrame?, _ header: ResultHeader?) -> [Line] {
    frame?.outcomes.flatMap { outcome -> [Line] in
      guard let sinks = header?.sinks, sinks.indices.contains(outcome.sink) else { return [] }
      return outcome.lines.compactMap { line -> Line? in
        switch line {
        case .detection, .observation: return Line(sink: sinks[outcome.sink], text: line.text)
        default: return nil
        }
      }
    } ?? []
  }
}
