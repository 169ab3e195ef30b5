// Ports on which processes listen: the answer of `lsof` on macOS and BSD, and the kernel's tables on Linux.
import { expect, test } from 'vitest';
import { parseLsof, parseSocketTable } from '../../../src/node/platform/listening.ts';
import { platformFor } from '../../../src/node/platform/platform.ts';

test('lsof: one entry for a port, of the process that is named first, and whether others can reach it', () => {
  const output =
    'p812\nf20\nn127.0.0.1:3000\nf21\nn[::1]:3000\np813\nf20\nn*:5173\nf9\nn[::]:9229\np814\nf3\nn*:5173\n';
  expect(parseLsof(output).map(({ pid, port, everywhere }) => [pid, port, everywhere])).toEqual([
    [812, 3000, false],
    [813, 5173, true],
    [813, 9229, true],
  ]);
  expect(parseLsof('')).toEqual([]);
  expect(parseLsof('lsof: status error\np1\nn/var/run/x.sock\nnweb:http\n')).toEqual([]);
});

test('the table of the kernel: only sockets that listen, by the target of the links to them', () => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0',
    '   1: 00000000:1435 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0 100 0 0 10 0',
    '   2: 0100007F:0BB8 0100007F:C000 01 00000000:00000000 00:00000000 00000000  1000        0 4713 1 0 100 0 0 10 0',
  ].join('\n');
  expect([...parseSocketTable(table)]).toEqual([
    ['socket:[4711]', { port: 3000, everywhere: false }],
    ['socket:[4712]', { port: 5173, everywhere: true }],
  ]);
});

test('Windows does not say which process listens', () => expect(platformFor('win32').listening).toBeUndefined());
