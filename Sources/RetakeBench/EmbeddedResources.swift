// swift-format-ignore-file
// Made by Scripts/embed-resources from the files in Resources; change those, then run it again.

/// The files of this room's Resources folder, byte for byte.
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
  static let ocrOneJSON = #"""
{"v": 1, "name": "ocr-one", "family": "ocr", "seed": 1001, "fps": 30, "executors": 1,
 "bufferBytes": 8294400, "resizeTime": "3ms", "repeat": 4,
 "phases": [
  {"for": "20s", "costs": [["25ms", "50ms"]]},
  {"for": "10s", "costs": [["2ms", "4ms"]]}]}

"""#
  static let ocrScanJSON = #"""
{"v": 1, "name": "ocr-scan", "family": "scan", "seed": 1001, "fps": 30, "executors": 1,
 "bufferBytes": 8294400, "resizeTime": "3ms", "repeat": 1, "wait": "1s",
 "phases": [
  {"for": "1s", "costs": [["40ms", "50ms"]]},
  {"for": "12s", "costs": [["32ms", "36ms"]]},
  {"for": "600ms", "costs": [["2ms", "4ms"]]},
  {"for": "12s", "costs": [["32ms", "36ms"]]},
  {"for": "600ms", "costs": [["2ms", "4ms"]]},
  {"for": "12s", "costs": [["32ms", "36ms"]]},
  {"for": "600ms", "costs": [["2ms", "4ms"]]},
  {"for": "12s", "costs": [["32ms", "36ms"]]},
  {"for": "600ms", "costs": [["2ms", "4ms"]]},
  {"for": "12s", "costs": [["32ms", "36ms"]]},
  {"for": "600ms", "costs": [["2ms", "4ms"]]},
  {"for": "12s", "costs": [["32ms", "36ms"]]},
  {"for": "600ms", "costs": [["2ms", "4ms"]]},
  {"for": "60s", "costs": [["2ms", "4ms"]]}]}

"""#
  static let ocrTwoJSON = #"""
{"v": 1, "name": "ocr-two", "family": "ocr", "seed": 1002, "fps": 30, "executors": 2,
 "bufferBytes": 8294400, "resizeTime": "3ms", "repeat": 4,
 "phases": [
  {"for": "20s", "costs": [["25ms", "50ms"]]},
  {"for": "10s", "costs": [["2ms", "4ms"]]}]}

"""#
  static let pressureJSON = #"""
{"v": 1, "name": "pressure", "family": "pressure", "seed": 4001, "fps": 30, "executors": 2,
 "bufferBytes": 8294400, "resizeTime": "3ms", "repeat": 4,
 "phases": [
  {"for": "20s", "costs": [["50ms", "80ms"]]},
  {"for": "10s", "costs": [["10ms", "20ms"]]}],
 "events": [
  {"at": "12s", "thermal": "serious"},
  {"at": "30s", "thermal": "nominal"},
  {"at": "75s", "memory": "warning"}]}

"""#
  static let shiftBurstJSON = #"""
{"v": 1, "name": "shift-burst", "family": "shift", "seed": 2002, "fps": 30, "executors": 2,
 "bufferBytes": 8294400, "resizeTime": "3ms", "repeat": 6,
 "phases": [
  {"for": "19s", "costs": [["20ms", "30ms"]]},
  {"for": "1s", "costs": [["100ms", "160ms"]]}]}

"""#
  static let shiftSceneJSON = #"""
{"v": 1, "name": "shift-scene", "family": "shift", "seed": 2001, "fps": 30, "executors": 2,
 "bufferBytes": 8294400, "resizeTime": "3ms", "repeat": 2,
 "phases": [
  {"for": "30s", "costs": [["10ms", "20ms"]]},
  {"for": "30s", "costs": [["45ms", "75ms"]]}]}

"""#
  static let swingFramesJSON = #"""
{"v": 1, "name": "swing-frames", "family": "swing", "seed": 3001, "fps": 30, "executors": 1,
 "bufferBytes": 8294400, "resizeTime": "3ms", "repeat": 1,
 "phases": [
  {"for": "120s", "costs": [["5ms", "10ms"], ["45ms", "55ms"]]}]}

"""#
  static let swingSecondsJSON = #"""
{"v": 1, "name": "swing-seconds", "family": "swing", "seed": 3002, "fps": 30, "executors": 1,
 "bufferBytes": 8294400, "resizeTime": "3ms", "repeat": 60,
 "phases": [
  {"for": "1s", "costs": [["50ms", "60ms"]]},
  {"for": "1s", "costs": [["5ms", "10ms"]]}]}

"""#
}
