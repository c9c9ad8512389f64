/// A pipeline document that is included in Retake.
package struct ExamplePipeline: Hashable, Sendable {
  /// Its name in `example:NAME` and `retake pipeline example NAME`.
  package var name: String
  /// One line.
  package var summary: String
  /// The JSON document, formatted for reading, with a final line break.
  package var document: String
}

/// The example pipelines, by name.
package enum ExamplePipelines {
  /// In the order of their names.
  package static let all = [
    downsampleDigest, ensemble, motionBoxes, motionClasses, preview, pulse,
  ]

  package static func named(_ name: String) -> ExamplePipeline? { all.first { $0.name == name } }

  static let downsampleDigest = ExamplePipeline(
    name: "downsample-digest", summary: "scales to 640x480 and returns the digest of every frame",
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

  static let ensemble = ExamplePipeline(
    name: "ensemble", summary: "two motion detectors side by side, each object once",
    document: """
      {"v": 1, "name": "ensemble",
       "nodes": [
        {"id": "camera", "kind": "session", "options": {"track": 0}},
        {"id": "grey", "kind": "grey"},
        {"id": "fine", "kind": "motion", "options": {"threshold": 16, "cell": 4},
         "cost": {"fixed": "12ms"}},
        {"id": "coarse", "kind": "motion", "options": {"threshold": 32, "cell": 16},
         "cost": {"fixed": "6ms"}},
        {"id": "both", "kind": "join", "options": {"mode": "any", "ports": ["fine", "coarse"]},
         "timeout": "30ms"},
        {"id": "merge", "kind": "merge-detections", "options": {"iou": 0.3}},
        {"id": "boxes", "kind": "results", "primary": true,
         "precision": {"box": 0.1, "score": 0.0001}}],
       "edges": [
        {"from": "camera", "to": "grey"},
        {"from": "grey", "to": "fine"},
        {"from": "grey", "to": "coarse"},
        {"from": "fine", "to": "both.fine"},
        {"from": "coarse", "to": "both.coarse"},
        {"from": "both", "to": "merge"},
        {"from": "merge", "to": "boxes"}]}

      """)

  static let motionBoxes = ExamplePipeline(
    name: "motion-boxes", summary: "finds moving objects, as boxes with scores",
    document: """
      {"v": 1, "name": "motion-boxes",
       "nodes": [
        {"id": "camera", "kind": "session", "options": {"track": 0}},
        {"id": "grey", "kind": "grey"},
        {"id": "motion", "kind": "motion", "options": {"threshold": 24},
         "cost": {"fixed": "45ms"}, "executor": "vision"},
        {"id": "boxes", "kind": "results", "primary": true,
         "precision": {"box": 0.1, "score": 0.0001}}],
       "edges": [
        {"from": "camera", "to": "grey"},
        {"from": "grey", "to": "motion", "capacity": 3, "policy": "dropNewest"},
        {"from": "motion", "to": "boxes"}],
       "executors": [{"id": "vision", "count": 1}]}

      """)

  static let motionClasses = ExamplePipeline(
    name: "motion-classes", summary: "finds moving objects, and names the color of each",
    document: """
      {"v": 1, "name": "motion-classes",
       "nodes": [
        {"id": "camera", "kind": "session", "options": {"track": 0}},
        {"id": "downsample", "kind": "downsample", "options": {"width": 640, "height": 480},
         "cost": {"fixed": "2ms"}},
        {"id": "motion", "kind": "motion", "cost": {"fixed": "8ms"}},
        {"id": "found", "kind": "join", "options": {"ports": ["frame", "detections"]}},
        {"id": "objects", "kind": "forEach",
         "body": {
          "nodes": [
           {"id": "crop", "kind": "region-crop", "options": {"padding": 0.2}},
           {"id": "resize", "kind": "resize", "options": {"width": 224, "height": 224},
            "cost": {"fixed": "1ms"}},
           {"id": "colour", "kind": "mean-colour", "options": {"top": 1},
            "cost": {"fixed": "1ms"}}],
          "edges": [
           {"from": "crop", "to": "resize"},
           {"from": "resize", "to": "colour"}],
          "output": "colour"}},
        {"id": "results", "kind": "results", "primary": true,
         "precision": {"box": 0.1, "score": 0.0001}}],
       "edges": [
        {"from": "camera", "to": "downsample"},
        {"from": "downsample", "to": "motion"},
        {"from": "downsample", "to": "found.frame"},
        {"from": "motion", "to": "found.detections"},
        {"from": "found", "to": "objects"},
        {"from": "objects", "to": "results"}]}

      """)

  static let preview = ExamplePipeline(
    name: "preview", summary: "shows each frame with the results of a slow detector, at 60 hertz",
    document: """
      {"v": 1, "name": "preview",
       "nodes": [
        {"id": "camera", "kind": "session", "options": {"track": 0}, "pool": "camera"},
        {"id": "copy", "kind": "copy", "cost": {"fixed": "1ms"}, "pool": "copies"},
        {"id": "grey", "kind": "grey"},
        {"id": "motion", "kind": "motion", "cost": {"uniform": ["50ms", "200ms"]}},
        {"id": "boxes", "kind": "results", "primary": true,
         "precision": {"box": 0.1, "score": 0.0001}},
        {"id": "pace", "kind": "throttle",
         "options": {"fps": 60, "when": [{"thermal": "serious", "fps": 30}]}},
        {"id": "newest", "kind": "latest", "options": {"ports": ["frame", "boxes"]}},
        {"id": "overlay", "kind": "overlay", "cost": {"fixed": "4ms"}, "pool": "screen"},
        {"id": "screen", "kind": "screen", "options": {"hertz": 60}}],
       "edges": [
        {"from": "camera", "to": "copy", "policy": "replace"},
        {"from": "copy", "to": "grey", "policy": "replace"},
        {"from": "grey", "to": "motion", "policy": "replace"},
        {"from": "motion", "to": "boxes"},
        {"from": "camera", "to": "pace"},
        {"from": "pace", "to": "newest.frame"},
        {"from": "motion", "to": "newest.boxes"},
        {"from": "newest", "to": "overlay", "capacity": 1, "policy": "dropNewest"},
        {"from": "overlay", "to": "screen"}],
       "pools": [
        {"id": "camera", "capacity": 3},
        {"id": "copies", "capacity": 4},
        {"id": "screen", "capacity": 3}]}

      """)

  static let pulse = ExamplePipeline(
    name: "pulse", summary: "measures the pulse in a fingertip on the lens, and draws it",
    document: """
      {"v": 1, "name": "pulse",
       "nodes": [
        {"id": "camera", "kind": "session", "options": {"track": 0}},
        {"id": "finger", "kind": "find-fingertip"},
        {"id": "found", "kind": "join", "options": {"ports": ["frame", "finger"]}},
        {"id": "means", "kind": "region-means", "options": {"percent": 50}},
        {"id": "resample", "kind": "resample", "options": {"rate": 30, "windowSeconds": 10}},
        {"id": "signal", "kind": "pulse-signal", "options": {"method": "red"}},
        {"id": "level", "kind": "detrend"},
        {"id": "band", "kind": "bandpass", "options": {"low": 0.5, "high": 4}},
        {"id": "pulse", "kind": "pulse-rate"},
        {"id": "rate", "kind": "results", "primary": true},
        {"id": "variability", "kind": "heart-variability"},
        {"id": "beats", "kind": "results"},
        {"id": "second", "kind": "sample", "options": {"every": 30}},
        {"id": "wave", "kind": "results", "precision": {"scalar": 0.00001}}],
       "edges": [
        {"from": "camera", "to": "finger"},
        {"from": "camera", "to": "found.frame"},
        {"from": "finger", "to": "found.finger"},
        {"from": "found", "to": "means"},
        {"from": "means", "to": "resample"},
        {"from": "resample", "to": "signal"},
        {"from": "signal", "to": "level"},
        {"from": "level", "to": "band"},
        {"from": "band", "to": "pulse"},
        {"from": "pulse", "to": "rate"},
        {"from": "band", "to": "variability"},
        {"from": "variability", "to": "beats"},
        {"from": "band", "to": "second"},
        {"from": "second", "to": "wave"}]}

      """)
}
