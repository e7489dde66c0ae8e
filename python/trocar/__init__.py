"""Touch queries, soft tissue and surgical sessions.

Arrays are numpy arrays; lengths are in metres, forces in newtons, times in seconds. Wrong input raises InputError (a
ValueError) with one sentence; a run that fails raises RunError (a RuntimeError). Guide: docs/python.md.
"""
from ._trocar import (InputError, Mesh, Recording, RunError, Session, Tool, TouchQuery, Touches, __version__, backends,
                      load_mesh, load_mesh_parts, meet, perform, recording_columns, reference, replay, score,
                      score_trajectory)

__all__ = ['InputError', 'Mesh', 'Recording', 'RunError', 'Session', 'Tool', 'TouchQuery', 'Touches', '__version__',
           'backends', 'load_mesh', 'load_mesh_parts', 'meet', 'perform', 'recording_columns', 'reference', 'replay', 'score',
           'score_trajectory']
