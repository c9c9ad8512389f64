// swift-format-ignore-file
// Made by Scripts/embed-resources from the files in Resources; change those, then run it again.

/// The files of this module's Resources folder, byte for byte.
enum EmbeddedResources {
  static let dipsFastJSON = #"""
{"v": 1, "name": "dips-fast", "family": "packets", "seed": 3003, "fps": 100, "executors": 1,
 "bufferBytes": 1500, "resizeTime": "0ms", "repeat": 30,
 "phases": [
  {"for": "3s", "costs": [["7ms", "10ms"]]},
  {"for": "1s", "costs": [["11ms", "13ms"]]}]}

"""#
  static let dipsMildJSON = #"""
{"v": 1, "name": "dips-mild", "family": "packets", "seed": 3002, "fps": 100, "executors": 1,
 "bufferBytes": 1500, "resizeTime": "0ms", "repeat": 6,
 "phases": [
  {"for": "4s", "costs": [["6ms", "8ms"]]},
  {"for": "2s", "costs": [["9.5ms", "11.5ms"]]},
  {"for": "4s", "costs": [["6ms", "8ms"]]},
  {"for": "4s", "costs": [["10ms", "10.6ms"]]},
  {"for": "6s", "costs": [["6ms", "8ms"]]}]}

"""#
  static let dipsSlowJSON = #"""
{"v": 1, "name": "dips-slow", "family": "packets", "seed": 3001, "fps": 50, "executors": 1,
 "bufferBytes": 1500, "resizeTime": "0ms", "repeat": 4,
 "phases": [
  {"for": "10s", "costs": [["12ms", "16ms"]]},
  {"for": "10s", "costs": [["20ms", "21.2ms"]]},
  {"for": "5s", "costs": [["22ms", "24ms"]]},
  {"for": "5s", "costs": [["18ms", "20ms"]]}]}

"""#
}
