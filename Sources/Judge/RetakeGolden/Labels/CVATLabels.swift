import RetakeCompare
import RetakeCore

/// Reads "CVAT for images 1.1" and "CVAT for video 1.1".
///
/// Of a video, the frames of the task are labelled: from `start_frame` to `stop_frame`, by the step
/// of `frame_filter`. A box of a track is needed in each of them until the track ends or leaves the
/// image, because boxes are not interpolated here.
struct CVATLabels {
  let file: String
  let firstFrame: Int

  func read(_ bytes: [UInt8], into builder: inout LabelBuilder) throws {
    var reader = Reader(self, bytes, builder)
    try reader.read()
    builder = reader.builder
  }

  private struct Track {
    var label: String
    var identity: Int
    /// The frame of the last box, if the object was not outside.
    var last: Int?
  }

  private struct Reader {
    let labels: CVATLabels
    var tags: XMLTags
    var builder: LabelBuilder
    /// The open tags.
    var path: [String] = []
    /// Texts inside of `meta`, by the name of their tag: the first of each.
    var facts: [String: String] = [:]
    /// The image whose boxes are read.
    var image: FrameID?
    var track: Track?
    /// A box whose attributes are read; without a frame if its object is outside.
    var box: (label: LabelBox, id: FrameID?, line: Int)?
    var attribute: String?
    /// Of a video: the frames that are labelled.
    var video: (frames: ClosedRange<Int>, step: Int)?

    init(_ labels: CVATLabels, _ bytes: [UInt8], _ builder: LabelBuilder) {
      (self.labels, self.builder) = (labels, builder)
      tags = XMLTags(bytes, file: labels.file)
    }

    mutating func read() throws {
      while let tag = try tags.next() {
        if tag.name.hasPrefix("/") {
          guard path.popLast() == String(tag.name.dropFirst()) else {
            throw tags.bad("<\(tag.name)> ends a tag that did not begin")
          }
          try end(tag)
        } else {
          if path.isEmpty, tag.name != "annotations" {
            throw tags.bad("the file is not of CVAT: it begins with <\(tag.name)>")
          }
          try begin(tag)
          if tag.isClosed {
            try end(XMLTags.Tag(name: "/" + tag.name))
          } else {
            path.append(tag.name)
          }
        }
      }
      guard path.isEmpty else { throw tags.bad("the file ends inside <\(path.last ?? "")>") }
    }

    private mutating func begin(_ tag: XMLTags.Tag) throws {
      guard !path.contains("meta") else { return }
      switch tag.name {
      case "image": try beginImage(tag)
      case "track":
        try listVideoFrames()
        track = Track(label: try text("label", of: tag), identity: try whole("id", of: tag))
      case "box": try beginBox(tag)
      case "attribute": attribute = tag.attributes["name"]
      case "polygon", "polyline", "points", "ellipse", "cuboid", "mask", "skeleton":
        throw tags.bad("a \(tag.name) is not a box")
      default: break
      }
    }

    private mutating func end(_ tag: XMLTags.Tag) throws {
      if path.contains("meta") {
        let name = String(tag.name.dropFirst())
        facts[name] = facts[name] ?? tags.text
        return
      }
      switch tag.name {
      case "/image": image = nil
      case "/track": track = nil
      case "/attribute":
        if let attribute { try set(attribute, tags.text) }
        attribute = nil
      case "/box":
        if let box, let id = box.id {
          try builder.add(box.label, to: id, place: "line \(box.line)")
        }
        box = nil
      case "/annotations":
        // A video without a track has frames without objects.
        if facts["mode"] == "interpolation" { try listVideoFrames() }
      default: break
      }
    }

    // MARK: Images

    private mutating func beginImage(_ tag: XMLTags.Tag) throws {
      guard video == nil else { throw tags.bad("an image is among the tracks of a video") }
      let id = try frame(whole("id", of: tag))
      image = id
      let size = try ["width", "height"].map { try whole($0, of: tag) }
      try builder.add(id, size: size, place: "line \(tags.line)")
    }

    // MARK: Videos

    /// Adds the frames of the task, once.
    private mutating func listVideoFrames() throws {
      guard video == nil else { return }
      guard let start = facts["start_frame"].flatMap({ Int($0) }),
        let stop = facts["stop_frame"].flatMap({ Int($0) }), start >= 0, stop >= start,
        stop <= 1_000_000_000
      else {
        throw LabelError.unclear(
          labels.file,
          "the file does not say which frames are labelled: <meta> has no start_frame "
            + "and stop_frame", advice: "Export a task or a job of CVAT, with its <meta>")
      }
      let filter = facts["frame_filter"] ?? ""
      let step = filter.isEmpty ? 1 : filter.split(separator: "=").last.flatMap { Int($0) } ?? 0
      guard step > 0 else { throw tags.bad("the frame_filter '\(filter.shortened)' has no step") }
      if let width = facts["width"].flatMap({ Int($0) }),
        let height = facts["height"].flatMap({ Int($0) })
      {
        try builder.require(size: [width, height], "original_size")
      }
      video = (start...stop, step)
      for number in stride(from: start, through: stop, by: step) {
        try builder.add(frame(number), place: "stop_frame")
      }
    }

    // MARK: Boxes

    private mutating func beginBox(_ tag: XMLTags.Tag) throws {
      let sides = try ["xtl", "ytl", "xbr", "ybr"].map { try number($0, of: tag) }
      if let turn = tag.attributes["rotation"], Double(turn) != 0 {
        throw tags.bad("the box is turned by \(turn.shortened) degrees")
      }
      let place = Box(
        x: sides[0], y: sides[1], width: sides[2] - sides[0], height: sides[3] - sides[1])
      if var track {
        let number = try whole("frame", of: tag)
        try requireNoGap(track, before: number)
        let isOutside = tag.attributes["outside"] == "1"
        track.last = isOutside ? nil : number
        self.track = track
        box = (
          labelBox(place, track.label, identity: track.identity),
          isOutside ? nil : frame(number), tags.line
        )
      } else if let image {
        box = (labelBox(place, try text("label", of: tag), identity: nil), image, tags.line)
      } else {
        throw tags.bad("a box is neither in an image nor in a track")
      }
    }

    private func labelBox(_ place: Box, _ label: String, identity: Int?) -> LabelBox {
      LabelBox(
        box: place, label: label, identity: identity, isIgnored: label == LabelBox.ignoreLabel)
    }

    private func requireNoGap(_ track: Track, before number: Int) throws {
      guard let video, video.frames.contains(number),
        (number - video.frames.lowerBound) % video.step == 0
      else { throw tags.bad("the frame \(number) is not one of the task") }
      guard let last = track.last, case let missing = last + video.step, missing != number else {
        return
      }
      throw LabelError.line(
        labels.file, tags.line,
        "the track \(track.identity) has no box in the frame \(missing), and is not outside there",
        advice: "Export 'CVAT for video 1.1' from CVAT: it writes a box for each frame of a track")
    }

    private mutating func set(_ name: String, _ value: String) throws {
      guard box != nil else { return }
      switch name {
      case "ignore": if value == "true" { box?.label.isIgnored = true }
      case "text": box?.label.text = value
      case "track_id":
        guard let identity = Int(value) else {
          throw tags.bad("the track_id '\(value.shortened)' is not an integer")
        }
        box?.label.identity = identity
      default: break
      }
    }

    // MARK: Values

    private func frame(_ number: Int) -> FrameID {
      FrameID(track: builder.footage.track, sequence: number - labels.firstFrame)
    }

    private func text(_ name: String, of tag: XMLTags.Tag) throws -> String {
      guard let value = tag.attributes[name], !value.isEmpty else {
        throw tags.bad("<\(tag.name)> has no '\(name)'")
      }
      return value
    }

    private func whole(_ name: String, of tag: XMLTags.Tag) throws -> Int {
      let text = try text(name, of: tag)
      guard let value = Int(text), value.magnitude <= 1_000_000_000 else {
        throw tags.bad("'\(name)' is '\(text.shortened)', which is not an integer")
      }
      return value
    }

    private func number(_ name: String, of tag: XMLTags.Tag) throws -> Double {
      let text = try text(name, of: tag)
      guard let value = Double(text), value.isFinite else {
        throw tags.bad("'\(name)' is '\(text.shortened)', which is not a finite number")
      }
      return value
    }
  }
}
