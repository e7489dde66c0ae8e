#!/usr/bin/python3
"""Sends poses of a tool over OpenIGTLink (version 1, TRANSFORM) to every client, 40 each second, until it is killed.

    tests/app/igtl_sender.py PORT_FILE NAME X Y Z

X, Y, Z: position of the tip, mm. The port, which is a free one, is written to PORT_FILE. Written after the published
protocol (openigtlink.org), without our code.
"""
import socket
import struct
import sys
import time

POLYNOMIAL, MASK = 0x42F0E1EBA9EA3693, (1 << 64) - 1


def crc64(data):
    crc = 0
    for byte in data:
        crc ^= byte << 56
        for _ in range(8):
            crc = ((crc << 1) ^ POLYNOMIAL if crc >> 63 else crc << 1) & MASK
    return crc


def transform(name, tip):
    body = struct.pack('>12f', 1, 0, 0, 0, 1, 0, 0, 0, 1, *tip)
    return struct.pack('>H12s20sQQQ', 1, b'TRANSFORM', name.encode(), 0, len(body), crc64(body)) + body


def main():
    port_file, name, *tip = sys.argv[1:]
    server = socket.create_server(('127.0.0.1', 0))
    server.setblocking(False)
    with open(port_file, 'w') as file:
        file.write(str(server.getsockname()[1]))
    clients = []
    message = transform(name, [float(number) for number in tip])
    while True:
        try:
            clients.append(server.accept()[0])
        except BlockingIOError:
            pass
        for client in list(clients):
            try:
                client.sendall(message)
            except OSError:
                clients.remove(client)
        time.sleep(1 / 40)


if __name__ == '__main__':
    main()
