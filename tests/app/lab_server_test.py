#!/usr/bin/python3
"""Tests trocar lab serve: the pages in headless Chromium without a message on the console, their headers, what is
not there, that only this machine may read them, comments and who may write them, and that slow or large requests keep nobody waiting.
  lab_server_test.py TROCAR OUT     Exit status 77: skipped."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

trocar, out = sys.argv[1], pathlib.Path(sys.argv[2])
shutil.rmtree(out, ignore_errors=True)
waiting = out / 'data/trocar/waiting'
waiting.mkdir(parents=True)
environment = dict(os.environ, XDG_DATA_HOME=str(out / 'data'), XDG_CONFIG_HOME=str(out / 'config'))
for number in range(60):
    person = ['zoe <b>', 'li & al', '宮本'][number % 3]
    attempt = {'format': 'trocar-attempt-1', 'key': f'{number:032x}', 'person': person, 'station': 'here',
               'scene': ['touch_targets', 'burn_line'][number % 2], 'title': 'T', 'level': 1 + number % 3 // 2,
               'kind': 'touch-targets', 'ending': 'done', 'devices': 'mouse, script',
               'started': 1.79e9 + 86400 * number, 'seconds': 90.0 - number, 'score': 30.0 + number,
               'critical': number % 20 == 0, 'version': '1', 'recording': '/none', 'metrics': {'task.task_time': 1.0}}
    (waiting / f'{number:032x}.attempt.json').write_text(json.dumps(attempt))

server = subprocess.Popen([trocar, 'lab', 'serve', '--port', '0'], env=environment, stdout=subprocess.PIPE, text=True)
try:
    line = ''
    while not line.startswith('http://'):
        line = server.stdout.readline()
        assert line, 'the server has ended'
    address = line.split()[0].rstrip('/')
    assert address.startswith('http://127.0.0.1:'), address

    def page(path):
        with urllib.request.urlopen(address + path) as answer:
            return answer.read().decode(), answer.headers

    cohort, headers = page('/')
    assert "default-src 'none'" in headers['Content-Security-Policy'], headers
    assert '3 people, 60 attempts' in cohort and 'zoe &lt;b&gt;' in cohort, cohort
    assert '宮本' in page('/?part=%E5%AE%AE')[0]
    person, _ = page('/person?id=zoe+%3Cb%3E')
    assert person.count('<circle') == 10, person.count('<circle')
    assert 'No attempt in the last 7 days' in page('/day')[0] or 'practised in the last 24 hours' in page('/day')[0]
    record, _ = page('/record?id=zoe+%3Cb%3E')
    assert 'steps are passed' in record and 'zoe &lt;b&gt;' in record, record
    for path, status in (('/person?id=none', 404), ('/record?id=none', 404), ('/none', 404), ('/?skip=x', 404)):
        try:
            page(path)
            raise AssertionError(path)
        except urllib.error.HTTPError as error:
            assert error.code == status, (path, error.code)
    try:
        urllib.request.urlopen(urllib.request.Request(address + '/', headers={'Host': 'elsewhere.example'}))
        raise AssertionError('another name of the host')
    except urllib.error.HTTPError as error:
        assert error.code == 403, error.code
    hosts = [row.split() for row in pathlib.Path('/proc/net/tcp').read_text().splitlines()[1:]]
    port = int(address.rsplit(':', 1)[1])
    listening = [row[1] for row in hosts if row[3] == '0A' and int(row[1].split(':')[1], 16) == port]
    assert listening == [f'0100007F:{port:04X}'], listening
    taken = subprocess.run([trocar, 'lab', 'serve', '--port', str(port)], env=environment, capture_output=True, text=True,
                           timeout=60)
    assert taken.returncode == 2 and taken.stderr.count('\n') == 1, taken

    def memory():
        return int(next(line for line in pathlib.Path(f'/proc/{server.pid}/status').read_text().splitlines()
                        if line.startswith('VmRSS')).split()[1]) // 1024  # MiB

    def send_all(request):
        """Sends until the server stops listening, and returns its answer."""
        with socket.create_connection(('127.0.0.1', port), timeout=20) as connection:
            try:
                for part in request:
                    connection.sendall(part)
                return connection.recv(100)
            except OSError:
                return b''

    def soon(path):
        begin = time.monotonic()
        with urllib.request.urlopen(address + path, timeout=20) as answer:
            answer.read()
        assert time.monotonic() - begin < 2.0, time.monotonic() - begin

    # A comment is written by the form of the attempt's page, and by nothing else.
    key = f'{3:032x}'
    shown, _ = page(f'/attempt?key={key}')
    token = re.search(r'name="token" value="([0-9a-f]{32})"', shown).group(1)
    assert 'No comments.' in shown and f'/attempt?key={key}' in page('/person?id=zoe+%3Cb%3E')[0]

    def comment(text, author='Anna', attempt=key, token=token, headers={}):
        """Sends the form; returns the status and the page."""
        limit = 'part-of-a-form'
        fields = {'token': token, 'attempt': attempt, 'author': author, 'text': text}
        body = ''.join(f'--{limit}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                       for name, value in fields.items()) + f'--{limit}--\r\n'
        headers = {'Content-Type': f'multipart/form-data; boundary={limit}', **headers}
        try:
            with urllib.request.urlopen(urllib.request.Request(address + '/comment', body.encode(), headers)) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    status, text = comment('Slower at the turn.\r\n<script>alert(1)</script> é')
    assert status == 200 and 'Slower at the turn.\n&lt;script&gt;' in text and 'é' in text, (status, text)
    assert 'Anna, ' in text and '<script' not in text, text
    for what, answer, sentence in ((comment(' '), 400, 'the comment is empty'),
                                   (comment('x' * 10000), 400, 'the comment has 10000 characters'),
                                   (comment('é' * 40000), 413, ''), (comment('x', author=''), 400, 'the author'),
                                   (comment('x', attempt='none'), 404, 'no attempt has the key'),
                                   (comment('x', token='0' * 32), 403, 'not of this server'),
                                   (comment('x', headers={'Origin': 'http://elsewhere.example'}), 403, 'not of this'),
                                   (comment('x', headers={'Host': 'elsewhere.example'}), 403, 'this machine')):
        assert what[0] == answer and sentence in what[1], (what, answer)
    assert comment('Zweite', headers={'Origin': address})[1].count('class="comment"') == 2
    for path in ('/person?id=zoe+%3Cb%3E', '/record?id=zoe+%3Cb%3E'):
        assert page(path)[0].count('class="comment"') == 2, path

    # Served to other machines too, nothing can be written.
    anyone = subprocess.Popen([trocar, 'lab', 'serve', '--port', '0', '--anyone'], env=environment,
                              stdout=subprocess.PIPE, text=True)
    try:
        own, address = address, 'http://127.0.0.1:' + anyone.stdout.readline().split()[0].rstrip('/').rsplit(':', 1)[1]
        assert '<form' not in page(f'/attempt?key={key}')[0]
        assert comment('x')[0] == 405 and comment('x', token='')[0] == 405
        address = own
    finally:
        anyone.terminate()
        anyone.wait(timeout=20)

    # A body, whatever its length, takes no memory and does not end the server.
    megabyte = bytes(1 << 20)
    head = b'POST / HTTP/1.1\r\nHost: localhost\r\n'
    before = memory()
    send_all([head + b'Content-Length: 400000000\r\n\r\n'] + [megabyte] * 400)
    send_all([head + b'Transfer-Encoding: chunked\r\n\r\n'] + [b'100000\r\n' + megabyte + b'\r\n'] * 200)
    send_all([head] + [b'X-Header: ' + bytes([65]) * 60000 + b'\r\n'] * 1000)
    send_all([bytes([65]) * (1 << 24)])
    assert memory() < before + 50, (before, memory())
    assert send_all([head + b'Content-Length: 5\r\n\r\nabcde']).startswith(b'HTTP/1.1 405')
    assert send_all([b'GET / HTTP/1.1\r\nX: ' + bytes([65]) * 9000 + b'\r\n\r\n']).startswith(b'HTTP/1.1 431')
    assert send_all([b'\r\n\r\n']) is not None and send_all([b'\0\xff /\r\n\r\n']).startswith(b'HTTP/1.1 405')
    soon('/')

    # 40 connections that send one line every 2 s, and far more that send nothing, keep a proper request waiting for
    # less than 2 s.
    slow = [socket.create_connection(('127.0.0.1', port)) for _ in range(40)]
    ended = threading.Event()

    def trickle():
        while not ended.wait(2.0):
            for connection in slow:
                try:
                    connection.send(b'X-Slow: 1\r\n')
                except OSError:
                    pass

    for connection in slow:
        connection.send(b'GET / HTTP/1.1\r\n')
    slower = threading.Thread(target=trickle)
    slower.start()
    for _ in range(3):
        soon('/person?id=li+%26+al')
        time.sleep(1.0)
    silent = [socket.create_connection(('127.0.0.1', port)) for _ in range(500)]
    soon('/')
    ended.set()
    slower.join()
    time.sleep(5.5)  # by now the time for a request is over
    for connection in slow:
        connection.settimeout(1)
        try:
            assert connection.recv(10) == b''
        except ConnectionResetError:
            pass
    for connection in slow + silent:
        connection.close()
    soon('/')

    # A row that cannot be read is named, and the page shows the others.
    with sqlite3.connect(out / 'data/trocar/lab.sqlite') as database:
        database.execute("UPDATE attempt SET metrics = 'x' WHERE key = ?", (f'{3:032x}',))
    database.close()
    damaged, _ = page('/person?id=zoe+%3Cb%3E')
    assert f'{3:032x}' in damaged and 'metrics are damaged' in damaged and damaged.count('<circle') >= 5, damaged

    browser = shutil.which('chromium')
    if browser:
        for name, path in (('cohort', '/'), ('person', '/person?id=zoe+%3Cb%3E')):
            run = subprocess.run([browser, '--headless', '--no-sandbox', '--disable-gpu', '--enable-logging=stderr',
                                  f'--user-data-dir={out}/profile', '--window-size=1280,720',
                                  f'--screenshot={out}/{name}.png', address + path], capture_output=True, text=True,
                                 timeout=120)
            assert (out / f'{name}.png').stat().st_size > 5000
            assert 'CONSOLE' not in run.stderr, run.stderr
finally:
    server.send_signal(signal.SIGINT)
    assert server.wait(timeout=20) == 0
print('pages of the lab: passed' if browser else 'pages of the lab: passed; not looked at, chromium is missing')
