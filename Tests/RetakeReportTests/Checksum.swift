import Foundation

/// SHA-256 (FIPS 180-4), only to check the hashes that the page allows.
func sha256(_ message: [UInt8]) -> [UInt8] {
  var state: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
    0x5be0_cd19,
  ]
  var bytes = message + [0x80]
  bytes += Array(repeating: 0, count: (120 - bytes.count % 64) % 64)
  bytes += withUnsafeBytes(of: UInt64(message.count * 8).bigEndian, Array.init)
  for start in stride(from: 0, to: bytes.count, by: 64) {
    compress(&state, bytes[start..<start + 64])
  }
  return state.flatMap { word in withUnsafeBytes(of: word.bigEndian, Array.init) }
}

private func compress(_ state: inout [UInt32], _ block: ArraySlice<UInt8>) {
  var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { place in
    block[place..<place + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
  }
  for place in 16..<64 {
    let (near, far) = (words[place - 15], words[place - 2])
    let low = rotated(near, 7) ^ rotated(near, 18) ^ near >> 3
    let high = rotated(far, 17) ^ rotated(far, 19) ^ far >> 10
    words.append(words[place - 16] &+ low &+ words[place - 7] &+ high)
  }
  var s = state
  for (word, constant) in zip(words, roundConstants) {
    let choice = (s[4] & s[5]) ^ (~s[4] & s[6])
    let majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2])
    let high = rotated(s[4], 6) ^ rotated(s[4], 11) ^ rotated(s[4], 25)
    let low = rotated(s[0], 2) ^ rotated(s[0], 13) ^ rotated(s[0], 22)
    let first = s[7] &+ high &+ choice &+ constant &+ word
    s = [first &+ low &+ majority, s[0], s[1], s[2], s[3] &+ first, s[4], s[5], s[6]]
  }
  for place in state.indices { state[place] &+= s[place] }
}

private func rotated(_ word: UInt32, _ bits: UInt32) -> UInt32 {
  word >> bits | word << (32 - bits)
}

/// The first 32 bits of the fractions of the cube rootCauses of the first 64 primes.
private let roundConstants: [UInt32] = primes(64).map { prime in
  // The fractional part of the root to 32 bits, by bisection in integers: r³ ≤ p·2⁹⁶.
  var root: UInt64 = 0
  for bit in (0..<36).reversed() {
    let next = root | 1 << UInt64(bit)
    if UInt128(next) * UInt128(next) * UInt128(next) <= UInt128(prime) << 96 { root = next }
  }
  return UInt32(truncatingIfNeeded: root)
}

private func primes(_ count: Int) -> [Int] {
  var found: [Int] = []
  var number = 2
  while found.count < count {
    if found.allSatisfy({ number % $0 != 0 }) { found.append(number) }
    number += 1
  }
  return found
}

func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
