import RetakeCore
import Testing

@testable import RetakeSuite

/// The digests that `retake verify` compares at the sinks.
@Suite struct ExactDigestTests {
  private func digest(_ facts: ResultFact...) -> Digest128 {
    SinkOutcome(sink: "results", content: .facts(facts)).exactDigest
  }

  private func wave(rate: Double = 30, _ samples: Double...) -> ResultFact {
    .waveform(Waveform(name: "pulse", rate: rate, samples: samples))
  }

  private func detection(identity: Int?, _ labels: String...) -> ResultFact {
    .detection(
      Detection(
        box: Box(x: 1, y: 2, width: 3, height: 4), score: 0.5, identity: identity,
        classes: labels.map { Classification(label: $0, score: 0.5) }))
  }

  @Test func `a waveform with another rate differs`() {
    #expect(digest(wave(rate: 30, 1, 2)) != digest(wave(rate: 25, 1, 2)))
  }

  @Test func `a fact of another kind with the same content differs`() {
    let kinds: [ResultFact] = [
      .scalar(name: "a", value: 0.5), .classification(Classification(label: "a", score: 0.5)),
    ]
    #expect(digest(kinds[0]) != digest(kinds[1]))
    let marks = Digest128(of: "content")
    #expect(
      digest(.user(kind: "a", digest: marks))
        != digest(.tensor(type: "a", shape: [], digest: marks)))
    #expect(
      digest(.tensor(type: "f32", shape: [2, 3], digest: marks))
        != digest(.tensor(type: "f16", shape: [2, 3], digest: marks)))
  }

  @Test func `a number that moves from one fact to the next differs`() {
    func tensor(_ shape: [Int], _ high: UInt64, _ low: UInt64) -> ResultFact {
      .tensor(type: "f32", shape: shape, digest: Digest128(high: high, low: low))
    }
    #expect(
      digest(tensor([1], 2, 3), tensor([4], 5, 6))
        != digest(tensor([1, 2], 3, 4), tensor([], 5, 6)))
  }

  @Test func `a detection without an identity differs from every identity`() {
    for identity in [-1, 0, 1] {
      #expect(digest(detection(identity: nil)) != digest(detection(identity: identity)))
    }
  }

  @Test func `equal outcomes are equal`() {
    #expect(
      digest(wave(1, 2), detection(identity: nil, "cat"))
        == digest(wave(1, 2), detection(identity: nil, "cat")))
    #expect(digest() == digest())
  }

  @Test func `an end differs from every fact`() {
    let ended = SinkOutcome(sink: "results", content: .ended(.inFlight, node: "motion"))
    #expect(ended.exactDigest != digest())
  }
}
