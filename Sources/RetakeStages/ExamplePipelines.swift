/// A pipeline document that comes with Retake.
public struct ExamplePipeline: Hashable, Sendable {
  /// What `example:NAME` and `retake pipeline example NAME` call it.
  public var name: String
  /// One line.
  public var summary: String
  /// The JSON document, laid out for people, with a final line break.
  public var document: String
}

/// The example pipelines, by name.
public enum ExamplePipelines {
  /// In the order of their names.
  public static let all = [downsampleDigest, motionBoxes]

  public static func named(_ name: String) -> ExamplePipeline? { all.first { $0.name == name } }

  static let downsampleDigest = ExamplePipeline(
    name: "downsample-digest", summary: "scales to 640x480 and gives the digest of every frame",
    document: """
      {"v": 1, "name": "downsample-digest",
       "nodes": [
        {"id": "camera", "kind": "session", "options": {"track": 0}},
        {"id": "downsample", "kind": "downsample", "options": {"width": 640, "height": 480}},
        {"id": "digest", "kind": "digest"},
        {"id": "results", "kind": "results", "primary": true}],
       "edges": [
        {"from": "camera", "to": "downsample"},
        {"from": "downsample", "to": "digest"},
        {"from": "digest", "to": "results"}]}

      """)

  static let motionBoxes = ExamplePipeline(
    name: "motion-boxes", summary: "finds what moves, as boxes with scores",
    document: """
      {"v": 1, "name": "motion-boxes",
       "nodes": [
        {"id": "camera", "kind": "session", "options": {"track": 0}},
        {"id": "grey", "kind": "grey"},
        {"id": "motion", "kind": "motion", "options": {"threshold": 24},
         "cost": {"fixed": "45ms"}, "executor": "vision"},
        {"id": "boxes", "kind": "results", "primary": true,
         "quantum": {"box": 0.1, "score": 0.0001}}],
       "edges": [
        {"from": "camera", "to": "grey"},
        {"from": "grey", "to": "motion", "capacity": 3, "policy": "dropNewest"},
        {"from": "motion", "to": "boxes"}],
       "executors": [{"id": "vision", "count": 1}]}

      """)
}
