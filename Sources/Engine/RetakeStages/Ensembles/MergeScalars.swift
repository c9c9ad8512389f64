package import RetakeCore
package import RetakeGraph

/// The numbers of several stages in one list, for a join of scalars.
///
/// Each number is called `PORT.NAME`, in the order of the ports, so that names stay unique and do
/// not depend on the parts that arrived. Missing parts add no numbers. A part that is not scalars
/// fails the frame with `ensemble.otherType`.
package struct MergeScalars: PureStage {
  package static let kind = "merge-scalars"
  package static let summary = "joins the numbers of stages, each with the name of its port"

  package init() {}

  package init(options: NoOptions) {}

  package func process(_ joined: Joined, _ context: StageContext) throws -> Scalars {
    Scalars(
      try joined.namedParts(all: Scalars.self).flatMap { part in
        part.value.entries.map { Scalars.Entry("\(part.port).\($0.name)", $0.value) }
      })
  }
}
