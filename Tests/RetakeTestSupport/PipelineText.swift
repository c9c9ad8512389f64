/// Pipeline documents that the tests of several modules run.
package enum PipelineText {
  /// Two branches, so that two stages can be root causes independently.
  package static let branches = """
    {"v": 1, "name": "branches",
     "nodes": [
      {"id": "camera", "kind": "session"},
      {"id": "grey", "kind": "grey"},
      {"id": "motion", "kind": "motion", "options": {"threshold": 24}},
      {"id": "fine", "kind": "motion", "options": {"threshold": 20}},
      {"id": "boxes", "kind": "results", "primary": true},
      {"id": "small", "kind": "results"}],
     "edges": [
      {"from": "camera", "to": "grey"},
      {"from": "grey", "to": "motion"}, {"from": "grey", "to": "fine"},
      {"from": "motion", "to": "boxes"}, {"from": "fine", "to": "small"}]}
    """
}
