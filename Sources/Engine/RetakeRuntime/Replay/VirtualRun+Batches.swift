import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// Batches whose frames a stage computes in one call.
extension VirtualRun {
  /// Makes a future for the batch and one for each of its frames, if the stage computes batches and
  /// the frames have the same version of it.
  func computeTogether(node: Int, _ starts: [Action.Start]) {
    let records = starts.compactMap { pendingBySlot[$0.work.slotIndex] }
    let versions = Set(records.map { stages.version(of: node, epoch: $0.epoch) })
    guard options.callsBatches, starts.count > 1, versions.count == 1, let version = versions.first,
      let call = stages[node, version].batchCall,
      starts.allSatisfy({ values[$0.work.slotIndex][node, $0.work] == nil })
    else { return }
    let contexts = zip(starts, records).map { start, record in
      context(
        of: node, record.entry, item: start.work.isItem ? Int(start.work.item) : nil)
    }
    let batch = ValueFuture(
      node: node, frame: contexts[0].frame, item: contexts[0].item,
      inputs: starts.compactMap { input(of: node, work: $0.work) },
      lane: plan.nodes[node].isPinned ? node : nil, isNeeded: true, isDigested: false,
      work: batchWork(contexts, call: call, cached: stages[node, version].cached))
    for (index, start) in starts.enumerated() {
      let part = ValueFuture(
        node: node, frame: contexts[index].frame, item: contexts[index].item, inputs: [batch],
        isNeeded: true, isDigested: observer.wantsDigests
      ) { outcomes in
        guard case .value(let value) = outcomes[0], let batch = value as? BatchValue else {
          return outcomes[0]
        }
        return batch.outcomes[index]
      }
      values[start.work.slotIndex][node, start.work] = part
      workers.submit(part)
    }
    workers.submit(batch)
  }

  private func batchWork(
    _ contexts: [StageContext], call: @escaping BatchBody, cached stage: CachedStage?
  ) -> ValueFuture.Work {
    let caches: [CachedCall]? = options.cache.flatMap { cache in
      stage.map { stage in
        contexts.map { context in
          CachedCall(cache: cache, stage: stage, demand: FrameDemand(), context: context) { _, _ in
            preconditionFailure("the frames of a batch are computed together")
          }
        }
      }
    }
    return { inputs in
      var outcomes: [ValueOutcome] = []
      var keys: [Digest128?] = []
      // The places of the frames that have to be computed.
      var places: [Int] = []
      var calls: [(input: any PipelineValue, context: StageContext)] = []
      for index in contexts.indices {
        let stored = caches?[index].stored(for: inputs.unresolved(index))
        let outcome = stored?.value ?? inputs[index]
        outcomes.append(outcome)
        keys.append(stored?.key)
        guard stored?.value == nil, case .value(let value) = outcome else { continue }
        places.append(index)
        calls.append((input: value, context: contexts[index]))
      }
      guard !calls.isEmpty else { return .value(BatchValue(outcomes: outcomes)) }
      switch FrameShortage.checked(in: contexts[0].supply, { call(calls) }) {
      case .failure(let error): return .fault(error)
      case .success(let computed):
        precondition(computed.count == places.count, "a batch has an outcome for each frame")
        for (place, outcome) in zip(places, computed) {
          switch outcome {
          case .success(let value): outcomes[place] = .value(value)
          case .failure(let error): outcomes[place] = .failure(error)
          }
          if let key = keys[place] { caches?[place].keep(outcomes[place], under: key) }
        }
        return .value(BatchValue(outcomes: outcomes))
      }
    }
  }
}

/// The outcomes of the frames of a batch, until each of them is a value of its frame.
private struct BatchValue: PipelineValue {
  static var valueKind: ValueKind { .user(name: "retake-batch", version: 1) }

  var outcomes: [ValueOutcome]
  var facts: [ResultFact] { [] }

  func digest(into hasher: inout DigestHasher) {}
}
