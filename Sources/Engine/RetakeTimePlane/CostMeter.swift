import RetakeBuffers
import RetakeCore
package import RetakeGraph

/// Measures the duration of stage bodies, for a run that writes recorded timings. This is the only
/// value of a run that depends on a clock.
package final class CostMeter: Sendable {
  private let read: @Sendable () -> Int64
  private let measured = Locked<Int64>(0)

  /// - Parameter read: Processor time of the calling thread, in nanoseconds.
  package init(read: @escaping @Sendable () -> Int64) {
    self.read = read
  }

  /// Nanoseconds measured since the last call.
  package func take() -> Int64 {
    measured.withLock { total in
      defer { total = 0 }
      return total
    }
  }

  func measure<Output>(_ body: () -> Output) -> Output {
    let start = read()
    let output = body()
    let nanoseconds = max(0, read() - start)
    measured.withLock { $0 += nanoseconds }
    return output
  }
}

extension GraphPlan {
  /// The same plan, with each stage's body measured.
  package func measured(by meter: CostMeter) -> GraphPlan {
    var plan = self
    for index in plan.nodes.indices {
      plan.nodes[index].stage = plan.nodes[index].stage.measured(by: meter)
    }
    return plan
  }
}

extension AnyStage {
  /// The same stage, with its body measured.
  package func measured(by meter: CostMeter) -> AnyStage {
    switch body {
    case .pure(let process):
      var stage = replacingBody(
        .pure { input, context in meter.measure { process(input, context) } })
      if let batch = batchBody {
        stage.batchBody = { calls in meter.measure { batch(calls) } }
      }
      return stage
    case .stateful(let make):
      return replacingBody(.stateful { MeasuredInstance(instance: make(), meter: meter) })
    default: return self
    }
  }
}

private final class MeasuredInstance: StageInstance {
  private let instance: any StageInstance
  private let meter: CostMeter

  init(instance: any StageInstance, meter: CostMeter) {
    self.instance = instance
    self.meter = meter
  }

  func process(_ input: any PipelineValue, _ context: StageContext) -> StageOutcome {
    meter.measure { instance.process(input, context) }
  }

  func reset() { instance.reset() }
}
