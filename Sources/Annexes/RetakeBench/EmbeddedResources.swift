// swift-format-ignore-file
// Made by Scripts/embed-resources from the files in Resources; change those, then run it again.

/// The files of this module's Resources folder, byte for byte.
enum EmbeddedResources {
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
  static let phoneCalibratedJSON = #"""
{"v": 1, "name": "phone-calibrated",
 "thermal": [
  {"state": "serious", "scale": 1.25, "power": 0.512},
  {"state": "critical", "scale": 2, "power": 0.125}],
 "heat": {
  "ambient": "25C",
  "nodes": [{"id": "case", "capacity": "150J/K", "resistance": "4.1K/W"}],
  "idle": "1.8W",
  "busy": {"*": "1.5W", "cpu": "1.5W", "gpu": "3W", "ml": "3W"},
  "copy": "44nJ/B",
  "states": {"fair": "40C", "serious": "45C", "critical": "50C"}},
 "basis": {
  "thermal": "assumed: a clock of 1/1.25 and 1/2, and power with the cube of the clock",
  "heat.ambient": "assumed: a room",
  "heat.nodes": "derived: 174 g x 0.86 J/gK; 1 / (10 W/m2K x 0.0243 m2), still air and radiation",
  "heat.idle": "assumed: screen, camera and system",
  "heat.busy": "assumed: one busy core, also of executors without a row, the graphics, the model's accelerator",
  "heat.copy": "derived: three copies of 1080p BGRA at 30 fps make it serious in 90 s",
  "heat.states": "assumed: serious at 45 C, as published, and 5 K around it"}}

"""#
  static let phoneDerivedJSON = #"""
{"v": 1, "name": "phone-derived",
 "thermal": [
  {"state": "serious", "scale": 1.25, "power": 0.512},
  {"state": "critical", "scale": 2, "power": 0.125}],
 "heat": {
  "ambient": "25C",
  "nodes": [{"id": "case", "capacity": "150J/K", "resistance": "4.1K/W"}],
  "idle": "1.8W",
  "busy": {"*": "1.5W", "cpu": "1.5W", "gpu": "3W", "ml": "3W"},
  "copy": "0.5nJ/B",
  "states": {"fair": "40C", "serious": "45C", "critical": "50C"}},
 "basis": {
  "thermal": "assumed: a clock of 1/1.25 and 1/2, and power with the cube of the clock",
  "heat.ambient": "assumed: a room",
  "heat.nodes": "derived: 174 g x 0.86 J/gK; 1 / (10 W/m2K x 0.0243 m2), still air and radiation",
  "heat.idle": "assumed: screen, camera and system",
  "heat.busy": "assumed: one busy core, also of executors without a row, the graphics, the model's accelerator",
  "heat.copy": "derived: two accesses to memory of 0.25 nJ a byte",
  "heat.states": "assumed: serious at 45 C, as published, and 5 K around it"}}

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
  static let vmX861JSON = #"""
{"v": 1, "name": "vm-x86-1",
 "copyRate": "20.038GB/s",
 "heat": {
  "ambient": "25C",
  "start": "25C",
  "nodes": [{"id": "machine", "capacity": "200J/K", "resistance": "3K/W"}],
  "idle": "5W",
  "busy": {"*": "5W"},
  "copy": "0.5nJ/B",
  "states": {"fair": "70C", "serious": "85C", "critical": "95C"}},
 "basis": {
  "copyRate": "measured: 1 processor, AMD EPYC, 2026-11-25",
  "heat.ambient": "assumed: a room",
  "heat.start": "assumed: the machine shows no thermal zone",
  "heat.nodes": "assumed: no machine shows its heat capacity; a small computer without a fan",
  "heat.idle": "assumed: the machine shows no energy counter",
  "heat.busy": "assumed: the machine shows no energy counter",
  "heat.copy": "assumed: two accesses to memory of 0.25 nJ a byte",
  "heat.states": "assumed: the limits of a zone without trip points"}}

"""#
  static let vmX862JSON = #"""
{"v": 1, "name": "vm-x86-2",
 "copyRate": "20.14GB/s",
 "heat": {
  "ambient": "25C",
  "start": "25C",
  "nodes": [{"id": "machine", "capacity": "200J/K", "resistance": "3K/W"}],
  "idle": "5W",
  "busy": {"*": "5W"},
  "copy": "0.5nJ/B",
  "states": {"fair": "70C", "serious": "85C", "critical": "95C"}},
 "basis": {
  "copyRate": "measured: 2 processors, AMD EPYC, 2026-11-25",
  "heat.ambient": "assumed: a room",
  "heat.start": "assumed: the machine shows no thermal zone",
  "heat.nodes": "assumed: no machine shows its heat capacity; a small computer without a fan",
  "heat.idle": "assumed: the machine shows no energy counter",
  "heat.busy": "assumed: the machine shows no energy counter",
  "heat.copy": "assumed: two accesses to memory of 0.25 nJ a byte",
  "heat.states": "assumed: the limits of a zone without trip points"}}

"""#
}
