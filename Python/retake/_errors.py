"""Exceptions in the words of a message."""

from __future__ import annotations

import os
import re
import traceback

MESSAGE_CHARACTERS_MAX = 1_000
_PLACES_MAX = 4


def short(error: Exception) -> str:
    """`ValueError: no faces (faces.py:12 in faces, model.py:40 in run)`."""
    try:
        said = str(error)
    except Exception:
        said = ""
    # Where an object is in memory differs from run to run.
    said = re.sub(r"\b0x[0-9a-fA-F]+\b", "0x…", said)[: MESSAGE_CHARACTERS_MAX // 2]
    return type(error).__name__ + (f": {said}" if said else "") + places(error)


def places(error: Exception) -> str:
    """` (faces.py:12 in faces, model.py:40 in run)`: the last places outside of this package."""
    own = os.path.dirname(os.path.abspath(__file__))
    found = [
        f"{os.path.basename(place.filename)}:{place.lineno} in {place.name}"
        for place in traceback.extract_tb(error.__traceback__)
        if not os.path.abspath(place.filename).startswith(own + os.sep)
        # Of a data class.
        and (place.filename, place.name) != ("<string>", "__init__")
    ]
    return f" ({', '.join(found[-_PLACES_MAX:])})" if found else ""
