import RetakeCompare
import RetakeCore
import RetakeGraph

extension Project {
  /// - Parameter definition: A case that the project does not name.
  /// - Throws: `SuiteError.badProject` for a rule of a sink that no pipeline has. Where a pipeline
  ///   cannot be read nothing is known of its sinks, and its cases say so themselves.
  func checkRules(
    and definition: CaseDefinition?, catalog: some StageCatalog, given: [Pipeline]
  ) throws(SuiteError) {
    guard !compare.bySink.isEmpty else { return }
    var sinks: Set<String> = []
    for item in cases + [definition].compactMap(\.self) {
      guard let pipeline = try? pipeline(item.pipeline, catalog: catalog, given: given) else {
        return
      }
      sinks.formUnion(pipeline.nodes.filter { $0.stage.signature.role == .sink }.map(\.id))
    }
    // A rule may stand under the name of a mode.
    let known = sinks.union(SinkRule.Mode.allCases.map(\.rawValue))
    for name in compare.bySink.keys.sorted() where !known.contains(name) {
      let nearest = Suggestion.nearest(to: name, among: known.sorted())
      // Where the project names no cases, the rule may be for another pipeline.
      if cases.isEmpty, nearest == nil { continue }
      throw .badProject(
        message: "no pipeline of the project has a sink '\(name)'",
        advice: Suggestion.advice(for: name, among: nearest.map { [$0] } ?? sinks.sorted()),
        pointer: "/compare/\(name.pointerEscaped)", file: Self.fileName)
    }
  }
}
