import Foundation
import RetakeCore
import Testing

/// Invalid numbers of slots, buffers, times and servers, and keys at nodes that cannot have them.
@Suite struct ServiceErrorTests {
  private func check(_ wrong: [Wrong]) { Wrong.check(wrong, in: Documents.yard) }

  @Test func `services out of range`() {
    check([
      Wrong(
        #""concurrency": 2}"#, #""concurrency": 0}"#, "wrongValue", "/nodes/2/concurrency",
        "Use 1 to 64"),
      Wrong(
        #""concurrency": 2}"#, #""concurrency": 65}"#, "wrongValue", "/nodes/2/concurrency",
        "concurrency 65"),
      Wrong(
        #""concurrency": 2}"#, #""concurrency": "2"}"#, "wrongValue", "/nodes/2/concurrency",
        "must be an integer"),
      Wrong(
        #""timeout": "50ms""#, #""timeout": "0ms""#, "wrongValue", "/nodes/3/timeout",
        "would time out at once"),
      Wrong(
        #""timeout": "20ms""#, #""timeout": "0s""#, "wrongValue", "/nodes/5/body/nodes/1/timeout",
        "would time out at once"),
      Wrong(
        #""timeout": "100ms""#, #""timeout": "7200s""#, "wrongValue", "/nodes/4/timeout",
        "at most an hour"),
      Wrong(
        #""timeout": "100ms""#, #""timeout": 5"#, "wrongValue", "/nodes/4/timeout", "has a unit"),
      Wrong(#""hold": "16ms""#, #""hold": "16""#, "wrongValue", "/nodes/11/hold", "45ms"),
      Wrong(#""hold": "16ms""#, #""hold": "9999s""#, "wrongValue", "/nodes/11/hold", "an hour"),
      Wrong(
        #""fallback": "previous""#, #""fallback": "prevous""#, "wrongValue", "/nodes/3/fallback",
        "Did you mean 'previous'?"),
      Wrong(
        #""capacity": 4, "policy": "drop""#, #""capacity": 0, "policy": "drop""#, "wrongValue",
        "/pools/0/capacity", "1 to 4096"),
      Wrong(
        #""policy": "drop"}"#, #""policy": "dropOldest"}"#, "wrongValue", "/pools/0/policy",
        "'dropOldest' is not a policy"),
      Wrong(
        #""policy": "drop"}"#, #""policy": "drop", "wait": "20ms"}"#, "wrongValue", "/pools/0/wait",
        "its policy is drop"),
      Wrong(
        #""policy": "drop"}"#, #""wait": "0ms"}"#, "wrongValue", "/pools/0/wait",
        "longer than 0s and at most an hour"),
      Wrong(
        #""policy": "drop"}"#, #""wait": "3601s"}"#, "wrongValue", "/pools/0/wait", "an hour"),
      Wrong(
        #""policy": "drop"}"#, #""driverFrames": 2}"#, "wrongValue", "/pools/0/driverFrames",
        "there is no wait"),
      Wrong(
        #""policy": "drop"}"#, #""wait": "20ms", "driverFrames": 65}"#, "wrongValue",
        "/pools/0/driverFrames", "0 to 64"),
      Wrong(#""count": 2"#, #""count": 1025"#, "wrongValue", "/executors/0/count", "1 to 1024"),
      Wrong(
        #""capacity": 5}"#, #""capacity": 65537}"#, "wrongValue",
        "/nodes/5/body/edges/0/capacity", "1 to 65536"),
      Wrong(
        #"{"box": 0.1}"#, #"{"box": 0.3}"#, "wrongValue", "/nodes/10/precision/box",
        "0.3 is not a power of ten"),
      Wrong(
        #"{"box": 0.1}"#, #"{"bx": 0.1}"#, "unknownKey", "/nodes/10/precision/bx",
        "Did you mean 'box'?"),
    ])
  }

  @Test func `keys at nodes that cannot have them`() {
    let gray = #""kind": "grey", "cost": {"fixed": "2ms"}, "concurrency": 2"#
    check([
      Wrong(
        #""pinned": true"#, #""concurrency": 2"#, "wrongValue", "/nodes/8/concurrency",
        "'level' remembers, and can only work on one frame at a time"),
      Wrong(
        #""pinned": true"#, #""pinned": true, "executor": "vision""#, "wrongValue",
        "/nodes/8/executor", "is pinned and owns its executor"),
      Wrong(
        gray, gray + #", "hold": "1ms""#, "wrongValue", "/nodes/2/hold", "'grey' is not a sink"),
      Wrong(
        gray, gray + #", "precision": {"box": 0.1}"#, "wrongValue", "/nodes/2/precision",
        "writes no numbers"),
      Wrong(
        #""pool": "frames"}"#, #""pool": "frames", "concurrency": 2}"#, "wrongValue",
        "/nodes/0/concurrency",
        "uses no server"),
      Wrong(
        #""kind": "latest""#, #""kind": "latest", "timeout": "1ms""#, "wrongValue",
        "/nodes/9/timeout", "'shown' never waits"),
      Wrong(
        #""kind": "sample""#, #""kind": "sample", "cost": {"fixed": "1ms"}"#, "wrongValue",
        "/nodes/7/cost", "'third' takes no time"),
      Wrong(
        #""kind": "join""#, #""kind": "join", "executor": "vision""#, "wrongValue",
        "/nodes/4/executor", "'pairs' is not served by an executor"),
      Wrong(
        #""kind": "join""#, #""kind": "join", "fallback": "previous""#, "wrongValue",
        "/nodes/4/fallback", "'pairs' cannot fail"),
      Wrong(
        #""kind": "sample""#, #""kind": "sample", "pinned": true"#, "wrongValue",
        "/nodes/7/pinned", "has no body to pin"),
      Wrong(
        #""timeout": "20ms""#, #""fallback": "previous""#, "wrongValue",
        "/nodes/5/body/nodes/1/fallback", "works on items, which have no fallback"),
      Wrong(
        #""executor": "vision"}],"#, #""executor": "vison"}],"#, "unknownExecutor",
        "/nodes/5/body/nodes/1/executor", "Did you mean 'vision'?"),
      Wrong(
        #""executors": [{"id": "vision", "count": 2}],"#, "", "unknownExecutor",
        "/nodes/3/executor", #"Declare it: "executors": [{"id": "vision"}]"#),
    ])
  }

  @Test func `batches that cannot be`() {
    let gray = #""kind": "grey", "cost": {"fixed": "2ms"}, "concurrency": 2"#
    func wrong(_ batch: String, _ text: String) -> Wrong {
      Wrong(gray, gray + #", "batch": {\#(batch)}"#, "wrongValue", "/nodes/2/batch", text)
    }
    check([
      wrong(#""max": 1"#, "cannot have a batch of 1"),
      wrong(#""max": 65"#, "Use 2 to 64"),
      wrong(#""max": 8"#, "has a queue for 3 frames, so a batch of 8 never fills"),
      wrong(#""max": 2, "wait": "7200s""#, "a batch's wait is at most an hour"),
      Wrong(
        #""pinned": true"#, #""batch": {"max": 2}"#, "wrongValue", "/nodes/8/batch",
        "'level' remembers, and can only work on one frame at a time"),
      Wrong(
        #""kind": "sample""#, #""kind": "sample", "batch": {"max": 2}"#, "wrongValue",
        "/nodes/7/batch", "uses no server, so it has no batch"),
      Wrong(
        gray, gray + #", "pool": "frames", "batch": {"max": 2}"#, "wrongValue", "/nodes/2/batch",
        "Leave out its pool or its batch"),
      Wrong(
        gray, gray.replacing(#""2ms"}"#, with: #""2ms", "perFrame": "1ms"}"#), "wrongValue",
        "/nodes/2/cost", "but no batch"),
      Wrong(
        gray, gray + #", "batch": 4"#, "wrongValue", "/nodes/2/batch",
        #"For example "batch": {"max": 8, "wait": "5ms"}"#),
      Wrong(
        gray, gray + #", "batch": {"max": "4"}"#, "wrongValue", "/nodes/2/batch/max",
        #"For example "batch": {"max": 8, "wait": "5ms"}"#),
    ])
    let edge = #"{"from": "camera", "to": "grey""#
    Wrong.check(
      [wrong(#""max": 4"#, #"use another policy and "capacity": 4 at its edge, or no batch"#)],
      in: Documents.yard.replacing(edge, with: edge + #", "policy": "replace""#))
  }

  @Test func `options of an adaptive pool that cannot be`() {
    func wrong(_ options: String, _ pointer: String, _ text: String) -> Wrong {
      Wrong(
        #""capacity": 4, "policy": "drop"}"#,
        #""capacity": 4, "policy": "drop", "adaptive": {\#(options)}}"#, "wrongValue",
        "/pools/0/\(pointer)", text)
    }
    check([
      wrong(#""min": 0"#, "adaptive/min", "min is 1 to 4096"),
      wrong(#""min": 3, "max": 2"#, "adaptive/max", "below its min of 3"),
      wrong(#""min": 5"#, "capacity", "begins with 4 buffers, not between its min of 5"),
      wrong(#""max": 17"#, "adaptive/breakerSize", "smaller than the max of 17"),
      wrong(#""alpha": 0"#, "adaptive/alpha", "0.001 to 1"),
      wrong(#""alpha": 0.00151"#, "adaptive/alpha", "thousandths"),
      wrong(#""predictor": "ewm""#, "adaptive/predictor", "Did you mean 'ewma'?"),
      wrong(#""off": ["thermals"]"#, "adaptive/off/0", "Did you mean 'thermal'?"),
      wrong(#""off": [1]"#, "adaptive/off/0", "must be a string"),
      wrong(#""window": "1ms""#, "adaptive/window", "10ms to 60s"),
      wrong(#""window": "3601s""#, "adaptive/window", "10ms to 60s"),
      wrong(#""breakerAfter": "100ms""#, "adaptive/breakerAfter", "a window to 3600s"),
      wrong(
        #""window": "10ms", "breakerAfter": "60s""#, "adaptive/breakerAfter", "1000 are the most"),
      wrong(#""predictor": "trend", "alpha": 0.3"#, "adaptive/alpha", "'trend' has no alpha"),
      wrong(#""off": ["thermal", "thermal"]"#, "adaptive/off/1", "in 'off' twice"),
      wrong(#""resizeTime": "2s""#, "adaptive/resizeTime", "0s to 1s"),
      wrong(#""expandAbove": 100"#, "adaptive/expandAbove", "1 to 99"),
      wrong(
        #""expandAbove": 40, "shrinkBelow": 60"#, "adaptive/shrinkBelow",
        "shrink below 60 % of its size, and grow above 40 %"),
    ])
  }

  @Test func `pools that are not there, or cannot be used`() {
    check([
      Wrong(
        #""pool": "frames""#, #""pool": "frame""#, "wrongValue", "/nodes/0/pool",
        "Did you mean 'frames'?"),
      Wrong(
        #"{"id": "frames", "capacity": 4"#, #"{"id": "Frames", "capacity": 4"#, "wrongValue",
        "/pools/0/id", "'Frames' is not a pool id"),
      Wrong(
        #"{"id": "frames", "capacity": 4, "policy": "drop"}"#,
        #"{"id": "frames"}, {"id": "frames"}"#, "duplicateID", "/pools/1/id", "used twice"),
      Wrong(
        #""kind": "sample""#, #""kind": "sample", "pool": "frames""#, "wrongValue",
        "/nodes/7/pool", "makes no frames"),
      Wrong(
        #""kind": "crop", "cost""#, #""kind": "crop", "pool": "frames", "cost""#, "wrongValue",
        "/nodes/5/body/nodes/0/pool", "works on items, which are never dropped"),
      Wrong(
        #""pools": [{"id": "frames", "capacity": 4, "policy": "drop"}]"#, #""pools": []"#,
        "wrongValue", "/nodes/0/pool", #"Declare it: "pools": [{"id": "frames", "capacity": 8}]"#),
    ])
  }
}
