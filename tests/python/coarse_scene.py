"""Writes a copy of a scene with coarse lattices, which is several times as fast."""
import re


def coarse_scene(scene, folder):
    """The copy of a scene in `folder`. Its organs are those of the original."""
    text = re.sub(r'"((?:\.\./)+organs)/', lambda found: f'"{(scene.parent / found[1]).resolve()}/', scene.read_text())
    text, lattices = re.subn(r'node_spacing_mm = 9\b', 'node_spacing_mm = 18', text)
    assert lattices > 0, scene
    copy = folder / f'coarse_{scene.name}'
    copy.write_text(text)
    return copy
