import RetakeBuffers
import RetakeCore
import RetakeGraph

/// The bodies of a case's nodes. Each value contains the digest of its inputs, so that a wrong
/// value is visible in everything that follows. It also contains its frame's sequence, so that the
/// results of routes and forEach can be predicted.
enum MixingNodes {
  static func stage(_ service: ModelCase.Service) -> AnyStage {
    let (word, output): (String, ValueKind) =
      switch service.makes {
      case .scalars: ("mixing", .scalars)
      case .detections: ("finding", .detections)
      case .classes: ("classing", .classes)
      }
    var signature = StageSignature(
      kind: service.remembers ? "\(word)-again" : word, version: 1,
      role: service.remembers ? .stateful : .pure, input: nil, output: output,
      canFail: !service.failures.isEmpty)
    signature.keepsInput = service.keepsInput
    let body: AnyStage.Body =
      service.remembers
      ? .stateful { Memory(service) }
      : .pure { input, context in outcome(input, context, service, state: 0) }
    return AnyStage(signature: signature, options: .object([:]), body: body)
  }

  static func sample(_ count: Int) -> AnyStage {
    AnyStage(
      signature: StageSignature(
        kind: "sample", version: 1, role: .sample, input: nil, output: nil),
      options: .object([:]), body: .sample(count))
  }

  static func route(_ ports: [String], _ choices: [Int]) -> AnyStage {
    let signature = StageSignature(
      kind: "route", version: 1, role: .route, input: nil, output: nil)
    return .route(signature, options: .object([:]), ports: ports) { value in
      leading(value).map { choices[$0 % choices.count] } ?? 0
    }
  }

  /// The sequence of the frame that a value was made from.
  private static func leading(_ value: any PipelineValue) -> Int? {
    switch value {
    case let frame as Frame: frame.id.sequence
    case let scalars as Scalars: scalars["sequence"].map { Int($0) }
    case let detections as Detections: detections.classNames.first.flatMap { Int($0) }
    case let items as Items: leading(items.detections)
    case let joined as Joined: joined.parts.lazy.compactMap(\.value).first.flatMap(leading)
    default: nil
    }
  }

  fileprivate static func outcome(
    _ input: any PipelineValue, _ context: StageContext, _ service: ModelCase.Service,
    state: UInt64
  ) -> StageOutcome {
    let sequence = context.frame.sequence
    if let failure = service.failures[.init(sequence: sequence, item: context.item ?? -1)] {
      return .failure(
        StageError(
          code: ModelCase.failureCode, message: "a chosen frame",
          severity: failure == .recoverable ? .recoverable : .unrecoverable))
    }
    let mixed = Double((input.digest.low &+ state) % 1_000_003)
    switch service.makes {
    case .scalars:
      return .success(Scalars([.init("sequence", Double(sequence)), .init("mixed", mixed)]))
    case .classes:
      return .success(Classes([Classification(label: "\(sequence)", score: mixed)]))
    case .detections:
      let items = (0..<service.counts[sequence % service.counts.count]).map {
        Detection(
          box: Box(x: Double($0), y: 0, width: 1, height: 1), score: mixed, classIndex: 0)
      }
      return .success(Detections(items, classNames: ["\(sequence)"]))
    }
  }

  private final class Memory: StageInstance, @unchecked Sendable {
    // SAFETY: @unchecked; calls come one after another, in service order.
    private var state: UInt64 = 0
    private let service: ModelCase.Service

    init(_ service: ModelCase.Service) { self.service = service }

    func process(_ input: any PipelineValue, _ context: StageContext) -> StageOutcome {
      state = state &* 31 &+ input.digest.low
      return outcome(input, context, service, state: state)
    }

    func reset() { state = 0 }
  }
}
