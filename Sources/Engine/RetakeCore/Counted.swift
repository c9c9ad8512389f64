/// Texts: `"1 frame"`, `"12 frames"`.
package func counted(_ count: some BinaryInteger, _ noun: String, _ many: String? = nil) -> String {
  "\(count) \(count == 1 ? noun : many ?? noun + "s")"
}
