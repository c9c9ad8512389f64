import Foundation
import Retake
import RetakeCore
import RetakeGraph
import RetakeStages
import RetakeTestFrames
import Testing

/// The problem of a kind with options in JSON.
private func problem(_ kind: String, _ options: String) throws -> OptionProblem? {
  let json = try JSONValue(parsing: Data(options.utf8))
  do {
    _ = try StageRegistry.builtIn.make(kind: kind, options: json)
    return nil
  } catch {
    return error as? OptionProblem
  }
}

private func stage(_ kind: String, _ options: String) throws -> AnyStage {
  try StageRegistry.builtIn.make(
    kind: kind, options: try JSONValue(parsing: Data(options.utf8)))
}

@Suite struct JoinTests {
  @Test func `a document's join is the word's`() throws {
    let read = try stage("join", #"{"mode": "any", "ports": ["frame", "boxes"]}"#)
    let written = AnyStage.join(["frame", "boxes"], mode: .any)
    #expect(read.options == written.options)
    #expect(read.inputPorts == ["frame", "boxes"])
    #expect(try stage("latest", #"{"ports": ["a", "b"]}"#).inputPorts == ["a", "b"])
    #expect(
      try stage("join", #"{"ports": ["a", "b"]}"#).options == AnyStage.join(["a", "b"]).options)
  }

  @Test func `ports are two to sixteen names of their own`() throws {
    let seventeen = (0..<17).map { #""p\#($0)""# }.joined(separator: ",")
    for (ports, pointer) in [
      ("[]", "/ports"), (#"["a"]"#, "/ports"), ("[\(seventeen)]", "/ports"),
      (#"["a", "B"]"#, "/ports/1"), (#"["a", "b", "a"]"#, "/ports/2"), (#"["a", 2]"#, "/ports/1"),
      (#"["a", ""]"#, "/ports/1"), (#""a""#, "/ports"),
    ] {
      for kind in ["join", "latest"] {
        #expect(try problem(kind, #"{"ports": \#(ports)}"#)?.pointer == pointer, "\(kind) \(ports)")
      }
    }
    #expect(try problem("join", #"{"mode": "both", "ports": ["a", "b"]}"#)?.pointer == "/mode")
    #expect(try problem("join", "{}")?.advice == #"For example ["frame", "detections"]"#)
  }
}

@Suite struct ThrottleOptionTests {
  @Test func `rules are written as they were read`() throws {
    let text =
      #"{"fps":0,"when":[{"fps":15,"thermal":"serious"},"#
      + #"{"battery":{"below":20,"charging":false},"fps":10},{"fps":0.5,"memory":"critical"}]}"#
    #expect(try stage("throttle", text).options.canonicalText == text)
    #expect(try stage("throttle", "{}").options.canonicalText == #"{"fps":15,"when":[]}"#)
  }

  @Test func `a rule that cannot be used is named with its place`() throws {
    for (rule, pointer) in [
      (#"{"fps": 5}"#, "/when/0"), (#"{"thermal": "serious"}"#, "/when/0"),
      (#"{"thermal": "serious", "fps": 0}"#, "/when/0/fps"),
      (#"{"thermal": "serious", "fps": 1001}"#, "/when/0/fps"),
      (#"{"thermal": "hot", "fps": 5}"#, "/when/0/thermal"),
      (#"{"temperature": "hot", "fps": 5}"#, "/when/0/temperature"),
      (#"{"battery": {}, "fps": 5}"#, "/when/0/battery"),
      (#"{"battery": {"below": 101}, "fps": 5}"#, "/when/0/battery/below"),
      (#"{"battery": {"level": 5}, "fps": 5}"#, "/when/0/battery/level"),
      (#"{"memory": 3, "fps": 5}"#, "/when/0/memory"), ("5", "/when/0"),
    ] {
      let found = try problem("throttle", #"{"when": [\#(rule)]}"#)
      #expect(found?.pointer == pointer, "\(rule)")
    }
    #expect(try problem("throttle", #"{"fps": 0}"#)?.pointer == "/fps")
    #expect(try problem("throttle", #"{"fps": -1, "when": [{"thermal":"fair","fps":1}]}"#) != nil)
  }

  @Test func `the word gives what the document says`() throws {
    let word = Pipeline.named("hot").source(.session())
      .throttle(fps: 30, when: [DeviceRule(thermal: .serious, fps: 15)]).sample(every: 3).results()
    let read = try stage("throttle", #"{"fps": 30, "when": [{"thermal": "serious", "fps": 15}]}"#)
    #expect(word.node("throttle")?.stage.options == read.options)
    #expect(word.node("sample")?.stage.options == .object(["every": .integer(3)]))
  }
}

@Suite struct RouteTests {
  private func boxes(_ scores: Double..., classIndex: Int = 0) -> Detections {
    Detections(
      scores.map {
        Detection(
          box: Box(x: 0, y: 0, width: 1, height: 1), score: $0, classIndex: classIndex)
      }, classNames: ["person", "car"])
  }

  @Test func `detections count with the score and the class that are asked for`() {
    let rule = RouteRule.detections(countMin: 2, countMax: 3, scoreMin: 0.5, label: "person")
    #expect(!rule.matches(boxes(0.9)))
    #expect(rule.matches(boxes(0.9, 0.5)))
    #expect(!rule.matches(boxes(0.9, 0.49)))
    #expect(rule.matches(boxes(0.9, 0.8, 0.7, 0.1)))
    #expect(!rule.matches(boxes(0.9, 0.8, 0.7, 0.6)))
    #expect(!rule.matches(boxes(0.9, 0.9, classIndex: 1)))
    #expect(!rule.matches(boxes(0.9, 0.9, classIndex: 2)))
    #expect(!rule.matches(boxes(.nan, .nan)))
    #expect(RouteRule.detections(countMin: 0, countMax: 0).matches(boxes()))
  }

  @Test func `a number lies in its bounds, both included`() {
    let rule = RouteRule.scalar(name: "mean", min: 10, max: 20)
    for (value, matches) in [(10, true), (20, true), (9.99, false), (20.01, false), (.nan, false)] {
      #expect(rule.matches(Scalars([.init("other", 15), .init("mean", value)])) == matches)
    }
    #expect(!rule.matches(Scalars([.init("other", 15)])))
    #expect(RouteRule.scalar(name: "mean", max: 0).matches(Scalars([.init("mean", -.infinity)])))
  }

  @Test func `a label is looked for at any place`() {
    let rule = RouteRule.classified(label: "red", scoreMin: 0.5)
    let blue = Classification(label: "blue", score: 0.9)
    #expect(rule.matches(Classes([blue, Classification(label: "red", score: 0.5)])))
    #expect(!rule.matches(Classes([blue, Classification(label: "red", score: 0.4)])))
    #expect(RouteRule.classified(label: "red").matches(Classes([.init(label: "red", score: -1)])))
  }

  @Test func `of a join the first part of the kind counts, and other values go to else`() throws {
    let rule = RouteRule.detections()
    let picture = Joined.Part(port: "frame", value: gray([[1]]))
    let none = Joined.Part(port: "none", value: boxes())
    let one = Joined.Part(port: "one", value: boxes(0.5))
    #expect(rule.matches(Joined([picture, one])))
    #expect(!rule.matches(Joined([picture, none, one])))
    #expect(!rule.matches(Joined([picture, .init(port: "late", value: nil)])))
    #expect(!rule.matches(gray([[1]])))
    let stage = AnyStage.route(rule)
    guard case .route(let choose) = stage.body else {
      Issue.record("a route has a route's body")
      return
    }
    #expect(stage.outputPorts == ["match", "else"])
    let chosen: [Int] = [choose(boxes(1)), choose(boxes()), choose(gray([[1]]))]
    #expect(chosen == [0, 1, 1])
  }

  @Test func `rules are written as they were read`() throws {
    for text in [
      #"{"class":{"label":"red"}}"#, #"{"class":{"label":"red","scoreMin":0.5}}"#,
      #"{"detections":{"countMax":5,"countMin":1,"label":"car","scoreMin":0.25}}"#,
      #"{"scalar":{"max":200,"min":10,"name":"mean"}}"#,
    ] { #expect(try stage("route", text).options.canonicalText == text) }
    let short = try stage("route", #"{"detections": {}}"#).options.canonicalText
    #expect(short == #"{"detections":{"countMin":1}}"#)
  }

  @Test func `a rule that cannot be used is named with its place`() throws {
    for (options, pointer) in [
      ("{}", ""), (#"{"class": {"label": "a"}, "scalar": {"name": "a", "min": 1}}"#, ""),
      (#"{"detection": {}}"#, "/detection"),
      (#"{"detections": {"count": 1}}"#, "/detections/count"),
      (#"{"detections": {"countMin": 0}}"#, "/detections/countMin"),
      (#"{"detections": {"countMin": -1}}"#, "/detections/countMin"),
      (#"{"detections": {"countMin": 3, "countMax": 2}}"#, "/detections/countMax"),
      (#"{"detections": {"countMin": 1.5}}"#, "/detections/countMin"),
      (#"{"scalar": {"name": "a"}}"#, "/scalar"), (#"{"scalar": {"min": 1}}"#, "/scalar"),
      (#"{"scalar": {"name": "a", "min": 2, "max": 1}}"#, "/scalar/max"),
      (#"{"class": {"scoreMin": 1}}"#, "/class"), (#"{"class": "red"}"#, "/class"),
    ] { #expect(try problem("route", options)?.pointer == pointer, "\(options)") }
  }
}
