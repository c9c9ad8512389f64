"""Runs an unchanged script with a camera loop under Retake: docs/loops.md.

::

    retake replay yard --program 'python3 -m retake.loop counter.py'
"""
