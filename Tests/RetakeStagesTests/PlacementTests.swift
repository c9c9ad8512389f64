import Foundation
import Retake
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeStages
import Testing

/// The positions in the source's frame of boxes that were found after other stages.
@Suite struct PlacementTests {
  /// The box 10,20 30x40 of the sink `boxes`, in the pixels of a source of 640x480; `nil` if that
  /// is not known.
  private func placed(
    _ nodes: [String], _ edges: [String], format: PixelFormat = .i420, turn: ImageTurn = .init()
  ) throws -> [Double]? {
    let links = edges.map { edge in
      let ends = edge.split(separator: ">")
      return "{\"from\": \"\(ends[0])\", \"to\": \"\(ends[1])\"}"
    }
    let text = """
      {"v": 1, "name": "p", "nodes": [{"id": "camera", "kind": "session"},
        {"id": "boxes", "kind": "results"}, \(nodes.joined(separator: ", "))],
       "edges": [\(links.joined(separator: ", "))]}
      """
    var registry = StageRegistry.builtIn
    registry.register(Corner.self)
    let pipeline = try PipelineDocument.parse(Data(text.utf8), catalog: registry)
    var frame = ImageShape(width: 640, height: 480, format: format)
    frame.turn = turn
    let placements = try pipeline.picturePlacements(
      sources: ["camera": ImagePlacement(track: 0, shape: frame)])
    let box = placements["boxes"]?.inSource(Box(x: 10, y: 20, width: 30, height: 40))
    return box.map { [$0.x, $0.y, $0.width, $0.height] }
  }

  private let motion = #"{"id": "motion", "kind": "motion"}"#

  private func node(_ id: String, _ kind: String, _ options: String) -> String {
    #"{"id": "\#(id)", "kind": "\#(kind)", "options": \#(options)}"#
  }

  @Test func `without a stage that scales or cuts a box stays`() throws {
    let gray = #"{"id": "grey", "kind": "grey"}"#
    #expect(
      try placed([gray, motion], ["camera>grey", "grey>motion", "motion>boxes"]) == [
        10, 20, 30, 40,
      ])
  }

  @Test func `a downsample and a resize are scaled back, each direction for itself`() throws {
    let edges = ["camera>small", "small>motion", "motion>boxes"]
    let half = node("small", "downsample", #"{"width": 320, "height": 240}"#)
    #expect(try placed([half, motion], edges) == [20, 40, 60, 80])
    let square = node("small", "resize", #"{"width": 160, "height": 240}"#)
    #expect(try placed([square, motion], edges) == [40, 40, 120, 80])
    let odd = node("small", "downsample", #"{"width": 300, "height": 200}"#)
    #expect(try placed([odd, motion], edges) == [21.333, 48, 64, 96])
  }

  @Test(arguments: [0, 90, 180, 270], [false, true])
  func `boxes of an upright frame are turned back, also through a crop and a downsample`(
    degrees: Int, isMirrored: Bool
  ) throws {
    let upright = #"{"id": "up", "kind": "upright"}"#
    let turn = ImageTurn(degrees: degrees, isMirrored: isMirrored)
    let picture = OverlayImage(
      width: 640, height: 480, rotationDegrees: degrees, isMirrored: isMirrored)
    let plain = picture.stored(Box(x: 10, y: 20, width: 30, height: 40))
    #expect(
      try placed([upright, motion], ["camera>up", "up>motion", "motion>boxes"], turn: turn)
        == [plain.x, plain.y, plain.width, plain.height])
    let crop = node("cut", "crop", #"{"x": 100, "y": 50, "width": 200, "height": 100}"#)
    let half = node("half", "downsample", #"{"width": 100, "height": 50}"#)
    let deep = picture.stored(Box(x: 120, y: 90, width: 60, height: 80))
    #expect(
      try placed(
        [upright, crop, half, motion],
        ["camera>up", "up>cut", "cut>half", "half>motion", "motion>boxes"], turn: turn)
        == [deep.x, deep.y, deep.width, deep.height])
  }

  @Test func `the boxes of each frame are turned back by the turn of that frame`() throws {
    let text = """
      {"v": 1, "name": "p", "nodes": [{"id": "camera", "kind": "session"},
        {"id": "up", "kind": "upright"}, \(motion), {"id": "boxes", "kind": "results"}],
       "edges": [{"from": "camera", "to": "up"}, {"from": "up", "to": "motion"},
        {"from": "motion", "to": "boxes"}]}
      """
    let pipeline = try PipelineDocument.parse(Data(text.utf8), catalog: StageRegistry.builtIn)
    var shape = ImageShape(width: 640, height: 480, format: .i420)
    shape.turn.degrees = 90
    var places = OverlayPlaces(pipeline, tracks: ["camera": 0], shapes: [0: shape])
    let box = Box(x: 10, y: 20, width: 30, height: 40)
    for degrees in [90, 180, 270, 90] {
      shape.turn.degrees = degrees
      places.use(shape, of: 0)
      let picture = OverlayImage(width: 640, height: 480, rotationDegrees: degrees)
      let placed = places.placed([.detection(Detection(box: box, score: 1))], sink: "boxes")
      guard case .detection(let found)? = placed.first else {
        Issue.record("\(degrees): no box")
        continue
      }
      #expect(found.box == picture.stored(box))
    }
  }

  @Test func `a crop is moved back, from where it really cuts`() throws {
    let edges = ["camera>cut", "cut>motion", "motion>boxes"]
    let crop = node("cut", "crop", #"{"x": 101, "y": 51, "width": 200, "height": 100}"#)
    #expect(try placed([crop, motion], edges) == [110, 70, 30, 40])
    #expect(try placed([crop, motion], edges, format: .i422) == [110, 71, 30, 40])
    #expect(try placed([crop, motion], edges, format: .rgb) == [111, 71, 30, 40])
    let converted = node("rgb", "convert", #"{"format": "RGB24"}"#)
    #expect(
      try placed(
        [crop, converted, motion], ["camera>rgb", "rgb>cut", "cut>motion", "motion>boxes"])
        == [111, 71, 30, 40])
  }

  @Test func `stages behind one another add up`() throws {
    let crop = node("cut", "crop", #"{"x": 100, "y": 40, "width": 400, "height": 400}"#)
    let small = node("small", "downsample", #"{"width": 200, "height": 100}"#)
    let inner = node("inner", "crop", #"{"x": 8, "y": 4}"#)
    #expect(
      try placed(
        [crop, small, inner, motion],
        ["camera>cut", "cut>small", "small>inner", "inner>motion", "motion>boxes"])
        == [100 + 2 * 18, 40 + 4 * 24, 60, 160])
  }

  @Test func `detections of branches that lie alike can be joined, others have no place`() throws {
    let join = node("pairs", "join", #"{"ports": ["a", "b"]}"#)
    let merge = #"{"id": "merge", "kind": "merge-detections"}"#
    let small = node("small", "downsample", #"{"width": 320, "height": 240}"#)
    let other = #"{"id": "other", "kind": "motion"}"#
    let ends = ["motion>pairs.a", "other>pairs.b", "pairs>merge", "merge>boxes"]
    #expect(
      try placed(
        [join, merge, small, motion, other],
        ["camera>small", "small>motion", "small>other"] + ends) == [20, 40, 60, 80])
    #expect(
      try placed(
        [join, merge, small, motion, other],
        ["camera>small", "small>motion", "camera>other"] + ends) == nil)
  }

  @Test func `a forEach gives the boxes of its detections; those found in a region have no place`()
    throws
  {
    let crop = #"{"id": "cut", "kind": "region-crop"}"#
    func each(_ inner: String) -> String {
      #"{"id": "each", "kind": "forEach", "body": {"nodes": [\#(crop), {"id": "inner", "kind": "\#(inner)"}],"#
        + #" "edges": [{"from": "cut", "to": "inner"}], "output": "inner"}}"#
    }
    let nodes = [
      motion, node("small", "downsample", #"{"width": 320, "height": 240}"#),
      node("pairs", "join", #"{"ports": ["frame", "detections"]}"#),
    ]
    let edges = [
      "camera>small", "small>motion", "small>pairs.frame", "motion>pairs.detections",
      "pairs>each", "each>boxes",
    ]
    #expect(try placed(nodes + [each("mean-colour")], edges) == [20, 40, 60, 80])
    #expect(try placed(nodes + [each("luminance")], edges) == [20, 40, 60, 80])
    #expect(try placed(nodes + [each("corner")], edges) == nil)
  }
}

/// Finds something in every image.
private struct Corner: PureStage {
  static let kind = "corner"

  init() {}
  init(options: NoOptions) {}

  func process(_ frame: Frame, _ context: StageContext) -> Detections {
    Detections([Detection(box: Box(x: 0, y: 0, width: 4, height: 4), score: 1)], classNames: [])
  }
}
