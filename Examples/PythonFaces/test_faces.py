import retake as package
from faces import Faces


def test_the_drawn_face_is_found_as_before(retake):
    retake.check("face/faces", stage=Faces)


def test_an_even_wall_has_no_face():
    wall = package.Frame.of(bytes([120]) * (160 * 120), "GRAY8", 160, 120)
    assert Faces().process(wall) == []
