import RetakeTestSupport
import Testing

@testable import RetakeCore

@Suite struct WordsTests {
  @Test func `a misspelt word is answered with the nearest one`() {
    let kinds = ["crop", "downsample", "grey", "motion", "throttle"]
    let cases: [(word: String, nearest: String?)] = [
      ("moton", "motion"), ("mtoion", "motion"), ("MOTION", "motion"), ("gray", "grey"),
      ("downsampel", "downsample"), ("croop", "crop"), ("detect", nil), ("", nil), ("x", nil),
    ]
    for example in cases {
      #expect(
        Suggestion.nearest(to: example.word, among: kinds) == example.nearest, "\(example.word)")
    }
    #expect(Suggestion.advice(for: "moton", among: kinds) == "Did you mean 'motion'?")
    #expect(Suggestion.advice(for: "zzzzzz", among: ["b", "a"]) == "Known: b, a")
    #expect(Suggestion.advice(for: "zzz", among: []) == "No name is known here")
  }

  @Test func `a word of a shell command is quoted where the shell would divide it`() {
    #expect("/media/a-b_c.mp4".shellWord == "/media/a-b_c.mp4")
    #expect("".shellWord == "''" && "my yard".shellWord == "'my yard'")
    #expect("it's".shellWord == #"'it'\''s'"#)
    // A quote followed by an accent is one Character, and two for the shell.
    #expect(Array("a'\u{301}b".shellWord.utf8) == Array("'a'\\''\u{301}b'".utf8))
  }

  @Test func `a word has one form in a results file, and no other is read`() {
    for word in ["", "a", "yard/motion", "traffic light", "a,b=c%", "é漢", "\n"] {
      var buffer = TextBuffer(capacity: 64)
      buffer.append(word: word)
      let text = buffer.text
      #expect(decodedWord(text) == word)
    }
    for text in [
      "", "%41", "%2c", "%c3%a9", "%2", "%2G", "%C3", "a b", "a,b", "a=b", "é", "a%2Cb,c",
    ] {
      #expect(decodedWord(text) == nil, "\(text)")
    }
  }

  @Test func `among equally near words the first in byte order is offered`() {
    #expect(Suggestion.nearest(to: "cat", among: ["hat", "bat", "rat"]) == "bat")
  }

  @Test func `distance counts edits and swaps of neighbors`() {
    let cases = [
      ("", "", 0), ("a", "", 1), ("abc", "acb", 1), ("kitten", "sitting", 3), ("abc", "ABC", 0),
      ("ab", "ba", 1), ("abcd", "badc", 2),
    ]
    for (left, right, distance) in cases {
      #expect(Suggestion.distance(left, right) == distance, "\(left) \(right)")
      #expect(Suggestion.distance(right, left) == distance, "\(right) \(left)")
    }
    let long = String(repeating: "a", count: 10_000)
    #expect(Suggestion.distance(long, long + "b") == 0)
  }

  @Test func `looking no farther than needed finds what looking at everything finds`() {
    var random = SeededGenerator(seed: 7)
    func word() -> String {
      (0..<random.pick(0...12)).map { _ in random.pick(["a", "b", "c"]) }.joined()
    }
    for _ in 0..<2_000 {
      let misspelt = word()
      let candidates = (0..<8).map { _ in word() }
      let near = candidates.map { (Suggestion.distance(misspelt, $0), $0) }
        .filter { $0.0 <= max(1, max(misspelt.count, $0.1.count) / 3) }
      let nearest = near.min { $0 < $1 }
      #expect(Suggestion.nearest(to: misspelt, among: candidates) == nearest?.1, "\(misspelt)")
    }
  }

  @Test func `fates are two words and read back`() {
    let fates: [FrameFate] =
      [.delivered, .throttled(by: "throttle"), .replaced, .failed(code: "a.b"), .inFlight]
      + DropReason.allCases.map { .dropped($0) }
    for fate in fates { #expect(FrameFate(word: fate.word, reason: fate.reason) == fate) }
    #expect(fates.map(\.word).prefix(5) == ["deliver", "thin", "supersede", "fail", "inFlight"])
    #expect(FrameFate(word: "drop", reason: "boredom") == nil)
    #expect(FrameFate(word: "vanish", reason: "-") == nil)
  }

  @Test func `a ledger balances when every captured frame is counted once`() {
    var ledger = FrameLedger()
    #expect(ledger.isBalanced)
    let fates: [FrameFate] = [
      .delivered, .delivered, .dropped(.queue), .dropped(.queue), .dropped(.timeout),
      .throttled(by: "throttle"), .replaced, .failed(code: "x"), .inFlight,
    ]
    for fate in fates {
      ledger.captured += 1
      #expect(!ledger.isBalanced)
      ledger.count(fate)
      #expect(ledger.isBalanced)
    }
    #expect(ledger.delivered == 2)
    #expect(ledger.dropped == ["queue": 2, "timeout": 1])
    #expect(ledger.droppedTotal == 3)
    #expect(
      [ledger.throttled, ledger.replaced, ledger.failed, ledger.inFlight] == [1, 1, 1, 1])
  }
}
