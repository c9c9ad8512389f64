/// One or more modelled servers that ready stages share.
package struct PipelineExecutor: Hashable, Sendable {
  package var id: String
  package var count: Int

  package init(id: String, count: Int = 1) {
    self.id = id
    self.count = count
  }
}
