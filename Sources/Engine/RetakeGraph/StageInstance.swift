/// The memory of a stateful stage in one run. Calls come one at a time, in service order. The
/// caller orders them, so this needs no lock.
package protocol StageInstance: AnyObject, Sendable {
  func process(_ input: any PipelineValue, _ context: StageContext) -> StageOutcome
  func reset()
}
