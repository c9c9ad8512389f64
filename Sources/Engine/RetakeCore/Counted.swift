/// `"1 frame"`, `"12 frames"`.
package func counted(_ number: some BinaryInteger, _ noun: String, _ plural: String? = nil) -> String {
  "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
}
