#!/usr/bin/python3
"""Runs the tests of gpu_collision on drivers other than llvmpipe, one test case per process.

    tests/check/drivers.py BUILD

zink      OpenGL on Vulkan, here on lavapipe, with the Khronos validation layer and its check of synchronisation: a message
          of the layer is a finding. `select` crashes inside this driver and is left out.
softpipe  the oldest context that Mesa offers, OpenGL 3.3: `occlusion` and `select` answer, `compute` refuses.

One process per case, because zink does not survive many contexts in one. Exit status 1 when a case fails or the layer
has a message; 77 when a driver or the layer is not installed.
"""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LAVAPIPE = '/usr/share/vulkan/icd.d/lvp_icd.x86_64.json'
LAYER = '/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json'
SETTINGS = """khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
khronos_validation.report_flags = error,warn
khronos_validation.log_filename = {log}
khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT
"""
# Cases that a driver cannot pass, with the reason.
LEFT_OUT = {'zink': [(r'/Select|ErrorsOfOtherCode', 'GL_SELECT crashes inside this driver'),
                     (r'NoAllocation|LeakNothing', 'driver and validation layer allocate in every frame')],
            'softpipe': [(r'GoodGuest/Select', 'the compiler of this driver (LLVM 15) crashes')]}
SLOW_IN_SOFTPIPE = re.compile(r'RandomTools|DifficultFaces|SwitchesOfCase|TinyVolumes|AnyOrder|EverythingInside')
# `compute` refuses OpenGL 3.3 in the same way in every case: ComputeWithout tests that.
REFUSED_BY_SOFTPIPE = re.compile(r'Compute(?!Without)|ShaderClip|GlCalls')
LONGEST = 900  # s
# Messages about calls that zink of Mesa 22.3 makes in every draw, whatever OpenGL does: it sets the blending of colour
# attachments that a framebuffer without colour does not have.
OF_ZINK = ('VUID-vkCmdDrawMultiIndexedEXT-None-02859', 'VUID-vkCmdDrawMultiEXT-None-02859',
           'VUID-vkCmdSetColorBlendEquationEXT-attachmentCount-arraylength',
           'VUID-vkCmdSetColorBlendEnableEXT-attachmentCount-arraylength',
           'VUID-vkCmdSetColorWriteMaskEXT-attachmentCount-arraylength')


def cases_of(program):
    """The names of the test cases of a GoogleTest program."""
    names, suite = [], ''
    for line in subprocess.run([program, '--gtest_list_tests'], capture_output=True, text=True).stdout.splitlines():
        line = line.split('#')[0].rstrip()
        if line.startswith('  '):
            names.append(suite + line.strip())
        else:
            suite = line
    return names


def chosen(driver, name):
    if any(re.search(pattern, name) for pattern, _ in LEFT_OUT[driver]):
        return False
    if driver != 'softpipe':
        return True
    return not SLOW_IN_SOFTPIPE.search(name) and not REFUSED_BY_SOFTPIPE.search(name)


def run_case(driver, program, name):
    """'passed', 'skipped: reason' or the output of a failure; the messages of the validation layer; whether it ran."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, GALLIUM_DRIVER=driver, LIBGL_ALWAYS_SOFTWARE='1', XDG_RUNTIME_DIR=folder)
        log = Path(folder) / 'log'
        if driver == 'zink':
            (Path(folder) / 'vk_layer_settings.txt').write_text(SETTINGS.format(log=log))
            environment.update(VK_ICD_FILENAMES=LAVAPIPE, VK_INSTANCE_LAYERS='VK_LAYER_KHRONOS_validation',
                               VK_LAYER_SETTINGS_PATH=folder)
        try:
            done = subprocess.run([program, f'--gtest_filter={name}'], capture_output=True, text=True, env=environment,
                                  timeout=LONGEST)
            output, status = done.stdout + done.stderr, done.returncode
        except subprocess.TimeoutExpired:
            output, status = f'does not end within {LONGEST} s', -1
        layered = log.exists()
        messages = log.read_text().splitlines() if layered else []
    messages = [message for message in messages if 'VUID-' in message or 'SYNC-HAZARD' in message]
    if status != 0:
        return f'FAILED with status {status}\n{output[-3000:]}', messages, layered
    reason = re.search(r'Skipped\n(?![\[/])(.*)', output)
    return (f'skipped: {reason[1]}' if reason else 'passed'), messages, layered


def main():
    build = Path(sys.argv[1]).resolve()
    if not Path(LAVAPIPE).exists() or not Path(LAYER).exists():
        print('SKIPPED: mesa-vulkan-drivers or vulkan-validationlayers is not installed')
        sys.exit(77)
    programs = [build / 'tests/gpu_collision/test_gpu_collision']
    found = 0
    for driver in ('zink', 'softpipe'):
        work = [(program, name) for program in programs for name in cases_of(program) if chosen(driver, name)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda case: run_case(driver, *case), work))
        passed = sum(verdict == 'passed' for verdict, _, _ in results)
        skipped = [verdict for verdict, _, _ in results if verdict.startswith('skipped')]
        layered = sum(ran for _, _, ran in results)
        ours = of_zink = 0
        for (_, name), (verdict, messages, _) in zip(work, results):
            if verdict.startswith('FAILED'):
                print(f'{driver}: {name}: {verdict}')
            new = [message for message in messages if not any(known in message for known in OF_ZINK)]
            for message in sorted(set(new))[:3]:
                print(f'{driver}: {name}: {message}')
            ours, of_zink = ours + len(new), of_zink + len(messages) - len(new)
        failed = len(work) - passed - len(skipped)
        print(f'{driver}: {len(work)} cases, {passed} passed, {len(skipped)} skipped, {failed} failed')
        if driver == 'zink':
            print(f'  validation layer: ran in {layered} cases, {ours} messages, {of_zink} more about calls of zink itself')
            found += 2 * layered < passed  # a silent layer proves nothing
        for _, reason in LEFT_OUT[driver]:
            print(f'  left out: {reason}')
        for reason in sorted(set(skipped)):
            print(f'  {reason}')
        found += failed + ours + (passed == 0)
    sys.exit(1 if found else 0)


main()
