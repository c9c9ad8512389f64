import Foundation
import RetakeTestSupport
import Testing

@Suite struct LabelCommandTests {
  private func accepted() throws -> Workplace {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 30)
    // Half the size, so that boxes are mapped to the stored frames.
    try workplace.folder.write(
      """
      {"v": 1, "name": "motion",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "cut", "kind": "crop",
         "options": {"x": 20, "y": 10, "width": 120, "height": 100}},
        {"id": "found", "kind": "motion"},
        {"id": "boxes", "kind": "results", "primary": true}],
       "edges": [{"from": "camera", "to": "cut"}, {"from": "cut", "to": "found"},
        {"from": "found", "to": "boxes"}]}
      """, to: "motion.json")
    try workplace.folder.write(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\n", to: "retake.yml")
    #expect(try workplace.retake("test").status == 3)
    #expect(try workplace.retake("accept", "--reason", "first golden").status == 0)
    return workplace
  }

  @Test func `a golden is proposed as drafts, and corrected frames stay`() throws {
    let workplace = try accepted()
    let first = try workplace.retake("label", "propose", "yard/motion", "--json")
    #expect(first.status == 0, "\(first.stderr)")
    let summary = try first.json()
    #expect(summary.drafts.int == 30)
    #expect(summary.labelled.int == 0)
    #expect((summary.boxes.int ?? 0) > 10)
    let file = workplace.folder.file("Labels/yard.json")
    let text = try String(contentsOf: file, encoding: .utf8)
    // In pixels of the stored frame, whose first 20 columns the crop leaves out.
    let boxes = text.matches(of: /"bbox":\[([0-9.]+),([0-9.]+),/).compactMap { Double($0.1) }
    #expect(boxes.count == summary.boxes.int)
    #expect(boxes.allSatisfy { $0 >= 20 })
    let corrected = text.replacing(
      "{\"draft\":true,\"frame\":\"0:7\",\"id\":7}", with: "{\"frame\":\"0:7\",\"id\":7}"
    ).replacing(/\{"area":[^\n]*"image_id":7,[^\n]*\n/, with: "")
    #expect(corrected != text)
    try corrected.write(to: file, atomically: true, encoding: .utf8)
    let again = try workplace.retake("label", "propose", "yard/motion")
    #expect(again.status == 0, "\(again.stderr)")
    #expect(again.stdout.contains("proposed 29 frames; yard  1 of 30 frames labelled"))
    #expect(try String(contentsOf: file, encoding: .utf8) == corrected)
    let other = try workplace.retake("label", "propose", "yard/moton")
    #expect(other.status == 2)
    #expect(other.stderr.contains("Did you mean 'yard/motion'?"))
  }

  @Test func `labels are imported once, and replaced on demand`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 10)
    try workplace.folder.write("1,1,5,5,20,20,1,1,1\n4,1,6,5,20,20,1,1,1\n", to: "gt.txt")
    let words = ["label", "import", "gt.txt", "--session", "yard", "--classes", "1=car"]
    let result = try workplace.retake(words: words)
    #expect(result.status == 0, "\(result.stderr)")
    #expect(
      result.stdout
        == "yard  4 of 10 frames labelled; 2 without objects; 2 boxes; 1 class: car; 1 identity\n")
    let again = try workplace.retake(words: words)
    #expect(again.status == 2)
    #expect(again.stderr.contains("the session has labelled boxes already"))
    #expect(try workplace.retake(words: words + ["--replace"]).status == 0)
    try workplace.folder.write("frame,bpm\n2,70\n", to: "bpm.csv")
    let numbers = try workplace.retake("label", "import", "bpm.csv", "--session", "yard", "--json")
    #expect(numbers.status == 0, "\(numbers.stderr)")
    #expect(try numbers.json().scalars[0].text == "bpm")
    #expect(try numbers.json().boxes.int == 2)
    try workplace.folder.write("0,1,5,5,20,20,1,1,1\n", to: "zero.txt")
    let zero = try workplace.retake(
      "label", "import", "zero.txt", "--session", "yard", "--classes", "1=car", "--replace")
    #expect(zero.status == 2)
    #expect(zero.stderr.contains("the frame 0 is before the first frame, 1"))
    #expect(zero.stderr.contains("--first-frame"))
  }

  @Test func `labels belong to the recording for which they were imported`() throws {
    let workplace = try accepted()
    try workplace.folder.write("1,1,5,5,20,20,1,1,1\n4,1,6,5,20,20,1,1,1\n", to: "gt.txt")
    let words = ["label", "import", "gt.txt", "--session", "yard", "--classes", "1=car"]
    try #require(workplace.retake(words: words).status == 0)
    #expect(try workplace.retake("test").stdout.contains("labels  yard/motion"))

    let recordings = workplace.folder.file("Recordings")
    try FileManager.default.removeItem(at: recordings.appending(path: "yard"))
    try workplace.record("yard", frames: 31)
    for command in [["test"], ["label", "propose", "yard/motion"]] {
      let other = try workplace.retake(words: command)
      #expect(other.status == 2, "\(command)")
      #expect((other.stdout + other.stderr).contains("labels.recording"), "\(other)")
    }
    let again = try workplace.retake(words: words)
    #expect(again.stderr.contains("the session has labels of another recording"), "\(again.stderr)")
    #expect(try workplace.retake(words: words + ["--replace"]).status == 0)
    #expect(!(try workplace.retake("test").stdout.contains("labels.recording")))
  }
}
