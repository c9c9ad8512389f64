#if compiler(>=6.3)
  import CRetake
  import Foundation
  import Retake
  import RetakeTestSupport
  import Testing

  @testable import RetakeC

  /// Observations on their way from a stage in C to a caller in C.
  @Suite struct ObservationTests {
    private static let stage = """
      #include "retake_stage.h"

      static void process(void *self, const retake_frame *frame, retake_reply *reply) {
        static const uint8_t mask[] = {0, 1, 9, 0, 1, 9};
        static const retake_point points[] = {{"eye", 1.5, 2, 0.5}, {"nose", 3, 4, 1}};
        static const retake_bone bone = {0, 1};
        static const retake_vertex corners[] = {{0, 1.5}, {4, -2}, {4, 1.5}};
        static const uint16_t depth[] = {1, 65535};
        static const float vector[] = {0.5f, -2};
        (void)self;
        if (frame->sequence > 0) return;
        retake_mask(reply, "a person", 0.9, mask, 3, 2, 2);
        retake_identity(reply, 7);
        retake_points(reply, "face", 1, points, 2, &bone, 1);
        retake_polyline(reply, "lane", 1, corners, 2, false);
        retake_polyline(reply, "car", 0.5, corners, 3, true);
        retake_image(reply, "depth", 1, depth, 4, 2, 1, 1, RETAKE_U16);
        retake_embedding(reply, "look", 1, vector, 2);
        retake_json(reply, "scene", 1, "{\\"light\\": \\"day\\"}");
      }

      int main(void) {
        retake_stage stage = retake_stage_make("seen", "observations", process);
        return retake_main(&stage);
      }
      """

    private static let lines = """
      M 7 a%20person 0.90 2x2 22
      K - face 1.00 0-1 eye=1.5,2.0,0.50 nose=3.0,4.0,1.00
      L - lane 1.00 open 0.0,1.5 4.0,-2.0
      L - car 0.50 closed 0.0,1.5 4.0,-2.0 4.0,1.5
      I - depth 1.00 2x1x1 u16 1c3e992bd3f939bb75396f462c2d59fd
      E - look 1.00 AAAAPwAAAMA=
      J - scene 1.00 {"light":"day"}

      """

    private func program(in folder: TemporaryFolder) throws -> URL {
      let source = try folder.write(Self.stage, to: "seen.c")
      let program = folder.file("seen")
      let result = try runCommand(
        "clang",
        arguments: [
          "-std=c99", "-Wall", "-Wextra", "-Werror", "-O1",
          "-I\(packageRoot.appending(path: "C").path)", source.path, "-o", program.path, "-lm",
        ])
      try #require(result.status == 0, "\(result.stderr)")
      return program
    }

    @Test func `each form reaches the caller as a line of a golden`() throws {
      let folder = try TemporaryFolder()
      let document = """
        {"v": 1, "nodes": [{"id": "camera", "kind": "session"},
          {"id": "seen", "kind": "process",
           "options": {"command": ["\(try program(in: folder).path)"], "output": "observations"}},
          {"id": "out", "kind": "results", "precision": {"score": 0.01}}],
         "edges": [{"from": "camera", "to": "seen"}, {"from": "seen", "to": "out"}]}
        """
      let received = Received()
      var options = retake_replay_options()
      options.size = MemoryLayout<retake_replay_options>.size
      options.permissions = RETAKE_ALLOW_PROCESSES.rawValue
      options.context = Unmanaged.passUnretained(received).toOpaque()
      options.on_result = { result, context in
        guard let result = result?.pointee, let context else { return }
        Unmanaged<Received>.fromOpaque(context).takeUnretainedValue().add(result)
      }
      let status = retake_replay(
        Figures.session.path, document, document.utf8.count, &options, nil)
      #expect(status == RETAKE_OK, "\(String(cString: retake_last_error().pointee.text))")
      #expect(received.texts.first == Self.lines)
      #expect(received.texts.count > 100 && received.texts.dropFirst().allSatisfy(\.isEmpty))
    }

    private final class Received {
      var texts: [String] = []

      func add(_ result: retake_result) {
        #expect(result.size == MemoryLayout<retake_result>.size)
        let text = String(cString: result.observations)
        #expect(result.observations_length == text.utf8.count)
        texts.append(text)
      }
    }
  }
#endif
