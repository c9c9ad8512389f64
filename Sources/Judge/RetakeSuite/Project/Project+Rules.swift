import RetakeCompare
import RetakeCore

extension Project {
  /// - Parameter definition: A case that the project does not define.
  /// - Throws: `SuiteError.badProject` for a rule of a sink that no pipeline has. If a pipeline
  ///   cannot be read, its sinks are unknown and no rule is checked; its cases report that error
  ///   themselves.
  func checkRules(and definition: CaseDefinition?) throws {
    guard !compare.bySink.isEmpty else { return }
    var sinks: Set<String> = []
    for item in cases + [definition].compactMap(\.self) {
      guard let pipeline = try? pipeline(item.pipeline) else { return }
      sinks.formUnion(pipeline.nodes.filter { $0.stage.signature.role == .sink }.map(\.id))
    }
    // The name of a rule may also be the name of a mode.
    let known = sinks.union(SinkRule.Mode.allCases.map(\.rawValue))
    for name in compare.bySink.keys.sorted() where !known.contains(name) {
      let nearest = Suggestion.nearest(to: name, among: known.sorted())
      // If the project defines no cases, the rule may belong to another pipeline.
      if cases.isEmpty, nearest == nil { continue }
      throw SuiteError.badProject(
        message: "no pipeline of the project has a sink '\(name)'",
        advice: Suggestion.advice(for: name, among: nearest.map { [$0] } ?? sinks.sorted()),
        pointer: "/compare/\(name.pointerEscaped)", file: Self.fileName)
    }
  }
}
