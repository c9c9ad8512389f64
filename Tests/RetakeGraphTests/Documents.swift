import Foundation
import RetakeGraph
import RetakeTestCatalog

/// Pipeline documents that the tests change.
enum Documents {
  static let motion = """
    {"v": 1, "name": "motion-boxes",
     "nodes": [
      {"id": "camera", "kind": "session", "options": {"track": 0}},
      {"id": "grey", "kind": "grey"},
      {"id": "slow", "kind": "throttle", "options": {"fps": 10}},
      {"id": "motion", "kind": "boxes", "options": {"threshold": 24, "areaMin": 2},
       "cost": {"fixed": "45ms"}, "executor": "vision"},
      {"id": "level", "kind": "brightness", "cost": {"uniform": ["1ms", "1500us"]},
       "executor": "vision"},
      {"id": "values", "kind": "results", "primary": true,
       "precision": {"box": 0.1, "score": 0.0001}}],
     "edges": [
      {"from": "camera", "to": "grey"},
      {"from": "grey", "to": "slow", "capacity": 3, "policy": "dropNewest"},
      {"from": "slow", "to": "motion", "policy": "replace"},
      {"from": "motion", "to": "level", "capacity": 5},
      {"from": "level", "to": "values"}],
     "executors": [{"id": "vision", "count": 2}]}
    """

  /// Two sources, branches, both joins, a forEach, a route and a sample, and every key of a node.
  static let yard = """
    {"v": 1, "name": "yard",
     "nodes": [
      {"id": "camera", "kind": "session", "options": {"track": 0}, "pool": "frames"},
      {"id": "rear", "kind": "session", "options": {"track": 1}},
      {"id": "grey", "kind": "grey", "cost": {"fixed": "2ms"}, "concurrency": 2},
      {"id": "motion", "kind": "boxes", "options": {"threshold": 24},
       "cost": {"p50": "20ms", "p99": "45ms"}, "executor": "vision", "timeout": "50ms",
       "fallback": "previous"},
      {"id": "pairs", "kind": "join",
       "options": {"mode": "all", "ports": ["frame", "detections"]}, "timeout": "100ms"},
      {"id": "each", "kind": "forEach", "body": {
       "nodes": [
        {"id": "crop", "kind": "crop", "cost": {"fixed": "1ms"}},
        {"id": "name", "kind": "labels", "cost": {"uniform": ["3ms", "5ms"]}, "concurrency": 2,
         "timeout": "20ms", "executor": "vision"}],
       "edges": [{"from": "crop", "to": "name", "capacity": 5}],
       "output": "name"}},
      {"id": "split", "kind": "split", "options": {"ports": ["few", "many"]}},
      {"id": "third", "kind": "sample", "options": {"every": 3}},
      {"id": "level", "kind": "brightness", "pinned": true},
      {"id": "shown", "kind": "latest", "options": {"ports": ["frame", "level"]}},
      {"id": "boxes", "kind": "results", "primary": true, "precision": {"box": 0.1}},
      {"id": "screen", "kind": "results", "hold": "16ms"}],
     "edges": [
      {"from": "camera", "to": "grey"},
      {"from": "grey", "to": "motion", "capacity": 2, "policy": "dropOldest"},
      {"from": "grey", "to": "pairs.frame", "capacity": 8},
      {"from": "motion", "to": "pairs.detections"},
      {"from": "pairs", "to": "each"},
      {"from": "each", "to": "split"},
      {"from": "split.few", "to": "boxes"},
      {"from": "split.many", "to": "third"},
      {"from": "third", "to": "level"},
      {"from": "level", "to": "shown.level", "policy": "replace"},
      {"from": "rear", "to": "shown.frame"},
      {"from": "shown", "to": "screen"}],
     "executors": [{"id": "vision", "count": 2}],
     "pools": [{"id": "frames", "capacity": 4, "policy": "drop"}]}
    """

  static func parse(_ text: String) throws -> Pipeline {
    try PipelineDocument.parse(Data(text.utf8), catalog: TestCatalog())
  }
}
