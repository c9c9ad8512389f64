/// A sample as a file has it, with the line where it is.
package struct SensorRow {
  var line: Int
  /// Nanoseconds of the file's own clock.
  var time: Int64
  var values: [Double]
}
