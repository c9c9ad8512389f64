import RetakeGraph
import RetakeTestSupport

extension CaseDrawing {
  /// Lets some stages work on several frames together. Their queues can hold a batch.
  mutating func drawBatches() {
    for index in example.nodes.indices {
      switch example.nodes[index].role {
      case .stage(var service):
        guard let edge = example.edges.firstIndex(where: { $0.to == example.nodes[index].id }),
          example.edges[edge].policy != .replace, example.nodes[index].pool == nil,
          drawBatch(of: &service, named: example.nodes[index].id)
        else { continue }
        example.edges[edge].capacity = max(
          example.edges[edge].capacity, service.batch?.max ?? 0)
        example.nodes[index].role = .stage(service)
      case .forEach(var body, var capacities):
        for inner in body.indices {
          guard case .stage(var service) = body[inner].role, body[inner].pool == nil,
            drawBatch(of: &service, named: "\(example.nodes[index].id)/\(body[inner].id)")
          else { continue }
          body[inner].role = .stage(service)
          if inner > 0 {
            capacities[inner - 1] = max(capacities[inner - 1], service.batch?.max ?? 0)
          }
        }
        example.nodes[index].role = .forEach(body, capacities: capacities)
      default: continue
      }
    }
  }

  private mutating func drawBatch(of service: inout ModelCase.Service, named id: String) -> Bool {
    guard !service.remembers, chance(40) else { return false }
    service.batch = ModelCase.Batch(
      max: random.pick(2...4), waitTicks: random.pick([0, 1, 2, 3, 6]),
      ticksPerFrame: random.pick(0...2))
    // A stage with state works on one frame at a time.
    for index in example.overrides.indices {
      guard case .swap(var swap) = example.overrides[index], swap.node == id else { continue }
      swap.service.remembers = false
      example.overrides[index] = .swap(swap)
    }
    return true
  }
}
